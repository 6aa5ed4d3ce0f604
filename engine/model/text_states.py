"""Memory of a text in layers with a convolution, in place of keys and values: its inputs, and perhaps a state.

Gated DeltaNet and Mamba-2 have one.

A state is kept at a boundary, each `CHUNK` tokens, and of the tokens after it what they will add. So a row is
computed from its chunk's boundary and its own path after it alone, whatever else is in a forward, and the nodes of a
tree need no state each: the accepted path is added once its chunk is full.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.kernels import library
from engine.model.attention import Paths
from engine.model.config import DeltaNet, ModelConfig
from engine.model.delta import ChunkRows, NewRows, Sight, added, chain, solved

#: Tokens between two boundaries.
CHUNK = kernel.MEMORY_CHUNK
#: Rows of the widest draft; a longer chain is a piece of a prompt, of which all rows are committed or none.
MOST_KEPT = 64
#: Most and fewest states of a text that are kept beside the present one. A plan takes the most if memory has room, and
#: two are needed for the ends of a prompt and of its reply.
MOST_STATES, LEAST_STATES = 8, 2
# The same for layers with a convolution alone, whose inputs are small
_MOST_INPUTS = 64
# Tokens between two states of a long text
_EVERY_STATES, _EVERY_INPUTS = 2048, 256
# Tokens at the end of a prompt that the next one may lack: the head of a reply, and of a thought in it.
_TAIL = 8


@dataclass
class Frame:
    """Rows of a layer from a boundary on, all float32."""

    base: int  # tokens before the boundary
    inputs: Tensor  # (width + rows, channels) inputs of the convolution, of which ``width`` lie before the boundary
    state: Tensor | None = None  # (heads, key_dim, value_dim) at the boundary, or None for a convolution alone
    rows: ChunkRows | None = None  # rows after the boundary, or None

    @property
    def tensors(self) -> Iterator[Tensor]:
        """All tensors."""
        yield self.inputs
        if self.state is not None:
            yield self.state
        yield from _parts(self)

    @property
    def structure(self) -> kernel.Frame:
        """Structure for the library, which holds addresses only."""
        assert self.state is not None
        tensors = (self.inputs, self.state, *_parts(self))
        return kernel.Frame(self.base, *(tensor.data_ptr() for tensor in tensors))


@dataclass(frozen=True)
class _Sizes:
    """Memory of one layer."""

    device: torch.device
    channels: int
    width: int  # rows of a convolution before the row itself
    delta: DeltaNet | None

    def frame(self, base: int, rows: int) -> Frame:
        """Return a frame for so many rows, with nothing in it."""
        device, delta = self.device, self.delta
        inputs = torch.zeros(self.width + rows, self.channels, device=device)
        if delta is None:
            return Frame(base, inputs)
        found = ChunkRows(
            torch.empty(rows, delta.key_heads, delta.key_dim, device=device),
            torch.empty(rows, delta.heads, delta.value_dim, device=device),
            torch.empty(rows, delta.heads, device=device),
        )
        state = torch.zeros(delta.heads, delta.key_dim, delta.value_dim, device=device)
        return Frame(base, inputs, state, found)


def state_bytes(config: ModelConfig, states: int) -> int:
    """Return the most bytes that a layer with a convolution keeps of a text, apart from wider trees than a draft's.

    Args:
        states: States that are kept beside the present one; of convolutions alone `_MOST_INPUTS` are.
    """
    before, channels, delta = config.convolution - 1, config.channels, config.delta
    state = 0 if delta is None else delta.heads * delta.key_dim * delta.value_dim
    row = channels + (0 if delta is None else delta.keys + delta.values + delta.heads)
    # While a piece of a prompt is read, there are two more frames, with rows for its end.
    rows, kept = 3 * (before + CHUNK + 1) + MOST_KEPT, _MOST_INPUTS if delta is None else states
    return 4 * (rows * row + (3 + kept) * (state + before * channels))


@dataclass(frozen=True)
class _Crossing:
    """A state at a later boundary that some new row begins from."""

    parent: int | None  # the state before, as in `_Group`
    rows: Tensor  # (CHUNK,) rows that are added to it


@dataclass(frozen=True)
class _Group:
    """New rows of one chunk."""

    state: int | None  # index of the crossing that they begin from; None for the frame's own state
    earlier: Tensor  # (e,) rows of the chunk that are known
    new: Tensor  # (n,) indices among the new rows
    sight: Sight


@dataclass(frozen=True)
class Steps:
    """Places of the new rows of a text among those that are kept of it, for all layers of one device."""

    previous: Tensor  # (n, width) slots of the convolution's inputs before each row
    crossings: tuple[_Crossing, ...]
    groups: tuple[_Group, ...]


class TextStates:
    """States of one text in all layers that keep some.

    Args:
        devices: Device of each layer.
        to_layer: Moves indices from the host's memory to the device of a layer.
        most: States that are kept beside the present one, see `state_bytes`.
    """

    def __init__(
        self,
        config: ModelConfig,
        devices: Sequence[torch.device],
        to_layer: Callable[[Tensor, int], Tensor],
        most: int = MOST_STATES,
    ) -> None:
        self._to_layer = to_layer
        self._sizes = {
            layer: _Sizes(device, config.channels, config.convolution - 1, config.delta)
            for layer, device in enumerate(devices)
            if config.convolves(layer)
        }
        self._width, self._delta = config.convolution - 1, config.delta
        self.most = _MOST_INPUTS if config.delta is None else most
        self._snapshots: dict[int, dict[int, Frame]] = {}
        self._marks: frozenset[int] = frozenset()
        # For the library, once it has asked for a layer's; and whether frames have changed since
        self._memories: dict[int, kernel.TextMemory] = {}
        self._changed = False
        self.release()

    @property
    def bytes(self) -> int:
        """Bytes that are allocated now."""
        frames = [*self._frames.values(), *self._pending.values()]
        frames += [frame for both in self._prepared.values() for frame in both]
        frames += [
            frame for kept in (self._snapshots, self._taken) for each in kept.values() for frame in each.values()
        ]
        tensors = [*self._spare.values(), *(tensor for frame in frames for tensor in frame.tensors)]
        # A kept state may be the present one too.
        return sum({tensor.data_ptr(): tensor.nbytes for tensor in tensors}.values())

    def release(self) -> None:
        """Forget all states, and give back their memory."""
        self._rows, self._base, self._length, self._count = CHUNK + 1, 0, 0, 0
        self._long = False  # True if the present forward's rows are a piece of a prompt
        self._frames = {layer: sizes.frame(0, self._rows) for layer, sizes in self._sizes.items()}
        self._pending: dict[int, Frame] = {}  # of such a piece, up to the rows that are computed
        self._prepared: dict[int, tuple[Frame, Frame]] = {}  # the same where the library computes, by turns
        self._piece: list[int] = []  # boundaries in such a piece whose states are kept
        self._taken: dict[int, dict[int, Frame]] = {}
        self._spare: dict[int, Tensor] = {}  # states that nobody has any more
        self._snapshots.clear()
        self._changed = True

    @torch.inference_mode()
    def place(self, length: int, uncommitted: int, count: int, is_chain: bool) -> None:
        """Make room for ``count`` rows after the committed and some uncommitted ones."""
        self._forget_pending()
        if not uncommitted and length - self._base == CHUNK:
            self._advance(range(CHUNK), (), CHUNK)
        self._length, self._count = length, uncommitted + count
        self._long = is_chain and not uncommitted and count > MOST_KEPT
        if self._long:
            self._spare.clear()
            self._mark_piece()
        needed = CHUNK + 1 if self._long else length - self._base + uncommitted + count
        if needed > self._rows:
            self._grow(max(needed, min(2 * self._rows, CHUNK + MOST_KEPT + 1)), length - self._base + uncommitted)
        if self._memories and (self._changed or self._long):
            self._describe()

    def address(self, layer: int) -> int | None:
        """Return the address of a layer's frames for the library, which stays; None if there is no state."""
        if self._delta is None or layer not in self._sizes:
            return None
        if not self._memories:
            self._memories = {layer: kernel.TextMemory() for layer in self._sizes}
            self._describe()
        return ctypes.addressof(self._memories[layer])

    def _describe(self) -> None:
        """Describe the frames for the library."""
        self._changed = self._long
        end = (self._length + self._count - 1) // CHUNK * CHUNK
        marks = self._piece if self._long else []
        for layer, memory in self._memories.items():
            sizes = self._sizes[layer]
            memory.frames[0], memory.is_long, memory.marks = self._frames[layer].structure, self._long, len(marks)
            if not self._long:
                continue
            both = self._prepared[layer] = sizes.frame(end, CHUNK + 1), sizes.frame(end, CHUNK + 1)
            memory.current, memory.frames[1], memory.frames[2] = 0, *(frame.structure for frame in both)
            for at, mark in enumerate(marks):
                frame = self._taken.setdefault(mark, {}).setdefault(layer, sizes.frame(mark, 0))
                assert frame.state is not None
                memory.mark[at], memory.mark_inputs[at] = mark, frame.inputs.data_ptr()
                memory.mark_states[at] = frame.state.data_ptr()

    def _forget_pending(self) -> None:
        self._pending, self._prepared, self._taken, self._long = {}, {}, {}, False

    def _grow(self, rows: int, kept: int) -> None:
        for layer, sizes in self._sizes.items():
            old, frame = self._frames[layer], sizes.frame(self._base, rows)
            frame.inputs[: self._width + kept] = old.inputs[: self._width + kept]
            frame.state = old.state
            for target, source in zip(_parts(frame), _parts(old), strict=True):
                target[:kept] = source[:kept]
            self._frames[layer] = frame
        self._rows, self._changed = rows, True

    def steps(
        self,
        uncommitted: int,
        count: int,
        previous: Tensor,
        tree: Tensor | Paths | None,
        move: Callable[[Tensor], Tensor],
    ) -> Steps | None:
        """Settle from what each new row of a forward follows.

        Args:
            uncommitted: Uncommitted rows before them.
            count: New rows, n.
            previous: (n, width) rows of the text before each.
            tree: Uncommitted rows that each sees, as in `TextRows.mask`, in the host's memory.
            move: Moves tensors from there to the device of the layers.

        Returns:
            The steps, or None for a piece of a prompt, which is computed chunk by chunk.
        """
        if self._long:
            return None
        slots = move(previous - self._base + self._width)
        if self._delta is None:
            return Steps(slots, (), ())
        committed = self._length - self._base
        paths = list(_paths(committed, uncommitted, count, tree))
        crossings: list[_Crossing] = []
        known: dict[int, int] = {}

        def crossed(path: Sequence[int], begin: int) -> int | None:
            if not begin:
                return None
            if path[begin - 1] not in known:
                parent = crossed(path, begin - CHUNK)
                known[path[begin - 1]] = len(crossings)
                crossings.append(_Crossing(parent, move(torch.tensor(path[begin - CHUNK : begin]))))
            return known[path[begin - 1]]

        groups: dict[tuple[int, int | None], list[int]] = {}
        begins = [(len(path) - 1) // CHUNK * CHUNK for path in paths]
        for at, (path, begin) in enumerate(zip(paths, begins, strict=True)):
            groups.setdefault((begin, crossed(path, begin)), []).append(at)
        first = committed + uncommitted
        return Steps(
            slots,
            tuple(crossings),
            tuple(
                _group(state, rows, [paths[row][begin:] for row in rows], first, move)
                for (begin, state), rows in sorted(groups.items(), key=lambda one: one[0][0])
            ),
        )

    def span(self, layer: int, uncommitted: int, count: int, steps: Steps | None) -> Span:
        """Return the new rows of a layer, which follow so many uncommitted ones."""
        sizes, frame = self._sizes[layer], self._frames[layer]
        if not self._long:
            return Span(sizes, frame, frame, self._length - self._base + uncommitted, count, steps, {})
        source = self._pending[layer] if uncommitted else frame
        end = self._length + uncommitted + count
        target = sizes.frame((end - 1) // CHUNK * CHUNK, CHUNK + 1)
        marks = {
            mark: self._taken.setdefault(mark, {}).setdefault(layer, sizes.frame(mark, 0))
            for mark in self._piece
            if source.base < mark <= target.base
        }
        self._pending[layer] = target
        return Span(sizes, source, target, self._length + uncommitted - source.base, count, None, marks)

    @torch.inference_mode()
    def commit(self, rows: Sequence[int], keep: Sequence[int]) -> None:
        """Keep some of the uncommitted rows, in path order, and others uncommitted after them.

        Raises:
            ValueError: Some rows of a piece of a prompt are to be kept without the others.
        """
        if self._long:
            if len(keep) or len(rows) not in (0, self._count):
                raise ValueError(f"{len(rows)} of {self._count} rows of a prompt cannot be kept alone")
            if len(rows):
                self._base, self._rows = (self._length + self._count - 1) // CHUNK * CHUNK, CHUNK + 1
                for layer in self._frames:
                    self._frames[layer] = self._finished(layer)
                self._changed = True
                for mark, frames in sorted(self._taken.items()):
                    self._keep(mark, frames)
            self._forget_pending()
        elif len(rows) or len(keep):
            committed = self._length - self._base
            path = [*range(committed), *(committed + int(row) for row in rows)]
            self._advance(path, [committed + int(row) for row in keep], CHUNK + 1)
        self._length += len(rows)

    def _finished(self, layer: int) -> Frame:
        """Return the frame that a piece of a prompt has left."""
        return self._pending.get(layer) or self._prepared[layer][self._memories[layer].current - 1]

    def _advance(self, path: Sequence[int], keep: Sequence[int], full: int) -> None:
        """Move committed rows and those to keep to the front, and chunks into states while so many rows are left."""
        order = [*path, *keep]
        if order != list(range(len(order))):
            self._move(order)
        moved = 0
        while len(path) - moved >= full:
            for layer, frame in self._frames.items():
                if frame.state is not None and frame.rows is not None and self._delta is not None:
                    frame.state = self._added(self._delta, layer, frame.state, frame.rows, moved)
            moved += CHUNK
            self._base += CHUNK
            if self._keeps(self._base):
                self._keep(self._base, self._copied(moved))
        if moved:
            left = len(order) - moved
            for frame in self._frames.values():
                frame.base = self._base
                frame.inputs[: self._width + left] = frame.inputs[moved : moved + self._width + left].clone()
                for rows in _parts(frame):
                    rows[:left] = rows[moved : moved + left].clone()

    def _added(self, delta: DeltaNet, layer: int, state: Tensor, rows: ChunkRows, first: int) -> Tensor:
        """Return a layer's state after a chunk, by whoever computes the layer: both round otherwise."""
        functions = library.loaded() if self._memories else None
        if functions is None:
            return added(delta, state, rows[first : first + CHUNK])
        found = self._spare.pop(layer, None)
        found = torch.empty_like(state) if found is None else found
        sizes = kernel.Memory(delta.key_heads, delta.heads, delta.key_dim, delta.value_dim, tiled=delta.tiled)
        frame = self._frames[layer].structure
        threads = torch.get_num_threads()
        functions.tenon_add_chunk(ctypes.byref(sizes), ctypes.byref(frame), first, found.data_ptr(), threads)
        if all(kept[layer].state is not state for kept in self._snapshots.values()):
            self._spare[layer] = state
        self._changed = True
        return found

    def _move(self, order: Sequence[int]) -> None:
        """Move rows to the front, in this order."""
        first = next(at for at, row in enumerate(order) if row != at)  # the others are in place already
        for layer, frame in self._frames.items():
            chosen = self._to_layer(torch.tensor(order[first:]), layer)
            for rows in (frame.inputs[self._width :], *_parts(frame)):
                rows[first : len(order)] = rows.index_select(0, chosen)

    def reach(self, length: int) -> int:
        """Return how many of the first committed tokens are left if it is cut to ``length``."""
        return length if length >= self._base else max((at for at in self._snapshots if at <= length), default=0)

    @torch.inference_mode()
    def truncate(self, length: int) -> int:
        """Forget all after some committed tokens, or after a few less; return how many are left.

        A text goes back within its chunk, else to a kept state.
        """
        self._forget_pending()
        for position in [position for position in self._snapshots if position > length]:
            del self._snapshots[position]
        if length < self._base:
            length = self._go_to_last()
        self._length = length
        return length

    def _go_to_last(self) -> int:
        """Make the last kept state the present one, or the empty text's; return its position."""
        self._changed = True
        position = self._base = max(self._snapshots, default=0)
        kept = self._snapshots.get(position)
        for layer, frame in self._frames.items():
            frame.base = position
            if kept is None:
                frame.inputs.zero_()
                frame.state = None if frame.state is None else torch.zeros_like(frame.state)
            else:
                frame.inputs[: self._width] = kept[layer].inputs
                frame.state = kept[layer].state  # a state is never changed, only replaced
        return position

    def kept(self) -> dict[int, list[Tensor]]:
        """Return what each kept state consists of, and the one at the last boundary, by their positions."""
        present = {self._base: self._copied(0)} if self._base else {}
        return {at: _whole(frames) for at, frames in sorted({**present, **self._snapshots}.items())}

    def put(self, position: int, fill: Callable[[list[Tensor]], None]) -> None:
        """Keep a state that a function fills, in tensors as `kept` has them; `restore` goes on from it."""
        frames = {layer: sizes.frame(position, 0) for layer, sizes in self._sizes.items()}
        fill(_whole(frames))
        self._keep(position, frames)

    @torch.inference_mode()
    def restore(self, length: int) -> int:
        """Go on from the last kept state up to some tokens, if it is later than the text's end; return that end."""
        self._forget_pending()
        self._snapshots = {position: frames for position, frames in self._snapshots.items() if position <= length}
        if max(self._snapshots, default=0) > self._length:
            self._length = self._go_to_last()
        return self._length

    def expect(self, ends: Sequence[int]) -> None:
        """Keep states for texts that begin like the present one or like the next prompt.

        Args:
            ends: Tokens of the prompt up to the end of each of its messages, and up to its own end; not empty.
        """
        tail = max(ends[-1] - _TAIL, 0)
        self._marks = frozenset(end // CHUNK * CHUNK for end in (*ends[:-1], tail))
        if self._base and self._base not in self._snapshots:
            self._keep(self._base, self._copied(0))

    def _mark_piece(self) -> None:
        """Settle the boundaries in a piece of a prompt whose states are kept, at most two; drop states in their favour.

        So a text never has more states than a plan counts, and a piece that is given up costs one or two of them.
        """
        end = (self._length + self._count - 1) // CHUNK * CHUNK
        marks = [mark for mark in range(self._base + CHUNK, end + 1, CHUNK) if self._keeps(mark)]
        first_stays = min(len(self._snapshots), 1)
        self._piece = [*marks[:1], *marks[1:][-1:]][first_stays - self.most :]
        left = self.most - len(self._piece)
        self._snapshots = {at: self._snapshots[at] for at in useful(self._snapshots, max(left, 2))[:left]}

    def _keeps(self, position: int) -> bool:
        every = _EVERY_INPUTS if self._delta is None else _EVERY_STATES
        return position in self._marks or position % every == 0

    def _copied(self, row: int) -> dict[int, Frame]:
        """Return the present states at the boundary, before a row."""
        return {
            layer: Frame(self._base, frame.inputs[row : row + self._width].clone(), frame.state)
            for layer, frame in self._frames.items()
        }

    def _keep(self, position: int, frames: dict[int, Frame]) -> None:
        """Keep the states of a position, and drop those of the least useful position if there are too many."""
        self._snapshots[position] = frames
        self._snapshots = {at: self._snapshots[at] for at in useful(self._snapshots, self.most)}


def useful(positions: Iterable[int], most: int) -> list[int]:
    """Return the positions of a text whose states are of most use, in order.

    The first and the last position stay: other chats begin alike, and the next turn goes on from the end. The
    others are closer together towards the end, where texts are edited most.

    Args:
        positions: Tokens before each state.
        most: Most positions, at least 2.
    """
    each = sorted(positions)
    while len(each) > most:
        worth = {each[at]: (each[at + 1] - each[at - 1]) / sqrt(each[-1] - each[at]) for at in range(1, len(each) - 1)}
        each.remove(min(worth, key=worth.__getitem__))
    return each


@dataclass(frozen=True)
class Span:
    """New rows of a text in one layer."""

    sizes: _Sizes
    source: Frame
    target: Frame  # the source itself, but for a piece of a prompt
    first: int  # rows of the source before the new ones
    count: int
    steps: Steps | None  # None for a piece of a prompt
    marks: dict[int, Frame]  # frames that take the states at some boundaries on the way

    def convolve(self, inputs: Tensor, kernel: Tensor) -> Tensor:
        """Convolve inputs, which are kept.

        Args:
            inputs: (n, channels) float32.
            kernel: (channels, k), the weight of the row itself last.

        Returns:
            (n, channels).
        """
        width, first = self.sizes.width, self.first
        taps = kernel.t()
        if self.steps is not None:
            self.source.inputs[width + first : width + first + self.count] = inputs
            found = self.source.inputs[self.steps.previous]
            mixed = inputs * taps[-1]
            for place in range(width):
                mixed = mixed + found[:, place] * taps[place]
            return mixed
        whole = torch.cat((self.source.inputs[: width + first], inputs))
        left = whole[self.target.base - self.source.base :]
        self.target.inputs[: len(left)] = left
        for mark, frame in self.marks.items():
            frame.inputs.copy_(whole[mark - self.source.base : mark - self.source.base + width])
        mixed = inputs * taps[-1]
        for place in range(width):
            mixed = mixed + whole[first + place : first + place + self.count] * taps[place]
        return mixed

    def remember(self, new: NewRows) -> Tensor:
        """Return the (n, heads, value_dim) results of new rows, as `solved` takes them, which are kept."""
        delta, state, kept = self.sizes.delta, self.source.state, self.source.rows
        assert delta is not None
        assert state is not None
        assert kept is not None
        if self.steps is None:
            return self._read(delta, state, kept[: self.first], new)
        results = torch.empty_like(new.values)
        states: list[Tensor] = []
        crossings = iter(self.steps.crossings)
        for group in self.steps.groups:
            while group.state is not None and len(states) <= group.state:
                crossing = next(crossings)
                before = state if crossing.parent is None else states[crossing.parent]
                states.append(added(delta, before, kept[crossing.rows]))
            begin = state if group.state is None else states[group.state]
            found, rows = solved(delta, begin, kept[group.earlier], new[group.new], group.sight)
            results[group.new] = found
            for target, own in zip(_fields(kept), _fields(rows), strict=True):
                target[self.first + group.new] = own
        return results

    def _read(self, delta: DeltaNet, state: Tensor, earlier: ChunkRows, new: NewRows) -> Tensor:
        results, start, base = [], 0, self.source.base
        while start < self.count:
            if len(earlier.keys) == CHUNK:
                state, base, earlier = added(delta, state, earlier), base + CHUNK, earlier[:0]
                if base in self.marks:
                    self.marks[base].state = state
            stop = min(self.count, start + CHUNK - len(earlier.keys))
            sight = chain(len(earlier.keys), stop - start, state.device)
            found, rows = solved(delta, state, earlier, new[start:stop], sight)
            results.append(found)
            earlier = ChunkRows(*map(torch.cat, zip(_fields(earlier), _fields(rows), strict=True)))
            start = stop
        self.target.state = state
        for target, own in zip(_parts(self.target), _fields(earlier), strict=True):
            target[: len(own)] = own
        return torch.cat(results)


def _whole(frames: dict[int, Frame]) -> list[Tensor]:
    """Return inputs and states of all layers at a boundary."""
    return [part for frame in frames.values() for part in (frame.inputs, frame.state) if part is not None]


def _fields(rows: ChunkRows) -> tuple[Tensor, Tensor, Tensor]:
    return rows.keys, rows.values, rows.decays


def _parts(frame: Frame) -> tuple[Tensor, ...]:
    return () if frame.rows is None else _fields(frame.rows)


def _paths(committed: int, uncommitted: int, count: int, tree: Tensor | Paths | None) -> Iterator[Sequence[int]]:
    """Yield each new row's path from the boundary on, its own row included."""
    if tree is None:
        yield from (range(committed + uncommitted + row + 1) for row in range(count))
        return
    for row in range(count):
        if isinstance(tree, Paths):
            own = tree.rows[row, : int(tree.depths[row])].tolist()
        else:
            own = tree[row].nonzero()[:, 0].tolist()
        yield [*range(committed), *(committed + one for one in own)]


def _group(
    state: int | None,
    rows: Sequence[int],
    paths: Sequence[Sequence[int]],
    first: int,
    move: Callable[[Tensor], Tensor],
) -> _Group:
    """Return new rows of one chunk, given their paths within it; rows from ``first`` on are new."""
    place = {first + row: at for at, row in enumerate(rows)}
    earlier: dict[int, int] = {}
    for path in paths:
        for row in path:
            if row < first:
                earlier.setdefault(row, len(earlier))
    seen = torch.zeros(len(rows), len(earlier), dtype=torch.bool)
    tree = torch.zeros(len(rows), len(rows), dtype=torch.bool)
    last = torch.full((len(rows),), -1)
    for at, path in enumerate(paths):
        old = [earlier[row] for row in path if row < first]
        seen[at, old] = True
        tree[at, [place[row] for row in path if row >= first]] = True
        if old:
            last[at] = old[-1]
    sight = Sight(move(seen), move(tree), move(last))
    return _Group(state, move(torch.tensor(list(earlier), dtype=torch.long)), move(torch.tensor(rows)), sight)
