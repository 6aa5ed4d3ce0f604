"""Random models in the shapes that a card is tried with, made on the machine in seconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file

from tests.benchmarks.large_model import LLAMA, VOCABULARY, Shape, write_gguf

_HEADS = 4


@dataclass(frozen=True)
class Models:
    """Files of a target, and of drafts for it.

    Attributes:
        target: In 4 bits.
        draft: A small model in 16 bits.
        medusa: Heads that share the target's.
    """

    target: Path
    draft: Path
    medusa: Path


TINY = Shape("tiny", "llama", 4, 256, 512, 8, 4, 32)
#: Llama 2's of 7 B parameters.
LLAMA_7B = Shape("shape-7b", "llama", 32, 4096, 11008, 32, 32, 128)
_DRAFT = Shape("draft", "llama", 4, 1024, 2816, 16, 4, 64)
_TINY_DRAFT = Shape("tiny-draft", "llama", 1, 256, 512, 8, 4, 32)
SHAPES = {"llama-1b": LLAMA, "llama-7b": LLAMA_7B, "tiny": TINY}


def make(folder: Path, name: str) -> Models:
    """Write the models of a shape, unless they are there."""
    shape = SHAPES[name]
    draft = write_gguf(folder, "BF16", _TINY_DRAFT if shape is TINY else _DRAFT)
    return Models(write_gguf(folder, "Q4_K_M", shape), draft, _medusa(folder / f"{name}-medusa", shape.hidden))


def _medusa(folder: Path, hidden: int) -> Path:
    """Random Medusa heads: nothing that they guess holds, but for luck."""
    if folder.is_dir():
        return folder
    generator = torch.Generator().manual_seed(0)
    state = {}
    for head in range(_HEADS):
        weight = torch.randn(hidden, hidden, generator=generator) * hidden**-0.5
        state[f"{head}.0.linear.weight"] = weight.to(torch.bfloat16)
        state[f"{head}.0.linear.bias"] = torch.zeros(hidden, dtype=torch.bfloat16)
    folder.mkdir(parents=True)
    save_file(state, folder / "medusa_lm_head.safetensors")
    sizes = {"hidden_size": hidden, "vocab_size": VOCABULARY}
    heads = {"medusa_num_heads": _HEADS, "medusa_num_layers": 1}
    (folder / "config.json").write_text(json.dumps(heads | sizes), encoding="utf-8")
    return folder
