"""A matrix, and attention's rows of the cache, divided between the host and a device: each computes its own part.

The parts of attention are merged by an online softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from engine.kernels.library import PANEL_ROWS
from engine.model.attention import StepMask, attend, attend_part, merged
from engine.model.config import ModelConfig
from engine.model.kv_cache import KVCache
from engine.model.linear import ALL, JoinedLinear, Linear, LinearMap, PackedLinear, joined
from engine.placement.device import Link, device_part, part_tensors


def panels(rows: int) -> int:
    """Return the number of panels of so many outputs."""
    return -(-rows // PANEL_ROWS)


def staying(rows: Sequence[int], ratio: float) -> list[int]:
    """Return the outputs of each part that stay on the host: all but the last panels of all parts together."""
    counts = [panels(count) for count in rows]
    left = sum(counts) - round(ratio * sum(counts))
    found = []
    for count, all_of_it in zip(rows, counts, strict=True):
        here = min(left, all_of_it)
        left -= here
        found.append(min(count, here * PANEL_ROWS))
    return found


class ColumnLinear:
    """A matrix whose first output columns are the host's and whose last are the device's.

    Args:
        linear: The matrix, in the host's memory.
        ratio: The device's share of its panels, from 0 to 1.
        dtype: Type of the device's activations.
        link: The way for weights.
        keep_whole: True if the host keeps all of the matrix.
    """

    def __init__(
        self,
        linear: LinearMap,
        ratio: float,
        dtype: torch.dtype,
        link: Link,
        rows_link: Link,
        keep_whole: bool = False,
    ) -> None:
        rows = [_rows_of(part) for part in _parts(linear)]
        self._every = sum(rows)
        self._columns = sum(staying(rows, ratio))
        self._dtype = dtype
        self._link = rows_link
        self._here, self._there = _divided(linear, ratio)
        if self._there is not None:
            if not keep_whole and self._here is not None:
                self._here = _own(self._here)
            tensors = map(link.to_device, part_tensors(self._there, dtype))
            self._there = device_part(self._there, tensors)
        held = linear if keep_whole else self._here
        self.size_bytes = 0 if held is None else held.size_bytes  # bytes in the host's memory
        self.device_bytes = 0 if self._there is None else self._there.size_bytes  # bytes in the device's

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, out); the device computes while the host does."""
        if self._there is None:
            assert self._here is not None
            return self._here(rows)
        far = self._there(self._link.to_device(rows.to(self._dtype)))
        out = self._link.empty(len(rows), self._every, dtype=rows.dtype)
        if self._here is not None:
            out[:, : self._columns] = self._here(rows)
        self._link.fetch(far, out[:, self._columns :])
        return out


def _rows_of(part: LinearMap) -> int:
    assert isinstance(part, Linear | PackedLinear), "a matrix on the host"
    return len(part.weight) if isinstance(part, Linear) else part.matrix.rows


def _parts(linear: LinearMap) -> tuple[LinearMap, ...]:
    return linear.parts if isinstance(linear, JoinedLinear) else (linear,)


def _divided(linear: LinearMap, ratio: float) -> tuple[LinearMap | None, LinearMap | None]:
    """Return the host's columns of a matrix and the GPU's, as views."""
    parts = _parts(linear)
    cuts = staying([_rows_of(part) for part in parts], ratio)
    here = [_columns(part, 0, cut) for part, cut in zip(parts, cuts, strict=True) if cut]
    there = [_columns(part, cut, rows) for part, cut in zip(parts, cuts, strict=True) if (rows := _rows_of(part)) > cut]
    return joined(here) if here else None, joined(there) if there else None


def _columns(part: LinearMap, start: int, stop: int) -> LinearMap:
    assert isinstance(part, Linear | PackedLinear), "a matrix on the host"
    bias = None if part.bias is None else part.bias[start:stop]
    if isinstance(part, Linear):
        return Linear(part.weight[start:stop], bias)
    matrix = part.matrix
    data = matrix.data.view(panels(matrix.rows), -1)[start // PANEL_ROWS : panels(stop)].flatten()
    return PackedLinear(replace(matrix, data=data, rows=stop - start), bias, max(part.refined_above, ALL))


def _own(linear: LinearMap) -> LinearMap:
    """Return a copy of a view, so that the memory that it views can be freed."""
    if isinstance(linear, JoinedLinear):
        return joined([_own(part) for part in linear.parts])
    assert isinstance(linear, Linear | PackedLinear), "a matrix on the host"
    if isinstance(linear, Linear):
        return Linear(linear.weight.clone(), linear.bias)
    matrix = linear.matrix
    return PackedLinear(replace(matrix, data=matrix.data.clone()), linear.bias, linear.refined_above)


class DividedRows:
    """Attention over a cache's first rows on a device, over its other rows on the host.

    Args:
        capacity: Most rows of the cache.
        rows: Function from the number of committed rows to the rows before the boundary.
        dtype: Type of keys and values on the device.
    """

    def __init__(
        self, config: ModelConfig, capacity: int, rows: Callable[[int], int], dtype: torch.dtype, link: Link
    ) -> None:
        self._layers = config.layers
        self._rows = rows
        self._dtype = dtype
        self._link = link
        # Within one memory the device reads the host's rows.
        self._mirror = None if link.shared else KVCache(config.cache_shapes, capacity, dtype, link.device)

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Return memory for the host's rows."""
        return self._link.empty(*shape, dtype=dtype)

    def truncate(self, length: int) -> None:
        """Forget the rows from ``length`` on."""
        if self._mirror is not None:
            self._mirror.truncate(min(length, self._mirror.length))

    def attend(
        self,
        cache: KVCache,
        layer: int,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: StepMask,
        scale: float,
        soft_cap: float | None,
        sinks: Tensor | None = None,
    ) -> Tensor:
        """Compute attention over all rows; the device has those before the boundary that every new row sees."""
        start, stop = mask.common_row, self._rows(cache.length)
        if start >= stop:
            return attend(queries, keys, values, mask, scale, soft_cap, sinks)
        left, right = start - mask.first_row, stop - mask.first_row
        if self._mirror is None:
            far_keys, far_values = (
                self._link.to_device(rows[:, left:right]).to(self._dtype) for rows in (keys, values)
            )
        else:
            self._follow(cache, self._mirror, stop)
            far_keys, far_values = self._mirror.store(layer)[:, :, start:stop]
        sent = self._link.to_device(queries.to(self._dtype))
        far = torch.cat(attend_part(sent, far_keys, far_values, None, mask.folded, scale, soft_cap), -1)

        def near(rows: Tensor) -> Tensor:
            """Return the host's rows, which are those after the device's in the last dimension but one."""
            return rows[:, right:] if not left else torch.cat((rows[:, :left], rows[:, right:]), 1)

        additive = None if mask.additive is None else near(mask.additive)
        own = attend_part(queries, near(keys), near(values), additive, mask.folded, scale, soft_cap)
        found = self._link.empty(*far.shape, dtype=torch.float32)
        self._link.fetch(far, found)
        return merged((found[..., :-1], found[..., -1:]), own, sinks).flatten(1).to(values.dtype)

    def _follow(self, cache: KVCache, mirror: KVCache, stop: int) -> None:
        """Give the device the rows before the boundary that it lacks."""
        start = mirror.length
        if start >= stop:
            return
        mirror.place_next(stop - start)
        for layer in range(self._layers):
            rows = self._link.to_device(cache.store(layer)[:, :, start:stop].to(self._dtype))
            mirror.append(layer, rows[0].transpose(0, 1), rows[1].transpose(0, 1))
        mirror.commit(range(stop - start))
