"""Peers of streaming: a model whose layers are read for each token, one after the other, while nothing computes.

    python -m tests.benchmarks.layer_by_layer naive|accelerate --model FOLDER --prompt TEXT [--max-tokens N]

``naive`` is the plainest form of it: Tenon's decoder over bfloat16 layers that are read from the checkpoint for each
forward and kept nowhere. ``accelerate`` is transformers with accelerate's disk offload, as many layers in memory as
``--memory`` bytes take. Both answer greedily and print the fields of ``tenon ask --json`` that the benchmark reads.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from engine.messages import ChatMessage
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.layer import LayerWeights, OnWait, Side, no_work
from engine.model.loader import load_layers, load_weights
from engine.placement.resident import Resident
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.weights.checkpoint import Checkpoint

_CPU = torch.device("cpu")


class LayerByLayer(Resident):
    """Everything but the layers in memory; a layer is read when it is asked for.

    Args:
        checkpoint: In safetensors.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._config = read_config(checkpoint)
        outer = load_weights(checkpoint, self._config, torch.bfloat16, _CPU, wanted=())
        super().__init__(outer)

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """Read the layer, and let the system forget what was read."""
        (layer,) = load_layers(self._checkpoint, self._config, range(index, index + 1), torch.bfloat16, _CPU)
        for path in self._checkpoint.folder.glob("*.safetensors"):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return layer


class ForgettingDecoder(Decoder):
    """A decoder that keeps nothing of a layer that it has computed."""

    def _fused_layer(self, index: int, weights: LayerWeights, side: Side) -> None:
        return None


def naive(folder: Path) -> Callable[[list[int], int], tuple[list[int], float]]:
    """A model that reads its layers from the checkpoint.

    Returns:
        From a prompt and most tokens of the reply to the reply, and the seconds of all its tokens but the first.
    """
    checkpoint = Checkpoint(folder)
    decoder = ForgettingDecoder(read_config(checkpoint), LayerByLayer(checkpoint))
    ends = read_end_ids(folder)

    def generate(prompt: list[int], count: int) -> tuple[list[int], float]:
        cache = decoder.new_cache(len(prompt) + count)
        new, reply, begun = list(prompt), [], time.perf_counter()
        for step in range(count):
            positions = torch.arange(cache.length, cache.length + len(new))
            logits = decoder.forward(torch.tensor(new), positions, cache, logit_rows=slice(-1, None)).logits
            cache.commit(range(len(new)))
            new = [int(logits[0].argmax())]
            reply += new
            if step == 0:
                begun = time.perf_counter()
            if new[0] in ends:
                break
        return reply, time.perf_counter() - begun

    return generate


def accelerated(folder: Path, memory_bytes: int) -> Callable[[list[int], int], tuple[list[int], float]]:
    """The same checkpoint in transformers, its layers placed by accelerate; returns what `naive` returns."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=torch.bfloat16,
        device_map="auto",
        max_memory={"cpu": memory_bytes},
        offload_folder=tempfile.mkdtemp(),
    ).eval()

    def generate(prompt: list[int], count: int) -> tuple[list[int], float]:
        ids = torch.tensor([prompt])
        times: list[float] = []

        class Clock:
            def put(self, tokens: torch.Tensor) -> None:
                times.append(time.perf_counter())

            def end(self) -> None:
                """Nothing to flush."""

        whole = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=count,
            streamer=Clock(),
        )
        # The prompt comes first, then the first token.
        return whole[0, len(prompt) :].tolist(), times[-1] - times[1]

    return generate


def main() -> None:
    """Answer, and print one JSON object."""
    import resource

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("way", choices=("naive", "accelerate"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--prompt", required=True)
    parser.add_argument("--max-tokens", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--memory", type=int, default=0, help="bytes of weights that accelerate keeps in memory"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tokenizer = Tokenizer(options.model, read_end_ids(options.model))
    prompt = tokenizer.render([ChatMessage("user", options.prompt)])
    model, naively = options.model, options.way == "naive"
    generate = naive(model) if naively else accelerated(model, options.memory)
    before = _read_bytes()
    with torch.inference_mode():
        reply, decode_s = generate(prompt, options.max_tokens)
    print(
        json.dumps(
            {
                "token_ids": reply,
                "timings": {
                    "predicted_n": len(reply),
                    "predicted_ms": decode_s * 1e3,
                    "mean_acceptance_length": 1.0,
                },
                "memory": {
                    "resident_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                    "disk_read_bytes": _read_bytes() - before,
                },
            }
        )
    )


def _read_bytes() -> int:
    """What this process has read from disks so far, as the system counts it."""
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("read_bytes:"):
            return int(line.split()[1])
    raise OSError("this system does not count what a process reads")


if __name__ == "__main__":
    main()
