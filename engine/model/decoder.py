"""The forward pass: tokens in, logits out, keys and values into the cache."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from engine.kernels.layer import stores
from engine.model.attention import Ends, Paths, step_mask
from engine.model.block import block, previous_rows
from engine.model.config import ModelConfig
from engine.model.fused_layer import FusedLayer, FusedStep, FusedText, fused_step, fused_text
from engine.model.fused_model import FusedModel
from engine.model.kv_cache import KVCache, SeenRows, Side
from engine.model.layer import EnteringRows, FirstLayers, LayerWeights, OnWait, WeightSource, no_work
from engine.model.linear import Norm
from engine.model.next_rows import NextRows, NextText
from engine.model.rope import RopeTable, Rotation, joined_rotations
from engine.model.text_states import MOST_STATES, Steps, TextStates

_FIRST_ROWS = 16
_MOST_ROWS = 512

# rows of the widest draft
_SHORT_WAY_ROWS = 64


class RowRuns:
    """Cuts a layer's rows into runs, each as long as a cancel may wait, whatever the machine and the model.

    A prompt has to pass weights that are read from the disk in few large pieces; if it is cut within the layers,
    such a piece can still be stopped in time.

    Args:
        goal_s: Limit of a run's time. Runs double while they take less than half of it.
    """

    def __init__(self, goal_s: float) -> None:
        self._goal_s = goal_s
        self.rows = _FIRST_ROWS

    def runs(self, count: int) -> Iterator[slice]:
        """Yield the runs of ``count`` rows, one after the other; the caller's work between two of them is timed."""
        start = 0
        while start < count:
            rows = slice(start, min(count, start + self.rows))
            begun = time.perf_counter()
            yield rows
            self._learn(rows.stop - start, time.perf_counter() - begun)
            start = rows.stop

    def _learn(self, rows: int, seconds: float) -> None:
        if seconds > self._goal_s:
            self.rows = max(rows // 2, 1)
        elif seconds < self._goal_s / 2 and rows == self.rows:
            self.rows = min(rows * 2, _MOST_ROWS)


@dataclass(frozen=True)
class Output:
    """Results of a forward."""

    logits: Tensor  # (rows asked for, V) float32
    hidden: Tensor  # (n, h) rows after the final norm: the head's input
    # Input (n, h) of each layer asked for; the number of layers stands for the head's input, ``hidden``
    layer_inputs: dict[int, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class TextRows:
    """New rows of one text in a forward: n rows, p of them without a token."""

    tokens: Tensor  # (n,) int64, below 0 for a row without a token
    positions: Tensor  # (n,) int64; siblings of a tree share one. Committed row r is at position r.
    cache: KVCache  # A cache from `Decoder.new_cache`
    # (n, uncommitted + n) bool, True where new row i sees uncommitted row j, its own included, or the same as
    # paths or ends, in the host's memory; None for a chain that continues all of them
    mask: Tensor | Paths | Ends | None = None
    # Uncommitted rows of earlier forwards that stay and that the new rows build upon: a tree drafted level by
    # level computes each node once
    uncommitted: int = 0
    # (p, h) rows of those without a token, which enter the first layer unchanged; None for none. Of (p, h * k) the
    # further h columns are added to what the first layers give, layer by layer (DeepStack, arXiv 2406.04334)
    embeddings: Tensor | None = None
    # Positions by which rows are turned, (n,) or (3, n) int64, if they are others (M-RoPE); see `RopeTable.rows`
    turned: Tensor | None = None


class Decoder:
    """A decoder-only transformer over weights that a `WeightSource` supplies layer by layer."""

    def __init__(self, config: ModelConfig, source: WeightSource) -> None:
        self.config = config
        self.source = source
        self.home = source.home  # the side of embedding and head
        self._layers = [config.of_layer(index) for index in range(config.layers)]
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
        self._embedding_norm = None
        if config.family.normed_embedding:
            ones = torch.ones(config.hidden_size, device=source.device)
            self._embedding_norm = Norm(ones, config.norm_epsilon)
        self._next_rows = None
        if self._whole is not None:
            ropes = self._ropes[self.home]
            self._next_rows = NextRows(
                self._whole, source.embedding, ropes, self._embedding_scale, _SHORT_WAY_ROWS, source.inputs
            )

    def new_cache(
        self,
        capacity_tokens: int,
        to_device: Callable[[Tensor], Tensor] | None = None,
        states: int = MOST_STATES,
    ) -> KVCache:
        """Return an empty cache.

        Args:
            capacity_tokens: Tokens of its texts, drafts included.
            to_device: See `KVCache`.
            states: States that are kept beside the present one, where the model has some.
        """
        config = self.config

        def to_layer(rows: Tensor, layer: int) -> Tensor:
            side = self._sides[layer]
            if side != self.home:
                return self.source.carry(rows, side)
            return rows.to(side.device) if to_device is None else to_device(rows)

        first = self.source.first
        shapes = [None] * (0 if first is None else first.count)
        return KVCache(
            [*shapes, *config.cache_shapes[len(shapes) :]],
            capacity_tokens,
            self.source.cache_dtype,
            self.source.device,
            short_text_limit=next((rope.original_context for rope in config.ropes if rope.long_frequencies), None),
            elsewhere=[side for side in self._sides if side != self.home],
            carry=self.source.carry,
            to_device=to_device,
            far_rows=self.source.new_far_rows(capacity_tokens),
            parts=config.cache_parts,
            states=TextStates(config, [side.device for side in self._sides], to_layer, states)
            if config.convolution
            else None,
            beside=None if first is None else first.new_rows(),
        )

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        cache: KVCache,
        mask: Tensor | Paths | Ends | None = None,
        logit_rows: Tensor | slice | None = None,
        check: Callable[[], None] | None = None,
        hidden_layers: tuple[int, ...] = (),
        uncommitted: int = 0,
        on_wait: OnWait = no_work,
        row_runs: RowRuns | None = None,
        embeddings: Tensor | None = None,
    ) -> Output:
        """Run the rows of one text; for the arguments see `TextRows` and `forward_together`."""
        rows = TextRows(tokens, positions, cache, mask, uncommitted, embeddings)
        return self.forward_together([rows], logit_rows, check, hidden_layers, on_wait, row_runs)

    @torch.inference_mode()
    def forward_together(
        self,
        texts: Sequence[TextRows],
        logit_rows: Tensor | slice | None = None,
        check: Callable[[], None] | None = None,
        hidden_layers: tuple[int, ...] = (),
        on_wait: OnWait = no_work,
        row_runs: RowRuns | None = None,
    ) -> Output:
        """Run new rows of some texts after each one's committed ones; the caches' lengths do not change.

        Each new row sees every committed row of its text and the uncommitted rows that the mask allows, both within
        the layer's sliding window by position. The row that it writes to the cache stays uncommitted until
        `KVCache.commit`, and the next forward overwrites all but the first ``uncommitted`` rows.

        Args:
            texts: At least one, each with a cache of its own; n is the number of all their rows.
            logit_rows: Rows to compute logits for; None for all, ``slice(-1, None)`` for the last,
                ``slice(0, 0)`` for none.
            check: Called before each layer, and each run of it; raises to cancel, which leaves the caches as they were.
            hidden_layers: Layers whose input is wanted too; the number of layers stands for the head.
            on_wait: Called while a layer's weights are on their way; see `OnWait`.
            row_runs: Cuts the rows of chains into runs within each layer; None computes all of them at once.

        Raises:
            ValueError: A cache has no room for its rows, or holds fewer than ``uncommitted`` uncommitted ones.
        """
        config, source = self.config, self.source
        runs = _Runs(self, texts)
        hidden = self._embedded(texts)
        entering = self._layer_inputs(texts, hidden)
        inputs: dict[int, Tensor] = {}
        whole, steps, added = self._whole, [], self._added(texts)
        if whole is None or row_runs is not None or added is not None:
            whole = self._end
            hidden = self._run_layers(hidden, entering, runs, check, hidden_layers, inputs, on_wait, row_runs, added)
        else:
            if check is not None:
                check()
            view = runs.view(self.home, runs.whole)
            steps = [view.step(window, rope, entering) for window, rope in whole.kinds]
        if whole is not None:
            in_one = logit_rows if isinstance(logit_rows, slice) else slice(0 if logit_rows is not None else None)
            caches = [text.cache for text in texts]
            hidden, logits, found = whole(hidden, steps, caches, in_one, hidden_layers, check)
            inputs |= found
        else:
            hidden = source.final_norm(hidden)
        if whole is None or isinstance(logit_rows, Tensor):
            logits = source.head(hidden if logit_rows is None else hidden[logit_rows]).float()
        if config.layers in hidden_layers:
            inputs[config.layers] = hidden
        return Output(self._capped(logits), hidden, inputs)

    def _embedded(self, texts: Sequence[TextRows]) -> Tensor:
        """Return the (n, h) rows that enter the first layer."""
        source = self.source
        tokens = texts[0].tokens if len(texts) == 1 else torch.cat([text.tokens for text in texts])
        tokens = tokens.to(source.device)
        given = [text.embeddings for text in texts if text.embeddings is not None]
        hidden = source.embedding(tokens.clamp(min=0) if given else tokens).to(source.dtype)
        if self._embedding_norm is not None:
            hidden = self._embedding_norm(hidden)
        if self._embedding_scale is not None:
            hidden = hidden * self._embedding_scale
        if given:
            hidden[tokens < 0] = torch.cat([rows[:, : hidden.shape[1]].to(hidden) for rows in given])
        return hidden

    def _added(self, texts: Sequence[TextRows]) -> tuple[Tensor, Tensor] | None:
        """Return (p,) rows to which the first layers' results something is added, and (p, h * layers) that; or None."""
        places, added, start, width = [], [], 0, self.config.hidden_size
        for text in texts:
            if text.embeddings is not None and text.embeddings.shape[1] > width:
                places.append(start + (text.tokens < 0).nonzero()[:, 0])
                added.append(text.embeddings[:, width:])
            start += len(text.tokens)
        return (torch.cat(places), torch.cat(added)) if places else None

    def _layer_inputs(self, texts: Sequence[TextRows], hidden: Tensor) -> Tensor | None:
        """Return the (n, layers, p) inputs of each layer beside the (n, h) rows that enter the first, or None."""
        make = self.source.inputs
        if make is None:
            return None
        tokens = torch.cat([text.tokens for text in texts])
        # Rows of pictures have the inputs of token 0, the others without a token have none of a token.
        entering, given = make(tokens.clamp(min=0).tolist(), hidden), tokens == -1
        if given.any():
            entering[given] = make.projected(hidden[given])
        return entering.contiguous()

    @property
    def most_next(self) -> int:
        """Most rows that `read_next` takes; 0 if this decoder has no shorter way than `forward`."""
        return 0 if self._next_rows is None else self._next_rows.most

    def read_next(self, texts: Sequence[NextText], check: Callable[[], None]) -> Tensor:
        """Run a few tokens after the committed ones of some texts, bit for bit as `forward` does.

        Args:
            texts: At most `most_next` tokens in all, n.
            check: Called between layers if a forward takes long; raises to cancel.

        Returns:
            (n, V) float32 logits, valid until the next call.
        """
        assert self._next_rows is not None, "it has a short way"
        check()
        logits, _ = self._next_rows(texts, check)
        return self._capped(logits)

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Map rows of `Output.hidden`, (n, h), to (n, V) float32 logits, for rows that a forward left out."""
        return self._capped(self.source.head(hidden).float())

    def _capped(self, logits: Tensor) -> Tensor:
        cap = self.config.logit_soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def _run_layers(
        self,
        hidden: Tensor,
        entering: Tensor | None,
        runs: _Runs,
        check: Callable[[], None] | None,
        hidden_layers: tuple[int, ...],
        inputs: dict[int, Tensor],
        on_wait: OnWait,
        row_runs: RowRuns | None,
        added: tuple[Tensor, Tensor] | None,
    ) -> Tensor:
        """Run all layers, see `forward`; put the wanted inputs into ``inputs`` and return the last layer's output."""
        config, source = self.config, self.source
        home = here = self.home

        def waiting() -> bool:
            if check is not None:
                check()
            return on_wait()

        first = 0 if source.first is None else source.first.count
        if source.first is not None:
            stops = sorted({first, *(index for index in hidden_layers if index < first)})
            inputs |= zip(stops, self._run_first(source.first, hidden, entering, runs, stops, check), strict=True)
            hidden = inputs.pop(first)
        for index in range(first, config.layers):
            window, rope = config.windows[index], config.layer_ropes[index]
            if index in hidden_layers:
                carried = self._carry(hidden, here, home)
                # A fused layer changes the hidden state in place.
                inputs[index] = carried.clone() if carried is hidden else carried
            side = self._sides[index]
            if side != here:
                hidden, here = self._carry(hidden, here, side), side
            weights = source.layer(index, waiting)
            fused = self._fused_layer(index, weights, side)
            for run in runs.of(row_runs):
                if check is not None:
                    check()
                view, rows = runs.view(side, run), run.rows
                given = None if entering is None else entering[rows]
                if fused is not None:
                    fused(view.step(window, rope, given), view.caches, index, hidden[rows])
                    continue
                rotation = None if rope is None else view.rotations[rope]
                shape = self._layers[index]
                if given is not None:
                    given = self._carry(given[:, index], home, side)
                seen = view.seen(window, shape.group)
                computed = block(shape, weights, index, hidden[rows], rotation, seen, inputs=given)
                if row_runs is None:
                    hidden = computed
                else:
                    hidden[rows] = computed
            if added is not None and (index + 1) * config.hidden_size <= added[1].shape[1]:
                own = slice(index * config.hidden_size, (index + 1) * config.hidden_size)
                hidden[added[0].to(hidden.device)] += added[1][:, own].to(hidden)
        return self._carry(hidden, here, home)

    def _run_first(
        self,
        first: FirstLayers,
        hidden: Tensor,
        entering: Tensor | None,
        runs: _Runs,
        stops: Sequence[int],
        check: Callable[[], None] | None,
    ) -> Iterator[Tensor]:
        """Yield the inputs (n, h) of some layers that compute by themselves, and the output of the last one."""
        found, start = [], 0
        for text in map(runs.seen, runs.whole.parts):
            rows = slice(start, start + text.count)
            inputs, start = None if entering is None else entering[rows], rows.stop
            before = len(text.positions) - text.count
            new = EnteringRows(hidden[rows], inputs, text.positions, text.cache, text.mask, before)
            found.append(first.forward(new, stops, check or (lambda: None)))
        yield from map(torch.cat, zip(*found, strict=True))

    def rotations(self, side: Side, positions: Tensor, long_text: bool) -> list[Rotation]:
        """Return the rows of each rope's table for positions of one kind of text as `RopeTable.rows` takes them."""
        last = int(positions if positions.numel() == 1 else positions.max())
        tables = self._ropes[side]
        for table in tables:
            table.reserve(last + 1)
        return [table.rows(positions, long_text) for table in tables]

    def _carry(self, hidden: Tensor, here: Side, there: Side) -> Tensor:
        """Carry hidden states to another side, in the smaller of both types."""
        if there == here:
            return hidden
        if there.activations.itemsize < hidden.dtype.itemsize:
            hidden = hidden.to(there.activations)
        return self.source.carry(hidden, there).to(there.activations)

    def _fused_models(self) -> tuple[FusedModel | None, FusedModel | None]:
        """Return the whole model, if all of it is in memory and the library can compute it, and its end alone."""
        config, source = self.config, self.source
        end = FusedModel.made_of(config, (), source.final_norm, source.head)
        layers = source.resident_layers
        if end is None or len(layers) != config.layers:
            return None, end
        fused = [
            FusedLayer.made_of(own, layer, self.home.cache) for own, layer in zip(self._layers, layers, strict=True)
        ]
        if any(layer is None for layer in fused):
            return None, end
        found = [layer for layer in fused if layer is not None]
        return FusedModel.made_of(config, found, source.final_norm, source.head), end

    def _fused_layer(self, index: int, weights: LayerWeights, side: Side) -> FusedLayer | None:
        """Return the kernel library's layer, made when its weights are first seen, or None if it cannot run there."""
        known = self._fused.setdefault(index, [])
        for seen, fused in known:
            if seen is weights:
                return fused
        made = FusedLayer.made_of(self._layers[index], weights, side.cache)
        known.insert(0, (weights, made))
        del known[self.source.layers_kept :]
        return made


@dataclass(frozen=True)
class _Part:
    """Rows of one text within a run."""

    text: int
    rows: slice  # of the text's


@dataclass(frozen=True)
class _Run:
    """Rows that a layer computes in one go."""

    rows: slice  # of the forward's
    parts: tuple[_Part, ...]

    @property
    def key(self) -> tuple[int, int]:
        return self.rows.start, self.rows.stop


class _Runs:
    """The rows of a forward, all at once or run by run; the views of a run are kept for the next layer."""

    def __init__(self, decoder: Decoder, texts: Sequence[TextRows]) -> None:
        self._decoder = decoder
        device = decoder.source.device
        self._texts = [
            replace(
                text,
                positions=text.positions.to(device),
                mask=text.mask.to(device) if isinstance(text.mask, Tensor) else text.mask,
                turned=None if text.turned is None else text.turned.to(device),
            )
            for text in texts
        ]
        self._row_positions = [
            text.cache.place(text.positions, text.uncommitted, text.mask is None) for text in self._texts
        ]
        self._counts = [len(text.positions) for text in texts]
        parts = tuple(_Part(index, slice(0, count)) for index, count in enumerate(self._counts))
        self.whole = _Run(slice(0, sum(self._counts)), parts)
        self._views: dict[tuple[Side, tuple[int, int]], _View] = {}
        self._cut: set[int] = set()  # texts whose caches have the place of a part of their rows

    def of(self, row_runs: RowRuns | None) -> Iterator[_Run]:
        """Yield the runs of a layer, each with its place in the caches: chains are cut if need be, trees are not."""
        if row_runs is None or (len(self._texts) == 1 and self._texts[0].mask is not None):
            yield self.whole
            return
        together: list[_Part] = []
        start = done = 0
        for part, text in zip(self.whole.parts, self._texts, strict=True):
            count = part.rows.stop
            if len(self._texts) > 1 and (text.mask is not None or count <= row_runs.rows):
                if part.text in self._cut:  # runs have become longer since the layer before
                    text.cache.begin_run(text.uncommitted)
                    self._cut.remove(part.text)
                together.append(part)
                done += count
                continue
            if together:
                yield _Run(slice(start, done), tuple(together))
                together = []
            self._cut.add(part.text)
            for rows in row_runs.runs(count):
                text.cache.begin_run(text.uncommitted + rows.start)
                yield _Run(slice(done + rows.start, done + rows.stop), (_Part(part.text, rows),))
            start = done = done + count
        if together:
            yield _Run(slice(start, done), tuple(together))

    def view(self, side: Side, run: _Run) -> _View:
        """Return a run as the layers of a side need it."""
        key = side, run.key
        if key not in self._views:
            home = self._decoder.home
            if side == home:
                seen = [self.seen(part) for part in run.parts]
                self._views[key] = _View(self._decoder, side, seen)
            else:
                self._views[key] = self.view(home, run).seen_from(side)
        return self._views[key]

    def seen(self, part: _Part) -> _SeenText:
        """Return the rows of a text within a run."""
        text, rows = self._texts[part.text], part.rows
        positions = self._row_positions[part.text][: text.uncommitted + rows.stop]
        turned = None if text.turned is None else text.turned[..., rows]
        return _SeenText(text.cache, positions, rows.stop - rows.start, text.mask, turned)


@dataclass(frozen=True)
class _SeenText:
    """Rows of one text for the layers of one side: the ``count`` new ones are the last of the uncommitted ones."""

    cache: KVCache
    positions: Tensor
    count: int
    tree: Tensor | Paths | Ends | None
    turned: Tensor | None  # as in `TextRows`, of the new rows

    @property
    def turned_positions(self) -> Tensor:
        return self.positions[-self.count :] if self.turned is None else self.turned

    def within(self, window: int | None) -> _SeenText:
        """Return the same for layers of a window."""
        chain = window is None and isinstance(self.tree, Ends) and self.tree.windows_alone
        return replace(self, tree=None) if chain else self

    @property
    def mask(self) -> Tensor | None:
        tree = self.tree
        if not isinstance(tree, Paths | Ends):
            return tree
        return tree.mask(len(self.positions)).to(self.positions.device)


class _View:
    """Some rows as the layers of one side need them: their rotations, and which rows see which."""

    def __init__(self, decoder: Decoder, side: Side, texts: Sequence[_SeenText]) -> None:
        self._decoder = decoder
        self._side = side
        self._texts = texts
        self._seen: dict[tuple[int | None, int], list[SeenRows]] = {}
        self._steps: dict[tuple[int | None, int | None], FusedStep] = {}
        self._fused: dict[bool, list[FusedText]] = {}  # by whether layers see all positions
        self.rotations = self._rotations()  # rotations of the new rows, for each rope

    @cached_property
    def caches(self) -> ctypes.Array[ctypes.c_void_p]:
        """Addresses of the texts' caches, for fused layers."""
        return stores([text.cache.addresses for text in self._texts])

    def seen(self, window: int | None, group: int) -> list[SeenRows]:
        """Return what rows see in layers of this window, with so many query heads for each key-value head."""
        if (window, group) not in self._seen:
            self._seen[window, group] = [
                SeenRows(
                    text.count,
                    step_mask(
                        text.positions,
                        text.count,
                        text.within(window).mask,
                        text.cache.length,
                        window,
                        self._side.cache,
                        group,
                    ),
                    text.cache,
                    own,
                )
                for text, own in zip(self._texts, self._text_steps, strict=True)
            ]
        return self._seen[window, group]

    @cached_property
    def _text_steps(self) -> list[Steps | None]:
        """Steps of each text in layers that keep a state: the rows that its rows follow."""
        width, found = self._decoder.config.convolution, list[Steps | None]()
        home, source = self._decoder.home, self._decoder.source

        def move(tensor: Tensor) -> Tensor:
            return tensor.to(home.device) if self._side == home else source.carry(tensor, self._side)

        for text in self._texts:
            steps, states = None, text.cache.states
            if states is not None:
                pending, tree = len(text.positions) - text.count, text.mask
                tree = None if tree is None else tree.cpu()
                rows = previous_rows(text.cache.length, pending, text.count, tree, width - 1)
                sees = text.tree if isinstance(text.tree, Paths) else tree
                steps = states.steps(pending, text.count, rows, sees, move)
            found.append(steps)
        return found

    def step(self, window: int | None, rope: int | None, inputs: Tensor | None = None) -> FusedStep:
        """Return the step for fused layers of this window and rope; (n, layers, p) ``inputs`` are the layers' own."""
        if (window, rope) not in self._steps:
            rotation = None if rope is None else self.rotations[rope]
            dtype = self._texts[0].cache.any_store.dtype
            whole = window is None
            if whole not in self._fused:
                self._fused[whole] = [
                    fused_text(
                        *(text.count, text.within(window).tree, text.cache.any_store, text.cache.length),
                        len(text.positions) - text.count,
                    )
                    for text in self._texts
                ]
            self._steps[window, rope] = fused_step(self._fused[whole], dtype, window, rotation, inputs)
        return self._steps[window, rope]

    def _rotations(self) -> list[Rotation]:
        texts, rotations = self._texts, self._decoder.rotations
        new = [text.turned_positions for text in texts]
        if len({(text.cache.long_text, own.dim()) for text, own in zip(texts, new, strict=True)}) == 1:
            positions = new[0] if len(new) == 1 else torch.cat(new, -1)
            return rotations(self._side, positions, texts[0].cache.long_text)
        each = [rotations(self._side, own, text.cache.long_text) for text, own in zip(texts, new, strict=True)]
        return [joined_rotations(one) for one in zip(*each, strict=True)]

    def seen_from(self, side: Side) -> _View:
        """Return the same rows for another side."""
        carry = self._decoder.source.carry
        texts = []
        for text in self._texts:
            tree = text.tree if isinstance(text.tree, Ends) else text.mask
            tree = carry(tree, side) if isinstance(tree, Tensor) else tree
            turned = None if text.turned is None else carry(text.turned, side)
            texts.append(replace(text, positions=carry(text.positions, side), tree=tree, turned=turned))
        return _View(self._decoder, side, texts)
