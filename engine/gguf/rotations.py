"""Rotations that a GGUF file says its matrices are stored in (``prism.hadamard.*``), and factors of whole matrices.

Source: PrismML's llama.cpp, src/llama-model.cpp and src/llama-graph.cpp (build_lora_mm, build_inp_embd); of the factors
of NVFP4 llama.cpp, src/llama-model.cpp.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.gguf.header import TensorInfo
from engine.gguf.stored_tensor import PLAIN
from engine.gguf.types import GgmlType
from engine.kernels.library import Rotation

_PREFIX = "prism.hadamard."
_KEYS = frozenset(
    (
        *("version", "block_size", "transform", "axis", "sign_mode", "weight_names", "sign_widths", "sign_values"),
        *("inverse_weight_names", "gdn_v_grouped", "tied_output"),
    )
)
_SAID = {"version": (1, 2), "transform": ("normalized-sylvester-walsh-hadamard",), "axis": ("input-last-dimension",)}
_PROJECTION = re.compile(
    r"blk\.\d+\.(attn_(q|k|v|qkv|gate|output)|ffn_(gate|up|down)(_exps|_shexp)?|ffn_gate_up_exps|ssm_out)\.weight"
)
_EMBEDDING, _HEAD = "token_embd.weight", "output.weight"


def read_rotations(metadata: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, Rotation]:
    """Return the rotations of a model's matrices by their names in the file; those of one width are one object.

    Args:
        metadata: Metadata of the file, or of the first of a model's parts.
        shapes: Shapes of the tensors of all parts, rows first.

    Raises:
        UnsupportedModel: The metadata says something that is not known, or does not fit the tensors.
    """
    said = {key.removeprefix(_PREFIX): value for key, value in metadata.items() if key.startswith(_PREFIX)}
    if not said:
        return {}
    if unknown := sorted(said.keys() - _KEYS):
        raise refused(_PREFIX + unknown[0])
    for key, known in _SAID.items():
        if said.get(key) not in known:
            raise refused(_PREFIX + key)
    width = said.get("block_size")
    if not isinstance(width, int) or width < 2 or width & (width - 1):
        raise refused(f"{_PREFIX}block_size")
    signs = _signs(said)
    embedded, others = (_names(said, key) for key in ("inverse_weight_names", "weight_names"))
    names = [*others, *embedded]
    if embedded not in ([], [_EMBEDDING]) or (
        said["version"] == 2 and (not said.get("tied_output") or _HEAD in shapes)
    ):
        raise refused(f"{_PREFIX}inverse_weight_names")
    found: dict[str, Rotation] = {}
    made: dict[tuple[int, bool], Rotation] = {}
    for name in names:
        columns = shapes[name][-1] if name in shapes else 0
        turns = name in (_EMBEDDING, _HEAD) or _PROJECTION.fullmatch(name)
        if name in found or not turns or not columns or columns % width or (signs and columns not in signs):
            raise refused(name)
        shape = (columns, name.endswith("ssm_out.weight") and bool(said.get("gdn_v_grouped")))
        if shape not in made:
            ones = torch.ones(columns) if signs is None else signs[columns]
            made[shape] = Rotation(ones / math.sqrt(width), width, _grouped(metadata, columns) if shape[1] else None)
        found[name] = made[shape]
    return found


def _names(said: Mapping[str, Any], key: str) -> list[str]:
    names = said.get(key, ())
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise refused(_PREFIX + key)
    return list(names)


def _signs(said: Mapping[str, Any]) -> dict[int, torch.Tensor] | None:
    """Return the signs of each width, float32, or None if all are positive."""
    mode = said.get("sign_mode")
    if mode == "identity":
        return None
    try:
        widths = [int(width) for width in said["sign_widths"]]
        values = torch.tensor([int(value) for value in said["sign_values"]], dtype=torch.float32)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise refused(f"{_PREFIX}sign_values") from error
    right = mode == "explicit" and widths and min(widths) > 0 and len(set(widths)) == len(widths)
    if not right or sum(widths) != len(values) or not bool((values.abs() == 1).all()):
        raise refused(f"{_PREFIX}sign_values")
    return dict(zip(widths, torch.split(values, widths), strict=True))


def _grouped(metadata: Mapping[str, Any], columns: int) -> torch.Tensor:
    """Return the place of each channel of value heads that stand by their key heads, (columns,) int32.

    Elsewhere in the file head h of the values has the keys of head h modulo their number.
    """
    prefix = metadata.get("general.architecture")
    heads, key_heads = (metadata.get(f"{prefix}.ssm.{key}") for key in ("time_step_rank", "group_count"))
    if not isinstance(heads, int) or not isinstance(key_heads, int) or heads < 1 or key_heads < 1:
        raise refused(f"{_PREFIX}gdn_v_grouped")
    if heads % key_heads or columns % heads:
        raise refused(f"{_PREFIX}gdn_v_grouped")
    places = torch.arange(columns, dtype=torch.int32).view(heads // key_heads, key_heads, -1)
    return places.transpose(0, 1).reshape(-1).contiguous()


def refused(what: str) -> UnsupportedModel:
    """Return the error for an unknown rotation; ``what`` is the name of the metadata that gives it."""
    return UnsupportedModel(
        "The file says by {what} that its weights are rotated in a way that Tenon does not know; update Tenon, or "
        "choose another file of this model.",
        what=what,
    )


def read_factors(
    tensors: Mapping[str, TensorInfo], floats: Callable[[str], list[float]]
) -> tuple[dict[str, list[float]], frozenset[str]]:
    """Return the factors of NVFP4's matrices by their names, one or one for each expert, and names of such tensors.

    The tensors that name factors of activations are among the latter; only GPUs that multiply in 4 bits need these.

    Args:
        tensors: Tensors of all parts by their names.
        floats: Reads the numbers of a small tensor.

    Raises:
        WeightsCorrupt: The factors of a matrix are more or fewer than it has experts, or no plain numbers.
    """
    found: dict[str, list[float]] = {}
    beside: set[str] = set()
    for name, tensor in tensors.items():
        if tensor.kind == GgmlType.NVFP4 and name.endswith(".weight"):
            base = name.removesuffix("weight")
            beside |= {base + "scale", base + "input_scale"} & tensors.keys()
            scale = tensors.get(base + "scale")
            if scale is None:
                continue
            if scale.kind not in PLAIN or math.prod(scale.shape) not in (1, *tensor.shape[:-2]):
                raise WeightsCorrupt(
                    "{name} does not fit {tensor}, whose factors it should hold: download the file again.",
                    name=scale.name,
                    tensor=name,
                )
            found[name] = floats(scale.name)
    return found, frozenset(beside)
