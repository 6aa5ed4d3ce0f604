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
    exact: bool = False  # True if that type holds the same numbers


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


def mlx(bits: int, group: int) -> Callable[[Tensor], tuple[Tensors, Tensor]]:
    def write(weight: Tensor) -> tuple[Tensors, Tensor]:
        matrix = quantized(weight, group, bits)
        scales, offsets = matrix.scales.bfloat16(), (-matrix.zeros * matrix.scales).bfloat16()
        numbers = matrix.codes * scales.float()[:, matrix.groups] + offsets.float()[:, matrix.groups]
        return {"weight": mlx_packed(matrix.codes, bits), "scales": scales, "biases": offsets}, numbers

    return write


def _gptq_settings(bits: int = 4, **others: Any) -> dict[str, Any]:
    return {"quant_method": "gptq", "bits": bits, "group_size": 64, "desc_act": False, "sym": True, **others}


def _modelopt_fp8(weight: Tensor) -> tuple[Tensors, Tensor]:
    parts, numbers = _tensor_fp8(weight)
    return {"weight": parts["weight"], "weight_scale": parts["weight_scale_inv"]}, numbers


def packed(codes: Tensor, bits: int) -> Tensor:
    """Return rows of numbers, int64, one after the other in words of 32 bits, the lowest bits first."""
    rows, columns = codes.shape
    single = (codes[..., None] >> torch.arange(bits) & 1).flatten(1)
    single = torch.nn.functional.pad(single, (0, -columns * bits % 32)).view(rows, -1, 32)
    words = (single << torch.arange(32)).sum(-1)
    return torch.where(words >= 1 << 31, words - (1 << 32), words).int()


def _rounded(weight: Tensor, bits: int, group: int, symmetric: bool, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Return integers, scales and zeros of groups of columns, and the numbers that they stand for."""
    rows, columns = weight.shape
    wide = weight.view(rows, -1, group)
    half = 1 << bits - 1
    if symmetric:
        scales = (wide.abs().amax(-1) / (half - 0.5)).to(dtype)
        zeros = torch.zeros_like(scales).long()
    else:
        low, high = wide.amin(-1).clamp(max=0), wide.amax(-1).clamp(min=0)
        scales = ((high - low) / (2 * half - 1)).to(dtype)
        zeros = (-half - low / scales.float()).round().clamp(-half, half - 1).long()
    codes = ((wide / scales.float()[..., None]).round() + zeros[..., None]).clamp(-half, half - 1).long()
    numbers = (codes - zeros[..., None]).float() * scales.float()[..., None]
    return codes.view(rows, columns), scales, zeros, numbers.view(rows, columns)


def _words(
    weight: Tensor, bits: int = 4, group: int = 32, symmetric: bool = True, dtype: torch.dtype = torch.bfloat16
) -> tuple[Tensors, Tensor]:
    """Integers in words, as compressed-tensors' ``pack-quantized`` has them."""
    half = 1 << bits - 1
    codes, scales, zeros, numbers = _rounded(weight, bits, group or weight.shape[1], symmetric, dtype)
    parts = {
        "weight_packed": packed(codes + half, bits),
        "weight_scale": scales,
        "weight_shape": torch.tensor(weight.shape),
    }
    if not symmetric:
        parts["weight_zero_point"] = packed((zeros + half).T, bits).T
    return parts, numbers


def _reordered(weight: Tensor) -> tuple[Tensors, Tensor]:
    """Four bits whose columns have groups in the order of their activations."""
    order = torch.randperm(weight.shape[1], generator=torch.Generator().manual_seed(0))
    parts, numbers = _words(weight[:, order], symmetric=False)
    codes, _, _, _ = _rounded(weight[:, order], 4, 32, False, torch.bfloat16)
    back = order.argsort()
    groups = (torch.arange(len(order)) // 32)[back]
    return {**parts, "weight_packed": packed((codes + 8)[:, back], 4), "weight_g_idx": groups.int()}, numbers[:, back]


def _bytes(weight: Tensor, group: int = 0, symmetric: bool = True, **more: Tensor) -> tuple[Tensors, Tensor]:
    """Integers in bytes, as compressed-tensors' ``int-quantized`` has them."""
    codes, scales, zeros, numbers = _rounded(weight, 8, group or weight.shape[1], symmetric, torch.bfloat16)
    parts = {"weight": codes.to(torch.int8), "weight_scale": scales, **more}
    return parts if symmetric else {**parts, "weight_zero_point": zeros.to(torch.int8)}, numbers


_E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def _to_fp4(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Return the nearest FP4 of numbers as bytes of two, the first one below, and as floats."""
    nearest = (numbers.abs()[..., None] - _E2M1).abs().argmin(-1)
    codes = nearest | (numbers < 0).long() << 3
    pairs = codes.view(len(codes), -1, 2)
    return (pairs[..., 0] | pairs[..., 1] << 4).to(torch.uint8), _E2M1[nearest] * torch.where(numbers < 0, -1.0, 1.0)


def _nvfp4(weight: Tensor, modelopt: bool = False) -> tuple[Tensors, Tensor]:
    rows, columns = weight.shape
    wide = weight.view(rows, -1, 16)
    factor = 448 * 6 / weight.abs().max()
    scales = (wide.abs().amax(-1) / 6 * factor).to(torch.float8_e4m3fn)
    own = scales.float() * (1 / factor) if modelopt else scales.float() / factor
    codes, floats = _to_fp4((wide / own.clamp(min=1e-9)[..., None]).view(rows, columns))
    numbers = (floats.view(rows, -1, 16) * own[..., None]).view(rows, columns)
    if modelopt:
        names = {"weight": codes, "weight_scale_2": 1 / factor, "input_scale": torch.tensor(0.1)}
        return {**names, "weight_scale": scales}, numbers
    more = {"weight_global_scale": factor[None], "input_global_scale": torch.tensor([3.0])}
    return {"weight_packed": codes, "weight_scale": scales, **more}, numbers


def _mxfp4(weight: Tensor) -> tuple[Tensors, Tensor]:
    rows, columns = weight.shape
    wide = weight.view(rows, -1, 32)
    exponents = wide.abs().amax(-1).clamp(min=2.0**-20).log2().floor() - 2
    codes, floats = _to_fp4((wide / exponents.exp2()[..., None]).view(rows, columns))
    numbers = (floats.view(rows, -1, 32) * exponents.exp2()[..., None]).view(rows, columns)
    return {"weight_packed": codes, "weight_scale": (exponents + 127).to(torch.uint8)}, numbers


def _mlx_mxfp4(weight: Tensor) -> tuple[Tensors, Tensor]:
    parts, numbers = _mxfp4(weight)
    return {"weight": parts["weight_packed"].view(torch.int32), "scales": parts["weight_scale"]}, numbers


def _mxfp8(weight: Tensor) -> tuple[Tensors, Tensor]:
    wide = weight.view(len(weight), -1, 32)
    exponents = wide.abs().amax(-1).clamp(min=2.0**-20).log2().floor() - 8
    codes, numbers = to_fp8(weight, exponents.exp2().repeat_interleave(32, 1))
    return {"weight": codes, "weight_scale": (exponents + 127).to(torch.uint8)}, numbers


#: The numbers of QLoRA (https://arxiv.org/abs/2305.14314, appendix E).
NF4 = torch.tensor(
    [
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
        *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
        *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ]
)


def _nf4(weight: Tensor, nested: bool) -> tuple[Tensors, Tensor]:
    rows, columns = weight.shape
    wide = weight.reshape(-1, 64)
    scales = wide.abs().amax(-1)
    state: dict[str, Any] = {"quant_type": "nf4", "blocksize": 64, "dtype": "float32", "shape": [rows, columns]}
    parts = {"weight.absmax": scales, "weight.quant_map": NF4}
    if nested:
        table = torch.linspace(-1, 1, 256)
        offset = scales.mean()
        padded = torch.nn.functional.pad(scales - offset, (0, -len(scales) % 256)).view(-1, 256)
        outer = padded.abs().amax(-1)
        indices = ((padded / outer[:, None])[..., None] - table).abs().argmin(-1)
        scales = (table[indices] * outer[:, None]).view(-1)[: len(scales)] + offset
        parts |= {"weight.absmax": indices.view(-1)[: len(scales)].to(torch.uint8)}
        parts |= {"weight.nested_absmax": outer, "weight.nested_quant_map": table}
        state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": offset.item()}
    codes = ((wide / scales[:, None])[..., None] - NF4).abs().argmin(-1)
    numbers = (NF4[codes] * scales[:, None]).view(rows, columns)
    pairs = codes.view(-1, 2)
    text = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
    codes = (pairs[:, :1] << 4 | pairs[:, 1:]).to(torch.uint8)
    return {"weight": codes, **parts, "weight.quant_state.bitsandbytes__nf4": text}, numbers


def _vectorwise(weight: Tensor) -> tuple[Tensors, Tensor]:
    """LLM.int8()."""
    largest = weight.abs().amax(1)
    codes = (weight / largest[:, None] * 127).round().to(torch.int8)
    numbers = codes * largest[:, None] * 7.874015718698502e-3
    return {"weight": codes, "SCB": largest, "weight_format": torch.tensor(0, dtype=torch.uint8)}, numbers


def _compressed(form: str, **weights: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": {"type": "int", "symmetric": True, **weights}}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


_BNB_4_BITS = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
FORMATS = {
    "awq": Format({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True}, _awq, "Q4_1"),
    "gptq": Format(_gptq_settings(), _gptq(4, True, symmetric=True), "Q4_0", exact=True),
    "gptq-v2": Format(_gptq_settings(checkpoint_format="gptq_v2", sym=False), _gptq(4, False), "Q4_1"),
    "gptq-8": Format(_gptq_settings(8), _gptq(8, True, symmetric=True), "Q8_0", exact=True),
    "gptq-8-asymmetric": Format(_gptq_settings(8, sym=False), _gptq(8, True), "Q8_0"),
    "gptq-act-order": Format(_gptq_settings(desc_act=True), _gptq(4, True, symmetric=True, shuffled=True), "Q8_0"),
    "mlx-4": Format({"bits": 4, "group_size": 64, "mode": "affine"}, mlx(4, 64), "Q4_1", exact=True),
    "mlx-8": Format({"bits": 8, "group_size": 32}, mlx(8, 32), "Q8_0"),
    "mlx-mxfp4": Format({"bits": 4, "group_size": 32, "mode": "mxfp4"}, _mlx_mxfp4, "MXFP4", exact=True),
    "fp8-block": Format({"quant_method": "fp8", "weight_block_size": [128, 128]}, _block_fp8, "Q8_0"),
    "fp8-block-bf16": Format(
        {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"},
        lambda weight: _block_fp8(weight, dtype=torch.bfloat16),
        "Q8_0",
    ),
    "fp8-tensor": Format({"quant_method": "fp8", "activation_scheme": "static"}, _tensor_fp8, "Q8_0"),
    "fp8-channel": Format({"quant_method": "fbgemm_fp8"}, _channel_fp8, "Q8_0"),
    "fp8-compressed": Format(_compressed("float-quantized", type="float", num_bits=8), _channel_fp8, "Q8_0"),
    "fp8-modelopt": Format({"quant_method": "modelopt", "quant_algo": "FP8"}, _modelopt_fp8, "Q8_0"),
    "mxfp8": Format(_compressed("mxfp8-quantized", type="float", num_bits=8, group_size=32), _mxfp8, "Q8_0"),
    "int4": Format(_compressed("pack-quantized", num_bits=4, group_size=32), _words, "Q4_0", exact=True),
    "int4-channel": Format(
        _compressed("pack-quantized", num_bits=4), lambda weight: _words(weight, group=0), "Q4_0", exact=True
    ),
    "int4-zeros": Format(
        _compressed("pack-quantized", num_bits=4, group_size=64, symmetric=False),
        lambda weight: _words(weight, group=64, symmetric=False, dtype=torch.float16),
        "Q4_1",
    ),
    "int4-reordered": Format(
        _compressed("pack-quantized", num_bits=4, group_size=32, symmetric=False, actorder="group"), _reordered, "Q8_0"
    ),
    "int4-short-groups": Format(
        _compressed("pack-quantized", num_bits=4, group_size=16), lambda weight: _words(weight, group=16), "Q8_0"
    ),
    "int3": Format(
        _compressed("pack-quantized", num_bits=3, group_size=64),
        lambda weight: _words(weight, bits=3, group=64),
        "Q4_0",
        exact=True,
    ),
    "int8-words": Format(
        _compressed("pack-quantized", num_bits=8, group_size=32),
        lambda weight: _words(weight, bits=8),
        "Q8_0",
        exact=True,
    ),
    "int8": Format(_compressed("int-quantized", num_bits=8), _bytes, "Q8_0", exact=True),
    "int8-groups": Format(
        _compressed("int-quantized", num_bits=8, group_size=32), lambda weight: _bytes(weight, 32), "Q8_0", exact=True
    ),
    "int8-zeros": Format(
        _compressed("int-quantized", num_bits=8, symmetric=False),
        lambda weight: _bytes(weight, symmetric=False, input_scale=torch.tensor(0.1)),
        "Q8_0",
    ),
    "nvfp4": Format(_compressed("nvfp4-pack-quantized", type="float", num_bits=4, group_size=16), _nvfp4, "NVFP4"),
    "mxfp4": Format(
        _compressed("mxfp4-pack-quantized", type="float", num_bits=4, group_size=32), _mxfp4, "MXFP4", exact=True
    ),
    "nvfp4-modelopt": Format(
        {"quant_method": "modelopt", "quant_algo": "NVFP4"}, lambda weight: _nvfp4(weight, modelopt=True), "NVFP4"
    ),
    "nf4": Format(_BNB_4_BITS, lambda weight: _nf4(weight, nested=False), "Q8_0"),
    "nf4-nested": Format(_BNB_4_BITS, lambda weight: _nf4(weight, nested=True), "Q8_0"),
    "int8-bitsandbytes": Format({"quant_method": "bitsandbytes", "load_in_8bit": True}, _vectorwise, "Q8_0"),
}


@torch.no_grad()
def write_quantized(
    folder: Path,
    form: Format,
    variant: str = "qwen3",
    chosen: Callable[[str], bool] = lambda name: name.endswith(("_proj.weight", "_proj")),
    seed: int = 0,
    fused: bool = False,
    **changes: Any,
) -> Any:
    """Write a checkpoint whose chosen matrices are in a format, and all else in bfloat16.

    Args:
        folder: Folder of the checkpoint.
        form: The format.
        variant: A variant of `reference_model`.
        chosen: Returns True for the name of a matrix that is quantized.
        seed: Seed of the weights.
        fused: True for stacks of all experts, as transformers has them in memory.
        **changes: Values of the config.

    Returns:
        The transformers model with the numbers that it stands for, in float32.
    """
    model = reference_model(variant, seed, **{"hidden_size": 256, "intermediate_size": 192, **changes})
    tensors: Tensors = {}
    for name, value in model.state_dict().items():
        if name == "lm_head.weight" and model.config.tie_word_embeddings:
            continue
        if not chosen(name):
            tensors[name] = value.bfloat16()
            value.copy_(tensors[name])
        elif value.dim() == 2:
            parts, numbers = form.write(value.clone())
            tensors |= {name.removesuffix("weight") + end: part for end, part in parts.items()}
            value.copy_(numbers)
        elif fused:
            written = [form.write(one) for one in value]
            for end in written[0][0]:
                tensors[name + end.removeprefix("weight")] = torch.stack([parts[end] for parts, _ in written])
            value.copy_(torch.stack([numbers for _, numbers in written]))
        else:
            for expert, one in enumerate(value):
                for own, part in _modules(name, expert, one):
                    parts, numbers = form.write(part.clone())
                    tensors |= {f"{own}.{end}": made for end, made in parts.items()}
                    part.copy_(numbers)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: one.contiguous().clone() for name, one in tensors.items()}, folder / "model.safetensors")
    told = form.settings
    key = "quantization" if "group_size" in told and "quant_method" not in told else "quantization_config"
    config = {**model.config.to_dict(), "architectures": [type(model).__name__], key: told}
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
        parts, numbers = mlx(width, group)(value.reshape(-1, value.shape[-1]))
        for end, part in parts.items():
            tensors[f"{prefix}{name}.{end}"] = part.view(*value.shape[:-1], -1)
        value.copy_(numbers.view_as(value))
        if width != bits:
            own[f"{prefix}{name}"] = {"bits": width, "group_size": group}

    tied = model.config.tie_word_embeddings
    for name, value in model.state_dict().items():
        stack = "switch_mlp" if ".mlp.experts." in name else "experts.switch_glu"  # the latter is Gemma 4's
        if name.endswith(".experts.gate_up_proj"):
            for half, module in zip(value.chunk(2, dim=1), ("gate_proj", "up_proj"), strict=True):
                put(name.replace("experts.gate_up_proj", f"{stack}.{module}"), half)
        elif name.endswith(".experts.down_proj"):
            put(name.replace("experts", stack), value)
        elif value.dim() == 2 and not (tied and name == "lm_head.weight"):
            put(name.removesuffix(".weight"), value)
        elif value.dim() != 2:
            plus = int(turned and name.endswith("norm.weight") and "linear_attn" not in name)
            kept = (value + plus).bfloat16()
            value.copy_(kept.float() - plus)
            tensors[prefix + name] = kept.transpose(1, 2).contiguous() if kept.dim() == 3 else kept
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: one.contiguous() for name, one in tensors.items()}, folder / "model.safetensors")
    config = {**model.config.to_dict(), "architectures": [type(model).__name__]}
    (folder / "config.json").write_text(json.dumps({**config, "quantization": own, "quantization_config": own}))
    return model


def _modules(name: str, expert: int, matrix: Tensor) -> list[tuple[str, Tensor]]:
    """Return an expert's modules as checkpoints have them, and the rows of each."""
    base, _, stack = name.rpartition(".")
    if stack == "down_proj":
        return [(f"{base}.{expert}.down_proj", matrix)]
    gate, up = matrix.chunk(2)
    return [(f"{base}.{expert}.gate_proj", gate), (f"{base}.{expert}.up_proj", up)]
