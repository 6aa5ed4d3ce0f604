"""transformers behind one call: a forward of one token in bfloat16."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, DynamicCache


class Transformers:
    """A checkpoint in transformers, with the attention that it chooses itself.

    Args:
        folder: The checkpoint.
        committed: Tokens to read first, which stay in the cache.
    """

    @torch.inference_mode()
    def __init__(self, folder: Path, committed: int) -> None:
        self._model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
        self._cache = DynamicCache(config=self._model.config)
        self._model(torch.arange(3, 3 + committed)[None], past_key_values=self._cache, use_cache=True)

    @torch.inference_mode()
    def seconds_of_one(self) -> float:
        """Time of a forward of one token behind the committed ones, which it leaves as they were."""
        token = torch.tensor([[3]])
        begun = time.perf_counter()
        self._model(token, past_key_values=self._cache, use_cache=True)
        taken = time.perf_counter() - begun
        self._cache.crop(-1)
        return taken
