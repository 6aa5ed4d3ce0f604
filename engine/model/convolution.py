"""Gated short convolutions in attention's place: what a row takes of the rows before it in its own text.

Source: transformers 5, models/lfm2 (Lfm2ShortConv). Inputs are kept by position, as keys and values are: rows of a tree
find those of their own path, and a text that is cut goes on where it was cut.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.model.kv_cache import KVCache


def previous_rows(length: int, pending: int, count: int, tree: Tensor | None, before: int) -> Tensor:
    """Rows of the cache before each new one, on its own path.

    Args:
        length: Committed rows.
        pending: Uncommitted rows of earlier forwards that stay.
        count: New rows, n.
        tree: (n, pending + n) bool, True where new row i sees uncommitted row j, its own included; None for a chain.
        before: Number of rows wanted of each, b.

    Returns:
        (n, b) int64, the nearest last; below 0 before the text's beginning.
    """
    if tree is None:
        last = length + pending + torch.arange(count)
        return last[:, None] - torch.arange(before, 0, -1)
    depths = tree.sum(1)
    # A stable sort brings the rows of a path to the front, in order.
    paths = tree.to(torch.int8).argsort(dim=1, descending=True, stable=True)
    places = (depths[:, None] - 1) - torch.arange(before, 0, -1, device=tree.device)
    return torch.where(places < 0, length + places, length + paths.gather(1, places.clamp(min=0)))


def convolve(mapped: Tensor, kernel: Tensor, cache: KVCache, layer: int, previous: Tensor) -> Tensor:
    """The convolution of some rows of one text, whose inputs are written into its cache.

    Args:
        mapped: (n, 3 h): a gate of the inputs, a gate of what comes out, the inputs.
        kernel: (h, k), the own row's last.
        cache: Has room for the rows where `KVCache.place` said.
        layer: Its place in the cache.
        previous: (n, k - 1) from `previous_rows`.

    Returns:
        (n, h).
    """
    gate, gate_out, inputs = mapped.chunk(3, -1)
    inputs = gate * inputs
    count, hidden = inputs.shape
    halves = inputs.view(count, 2, -1, cache.store(layer).shape[-1])
    cache.append(layer, halves[:, 0], halves[:, 1])
    store = cache.store(layer)
    found = store[:, :, previous.clamp(min=0).flatten()].permute(2, 0, 1, 3).reshape(count, -1, hidden)
    found = found.masked_fill((previous < 0)[..., None], 0).to(inputs.dtype)
    taps = kernel.to(inputs.dtype).t()
    mixed = inputs * taps[-1]
    for place in range(len(taps) - 1):
        mixed = mixed + found[:, place] * taps[place]
    return gate_out * mixed
