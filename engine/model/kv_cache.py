"""Keys and values of every token so far, in one preallocated tensor per layer."""

from __future__ import annotations

import torch
from torch import Tensor

FIRST_ROWS = 256


class KVCache:
    """Committed rows `[0, length)` of one text, and behind them the uncommitted rows of the last forward.

    Committed row r belongs to position r. Uncommitted rows are those of a drafted tree (or of a prompt's next
    piece); `commit` moves the ones that hold down to the committed length and forgets the others.
    Sliding-window layers keep all rows as well and slide by mask, so that they too can commit a tree.

    A layer's tensor is (2, kv_heads, rows, head_dim), keys first: one head's rows lie together, which is how
    attention reads them. It starts small and doubles up to ``capacity`` when rows are reserved, so a context
    of 128k tokens costs memory only as it fills, on systems too that count memory when it is allocated and
    not when it is touched.

    Args:
        layers: Number of layers.
        kv_heads: Key-value heads.
        head_dim: Width of a head.
        capacity: Most rows, committed and uncommitted together.
        dtype: Type of keys and values.
        device: Where they are.
        short_text_limit: LongRoPE: texts longer than this are rotated otherwise, from their first token on.

    Attributes:
        length: Committed rows.
        long_text: LongRoPE: whether the rows are those of a long text; `begin` decides it.
        can_commit_tree: Whether rows other than a prefix can be kept.
    """

    can_commit_tree = True

    def __init__(
        self,
        layers: int,
        kv_heads: int,
        head_dim: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
        short_text_limit: int | None = None,
    ) -> None:
        self.capacity = capacity
        self.length = 0
        self.long_text = False
        self._short_text_limit = short_text_limit
        self._rows = min(FIRST_ROWS, capacity)
        shape = (2, kv_heads, self._rows, head_dim)
        self._layers = [torch.empty(shape, dtype=dtype, device=device) for _ in range(layers)]

    @property
    def bytes(self) -> int:
        """Bytes that are allocated now."""
        return sum(layer.nbytes for layer in self._layers)

    @property
    def text_limit(self) -> int | None:
        """The longest text that rows of the present kind serve, drafts included; None: as long as there is room.

        A text that outgrows it (LongRoPE) calls `begin` and is prefilled again.
        """
        return None if self.long_text else self._short_text_limit

    def begin(self, text_length: int) -> int:
        """Announce a text of this many tokens, and learn how many of the rows still serve it.

        Only LongRoPE models care: all of a text's keys depend on whether it is long, as in transformers.

        Args:
            text_length: Tokens of the text, the part that the cache holds included.

        Returns:
            ``length`` after it: 0 where the rows were of the other kind, unchanged otherwise.
        """
        if self._short_text_limit is not None:
            long_text = text_length > self._short_text_limit
            if long_text != self.long_text:
                self.length = 0
            self.long_text = long_text
        return self.length

    def reserve(self, count: int) -> None:
        """Make room for ``count`` rows behind the committed ones. ValueError beyond the capacity."""
        needed = self.length + count
        if needed > self.capacity:
            raise ValueError(f"the cache holds {self.capacity} rows and {needed} are needed")
        if needed <= self._rows:
            return
        self._rows = min(self.capacity, max(needed, 2 * self._rows))
        for index, old in enumerate(self._layers):
            grown = old.new_empty((2, old.shape[1], self._rows, old.shape[3]))
            grown[:, :, : self.length] = old[:, :, : self.length]
            self._layers[index] = grown

    def store(self, layer: int) -> Tensor:
        """A layer's whole tensor (2, kv_heads, rows, head_dim), keys first, for who writes the new rows itself."""
        return self._layers[layer]

    def append(self, layer: int, keys: Tensor, values: Tensor, first_row: int = 0) -> tuple[Tensor, Tensor]:
        """Write the rows of a forward behind the committed ones; room was reserved before.

        Args:
            layer: Index of the layer.
            keys: (n, kv_heads, head_dim), rotated.
            values: (n, kv_heads, head_dim).
            first_row: Rows before this one are left out of what is returned (sliding windows).

        Returns:
            Keys and values of the committed and the new rows, views (kv_heads, length + n - first_row,
            head_dim).
        """
        store = self._layers[layer]
        end = self.length + len(keys)
        store[0, :, self.length : end] = keys.transpose(0, 1)
        store[1, :, self.length : end] = values.transpose(0, 1)
        both = store[:, :, first_row:end]
        return both[0], both[1]

    @torch.inference_mode()  # rows grown during a forward are inference tensors
    def commit(self, rows: Tensor) -> None:
        """Keep some of the uncommitted rows and forget the others.

        Args:
            rows: (k,) int64, indices among the rows of the last forward, from the root on in path order.
        """
        count = len(rows)
        if count == 0:
            return
        if not torch.equal(rows, torch.arange(count, device=rows.device)):
            source = rows.to(self._layers[0].device) + self.length
            for layer in self._layers:
                # index_select copies before anything is written, so overlapping rows are safe.
                layer[:, :, self.length : self.length + count] = layer.index_select(2, source)
        self.length += count

    def truncate(self, length: int) -> None:
        """Forget the committed rows from ``length`` on. ValueError when there are fewer."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot cut {self.length} rows to {length}")
        self.length = length
