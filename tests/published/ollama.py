"""Files as Ollama's own converter writes them, made of those of llama.cpp's: other names, and values that are left out.

Source: Ollama, convert/*.go (what is written) and llama/compat (how it differs from llama.cpp's).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gguf import dequantize

from engine.gguf.header import GgufHeader, read_header
from tests.support.gguf_files import edit_gguf

_TOWER = np.zeros((32, 32), np.float32)
TOWERS = {
    "v.blk.0.attn_q.weight": _TOWER,
    "mm.mm_input_projection.weight": _TOWER,
    "a.blk.0.attn_q.weight": _TOWER,
}
Change = Callable[[dict[str, Any], GgufHeader], dict[str, Any]]


def _gemma3(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    for key in ("attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.freq_base_swa"):
        metadata.pop(f"gemma3.{key}", None)
    metadata |= {"gemma3.vision.block_count": 1, "gemma3.mm.tokens_per_image": 256}
    return {"tensors": TOWERS}


def _gemma4(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    return {"tensors": TOWERS}


def _gemma4_experts(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    """Files of April 2026 have gate and up apart."""
    apart: dict[str, np.ndarray] = dict(TOWERS)
    fused = [name for name in header.tensors if "ffn_gate_up_exps" in name]
    for name in fused:
        tensor = header.tensors[name]
        raw = np.fromfile(header.path, np.uint8, tensor.size_bytes, offset=tensor.start)
        values = dequantize(raw.reshape(*tensor.shape[:-1], -1), tensor.kind)
        half = values.shape[1] // 2
        apart[name.replace("gate_up", "gate")] = np.ascontiguousarray(values[:, :half])
        apart[name.replace("gate_up", "up")] = np.ascontiguousarray(values[:, half:])
    return {
        "tensors": apart,
        "left_out": tuple(fused),
        "rename": lambda name: name.replace("ffn_down_exps.scale", "ffn_gate_inp.per_expert_scale"),
    }


def _prefixed(metadata: dict[str, Any], old: str, new: str) -> None:
    for key in [key for key in metadata if key.startswith(f"{old}.")]:
        metadata[new + key.removeprefix(old)] = metadata.pop(key)
    metadata["general.architecture"] = new


def _gpt_oss(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    _prefixed(metadata, "gpt-oss", "gptoss")
    del metadata["gptoss.expert_feed_forward_length"], metadata["gptoss.rope.scaling.type"]

    def rename(name: str) -> str:
        for usual, own in (
            ("attn_output", "attn_out"),
            ("attn_sinks.weight", "attn_sinks"),
            ("post_attention_norm", "ffn_norm"),
        ):
            name = name.replace(usual, own)
        return name

    return {"rename": rename}


def _lfm2(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    metadata["lfm2.feed_forward_length"] = 12288
    return {"rename": lambda name: name.replace("token_embd_norm", "output_norm")}


def _lfm2_moe(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    return {"rename": lambda name: name.replace("token_embd_norm", "output_norm").replace("probs_b.bias", "probs_b")}


def _mistral3(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    for usual, own in (
        ("rope.scaling.yarn_beta_fast", "rope.scaling.beta_fast"),
        ("rope.scaling.yarn_beta_slow", "rope.scaling.beta_slow"),
        ("rope.scaling.yarn_log_multiplier", "rope.scaling.mscale_all_dim"),
        ("attention.temperature_scale", "rope.scaling_beta"),
    ):
        if f"mistral3.{usual}" in metadata:
            metadata[f"mistral3.{own}"] = metadata.pop(f"mistral3.{usual}")
    return {"tensors": TOWERS}


def _glm4_moe_lite(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    _prefixed(metadata, "deepseek2", "glm4moelite")
    for kind in ("key", "value"):
        own, mla = (f"glm4moelite.attention.{kind}_length{end}" for end in ("", "_mla"))
        metadata[own], metadata[mla] = metadata[mla], metadata[own]
    return {}


def _qwen3_moe(metadata: dict[str, Any], header: GgufHeader) -> dict[str, Any]:
    del metadata["qwen3moe.expert_feed_forward_length"]
    metadata["qwen3moe.norm_top_k_prob"] = metadata.pop("qwen3moe.expert_weights_norm", True)
    return {}


#: By the names of families whose files differ.
LAYOUTS: dict[str, Change] = {
    "gemma-3": _gemma3,
    "gemma-4": _gemma4,
    "gemma-4-inputs": _gemma4,
    "gemma-4-moe": _gemma4_experts,
    "gpt-oss": _gpt_oss,
    "lfm2.5": _lfm2,
    "lfm2.5-moe": _lfm2_moe,
    "ministral-3": _mistral3,
    "glm-4.7-flash": _glm4_moe_lite,
    "qwen3-moe": _qwen3_moe,
}


def as_ollama_writes(family: str, source: Path, target: Path) -> Path:
    """Write a family's file as Ollama's converter lays it out; ``target``."""
    header = read_header(source)
    metadata = dict(header.metadata)
    changes = LAYOUTS[family](metadata, header)
    return edit_gguf(source, target, metadata, **changes)
