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
from tests.support.foreign_matrices import mlx_packed, quantized

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


def _awq(weight: Tensor) -> tuple[Tensors, Tensor]:
    matrix = quantized(weight, 64, 4)
    return matrix.awq(), matrix.exact()


def _gptq(bits: int, zeros_less_one: bool, **facts: bool) -> Callable[[Tensor], tuple[Tensors, Tensor]]:
    def write(weight: Tensor) -> tuple[Tensors, Tensor]:
        matrix = quantized(weight, 64, bits, **facts)
        return matrix.gptq(zeros_less_one), matrix.exact()

    return write


def _mlx(bits: int, group: int) -> Callable[[Tensor], tuple[Tensors, Tensor]]:
    def write(weight: Tensor) -> tuple[Tensors, Tensor]:
        matrix = quantized(weight, group, bits)
        scales, offsets = matrix.scales.bfloat16(), (-matrix.zeros * matrix.scales).bfloat16()
        numbers = matrix.codes * scales.float()[:, matrix.groups] + offsets.float()[:, matrix.groups]
        return {"weight": mlx_packed(matrix.codes, bits), "scales": scales, "biases": offsets}, numbers

    return write


def _gptq_settings(bits: int = 4, **others: Any) -> dict[str, Any]:
    return {"quant_method": "gptq", "bits": bits, "group_size": 64, "desc_act": False, "sym": True, **others}


FORMATS = {
    "awq": Format({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True}, _awq, "Q4_1"),
    "gptq": Format(_gptq_settings(), _gptq(4, True, symmetric=True), "Q4_0"),
    "gptq-v2": Format(_gptq_settings(checkpoint_format="gptq_v2", sym=False), _gptq(4, False), "Q4_1"),
    "gptq-8": Format(_gptq_settings(8), _gptq(8, True, symmetric=True), "Q8_0"),
    "gptq-8-asymmetric": Format(_gptq_settings(8, sym=False), _gptq(8, True), "Q8_0"),
    "gptq-act-order": Format(_gptq_settings(desc_act=True), _gptq(4, True, symmetric=True, shuffled=True), "Q8_0"),
    "mlx-4": Format({"bits": 4, "group_size": 64, "mode": "affine"}, _mlx(4, 64), "Q4_1"),
    "mlx-8": Format({"bits": 8, "group_size": 32}, _mlx(8, 32), "Q8_0"),
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
    key = "quantization_config" if "quant_method" in form.settings else "quantization"
    config = {**model.config.to_dict(), "architectures": [type(model).__name__], key: form.settings}
    (folder / "config.json").write_text(json.dumps(config))
    return model


@torch.no_grad()
def write_mlx(folder: Path, variant: str, bits: int = 4, group: int = 32, prefix: str = "", **changes: Any) -> Any:
    """Write a checkpoint as MLX does: all matrices in codes, experts in stacks, norms and filters as its decoder has.

    Args:
        folder: The folder.
        variant: A key of `VARIANTS`.
        bits: Bits of the codes; those of routers have 8.
        group: Columns of a group.
        prefix: Beginning of all names.
        **changes: Config values in place of the variant's.

    Returns:
        The transformers model with the numbers that it stands for, in float32.
    """
    model = reference_model(variant, 0, **changes)
    turned = any("linear_attn.conv1d" in name for name in model.state_dict())
    tensors: Tensors = {}
    own: dict[str, Any] = {"bits": bits, "group_size": group}

    def put(name: str, value: Tensor) -> None:
        """Write a matrix or a stack, and give it the numbers that are read."""
        if value.shape[-1] % group:
            value.copy_(value.bfloat16())
            tensors[f"{prefix}{name}.weight"] = value.bfloat16()
            return
        width = 8 if name.endswith("mlp.gate") else bits
        parts, numbers = _mlx(width, group)(value.reshape(-1, value.shape[-1]))
        for end, part in parts.items():
            tensors[f"{prefix}{name}.{end}"] = part.view(*value.shape[:-1], -1)
        value.copy_(numbers.view_as(value))
        if width != bits:
            own[f"{prefix}{name}"] = {"bits": width, "group_size": group}

    tied = model.config.tie_word_embeddings
    for name, value in model.state_dict().items():
        if name.endswith("mlp.experts.gate_up_proj"):
            for half, module in zip(value.chunk(2, dim=1), ("gate_proj", "up_proj"), strict=True):
                put(name.replace("experts.gate_up_proj", f"switch_mlp.{module}"), half)
        elif name.endswith("mlp.experts.down_proj"):
            put(name.replace("experts", "switch_mlp"), value)
        elif value.dim() == 2 and not (tied and name == "lm_head.weight"):
            put(name.removesuffix(".weight"), value)
        elif value.dim() != 2:
            plus = int(turned and name.endswith("norm.weight") and "linear_attn" not in name)
            kept = (value + plus).bfloat16()
            value.copy_(kept.float() - plus)
            tensors[prefix + name] = kept.transpose(1, 2).contiguous() if kept.dim() == 3 else kept
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: one.contiguous() for name, one in tensors.items()}, folder / _FILE)
    config = {**model.config.to_dict(), "architectures": [type(model).__name__]}
    (folder / "config.json").write_text(json.dumps({**config, "quantization": own, "quantization_config": own}))
    return model


_FILE = "model.safetensors"
