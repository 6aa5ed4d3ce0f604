"""Mixtures of types by name, such as Q4_K_M: the type of each tensor of a quantized file.

Source: llama.cpp, src/llama-quant.cpp (llama_tensor_get_type_impl, tensor_allows_quantization, tensor_type_fallback),
whose files have the same types under the same names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Number of a file's mixture (general.file_type) and its usual type, by the name that an option takes.
MIXTURES = {
    **{"f32": (0, "F32"), "f16": (1, "F16"), "bf16": (32, "BF16"), "q8_0": (7, "Q8_0"), "q6_k": (18, "Q6_K")},
    **{"q5_k_m": (17, "Q5_K"), "q5_k_s": (16, "Q5_K"), "q5_1": (9, "Q5_1"), "q5_0": (8, "Q5_0")},
    **{"q4_k_m": (15, "Q4_K"), "q4_k_s": (14, "Q4_K"), "q4_1": (3, "Q4_1"), "q4_0": (2, "Q4_0")},
    **{"iq4_nl": (25, "IQ4_NL"), "iq4_xs": (30, "IQ4_XS")},
    **{"q3_k_l": (13, "Q3_K"), "q3_k_m": (12, "Q3_K"), "q3_k_s": (11, "Q3_K"), "q2_k": (10, "Q2_K")},
}
#: Types of plain numbers.
PLAIN_TYPES = ("F32", "F16", "BF16")

# Blocks of 256 that a row does not fill, and the blocks of 32 in their place.
_SMALLER = {"Q2_K": "Q4_0", "Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0", "IQ4_XS": "IQ4_NL"}
_LAYER = re.compile(r"blk\.(\d+)\.")
#: Parts of the names of small matrices that stay as they are.
_EXACT = (
    *("_norm.weight", "ffn_gate_inp.weight", "per_layer_model_proj", "ssm_conv1d", "shortconv.conv.weight"),
    *("altup", "laurel", "position_embd", "token_types"),
)
#: Beginnings of names in encoders of images and sound, which stay as they are.
_TOWERS = ("v.", "mm.", "a.", "vision.", "model.vision_tower.")
_KINDS = {
    "attn_qkv.weight": "values",
    "attn_kv_b.weight": "values",
    "attn_v.weight": "values",
    "attn_k.weight": "keys",
    "attn_output.weight": "attention",
    "ffn_down": "down",
}
_FINER_FOR_EIGHT = ("q2_k", "q3_k_s", "q3_k_m", "q4_k_s", "q4_k_m", "iq4_nl", "iq4_xs")


@dataclass(frozen=True)
class Facts:
    """Facts about a model that decide on types."""

    architecture: str  # llama.cpp's name of it
    layers: int  # number of layers, those that draft included
    experts: int  # experts of a layer, 0 for none
    group: int  # query heads that share a key-value head in the first layer; 0 if it has none


def may_quantize(name: str, shape: tuple[int, ...]) -> bool:
    """Return whether a tensor's type follows the mixture; others keep plain numbers."""
    text = name.endswith("weight") and not name.startswith(_TOWERS)
    return text and len(shape) > 1 and not any(part in name for part in _EXACT)


def types_of(mixture: str, tensors: Mapping[str, tuple[int, ...]], facts: Facts, weighed: bool) -> dict[str, str]:
    """Return the type of each tensor that may be quantized.

    Args:
        mixture: A key of `MIXTURES`.
        tensors: Shapes of the file's tensors, rows first, by llama.cpp's names.
        facts: Facts about the model.
        weighed: True if it is known how much an error of each column counts.
    """
    _, usual = MIXTURES[mixture]
    names = sorted((name for name in tensors if may_quantize(name, tensors[name])), key=_place)
    if usual in PLAIN_TYPES:
        return dict.fromkeys(names, usual)
    values = sum(_kind_of(name) == "values" for name in tensors)
    tied, seen, found = "output.weight" not in tensors, dict[str, int](), dict[str, str]()
    for name in names:
        kind, columns = _kind_of(name), tensors[name][-1]
        at = seen[kind] = seen.get(kind, -1) + 1
        if name == "output.weight" or (tied and name in ("token_embd.weight", "per_layer_token_embd.weight")):
            wide = usual == "Q8_0" or columns % _block(usual)
            found[name] = _fitting("Q8_0" if wide else "Q6_K", columns)
            continue
        if kind == "down" and facts.experts > 1:  # their tensors are not in the layers' order
            at = _place(name)[0]
        chosen = _of_kind(kind, mixture, at, values if kind == "values" else facts.layers, facts, weighed)
        found[name] = _fitting(chosen or usual, columns)
    return found


def _of_kind(kind: str, mixture: str, at: int, count: int, facts: Facts, weighed: bool) -> str | None:
    """Return a type for a kind of matrix, the ``at``-th of so many, or None for the usual one."""
    more = at < count // 8 or at >= 7 * count // 8 or (at - count // 8) % 3 == 2
    shared, eight = facts.group >= 4, facts.experts == 8
    if kind == "values":
        chosen = {
            "q2_k": "Q4_K" if shared else "Q3_K",
            "q3_k_m": "Q5_K" if at < 2 else "Q4_K",
            "q3_k_l": "Q5_K",
            "q4_k_s": "Q5_K" if at < 4 else "Q4_K",
            "q4_k_m": "Q6_K" if more else "Q4_K",
            "q5_k_m": "Q6_K" if more else "Q5_K",
            "iq4_nl": "Q5_K" if shared else "IQ4_NL",
            "iq4_xs": "Q5_K" if shared else "IQ4_XS",
        }.get(mixture)
        large = facts.layers == 80 and (
            facts.architecture == "qwen2" or (facts.architecture == "llama" and facts.group > 1)
        )
        if large and (chosen or MIXTURES[mixture][1]) in ("Q3_K", "Q4_K"):
            chosen = "Q5_K"
        return "Q8_0" if eight else chosen
    if kind == "keys":
        return "Q8_0" if eight else None
    if kind == "attention":
        if eight:
            return "Q5_K" if mixture in _FINER_FOR_EIGHT else None
        return {"q2_k": "Q3_K", "q3_k_m": "Q4_K", "q3_k_l": "Q5_K"}.get(mixture)
    if kind == "down":
        first = at < count // 8
        return {
            "q2_k": "Q3_K",
            "q3_k_m": "Q5_K" if at < count // 16 else "Q4_K",
            "q3_k_l": "Q5_K",
            "q4_k_s": "Q5_K" if first else None,
            "q4_k_m": "Q6_K" if more else None,
            "q5_k_m": "Q6_K" if more else None,
            "q4_0": "Q4_1" if first and weighed else None,
            "q5_0": "Q5_1" if first and weighed else None,
            "iq4_nl": "Q5_K" if first and not weighed else None,
            "iq4_xs": "Q5_K" if first and not weighed else None,
        }.get(mixture)
    return None


def _kind_of(name: str) -> str:
    return next((kind for part, kind in _KINDS.items() if part in name), "")


def _place(name: str) -> tuple[int, str]:
    layer = _LAYER.match(name)
    return (int(layer[1]) if layer else -1), name


def _block(kind: str) -> int:
    return 256 if kind in _SMALLER else 1 if kind in PLAIN_TYPES else 32


def _fitting(kind: str, columns: int) -> str:
    """Return a type whose blocks a row fills."""
    fitting = kind if columns % _block(kind) == 0 else _SMALLER.get(kind, kind)
    return fitting if columns % _block(fitting) == 0 else "F16"
