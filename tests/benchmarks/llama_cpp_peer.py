"""llama.cpp behind a few calls: forwards of M tokens with logits for each, and prompts.

    python -m tests.benchmarks.llama_cpp_peer --model FILE --max-tokens N --threads N [--prompt N]

decodes so many random tokens, one by one, behind a prompt from the mapped file, without a copy of its weights, and
prints what `tenon ask --json` says of that.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import resource
import statistics
import time
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

_BATCH = 512


class LlamaCpp:
    """A model in llama.cpp, by the package llama-cpp-python; flash attention is on.

    It configures a thread's tiles once and for all, so it is to be made and asked in a thread or a process where nobody
    else takes them away.

    Args:
        path: A GGUF file.
        threads: CPU threads.
        context: Tokens of context.
        sequences: Texts that it decodes at once, which share the context.
        repack: It copies weights into an order of its own where it has faster products for that; else it computes from
            the mapped file alone.
    """

    def __init__(self, path: Path, threads: int, context: int, repack: bool = True, sequences: int = 1) -> None:
        import llama_cpp

        self._api: Any = llama_cpp
        # Without this it prints a page for each model.
        self._silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self._silent, None)
        llama_cpp.llama_backend_init()
        loading = llama_cpp.llama_model_default_params()
        loading.use_extra_bufts = repack
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), loading)
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = context
        options.n_batch = options.n_ubatch = _BATCH
        options.n_seq_max, options.kv_unified = sequences, sequences > 1
        options.n_threads = options.n_threads_batch = threads
        options.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        self._context = llama_cpp.llama_init_from_model(self._model, options)
        self._batch = llama_cpp.llama_batch_init(_BATCH, 0, 1)
        if not self._model or not self._context:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        self.vocabulary = int(llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._model)))

    def decode(self, tokens: list[int], committed: int, all_logits: bool) -> float:
        """Seconds of forwards, of at most 512 each, over tokens behind ``committed`` ones; what else was there goes.

        A model with a recurrent state cannot forget a few tokens, and reads on behind those that it has.
        """
        memory = self._api.llama_get_memory(self._context)
        if not self._api.llama_memory_seq_rm(memory, 0, committed, -1):
            committed = self._api.llama_memory_seq_pos_max(memory, 0) + 1
        begun = time.perf_counter()
        for first in range(0, len(tokens), _BATCH):
            part, batch = tokens[first : first + _BATCH], self._batch
            batch.n_tokens = len(part)
            for row, token in enumerate(part):
                batch.token[row] = token
                batch.pos[row] = committed + first + row
                batch.n_seq_id[row] = 1
                batch.seq_id[row][0] = 0
                batch.logits[row] = all_logits or first + row == len(tokens) - 1
            if failed := self._api.llama_decode(self._context, batch):
                raise RuntimeError(f"llama_decode failed with {failed}")
        self._api.llama_synchronize(self._context)
        return time.perf_counter() - begun

    def together(self, prompts: list[list[int]], tokens: int) -> tuple[float, float]:
        """Greedy replies of so many tokens to each prompt, a token of each in a batch.

        Returns:
            Seconds of the prompts, with the first tokens, and of the others.
        """
        api, batch = self._api, self._batch
        api.llama_memory_clear(api.llama_get_memory(self._context), True)
        begun = time.perf_counter()
        rows = [
            (token, at, sequence, at == len(prompt) - 1)
            for sequence, prompt in enumerate(prompts)
            for at, token in enumerate(prompt)
        ]
        last = [0] * len(prompts)
        for first in range(0, len(rows), _BATCH):
            for sequence, token in self._batched(rows[first : first + _BATCH]):
                last[sequence] = token
        read = time.perf_counter()
        for step in range(tokens - 1):
            rows = [(token, len(prompts[at]) + step, at, True) for at, token in enumerate(last)]
            last = [token for _, token in self._batched(rows)]
        assert batch.n_tokens == len(prompts) or tokens == 1
        return read - begun, time.perf_counter() - read

    def _batched(self, rows: list[tuple[int, int, int, bool]]) -> list[tuple[int, int]]:
        """Decode rows of (token, position, sequence, wanted); the likeliest next token of each that is wanted."""
        batch = self._batch
        batch.n_tokens = len(rows)
        for row, (token, position, sequence, wanted) in enumerate(rows):
            batch.token[row], batch.pos[row], batch.n_seq_id[row] = token, position, 1
            batch.seq_id[row][0], batch.logits[row] = sequence, wanted
        if failed := self._api.llama_decode(self._context, batch):
            raise RuntimeError(f"llama_decode failed with {failed}")
        found = []
        for row, (_, _, sequence, wanted) in enumerate(rows):
            if wanted:
                pointer = self._api.llama_get_logits_ith(self._context, row)
                logits = (ctypes.c_float * self.vocabulary).from_address(ctypes.addressof(pointer.contents))
                found.append((sequence, int(numpy.frombuffer(logits, numpy.float32).argmax())))
        return found

    def seconds(self, tokens: int, committed: int, all_logits: bool = True) -> float:
        """Time of forwards over ``tokens`` behind ``committed`` ones, which it is to have read before."""
        return self.decode([3 + row % 1000 for row in range(tokens)], committed, all_logits)

    def logits(self, tokens: list[int]) -> Tensor:
        """(n, V) float32 for a text of at most 512 tokens."""
        self.decode(tokens, 0, True)
        pointer = self._api.llama_get_logits(self._context)
        flat = (ctypes.c_float * (len(tokens) * self.vocabulary)).from_address(ctypes.addressof(pointer.contents))
        return torch.frombuffer(flat, dtype=torch.float32).view(len(tokens), -1).clone()

    def close(self) -> None:
        """Free the model."""
        self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)


def main() -> None:
    """Decode one token after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--max-tokens", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--prompt", type=int, default=1, help="tokens")
    options = parser.parse_args()
    peer = LlamaCpp(options.model, options.threads, 512, repack=False)
    ids = random_ids(options.prompt + options.max_tokens)
    prompt_s = peer.decode(ids[: options.prompt], 0, False)
    before = _read_bytes()
    each = [peer.decode(ids[at : at + 1], at, False) for at in range(options.prompt, len(ids))]
    timings = {
        "prompt_ms": 1e3 * prompt_s,
        "median_ms": 1e3 * statistics.median(each),
        "predicted_ms": 1e3 * sum(each),
        "predicted_n": options.max_tokens + 1,
        "mean_acceptance_length": None,
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    memory = {"disk_read_bytes": _read_bytes() - before, "resident_peak_bytes": peak}
    print(json.dumps({"timings": timings, "memory": memory, "token_ids": []}))


def random_ids(count: int) -> list[int]:
    """Ids of tokens, the same ones each time."""
    chance = torch.Generator().manual_seed(7)
    return [int(token) for token in torch.randint(3, 30000, (count,), generator=chance)]


def _read_bytes() -> int:
    """Bytes that this process had read from the disk, faults of mapped pages included. Linux."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))


if __name__ == "__main__":
    main()
