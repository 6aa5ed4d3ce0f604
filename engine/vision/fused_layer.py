"""A layer of a tower that the kernel library computes in one call, as it does a decoder's."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.model.linear import PackedLinear

if TYPE_CHECKING:
    from engine.vision.tower import Loader, Map, Rotation, TowerValues


class FusedVisionLayer:
    """A layer whose matrices are packed.

    Args:
        loader: Reads its norms.
        prefix: Beginning of their names.
        values: Heads, and the epsilon of its norms.
        activation: Name of the function in its network.
        maps: Its matrices, by the names of `kernel.Layer`.
        gains: Weights of the norms of its heads, likewise; none if heads are not normed.
        scale: Factor of the scores.
    """

    def __init__(
        self,
        loader: Loader,
        prefix: str,
        values: TowerValues,
        activation: str,
        maps: Mapping[str, Map],
        gains: Mapping[str, Tensor],
        scale: float,
    ) -> None:
        hidden, self._heads = values.hidden, values.heads
        packed = {name: one for name, one in maps.items() if isinstance(one, PackedLinear)}
        self._width = packed["q"].matrix.rows // values.heads
        own = hidden // values.heads
        norms = {"attention": "ln1", "mlp": "ln2", "attention_end": "attn_post_norm", "mlp_end": "ffn_post_norm"}
        vectors = {name: gain * own**0.5 for name, gain in gains.items()} | {
            f"{kind}_{name}": part * hidden**0.5 if end == "weight" else part
            for kind, norm in norms.items()
            for end, name in (("weight", "norm"), ("bias", "shift"))
            if (part := loader.vector(f"{prefix}.{norm}.{end}")) is not None
        }
        self._held = packed, vectors  # the structure holds addresses only
        self._structure = kernel.Layer(
            hidden=hidden,
            heads=values.heads,
            kv_heads=values.heads,
            head_dim=self._width,
            **{name: part.data_ptr() for name, part in vectors.items()},
            **{name: one.structure for name, one in packed.items()},
            norm_floor=hidden * values.epsilon,
            end_norm_floor=hidden * values.epsilon,
            head_norm_floor=own * values.epsilon,
            scale=scale,
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
            cosine, sine = rotation
            step.rotated, step.cosine, step.sine = cosine.shape[1], cosine.data_ptr(), sine.data_ptr()
        addresses = [(ctypes.c_void_p * 1)(one.data_ptr()) for one in caches]
        kernel.forward(self._structure, step, kernel.stores(addresses), 0, rows)
        return rows
