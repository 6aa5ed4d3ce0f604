"""The forward pass: tokens in, logits out, keys and values into the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.model.attention import Paths, StepMask, step_mask
from engine.model.block import Rotation, block
from engine.model.config import ModelConfig
from engine.model.fused_layer import FusedLayer, FusedStep, fused_step
from engine.model.fused_model import FusedModel
from engine.model.kv_cache import KVCache
from engine.model.layer import LayerWeights, OnWait, Side, WeightSource, no_work
from engine.model.next_rows import NextRows
from engine.model.rope import RopeTable
from engine.model.row_runs import RowRuns

# A layer comes in as many guises as a ring has buffers, and making the structure takes 0.1 ms.
_FUSED_KEPT = 4
# The widest draft's.
_SHORT_WAY_ROWS = 64


@dataclass(frozen=True)
class Output:
    """Results of a forward.

    Attributes:
        logits: (rows asked for, V) float32.
        hidden: (n, h), behind the final norm: what the head maps.
        layer_inputs: For each layer asked for, its input (n, h); the number of layers names the head's, ``hidden``.
    """

    logits: Tensor
    hidden: Tensor
    layer_inputs: dict[int, Tensor] = field(default_factory=dict)


class Decoder:
    """A decoder-only transformer over weights that a `WeightSource` supplies layer by layer.

    Attributes:
        home: The side of embedding and head.
    """

    def __init__(self, config: ModelConfig, source: WeightSource) -> None:
        self.config = config
        self.source = source
        self.home = source.home
        self._sides = [source.side(index) for index in range(config.layers)]
        self._ropes = {
            side: [RopeTable(rope, side.activations, side.device) for rope in config.ropes]
            for side in {self.home, *self._sides}
        }
        self._fused: dict[int, list[tuple[LayerWeights, FusedLayer | None]]] = {}
        self._whole, self._end = self._fused_models()
        scale = config.embedding_scale
        # Gemma rounds the factor to the weights' type.
        self._embedding_scale = None if scale is None else torch.tensor(scale, dtype=source.dtype).item()
        self._next_rows = None
        if self._whole is not None:
            ropes = self._ropes[self.home]
            self._next_rows = NextRows(
                self._whole, source.embedding, ropes, self._embedding_scale, _SHORT_WAY_ROWS
            )

    def new_cache(
        self,
        capacity_tokens: int,
        to_device: Callable[[Tensor], Tensor] | None = None,
    ) -> KVCache:
        """An empty cache for texts of this many tokens, rows of a draft included; for ``to_device`` see `KVCache`."""
        config = self.config
        return KVCache(
            config.layers,
            config.kv_heads,
            config.head_dim,
            capacity_tokens,
            self.source.cache_dtype,
            self.source.device,
            short_text_limit=next(
                (rope.original_context for rope in config.ropes if rope.long_frequencies), None
            ),
            elsewhere=[side for side in self._sides if side != self.home],
            carry=self.source.carry,
            to_device=to_device,
            far_rows=self.source.new_far_rows(capacity_tokens),
        )

    @torch.inference_mode()
    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        cache: KVCache,
        mask: Tensor | Paths | None = None,
        logit_rows: Tensor | slice | None = None,
        check: Callable[[], None] | None = None,
        hidden_layers: tuple[int, ...] = (),
        uncommitted: int = 0,
        on_wait: OnWait = no_work,
        row_runs: RowRuns | None = None,
        embeddings: Tensor | None = None,
    ) -> Output:
        """Run new tokens behind the committed ones; the cache's length does not change.

        Each new token sees every committed row and the uncommitted rows that ``mask`` allows, both within the layer's
        sliding window by position. What it writes to the cache stays uncommitted until `KVCache.commit`, and
        the next forward overwrites all of it but the first ``uncommitted`` rows.

        Args:
            tokens: (n - p,) int64.
            positions: (n,) int64; siblings of a tree share one. Committed row r is at position r.
            cache: From `new_cache`.
            mask: (n, uncommitted + n) bool, True where new row i sees uncommitted row j, its own included, or the
                same as paths, in the host's memory; None for a chain that continues all of them.
            logit_rows: Rows to compute logits for; None for all, ``slice(-1, None)`` for the last,
                ``slice(0, 0)`` for none.
            check: Called before each layer, and each run of it; raises to cancel, which leaves the cache as it was.
            hidden_layers: Layers whose input is wanted too; the number of layers stands for the head.
            uncommitted: Rows of earlier forwards that stay uncommitted and that the new rows build upon: a tree
                drafted level by level computes each node once.
            on_wait: Called while a layer's weights are on their way; see `OnWait`.
            row_runs: Cuts the rows of a chain into runs within each layer; None computes all of them at once.
            embeddings: (p, h) rows behind those of the tokens, which enter the first layer as they are; None for none.

        Raises:
            ValueError: The cache has no room for n rows, or holds fewer than ``uncommitted`` uncommitted ones.
        """
        config, source = self.config, self.source
        tokens, positions = tokens.to(source.device), positions.to(source.device)
        if isinstance(mask, Tensor):
            mask = mask.to(source.device)
        runs = _Runs(self, positions, uncommitted, mask, cache)
        hidden = source.embedding(tokens).to(source.dtype)
        if self._embedding_scale is not None:
            hidden = hidden * self._embedding_scale
        if embeddings is not None:
            hidden = torch.cat((hidden, embeddings.to(hidden)))
        inputs: dict[int, Tensor] = {}
        whole, steps = self._whole, []
        if whole is None or row_runs is not None:
            whole = self._end
            hidden = self._run_layers(hidden, runs, cache, check, hidden_layers, inputs, on_wait, row_runs)
        else:
            if check is not None:
                check()
            view = runs.view(self.home, slice(0, len(positions)))
            steps = [view.step(window, rope) for window, rope in whole.kinds]
        if whole is not None:
            in_one = (
                logit_rows if isinstance(logit_rows, slice) else slice(0 if logit_rows is not None else None)
            )
            hidden, logits, found = whole(hidden, steps, cache, in_one, hidden_layers, check)
            inputs |= found
        else:
            hidden = source.final_norm(hidden)
        if whole is None or isinstance(logit_rows, Tensor):
            logits = source.head(hidden if logit_rows is None else hidden[logit_rows]).float()
        if config.layers in hidden_layers:
            inputs[config.layers] = hidden
        return Output(self._capped(logits), hidden, inputs)

    def read_next(
        self,
        tokens: Sequence[int],
        cache: KVCache,
        check: Callable[[], None],
        place: int | None = None,
        paths: Paths | None = None,
    ) -> Tensor | None:
        """Forward of a few tokens behind the committed ones, bit for bit as in `forward`; see `NextRows`.

        Args:
            tokens: (n) ids.
            cache: From `new_cache`.
            check: Called between layers where a forward takes long; raises to cancel.
            place: Address of (n, h) float32 for what the head maps; None where nobody wants it.
            paths: Which of these rows each sees, as in `forward`; None for a chain.

        Returns:
            (n, V) float32 logits, valid until the next call. None where this decoder has no shorter way than `forward`.
        """
        if self._next_rows is None or len(tokens) > self._next_rows.most:
            return None
        check()
        logits, _ = self._next_rows(tokens, cache, check, place=place, paths=paths)
        return self._capped(logits)

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Map rows of `Output.hidden`, (n, h), to (n, V) float32: those that a forward left out."""
        return self._capped(self.source.head(hidden).float())

    def _capped(self, logits: Tensor) -> Tensor:
        cap = self.config.logit_soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def _run_layers(
        self,
        hidden: Tensor,
        runs: _Runs,
        cache: KVCache,
        check: Callable[[], None] | None,
        hidden_layers: tuple[int, ...],
        inputs: dict[int, Tensor],
        on_wait: OnWait,
        row_runs: RowRuns | None,
    ) -> Tensor:
        """Layer by layer; see `forward`. Puts the wanted inputs into ``inputs``, and returns the last one's output."""
        config, source = self.config, self.source

        def waiting() -> bool:
            if check is not None:
                check()
            return on_wait()

        home = here = self.home
        for index, (window, rope) in enumerate(zip(config.windows, config.layer_ropes, strict=True)):
            if index in hidden_layers:
                carried = self._carry(hidden, here, home)
                # A fused layer changes the hidden state in place.
                inputs[index] = carried.clone() if carried is hidden else carried
            side = self._sides[index]
            if side != here:
                hidden, here = self._carry(hidden, here, side), side
            weights = source.layer(index, waiting)
            fused = self._fused_layer(index, weights, side)
            for rows in runs.of(row_runs):
                if check is not None:
                    check()
                view = runs.view(side, rows)
                if fused is not None:
                    fused(view.step(window, rope), cache.store(index), hidden[rows])
                    continue
                rotation = None if rope is None else view.rotations[rope]
                computed = block(config, weights, index, hidden[rows], rotation, view.mask(window), cache)
                if row_runs is None:
                    hidden = computed
                else:
                    hidden[rows] = computed
        return self._carry(hidden, here, home)

    def rotations(self, side: Side, positions: Tensor, long_text: bool) -> list[Rotation]:
        """The rows of each rope's table for these positions, (n,) int64 on that side."""
        last = int(positions if len(positions) == 1 else positions.max())
        tables = self._ropes[side]
        for table in tables:
            table.reserve(last + 1)
        return [table.rows(positions, long_text) for table in tables]

    def _carry(self, hidden: Tensor, here: Side, there: Side) -> Tensor:
        """Hidden states on their way to another side, in the smaller of both types."""
        if there == here:
            return hidden
        if there.activations.itemsize < hidden.dtype.itemsize:
            hidden = hidden.to(there.activations)
        return self.source.carry(hidden, there).to(there.activations)

    def _fused_models(self) -> tuple[FusedModel | None, FusedModel | None]:
        """The whole model, where all of it is in memory and the library's to compute, and its end alone."""
        config, source = self.config, self.source
        end = FusedModel.made_of(config, (), source.final_norm, source.head)
        layers = source.resident_layers
        if end is None or len(layers) != config.layers:
            return None, end
        fused = [FusedLayer.made_of(config, layer, self.home.cache) for layer in layers]
        if any(layer is None for layer in fused):
            return None, end
        found = [layer for layer in fused if layer is not None]
        return FusedModel.made_of(config, found, source.final_norm, source.head), end

    def _fused_layer(self, index: int, weights: LayerWeights, side: Side) -> FusedLayer | None:
        """The layer for the kernel library, made when its weights are seen first; None where it cannot run there."""
        known = self._fused.setdefault(index, [])
        for seen, fused in known:
            if seen is weights:
                return fused
        known.insert(0, (weights, FusedLayer.made_of(self.config, weights, side.cache)))
        del known[_FUSED_KEPT:]
        return known[0][1]


class _Runs:
    """The rows of a forward, all at once or run by run; the views of a run are kept for the next layer."""

    def __init__(
        self,
        decoder: Decoder,
        positions: Tensor,
        uncommitted: int,
        tree: Tensor | Paths | None,
        cache: KVCache,
    ) -> None:
        self._decoder = decoder
        self._positions = positions
        self._uncommitted = uncommitted
        self._tree = tree
        self._cache = cache
        self._row_positions = cache.place(positions, uncommitted)
        self._views: dict[tuple[Side, int, int], _View] = {}

    def of(self, row_runs: RowRuns | None) -> Iterator[slice]:
        """The runs of a layer, each with its place in the cache."""
        if row_runs is None or self._tree is not None:
            yield slice(0, len(self._positions))
            return
        for rows in row_runs.runs(len(self._positions)):
            self._cache.place(self._positions[rows], self._uncommitted + rows.start)
            yield rows

    def view(self, side: Side, rows: slice) -> _View:
        """A run as the layers of a side need it."""
        key = (side, rows.start, rows.stop)
        if key not in self._views:
            home = self._decoder.home
            if side == home:
                seen = self._row_positions[: self._uncommitted + rows.stop]
                self._views[key] = _View(
                    self._decoder, side, seen, rows.stop - rows.start, self._tree, self._cache
                )
            else:
                self._views[key] = self.view(home, rows).seen_from(side)
        return self._views[key]


class _View:
    """One forward as the layers of one side need it: rotations of the new rows, and who sees whom."""

    def __init__(
        self,
        decoder: Decoder,
        side: Side,
        positions: Tensor,
        count: int,
        tree: Tensor | Paths | None,
        cache: KVCache,
    ) -> None:
        self._decoder = decoder
        self._side = side
        self._positions = positions
        self._count = count
        self._tree = tree
        self._cache = cache
        self._masks: dict[int | None, StepMask] = {}
        self._steps: dict[tuple[int | None, int | None], FusedStep] = {}
        self.rotations = decoder.rotations(side, positions[-count:], cache.long_text)

    def mask(self, window: int | None) -> StepMask:
        """For layers of this window."""
        if window not in self._masks:
            tree = self._tree
            self._masks[window] = step_mask(
                self._positions,
                self._count,
                self._mask_of(tree),
                self._cache.length,
                window,
                self._side.cache,
                self._decoder.config.group,
            )
        return self._masks[window]

    def step(self, window: int | None, rope: int | None) -> FusedStep:
        """For fused layers of this window and this rotation."""
        if (window, rope) not in self._steps:
            rotation = None if rope is None else self.rotations[rope]
            uncommitted = len(self._positions) - self._count
            cache = self._cache
            self._steps[window, rope] = fused_step(
                self._count, self._tree, cache.store(-1), cache.length, uncommitted, window, rotation
            )
        return self._steps[window, rope]

    def _mask_of(self, tree: Tensor | Paths | None) -> Tensor | None:
        if not isinstance(tree, Paths):
            return tree
        return tree.mask(len(self._positions)).to(self._positions.device)

    def seen_from(self, side: Side) -> _View:
        """The same forward for another side."""
        carry = self._decoder.source.carry
        tree = self._mask_of(self._tree)
        tree = None if tree is None else carry(tree, side)
        return _View(self._decoder, side, carry(self._positions, side), self._count, tree, self._cache)
