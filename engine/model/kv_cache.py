"""Keys and values of every token so far, in one preallocated tensor per layer."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.layer import row_bytes_8_bits
from engine.model.attention import StepMask
from engine.model.text_states import Steps, TextStates

FIRST_ROWS = 256


@dataclass(frozen=True)
class Side:
    """Device and types that layers compute in."""

    name: str  # name of the device; two sides of one name are the same
    device: torch.device  # device of weights, activations and the cache of these layers
    activations: torch.dtype  # type of hidden states
    cache: torch.dtype  # type of keys and values


@dataclass(frozen=True)
class SeenRows:
    """New rows of one text, which stand one after the other among a forward's."""

    count: int  # number of new rows, n
    mask: StepMask  # rows that each of them sees
    cache: KVCache  # cache with room for n rows after the committed ones, where they are written
    # From what each of them follows in layers that keep a state; None if there are none, or in a long chain
    steps: Steps | None = None
    # True if they see only committed rows, and none of their own are written (layers with queries alone)
    committed: bool = False


def _width(head_dim: int, dtype: torch.dtype) -> int:
    return row_bytes_8_bits(head_dim) if dtype == torch.int8 else head_dim


def shared_tokens(cached: Sequence[int], wanted: Sequence[int]) -> int:
    """Return the number of first tokens that two texts share, whose rows a cache may keep."""
    pairs = enumerate(zip(cached, wanted, strict=False))
    return next((at for at, (own, other) in pairs if own != other), min(len(cached), len(wanted)))


class FarRows(Protocol):
    """The first committed rows of a cache on another device, which attends over them."""

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
        sinks: Tensor | None,
    ) -> Tensor:
        """Compute attention over all rows, the other device's included; see `engine.model.attention.attend`."""
        ...

    def truncate(self, length: int) -> None:
        """Forget the rows from ``length`` on."""
        ...

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Return memory for all of the cache's rows."""
        ...


class RowsBeside(Protocol):
    """Keys and values of layers whose rows are no tensors, but stand at the same places."""

    @property
    def bytes(self) -> int:
        """Bytes that are taken now."""
        ...

    def resize(self, rows: int, kept: int) -> None:
        """Take memory for so many rows, and keep the first ones."""
        ...

    def move(self, length: int, rows: Sequence[int]) -> None:
        """Move uncommitted rows, by their indices behind the committed ones, to the front."""
        ...


class KVCache:
    """Committed rows `[0, length)` of one text, and uncommitted ones after them.

    Committed row r belongs to position r. Uncommitted rows are those of a drafted tree (or of a prompt's next
    piece); `commit` moves the accepted ones down to the committed length and forgets the others, except those that
    are to stay drafted below them. They come from the last forward, and for a tree drafted level by level also from
    the forwards that it built upon.

    A layer's tensor is (2, kv_heads, rows, head_dim), keys first: one head's rows lie together, as attention reads
    them; it is (1, 1, rows, width) if a row is a latent. It starts small and doubles up to ``capacity`` when rows
    are reserved, so a context of 128k tokens costs memory only as it fills, even on systems that count memory when
    it is allocated and not when it is touched.

    Args:
        shapes: Key-value heads and their width for each layer, the layer whose rows it reads, or None for a layer that
            keeps a state.
        capacity: Most rows, committed and uncommitted together.
        dtype: Type of keys and values; int8 for 8 bits with a scale per 32 channels, half of bfloat16's bytes. Only
            the kernel library reads and writes those, for fused layers, see `engine.model.fused_layer`.
        short_text_limit: Length of LongRoPE's short texts: longer ones are rotated differently, from their first
            token on.
        elsewhere: Sides of the first layers, for as many as compute on another device.
        carry: Moves the indices of kept rows to such a side.
        to_device: Moves indices from the host's memory to ``device``.
        far_rows: Part of the committed rows that another device attends over, or None.
        parts: 2 for keys and values, 1 for latents that both are maps of.
        states: States of the layers that have no rows here, or None if all have some.
        beside: Rows of the layers that a graphics chip computes, or None.
    """

    def __init__(
        self,
        shapes: Sequence[tuple[int, int] | int | None],
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
        short_text_limit: int | None = None,
        elsewhere: Sequence[Side] = (),
        carry: Callable[[Tensor, Side], Tensor] = lambda tensor, side: tensor.to(side.device),
        to_device: Callable[[Tensor], Tensor] | None = None,
        far_rows: FarRows | None = None,
        parts: int = 2,
        states: TextStates | None = None,
        beside: RowsBeside | None = None,
    ) -> None:
        self.capacity = capacity
        self.length = 0  # committed rows
        self.far_rows = far_rows
        self.states = states
        self.long_text = False  # True if the rows are those of a long text (LongRoPE); `begin` decides it
        self._short_text_limit = short_text_limit
        self.uncommitted = 0  # uncommitted rows before those that are written next
        self._row_positions = torch.empty(0, dtype=torch.long, device=device)
        self._rows = min(FIRST_ROWS, capacity)
        own = [layer for layer, shape in enumerate(shapes) if isinstance(shape, tuple)]
        owners = (layer if isinstance(shape, tuple) else shape for layer, shape in enumerate(shapes))
        self._store_of = [None if layer is None else own.index(layer) for layer in owners]
        self._elsewhere = tuple(side for layer, side in enumerate(elsewhere) if layer in own)
        self._carry = carry
        self._to_device = to_device or (lambda tensor: tensor.to(device))
        places = [(side.cache, side.device) for side in self._elsewhere]
        places += [(dtype, device)] * (len(own) - len(places))
        self._layers = [
            self._empty((parts, kv_heads, self._rows, _width(head_dim, type_)), type_, place)
            for (kv_heads, head_dim), (type_, place) in zip(
                (shape for shape in shapes if isinstance(shape, tuple)), places, strict=True
            )
        ]
        self._addresses: ctypes.Array[ctypes.c_void_p] | None = None
        self._kinds: list[tuple[ctypes.Array[ctypes.c_void_p], int, int, int]] | None = None
        self._nothing = self._row_positions
        self.beside = beside
        if beside is not None:
            beside.resize(self._rows, 0)

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
        if self.far_rows is not None:
            return self.far_rows.empty(*shape, dtype=dtype)
        return torch.empty(shape, dtype=dtype, device=device)

    @property
    def bytes(self) -> int:
        """Bytes that are allocated now."""
        apart = sum(part.bytes for part in (self.states, self.beside) if part is not None)
        return sum(layer.nbytes for layer in self._layers) + apart

    @property
    def text_limit(self) -> int | None:
        """The longest text that rows of the present kind serve, drafts included; None if only room limits it.

        A text that outgrows it (LongRoPE) calls `begin` and is prefilled again.
        """
        return None if self.long_text else self._short_text_limit

    def begin(self, text_length: int) -> int:
        """Announce a text of so many tokens, and return how many of the rows still serve it.

        This matters only for LongRoPE models: all of a text's keys depend on whether it is long, as in
        transformers.

        Args:
            text_length: Tokens of the text, including those that the cache holds.

        Returns:
            ``length`` afterwards: 0 if the rows were of the other kind, unchanged otherwise.
        """
        if self._short_text_limit is not None:
            long_text = text_length > self._short_text_limit
            if long_text != self.long_text:
                self.truncate(0)
            self.long_text = long_text
        return self.length

    def place(self, positions: Tensor, uncommitted: int = 0, is_chain: bool = False) -> Tensor:
        """Make room for a forward's rows and settle where `append` writes them.

        Args:
            positions: (n,) int64 positions of the new rows.
            uncommitted: Uncommitted rows that stay; the new ones follow them, and any others are forgotten.
            is_chain: True if each row follows the one before; of many all are committed then, or none.

        Returns:
            (uncommitted + n,) positions of all uncommitted rows, the new ones included.

        Raises:
            ValueError: There are fewer uncommitted rows, or all rows together are more than the capacity.
        """
        if uncommitted > len(self._row_positions):
            raise ValueError(f"{len(self._row_positions)} rows are uncommitted, {uncommitted} cannot stay")
        self._reserve(uncommitted, len(positions))
        if self.states is not None:
            self.states.place(self.length, uncommitted, len(positions), is_chain)
        self.begin_run(uncommitted)
        self._row_positions = torch.cat((self._row_positions[:uncommitted], positions)) if uncommitted else positions
        return self._row_positions

    def begin_run(self, uncommitted: int) -> None:
        """Settle that the next rows that `place` made room for follow so many uncommitted ones."""
        self.uncommitted = uncommitted

    def place_next(self, count: int) -> int:
        """Make room for rows after the committed ones on which no later forward builds; return the first position.

        Raises:
            ValueError: All rows together are more than the capacity.
        """
        self._reserve(0, count)
        if self.states is not None:
            self.states.place(self.length, 0, count, False)
        self._forget_uncommitted()
        return self.length

    def _reserve(self, uncommitted: int, count: int) -> None:
        kept = self.length + uncommitted
        needed = kept + count
        if needed > self.capacity:
            raise ValueError(f"the cache holds {self.capacity} rows and {needed} are needed")
        if needed <= self._rows:
            return
        self._addresses = self._kinds = None
        rows = min(self.capacity, max(needed, 2 * self._rows))
        try:
            if self.beside is not None:
                self.beside.resize(rows, kept)
            for index, old in enumerate(self._layers):
                grown = self._empty((*old.shape[:2], rows, old.shape[3]), old.dtype, old.device)
                grown[:, :, :kept] = old[:, :, :kept]
                self._layers[index] = grown
        except (MemoryError, RuntimeError):
            self.release()  # layers of two sizes are of no use
            raise
        self._rows = rows

    def release(self) -> None:
        """Forget all rows, and give back their memory."""
        self.truncate(0)
        if self.states is not None:
            self.states.release()
        self._rows = min(FIRST_ROWS, self.capacity)
        self._addresses = self._kinds = None
        if self.beside is not None:
            self.beside.resize(self._rows, 0)
        for index, layer in enumerate(self._layers):
            parts, kv_heads, _, wide = layer.shape
            dtype, device = layer.dtype, layer.device
            self._layers[index] = torch.empty(0)
            del layer
            self._layers[index] = self._empty((parts, kv_heads, self._rows, wide), dtype, device)

    def store(self, layer: int) -> Tensor:
        """Return a layer's whole tensor (2, kv_heads, rows, head_dim), keys first, to write new rows into it."""
        store = self._store_of[layer]
        assert store is not None, "a layer with keys and values"
        return self._layers[store]

    @property
    def any_store(self) -> Tensor:
        """The last layer's tensor that has keys and values, for its type and rows."""
        return self._layers[-1]

    @property
    def addresses(self) -> ctypes.Array[ctypes.c_void_p]:
        """Addresses of all layers' tensors, or of their states; a new array holds them once they have grown."""
        if self._addresses is None:
            each = [None if store is None else self._layers[store].data_ptr() for store in self._store_of]
            if self.states is not None:
                each = [self.states.address(layer) if place is None else place for layer, place in enumerate(each)]
            self._addresses = (ctypes.c_void_p * len(self._store_of))(*each)
        return self._addresses

    def _alike(self) -> list[tuple[ctypes.Array[ctypes.c_void_p], int, int, int]]:
        """Return the tensors of each shape: addresses, heads of keys and values, bytes of a head and of a row."""
        if self._kinds is None:
            self._kinds = []
            for shape in dict.fromkeys(layer.shape for layer in self._layers):
                alike = [layer for layer in self._layers if layer.shape == shape]
                head_stride, row_bytes = (alike[0].stride(dim) * alike[0].itemsize for dim in (1, 2))
                addresses = (ctypes.c_void_p * len(alike))(*map(Tensor.data_ptr, alike))
                self._kinds.append((addresses, shape[0] * shape[1], head_stride, row_bytes))
        return self._kinds

    def append(self, layer: int, keys: Tensor, values: Tensor, first_row: int = 0) -> tuple[Tensor, Tensor]:
        """Write the rows of a forward where `place` said.

        Args:
            keys: (n, kv_heads, head_dim), rotated.
            values: (n, kv_heads, head_dim).
            first_row: First row of the result (sliding windows).

        Returns:
            Keys and values of the committed and the uncommitted rows, the new ones last: views
            (kv_heads, length + uncommitted + n - first_row, head_dim).

        Raises:
            TypeError: The layer's rows are 8 bits.
        """
        store = self.store(layer)
        if store.dtype == torch.int8:
            raise TypeError("only the kernel library writes rows of 8 bits")
        start = self.length + self.uncommitted
        end = start + len(keys)
        store[0, :, start:end] = keys.transpose(0, 1)
        store[1, :, start:end] = values.transpose(0, 1)
        return self.seen(layer, len(keys), first_row)

    def append_latents(self, layer: int, latents: Tensor) -> Tensor:
        """Write (n, width) latents of a forward where `place` said.

        Returns:
            Latents of the committed and the uncommitted rows, the new ones last: a view (rows, width).
        """
        rows = self.store(layer)[0, 0]
        start = self.length + self.uncommitted
        rows[start : start + len(latents)] = latents
        return rows[: start + len(latents)]

    def seen(self, layer: int, count: int, first_row: int = 0) -> tuple[Tensor, Tensor]:
        """Return the keys and values that `append` returns for a forward's ``count`` rows, once they are written."""
        both = self.store(layer)[:, :, first_row : self.length + self.uncommitted + count]
        return both[0], both[1]

    def committed(self, layer: int, first_row: int, head_dim: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return keys and values of the committed rows from ``first_row`` on, for a model that reads another's cache.

        Returns:
            Two (kv_heads, rows, head_dim) on a device; rows of 8 bits as float32.
        """
        both = self.store(layer)[:, :, first_row : self.length]
        if both.dtype == torch.int8:
            scales = both[..., head_dim:].contiguous().view(torch.bfloat16).float()
            both = both[..., :head_dim] * scales.repeat_interleave(32, -1)[..., :head_dim]
        both = both.to(device)
        return both[0], both[1]

    def commit(self, rows: Sequence[int], keep: Sequence[int] = ()) -> None:
        """Keep some of the uncommitted rows and forget the others.

        Args:
            rows: Indices among the uncommitted rows, from the root on in path order.
            keep: Indices of other rows that stay uncommitted, after the committed ones and in this order: those
                already drafted below the path.
        """
        moved = [*rows, *keep]
        positions = self._row_positions[self._to_device(torch.tensor(keep))] if keep else self._nothing
        if moved != list(range(len(moved))):
            self._move(moved)
        if self.states is not None:
            self.states.commit(rows, keep)
        self._forget_uncommitted()
        self.length += len(rows)
        self._row_positions = positions

    @torch.inference_mode()  # rows grown during a forward are inference tensors
    def _move(self, rows: Sequence[int]) -> None:
        """Move uncommitted rows to the front, in this order."""
        if self.beside is not None:
            self.beside.move(self.length, rows)
        functions = library.loaded()
        rising = all(row < following for row, following in pairwise(rows))
        if functions is not None and rising and not self._elsewhere and self._nothing.is_cpu:
            places = array("q", rows)
            for addresses, heads, head_stride, row_bytes in self._alike():
                functions.tenon_move_rows(
                    *(addresses, len(addresses), heads, head_stride, row_bytes, self.length),
                    *places.buffer_info(),
                )
            return
        # Rows that are in place already stay there.
        first = next(at for at, row in enumerate(rows) if row != at)
        source = self._to_device(torch.tensor([self.length + row for row in rows[first:]]))
        start, end = self.length + first, self.length + len(rows)
        carried = {side: self._carry(source, side) for side in set(self._elsewhere)}
        for index, layer in enumerate(self._layers):
            # index_select copies before anything is written, so overlapping rows are safe.
            away = index < len(self._elsewhere)
            chosen = layer.index_select(2, carried[self._elsewhere[index]] if away else source)
            layer[:, :, start:end] = chosen

    def truncate(self, length: int) -> int:
        """Forget the committed rows from ``length`` on, or from the last kept state before that; return their number.

        Raises:
            ValueError: There are fewer.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot cut {self.length} rows to {length}")
        self._forget_uncommitted()
        self.length = length if self.states is None else self.states.truncate(length)
        if self.far_rows is not None:
            self.far_rows.truncate(self.length)
        return self.length

    def rows(self, first: int, last: int) -> list[Tensor]:
        """Return rows of all layers that have some, to copy them from here or to here; `restore` counts new ones.

        Args:
            first: First row.
            last: Row after the last one, for which room is made.

        Returns:
            Views (parts, kv_heads, last - first, width), each on the device of its layer.

        Raises:
            ValueError: There are more rows than the capacity.
        """
        self._reserve(0, max(0, last - self.length))
        return [layer[:, :, first:last] for layer in self._layers]

    def restore(self, length: int) -> int:
        """Count rows that were written from outside as committed, as far as states follow; return their number."""
        self._forget_uncommitted()
        self.length = length if self.states is None else self.states.restore(length)
        return self.length

    def expect(self, ends: Sequence[int]) -> None:
        """Keep states from which other texts may go on: at the present end, and at ends in the next prompt.

        Args:
            ends: Tokens of the next prompt up to the end of each of its messages, and up to its own end.
        """
        if self.states is not None:
            self.states.expect(ends)

    def _forget_uncommitted(self) -> None:
        self.uncommitted = 0
        self._row_positions = self._nothing
