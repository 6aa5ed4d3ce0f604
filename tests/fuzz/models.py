"""Small models to damage: each takes milliseconds to load, and has all that a large one has."""

from __future__ import annotations

from pathlib import Path

from tests.support.checkpoints import write_checkpoint

#: Variants that read their config in ways of their own.
VARIANTS = ("llama", "llama3-rope", "qwen2-yarn", "phi3-longrope", "gemma3", "smollm3", "mistral-window")
_SMALL = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}


def write_small(folder: Path, variant: str = "llama") -> Path:
    """Write a checkpoint of one or two layers."""
    changes = dict(_SMALL, num_hidden_layers=2 if variant == "gemma3" else 1)
    if variant == "gemma3":
        changes |= {"layer_types": ["sliding_attention", "full_attention"]}
    if variant == "phi3-longrope":
        changes |= {"hidden_size": 32}
    return write_checkpoint(folder, variant, **changes)
