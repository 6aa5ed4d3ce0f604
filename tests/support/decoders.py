"""Decoders for tests: Tenon's own, transformers', and a plain greedy loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.model.loader import load_weights
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint


def load_decoder(folder: Path, dtype: torch.dtype = torch.float32) -> Decoder:
    """A decoder with all weights in memory."""
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    return Decoder(config, Resident(load_weights(checkpoint, config, dtype, torch.device("cpu"))))


def load_reference(folder: Path, dtype: torch.dtype = torch.float32) -> Any:
    """The same checkpoint in transformers, with its plain attention."""
    transformers.utils.logging.disable_progress_bar()
    config = transformers.AutoConfig.from_pretrained(folder)
    of = transformers.AutoModelForImageTextToText if "vision_config" in config else transformers.AutoModelForCausalLM
    return of.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()


def reference_greedy(model: Any, prompt: Sequence[int], count: int) -> list[int]:
    """Tokens that transformers generates greedily behind a prompt."""
    generated = model.generate(
        torch.tensor([list(prompt)]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=False,
        max_new_tokens=count,
        pad_token_id=0,
    )
    found: list[int] = generated[0, len(prompt) :].tolist()
    return found


def prefill(decoder: Decoder, tokens: torch.Tensor, capacity: int) -> KVCache:
    """A cache that holds these tokens, committed."""
    cache = decoder.new_cache(capacity)
    cache.begin(len(tokens))
    decoder.forward(tokens, torch.arange(len(tokens)), cache, logit_rows=slice(0, 0))
    cache.commit(range(len(tokens)))
    return cache


def greedy(decoder: Decoder, prompt: torch.Tensor, count: int) -> list[int]:
    """The ``count`` most probable tokens behind a prompt, one by one."""
    text = prompt.tolist()
    cache = decoder.new_cache(len(text) + count)
    while len(text) < len(prompt) + count:
        cached = cache.begin(len(text))
        new = torch.tensor(text[cached:])
        output = decoder.forward(new, torch.arange(cached, len(text)), cache, logit_rows=slice(-1, None))
        cache.commit(range(len(new)))
        text.append(int(output.logits[0].argmax()))
    return text[len(prompt) :]
