"""What rounding to a smaller format does to a reference model: how far the engine may be from it.

An error bound from one machine's figures fails on the next one, whose instruction set rounds more. So the reference
computes twice, exactly and with each operand rounded that the engine rounds there, and the difference is the error
that the format, the sizes and the weights of that very model make. In a bfloat16, with 8 bits of significand, numbers
between two powers of two lie 2^-7 of the lower one apart. Rounding is off by up to half of that, evenly spread, which
is 2^-7 / sqrt(12) * 0.74 = 0.0017 of a number in the root mean square (0.74: over significands as they occur, by
Benford). In a product of many terms these errors are independent, as the terms' signs are, so that both grow by the
root of their number, and the result is off by 0.0017 of its own size for each rounded side, however many columns
there are; sums in float32 add nothing beside it. Of n roundings on the way through the layers sqrt(n) of that is left,
times what softmax, norms and a router's choices make of it, which only the model itself can tell.

The engine rounds in places of its own (a query in the latents' space, the reference a key outside it), as many on the
way, so its error is another draw of the same size: `DRAWS_APART` of it is allowed, which is twice the roundings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

#: Error of the engine over the reference's with the same roundings: the root of twice as many.
DRAWS_APART = 2**0.5
#: Instruction sets that round both sides of a product of bfloat16 weights, and of attention.
ROUND_ACTIVATIONS = ("avx512bf16", "amx")
_PRODUCTS = ("linear", "matmul", "__matmul__", "bmm")


def to_bfloat16(x: Tensor) -> Tensor:
    return x.bfloat16().float()


def to_8_bits(x: Tensor) -> Tensor:
    """Rounded as the cache of 8 bits is: by the largest of up to 32 channels."""
    steps = [group.abs().amax(-1, keepdim=True).clamp_min(1e-30) / 127 for group in x.split(32, -1)]
    groups = zip(x.split(32, -1), steps, strict=True)
    return torch.cat([(group / step).round() * step for group, step in groups], -1)


class Bfloat16Products(TorchFunctionMode):
    """Round both sides of each product, as AVX-512's and AMX's instructions take them; a router stays in float32."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(function, "__name__", "")
        if name in _PRODUCTS:
            left, right, *rest = args
            if name != "linear" or torch.equal(right, to_bfloat16(right)):
                args = (to_bfloat16(left), to_bfloat16(right), *rest)
        return function(*args, **(kwargs or {}))


@contextmanager
def rounded_latents(model: Any, rounding: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Round what a model with latents caches: the latents behind their norm, and the part of a key that is turned."""
    rank = model.config.kv_lora_rank
    hooks = []
    for name, module in model.named_modules():
        if name.endswith("kv_a_layernorm"):
            hooks.append(module.register_forward_hook(lambda module, given, out: rounding(out)))
        elif name.endswith("kv_a_proj_with_mqa"):
            # A turn changes no sizes, so that rounding before it is off as far as rounding after it.
            hooks.append(
                module.register_forward_hook(
                    lambda module, given, out: torch.cat((out[..., :rank], rounding(out[..., rank:])), -1)
                )
            )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
