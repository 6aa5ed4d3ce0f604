"""Attention divided between the host and a device by rows of the cache, and merged by an online softmax."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from engine.model.attention import StepMask, attend, attend_part, merged
from engine.model.config import ModelConfig
from engine.model.kv_cache import KVCache
from engine.placement.link import Link


class DividedRows:
    """Attention over a cache's first rows on a device, over its other rows on the host.

    Args:
        config: Of the model.
        capacity: Most rows of the cache.
        rows: The rows before the boundary by the rows that are committed.
        dtype: Of keys and values on the device.
        link: The way for rows.
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
        """Memory for the host's rows."""
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
        """Attention over all rows; the device's are those before the boundary that every new row sees."""
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
            """Without the device's rows, which are in the last dimension but one."""
            return rows[:, right:] if not left else torch.cat((rows[:, :left], rows[:, right:]), 1)

        additive = None if mask.additive is None else near(mask.additive)
        own = attend_part(queries, near(keys), near(values), additive, mask.folded, scale, soft_cap)
        found = self._link.empty(*far.shape, dtype=torch.float32)
        self._link.fetch(far, found)
        return merged((found[..., :-1], found[..., -1:]), own, sinks).flatten(1).to(values.dtype)

    def _follow(self, cache: KVCache, mirror: KVCache, stop: int) -> None:
        """Give the device the rows before the boundary that it has not."""
        start = mirror.length
        if start >= stop:
            return
        mirror.place_next(stop - start)
        for layer in range(self._layers):
            rows = self._link.to_device(cache.store(layer)[:, :, start:stop].to(self._dtype))
            mirror.append(layer, rows[0].transpose(0, 1), rows[1].transpose(0, 1))
        mirror.commit(range(stop - start))
