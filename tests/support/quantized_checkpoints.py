"""Checkpoints in formats of others: each writes a matrix in parts, and says the numbers that its own package reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from tests.support.checkpoints import reference_model

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Format:
    """A format, written by its own package's formula."""

    settings: dict[str, Any]  # ``quantization_config``
    #: Parts of a matrix, by the ends of their names after its module, and the numbers that the package makes of them.
    write: Callable[[Tensor], tuple[Tensors, Tensor]]
    kind: str  # type that a matrix becomes


def to_fp8(weight: Tensor, scales: Tensor, dtype: torch.dtype = torch.float8_e4m3fn) -> tuple[Tensor, Tensor]:
    """Return FP8 of a matrix whose scales are as large as it is, and the numbers that transformers makes of both."""
    codes = (weight / scales).to(dtype)
    return codes, codes.float() * scales


def expanded(scales: Tensor, rows: int, columns: int, shape: tuple[int, ...]) -> Tensor:
    """Return scales of blocks for each number of a matrix."""
    return scales.repeat_interleave(rows, 0).repeat_interleave(columns, 1)[: shape[0], : shape[1]]


def _block_fp8(weight: Tensor, size: int = 128, dtype: torch.dtype = torch.float32) -> tuple[Tensors, Tensor]:
    down, across = (-(-extent // size) for extent in weight.shape)
    padded = torch.zeros(down * size, across * size)
    padded[: weight.shape[0], : weight.shape[1]] = weight
    largest = padded.view(down, size, across, size).abs().amax((1, 3)).clamp(min=1e-4)
    scales = (largest / 448).to(dtype)
    codes, numbers = to_fp8(weight, expanded(scales.float(), size, size, weight.shape))
    return {"weight": codes, "weight_scale_inv": scales}, numbers


def _tensor_fp8(weight: Tensor) -> tuple[Tensors, Tensor]:
    scale = weight.abs().max() / 448
    codes, numbers = to_fp8(weight, scale)
    return {"weight": codes, "weight_scale_inv": scale, "activation_scale": torch.tensor(0.5)}, numbers


def _channel_fp8(weight: Tensor) -> tuple[Tensors, Tensor]:
    scales = weight.abs().amax(1, keepdim=True) / 448
    codes, numbers = to_fp8(weight, scales)
    return {"weight": codes, "weight_scale": scales, "input_scale_ub": torch.tensor([1200.0])}, numbers


FORMATS = {
    "fp8-block": Format({"quant_method": "fp8", "weight_block_size": [128, 128]}, _block_fp8, "Q8_0"),
    "fp8-block-bf16": Format(
        {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"},
        lambda weight: _block_fp8(weight, dtype=torch.bfloat16),
        "Q8_0",
    ),
    "fp8-tensor": Format({"quant_method": "fp8", "activation_scheme": "static"}, _tensor_fp8, "Q8_0"),
    "fp8-channel": Format({"quant_method": "fbgemm_fp8"}, _channel_fp8, "Q8_0"),
}


@torch.no_grad()
def write_quantized(
    folder: Path,
    form: Format,
    variant: str = "qwen3",
    chosen: Callable[[str], bool] = lambda name: name.endswith("_proj.weight"),
    seed: int = 0,
    **changes: Any,
) -> Any:
    """Write a checkpoint whose chosen matrices are in a format, and all else in bfloat16.

    Returns:
        The transformers model with the numbers that it stands for, in float32.
    """
    model = reference_model(variant, seed, **{"hidden_size": 256, "intermediate_size": 192, **changes})
    tensors: Tensors = {}
    for name, value in model.state_dict().items():
        if not chosen(name):
            tensors[name] = value.bfloat16()
            value.copy_(tensors[name])
            continue
        parts, numbers = form.write(value.clone())
        tensors |= {name.removesuffix("weight") + end: part.contiguous() for end, part in parts.items()}
        value.copy_(numbers)
    folder.mkdir(parents=True, exist_ok=True)
    tied = model.config.tie_word_embeddings
    save_file({name: one for name, one in tensors.items() if not (tied and name == "lm_head.weight")}, folder / _FILE)
    config = {
        **model.config.to_dict(),
        "architectures": [type(model).__name__],
        "quantization_config": form.settings,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return model


_FILE = "model.safetensors"
