"""A layer of a tower that the kernel library computes in one call, as it does a decoder's."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import layer as kernel
from engine.kernels.library import round_up
from engine.model.linear import PackedLinear

if TYPE_CHECKING:
    from engine.vision.tower import Loader, Rotation, TowerValues


class FusedVisionLayer:
    """A layer whose matrices are packed.

    Args:
        loader: Reads its weights, packed.
        prefix: Beginning of their names.
        values: Heads, and the epsilon of its norms.
        activation: Name of the function in its network.
        up: Name of the matrix from a row to the network's inner one.
        down: Name of the one back.
    """

    def __init__(self, loader: Loader, prefix: str, values: TowerValues, activation: str, up: str, down: str) -> None:
        heads = values.heads
        parts = ["attn_qkv"] if loader.has(f"{prefix}.attn_qkv.weight") else ["attn_q", "attn_k", "attn_v"]
        weight, bias = loader.joined(*(f"{prefix}.{part}" for part in parts))
        hidden, self._heads = weight.shape[1], heads
        width = hidden // heads
        # Heads whose width is no multiple of 16 end with zeros, which change no score and no sum.
        self._width = round_up(width, kernel.HEAD_DIM_MULTIPLE)
        more = self._width - width
        output, output_bias = loader.joined(f"{prefix}.attn_out")
        gated = loader.has(f"{prefix}.ffn_gate.weight")
        maps = {
            "q": loader.map_of(
                functional.pad(weight.view(-1, width, hidden), (0, 0, 0, more)).flatten(0, 1),
                None if bias is None else functional.pad(bias.view(-1, width), (0, more)).flatten(),
            ),
            "output": loader.map_of(functional.pad(output.view(-1, heads, width), (0, more)).flatten(1), output_bias),
            "gate": loader.linear(f"{prefix}.ffn_gate" if gated else up),
            **({"up": loader.linear(up)} if gated else {}),
            "down": loader.linear(down),
        }
        vectors = {
            name: part * hidden**0.5 if end == "weight" else part
            for kind, norm in (("attention", "ln1"), ("mlp", "ln2"))
            for name, end in ((f"{kind}_norm", "weight"), (f"{kind}_shift", "bias"))
            if (part := loader.vector(f"{prefix}.{norm}.{end}")) is not None
        }
        self._held = maps, vectors  # the structure holds addresses only
        self._structure = kernel.Layer(
            hidden=hidden,
            heads=heads,
            kv_heads=heads,
            head_dim=self._width,
            **{name: part.data_ptr() for name, part in vectors.items()},
            **{name: one.structure for name, one in maps.items() if isinstance(one, PackedLinear)},
            norm_floor=hidden * values.epsilon,
            scale=width**-0.5,
            residual_scale=1.0,
            activation=kernel.ACTIVATIONS[activation],
        )

    def __call__(self, rows: Tensor, rotation: Rotation | None = None, spans: Sequence[int] = ()) -> Tensor:
        """Return the rows after it, as `VisionLayer` does; they take the place of those that are given."""
        counts = spans or (len(rows),)
        caches = [torch.empty(2, self._heads, count, self._width, dtype=torch.bfloat16) for count in counts]
        depths = [torch.full((count,), count, dtype=torch.int32) for count in counts]  # all see all
        each = [
            kernel.Text(rows=count, capacity=count, depths=one.data_ptr())
            for count, one in zip(counts, depths, strict=True)
        ]
        texts = (kernel.Text * len(each))(*each)
        step = kernel.Step(m=len(rows), texts=len(each), text=ctypes.addressof(texts))
        if rotation is not None:
            cosine, sine = (part[:, 0].contiguous() for part in rotation)
            half = sine.shape[1] // 2
            sine = torch.cat((-sine[:, :half], sine[:, half:]), 1)
            step.rotated, step.cosine, step.sine = cosine.shape[1], cosine.data_ptr(), sine.data_ptr()
        addresses = [(ctypes.c_void_p * 1)(one.data_ptr()) for one in caches]
        kernel.forward(self._structure, step, kernel.stores(addresses), 0, rows)
        return rows
