"""Random prompt tokens in the published folder's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file


def write_prompt_tokens(
    folder: Path,
    members: int = 1,
    hidden_size: int = 64,
    safetensors: bool = True,
    seed: int = 0,
    **config: Any,
) -> Path:
    """Three places, as one finds them on a hub; ``config`` changes values of their config, None drops one."""
    values: dict[str, Any] = {
        "base_model_name_or_path": "a/model",
        "inference_mode": True,
        "num_attention_heads": 4,
        "num_exits": 1,
        "num_layers": 3,
        "num_special_tokens": 3,
        "num_transformer_submodules": 1,
        "num_virtual_tokens": 3 * members,
        "peft_type": "PROMPT_TUNING",
        "task_type": "CAUSAL_LM",
        "token_dim": hidden_size,
        "use_custom_lm_head": False,
        "use_prefix_tuning": False,
        "aggregation_type": "mean",
        "virtual_tokens_per_special_token": members,
        "vt_attention_type": "ensemble",
        **config,
    }
    folder.mkdir(parents=True, exist_ok=True)
    written = {name: value for name, value in values.items() if value is not None}
    (folder / "adapter_config.json").write_text(json.dumps(written), encoding="utf-8")
    rows = torch.randn(3 * members, hidden_size, generator=torch.Generator().manual_seed(seed))
    state = {"prompt_embeddings": rows}
    if safetensors:
        save_file(state, folder / "adapter_model.safetensors")
    else:
        torch.save(state, folder / "adapter_model.bin")
    return folder
