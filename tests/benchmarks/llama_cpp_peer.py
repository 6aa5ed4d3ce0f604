"""llama.cpp behind one call: a forward of M tokens with logits for each, as a verification needs them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any


class LlamaCpp:
    """A model in llama.cpp, by the package llama-cpp-python.

    Args:
        path: A GGUF file.
        threads: CPU threads.
        context: Tokens of context.
    """

    def __init__(self, path: Path, threads: int, context: int) -> None:
        import llama_cpp

        self._api: Any = llama_cpp
        # Without this it prints a page for each model.
        self._silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self._silent, None)
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(
            str(path).encode(), llama_cpp.llama_model_default_params()
        )
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = context
        options.n_batch = options.n_ubatch = 512
        options.n_threads = options.n_threads_batch = threads
        self._context = llama_cpp.llama_init_from_model(self._model, options)
        self._batch = llama_cpp.llama_batch_init(512, 0, 1)
        if not self._model or not self._context:
            raise RuntimeError(f"llama.cpp cannot load {path}")

    def seconds(self, tokens: int, committed: int, all_logits: bool = True) -> float:
        """Time of a forward of ``tokens`` behind ``committed`` ones, which it is to have read before."""
        memory = self._api.llama_get_memory(self._context)
        self._api.llama_memory_seq_rm(memory, 0, committed, -1)
        batch = self._batch
        batch.n_tokens = tokens
        for row in range(tokens):
            batch.token[row] = 3 + row
            batch.pos[row] = committed + row
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = 0
            batch.logits[row] = all_logits or row == tokens - 1
        begun = time.perf_counter()
        failed = self._api.llama_decode(self._context, batch)
        self._api.llama_synchronize(self._context)
        taken = time.perf_counter() - begun
        if failed:
            raise RuntimeError(f"llama_decode failed with {failed}")
        return taken

    def close(self) -> None:
        """Free the model."""
        self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)
