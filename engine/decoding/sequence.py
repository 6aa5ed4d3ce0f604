"""The text of one request and the model that verifies it: rows are asked of the target, computed and taken."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from engine.decoding.text_pictures import TextPictures
from engine.decoding.worth import SharedForwards
from engine.drafting.kind import DraftText
from engine.model.decoder import Decoder, Output, RowRuns, TextRows
from engine.model.kv_cache import KVCache, shared_tokens
from engine.model.layer import OnWait, no_work
from engine.model.next_rows import NextText
from engine.model.text_states import MOST_STATES
from engine.model.token_tree import Draft
from engine.text.pictures import whole_runs
from engine.vision.seen_picture import PictureRows

_NOTHING = torch.empty(0)
# Rows that one block of memory holds.
_ROWS = 256
#: A chunk of the prompt grows while a layer takes less than this, so that a cancel, which is checked between
#: layers, is seen well within 300 ms on any machine.
LAYER_GOAL_S = 0.08
_FIRST_PIECE = 16
_LARGEST_PIECE = 512


@dataclass
class AskedRows:
    """A root and its draft, or a piece of a prompt."""

    sequence: TokenSequence  # the text
    tokens: Sequence[int]  # (n,) ids of the root and the draft's nodes, or of the piece
    draft: Draft | None = None  # guesses after the root; None for a piece of a prompt
    ends_prompt: bool = False  # True if the piece is the prompt's last, whose last row's logits are wanted
    # (N,) chance of each node that the target gets to it, none above the one before; empty if the whole draft
    # is to be verified
    chances: Sequence[float] = ()
    # Makes the draft, on any thread, and returns a function to call with it on the loop's thread; None once
    # it is made
    make_draft: Callable[[], Callable[[], None]] | None = None
    on_wait: OnWait = no_work  # called while weights are on their way; see `engine.model.layer.OnWait`
    # (k, V) float32, once the forward is over: row 0 after the root and row i + 1 after node i, or the one
    # row after a prompt. Valid until the next forward
    logits: Tensor = field(default_factory=lambda: _NOTHING)
    seconds: float = 0.0  # time of the forward
    waited_s: float = 0.0  # part of that time that went by for weights
    beside: int = 0  # rows of other texts in the forward

    @property
    def rows(self) -> int:
        """Number of rows, a draft's probes included."""
        return len(self.tokens) if self.draft is None else self.draft.rows

    @property
    def logit_rows(self) -> range:
        """Indices of the rows whose logits are wanted."""
        if self.draft is not None:
            return range(len(self.tokens))
        return range(len(self.tokens) - 1 if self.ends_prompt else len(self.tokens), len(self.tokens))

    def made(self) -> None:
        """Make the draft if it is not made yet."""
        make, self.make_draft = self.make_draft, None
        if make is not None:
            make()()

    def cut(self, count: int) -> None:
        """Ask only for the first nodes of the draft, or the first tokens of the piece, with all of a picture."""
        if self.draft is not None:
            self.draft = self.draft.first(count)
            self.tokens = (self.tokens[0], *self.draft.tokens)
        elif (whole := self.sequence.piece_end(self.tokens, count)) < len(self.tokens):
            self.tokens, self.ends_prompt = self.tokens[:whole], False


class HiddenRows:
    """Hidden rows of a text's last tokens, in order.

    Rows of small forwards stay where they were put: between two forwards of a small model one call of torch takes a
    hundredth of a forward's time.

    Args:
        width: Numbers in a row of such a forward.
    """

    def __init__(self, width: int) -> None:
        self._pieces: list[Tensor] = []
        self._memory = torch.empty(0, width)
        self._address, self._row_bytes = 0, self._memory.itemsize * width
        # of the memory's rows: those that are in pieces or taken already, and all that were kept
        self._begun = self._kept = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def address(self, rows: int) -> int:
        """Return the address for the rows of a small forward; the next one may overwrite rows that are not kept."""
        if self._kept + rows > len(self._memory):
            self._cut()
            self._memory = torch.empty(max(_ROWS, rows), self._memory.shape[1])
            self._address, self._begun, self._kept = self._memory.data_ptr(), 0, 0
        return self._address + self._kept * self._row_bytes

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these of the rows at the last address, in rising order: they are the text's next ones."""
        first = self._address + self._kept * self._row_bytes
        for at, row in enumerate(rows):
            if row != at:
                ctypes.memmove(first + at * self._row_bytes, first + row * self._row_bytes, self._row_bytes)
        self._kept += len(rows)
        self._count += len(rows)

    def add(self, rows: Tensor) -> None:
        """Add the text's next rows, which come from elsewhere."""
        self._cut()
        self._pieces.append(rows)
        self._count += len(rows)

    def take(self) -> list[Tensor]:
        """Return all rows since the last call, in pieces."""
        self._cut()
        taken, self._pieces, self._count = self._pieces, [], 0
        return taken

    def _cut(self) -> None:
        if self._kept > self._begun:
            self._pieces.append(self._memory[self._begun : self._kept])
            self._begun = self._kept


class Target:
    """State shared by the sequences of one model.

    Args:
        decoder: The model.
        fallback: Makes the same model without the device that some of its layers compute on, after that device
            failed; takes what torch raised. None if there is no such device.
    """

    def __init__(self, decoder: Decoder, fallback: Callable[[RuntimeError], Decoder] | None = None) -> None:
        self.row_runs = RowRuns(LAYER_GOAL_S)  # cutter of the prompt's pieces within the layers
        self.width = SharedForwards()  # divider of forwards that replies share
        self.config = decoder.config  # config of the model
        self.decoder: Decoder | None = decoder  # the model; None from a failure until a sequence goes on
        self._fallback = fallback
        self._failure: RuntimeError | None = None

    def compute(self, asked: Sequence[AskedRows], check: Callable[[], None]) -> None:
        """Run one forward over the rows of some texts, which then have their logits.

        Args:
            asked: At least one, and only one for each text; pieces of prompts come first.
            check: Called between layers; raises to stop, which leaves the texts as they were.
        """
        for one in asked:
            one.made()
            one.sequence.settle(one, check)
        begun, decoder = time.perf_counter(), self.settled_decoder()
        waited_s = decoder.source.waited_s
        count = sum(one.rows for one in asked)
        if not self._read_next(decoder, asked, count, check):
            self._forward(asked, count, check)
        waited_s, seconds = decoder.source.waited_s - waited_s, time.perf_counter() - begun
        for one in asked:
            one.seconds, one.waited_s, one.beside = seconds, waited_s, count - one.rows

    def _read_next(self, decoder: Decoder, asked: Sequence[AskedRows], count: int, check: Callable[[], None]) -> bool:
        """Compute the rows in the decoder's shorter way; return False if it has none for them."""
        if count > decoder.most_next:
            return False
        texts = []
        for one in asked:
            text = one.sequence.next_text(one)
            if text is None:
                return False
            texts.append(text)
        logits = decoder.read_next(texts, check)
        first = 0
        for one in asked:
            one.sequence.computed_in_place()
            one.logits = logits if len(asked) == 1 else logits[first : first + one.rows]
            first += one.rows
        return True

    def _forward(self, asked: Sequence[AskedRows], count: int, check: Callable[[], None]) -> None:
        places, start = [], 0
        for one in asked:
            places.append(slice(start, start + one.rows))
            start += one.rows
        wanted = [place.start + row for one, place in zip(asked, places, strict=True) for row in one.logit_rows]
        in_one = not wanted or wanted[-1] - wanted[0] == len(wanted) - 1
        first, last = (wanted[0], wanted[-1] + 1) if wanted else (count, count)
        hidden_layers = tuple(sorted({layer for one in asked for layer in one.sequence.hidden_layers}))
        reads = any(one.draft is None for one in asked)

        def run() -> Output:
            decoder = self.settled_decoder()
            return decoder.forward_together(
                [one.sequence.text_rows(one) for one in asked],
                slice(first, last) if in_one else torch.tensor(wanted),
                check,
                hidden_layers,
                _all_of([one.on_wait for one in asked]),
                self.row_runs if reads and decoder.source.streamed_bytes else None,
            )

        output = None
        try:
            output = run()
        except RuntimeError as error:
            # Torch raises it when a device is lost, when it is full, or when a kernel fails there.
            self.fail(error)
        if output is None:
            for one in asked:
                one.sequence.settle(one, check)
            output = run()
        rows = iter(torch.split(output.logits, [len(one.logit_rows) for one in asked]))
        for one, place in zip(asked, places, strict=True):
            one.logits = next(rows)
            one.sequence.computed(one, output, place)

    def settled_decoder(self) -> Decoder:
        """Return the decoder; after a failure another one, whose caches hold nothing yet."""
        if self.decoder is None:
            assert self._fallback is not None
            assert self._failure is not None
            self.decoder = self._fallback(self._failure)
            self._failure = self._fallback = None
        return self.decoder

    def fail(self, error: RuntimeError) -> None:
        """Note what torch raised when a device was lost or full, or raise it if there is no fallback."""
        if self._fallback is None:
            raise error
        # Its traceback would hold on to the memory of that device.
        self._failure, self.decoder = error.with_traceback(None), None


def _all_of(on_wait: Sequence[OnWait]) -> OnWait:
    """Return a function that takes a step of each one's work."""
    if len(on_wait) == 1:
        return on_wait[0]
    return lambda: sum(one() for one in on_wait) > 0


class PromptReading:
    """Reads the part of a prompt that a text's cache does not hold yet.

    Args:
        sequence: The text.
        prompt: Token ids that begin with what the cache holds.
        progress: Called with tokens done and tokens in all.
        on_wait: Called while weights are on their way; see `engine.model.layer.OnWait`.
    """

    def __init__(
        self,
        sequence: TokenSequence,
        prompt: Sequence[int],
        progress: Callable[[int, int], None],
        on_wait: OnWait = no_work,
    ) -> None:
        self._sequence = sequence
        self._prompt = prompt
        self._progress = progress
        self._on_wait = on_wait
        # Weights that come from the disk are passed as seldom as possible, and the pieces are cut within the
        # layers.
        self._piece = _LARGEST_PIECE if sequence.streams else _FIRST_PIECE
        progress(len(sequence.token_ids), len(prompt))

    def ask(self) -> AskedRows:
        """Return the rows of the next piece."""
        start = len(self._sequence.token_ids)
        left = len(self._prompt) - start
        # a short rest would be a forward of its own, which reads and decodes all weights again
        piece = left if left <= min(self._piece * 3 // 2, _LARGEST_PIECE) else self._piece
        ids = self._prompt[start : self._sequence.piece_end(self._prompt, start + piece)]
        ends = start + len(ids) == len(self._prompt)
        return AskedRows(self._sequence, ids, ends_prompt=ends, on_wait=self._on_wait)

    def take(self, asked: AskedRows) -> bool:
        """Take in a piece that was read; return whether it was the last."""
        sequence, count = self._sequence, len(asked.tokens)
        sequence.commit(asked.tokens, range(count))
        self._progress(len(sequence.token_ids), len(self._prompt))
        if not sequence.streams and count == self._piece:
            layer_s = asked.seconds / sequence.layers
            if layer_s < LAYER_GOAL_S / 2:
                self._piece = min(self._piece * 2, _LARGEST_PIECE)
            elif layer_s > LAYER_GOAL_S:
                self._piece = max(self._piece // 2, 1)
        return asked.ends_prompt


def _copy(sources: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)


class TokenSequence:
    """One text: its tokens, the cache of their rows, and the hidden rows that its drafter needs.

    A target decodes several of them in the same forwards. Each lives on between the replies of a conversation.
    """

    def __init__(
        self,
        target: Target,
        context: int,
        drafts: Sequence[DraftText] = (),
        states: int = MOST_STATES,
        ends: Collection[int] = (),
    ) -> None:
        """Set up an empty cache.

        Args:
            target: Target that all texts share.
            context: Tokens of the cache.
            drafts: Makers of drafters from each loaded draft's state for the text, in the order of the model's drafts.
            states: States that are kept of the text, where the model has some; see `TextStates`.
            ends: Tokens that end a message, where states are kept.
        """
        self.target = target
        self._decoder = target.settled_decoder()
        self._new_cache = partial(Decoder.new_cache, capacity_tokens=context, states=states)
        self._cache = self._new_cache(self._decoder)
        self._ends = frozenset(ends)
        self.context = context
        self.drafts = tuple(drafts)
        self.token_ids: list[int] = []  # committed tokens, one for each row of the cache
        self.hidden_layers: tuple[int, ...] = ()  # layers whose input rows are wanted, see `reuse`
        self._hidden_from = 0
        self._last_hidden: Tensor | None = None
        self._hidden = HiddenRows(target.config.hidden_size)
        self._restored = 0  # tokens whose rows came from the disk, as long as nothing followed them
        self._in_place = False  # True if the last forward's hidden rows are where they would be kept
        self._verified_rows: Tensor | None = None
        self._pictures = TextPictures({})  # pictures of the prompt while a reply needs them

    @property
    def cache(self) -> KVCache:
        """Cache of the text; another one after a device has failed."""
        return self._cache

    @property
    def cache_bytes(self) -> int:
        """Bytes that its cache takes now."""
        return self._cache.bytes

    def release(self) -> None:
        """Give back the cache's memory; the text is read again when it goes on."""
        self._cache.release()

    @property
    def free(self) -> int:
        """Rows that still fit into the cache."""
        return self.context - len(self.token_ids)

    @property
    def streams(self) -> bool:
        """True if forwards read weights from the disk."""
        return self._decoder.source.streamed_bytes > 0

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self._decoder.config.layers

    @property
    def draft_room(self) -> int:
        """Most rows that a draft may have beside its root's."""
        limit = self._cache.text_limit
        return max(0, (self.context if limit is None else min(limit, self.context)) - len(self.token_ids) - 1)

    def see(self, pictures: Mapping[int, PictureRows], prompt: Sequence[int]) -> list[PictureRows]:
        """Keep the pictures of the next prompt until its reply has ended; it is called without any then.

        Returns:
            Runs of rows that have to be read.
        """
        self._pictures = TextPictures(pictures)
        if not pictures:
            return []
        kept, states = whole_runs(prompt, shared_tokens(self.token_ids, prompt[:-1])), self._cache.states
        kept = min(kept, self._cache.length)
        return self._pictures.among(prompt[kept if states is None else states.reach(kept) :])

    def piece_end(self, tokens: Sequence[int], end: int) -> int:
        """Return the end of a piece of tokens as `TextPictures.piece_end` puts it."""
        return self._pictures.piece_end(tokens, end)

    def reuse(self, prompt: Sequence[int], hidden_layers: tuple[int, ...] = (), hidden_from: int = 0) -> int:
        """Keep the longest prefix that the cache and the prompt share, cut the rest, and return its length.

        The prompt's last token is never taken from the cache, since its logits are needed. Nor are tokens whose
        hidden rows are wanted but were not left here by the reply before; of tokens that came from the disk they are
        zeros, with which a head guesses worse, and no token changes.

        Args:
            prompt: Token ids.
            hidden_layers: Layers whose input rows `take_hidden` is to hand over, see `Decoder.forward`; none for no
                rows.
            hidden_from: The first position whose rows are wanted.
        """
        left = self.take_hidden() if hidden_layers == self.hidden_layers else None
        self.hidden_layers, self._hidden_from = hidden_layers, hidden_from
        self._last_hidden, self._in_place = None, False
        self._hidden.take()
        # first of the rows that are left; they go on to the last token
        first = len(self.token_ids) - (0 if left is None else len(left))
        lacking, restored = hidden_layers and hidden_from < first, self._restored == first
        self._restored = 0
        kept = self._cut(prompt, hidden_from if lacking and not restored else len(prompt))
        self._cache.expect([at + 1 for at, token in enumerate(prompt) if token in self._ends] + [len(prompt)])
        if lacking and kept > hidden_from:
            self._hidden.add(self._hidden_rows(kept - hidden_from))
        elif left is not None and kept > hidden_from >= first:
            self._hidden.add(left[hidden_from - first : kept - first])
        return kept

    def _cut(self, prompt: Sequence[int], most: int) -> int:
        shared = whole_runs(prompt, min(shared_tokens(self.token_ids, prompt[:-1]), most))
        # The cache holds less than the text if a device failed to commit.
        self._cache.truncate(min(shared, self._cache.length))
        kept = self._cache.begin(len(prompt))
        del self.token_ids[kept:]
        return kept

    def cut(self, prompt: Sequence[int]) -> KVCache:
        """Keep what cache and prompt share, without hidden rows; return the cache, to put more of the prompt there."""
        self.hidden_layers = ()
        self._hidden.take()
        self._cut(prompt, len(prompt))
        return self._cache

    @torch.inference_mode()
    def take_rows(self, other: TokenSequence, prompt: Sequence[int]) -> None:
        """Copy rows and states that another text of the target shares with a prompt, beyond those of this text."""
        cache, theirs = self.cut(prompt), other.cache
        alike = other._decoder is self._decoder and theirs.long_text == cache.long_text
        if not alike or cache.beside is not None:  # which has no rows to copy
            return
        start = len(self.token_ids)
        shared = whole_runs(prompt, min(shared_tokens(other.token_ids, prompt[:-1]), theirs.length))
        if cache.states is not None and theirs.states is not None:
            states = {at: parts for at, parts in theirs.states.kept().items() if start < at <= shared}
            shared = max(states, default=start)
            for at, parts in states.items():
                cache.states.put(at, partial(_copy, parts))
        if shared <= start:
            return
        _copy(theirs.rows(start, shared), cache.rows(start, shared))
        self.restored(prompt[:shared])

    def restored(self, tokens: Sequence[int]) -> None:
        """Count rows that were put into the cache after `cut`.

        Args:
            tokens: Tokens of all rows, those that the text has already included.
        """
        kept = self._cache.restore(len(tokens))
        self.token_ids = list(tokens[:kept])
        self._restored = kept

    def prefill(
        self,
        prompt: Sequence[int],
        check: Callable[[], None],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Tensor:
        """Read the part of a prompt that is not in the cache yet, by itself.

        Args:
            prompt: Token ids that begin with what the cache holds.
            check: Called between layers; raises to stop. What was read until then stays in the cache.
            progress: Called with tokens done and tokens in all.

        Returns:
            (V,) float32 logits after the prompt's last token.
        """
        reading = PromptReading(self, prompt, progress)
        while True:
            asked = reading.ask()
            self.target.compute([asked], check)
            if reading.take(asked):
                return asked.logits[0]

    def verify(self, root: int, draft: Draft, check: Callable[[], None]) -> Tensor:
        """Run one forward over the root and the draft, by itself.

        Args:
            root: The token that was emitted last.
            draft: Guesses of the tokens after it.
            check: Called between layers; raises to stop.

        Returns:
            (N + 1, V) float32 logits: row 0 after the root, row i + 1 after node i. Valid until the next call.
            Logits after probes wait for the verdict, see `probe_logits`.
        """
        asked = AskedRows(self, (root, *draft.tokens), draft)
        self.target.compute([asked], check)
        return asked.logits

    def settle(self, asked: AskedRows, check: Callable[[], None]) -> None:
        """Make the cache ready for rows; the text may have to be read again, elsewhere or because it is longer."""
        if self.target.decoder is not self._decoder:
            self._decoder = self.target.settled_decoder()
            long_text = self._cache.long_text
            self._cache = self._new_cache(self._decoder)
            self._cache.long_text = long_text
        if self._cache.length < len(self.token_ids):
            self._read_again(check)
        if asked.draft is None:
            return
        limit = self._cache.text_limit
        if limit is not None and len(self.token_ids) + 1 > limit:
            self._begin_long_text(check)

    def next_text(self, asked: AskedRows) -> NextText | None:
        """Return the rows for the decoder's shorter way, or None if they need the other one."""
        draft = asked.draft
        # the only hidden rows that this way gives are the head's input
        if draft is None or len(draft.probes) or self.hidden_layers not in ((), (self.layers,)):
            return None
        place = self._hidden.address(draft.rows) if self.hidden_layers else None
        return NextText(asked.tokens, self._cache, draft.paths, place, self._shift())

    def text_rows(self, asked: AskedRows) -> TextRows:
        """Return the rows for a whole forward."""
        base, draft = len(self.token_ids), asked.draft
        if draft is None:
            return self._piece_rows(asked.tokens)
        probes = len(draft.probes.nodes)
        tokens = torch.tensor((*asked.tokens, *(-1,) * probes), dtype=torch.long)
        positions = torch.tensor([base + depth for depth in draft.row_depths], dtype=torch.long)
        embeddings = draft.probes.embeddings if probes else None
        shift = self._shift()
        turned = positions - shift if shift else None
        return TextRows(tokens, positions, self._cache, draft.paths, embeddings=embeddings, turned=turned)

    def _shift(self) -> int:
        return self._pictures.shift(self.token_ids, len(self.token_ids))

    def _piece_rows(self, piece: Sequence[int]) -> TextRows:
        base = len(self.token_ids)
        tokens = torch.tensor(piece, dtype=torch.long)
        positions = torch.arange(base, base + len(piece))
        return self._pictures.put_into(TextRows(tokens, positions, self._cache), self.token_ids, piece)

    def computed_in_place(self) -> None:
        """Note that the rows described by `next_text` are computed."""
        self._last_hidden, self._in_place = None, bool(self.hidden_layers)

    def computed(self, asked: AskedRows, output: Output, rows: slice) -> None:
        """Take in the results for the rows described by `text_rows`."""
        self._last_hidden, self._in_place = None, False
        if self.hidden_layers:
            inputs = [output.layer_inputs[layer][rows] for layer in self.hidden_layers]
            self._last_hidden = inputs[0] if len(inputs) == 1 else torch.cat(inputs, 1)
        has_probes = asked.draft is not None and asked.draft.probes.nodes
        self._verified_rows = output.hidden[rows] if has_probes else None

    def probe_logits(self, rows: Sequence[int]) -> Tensor | None:
        """Return (k, V) float32 logits after these rows of the last draft, not yet committed; None for no rows."""
        if not rows:
            return None
        assert self._verified_rows is not None, "the last draft had probes"
        return self._decoder.logits(self._verified_rows[list(rows)])

    def commit(self, tokens: Sequence[int], rows: Sequence[int]) -> None:
        """Keep these rows of the last forward, which hold these tokens, and forget its other rows."""
        try:
            self._cache.commit(rows)
        except RuntimeError as error:
            self.target.fail(error)  # the next forward begins by reading the text again elsewhere
        unwanted = max(0, self._hidden_from - len(self.token_ids))
        if self._in_place:
            self._hidden.keep(rows)
        elif self._last_hidden is not None and unwanted < len(rows):
            # A copy, so that the rows of a large forward are not kept in memory for the few that were kept.
            index = torch.tensor(rows[unwanted:], dtype=torch.long, device=self._last_hidden.device)
            self._hidden.add(self._last_hidden.index_select(0, index))
        self._last_hidden, self._in_place = None, False
        self.token_ids.extend(tokens)

    def take_hidden(self) -> Tensor | None:
        """Return the hidden rows of the positions committed since the last call, and forget them.

        Returns:
            (k, layers asked for * h) in the type of the activations, on their device; None if none were asked for.
        """
        if not self.hidden_layers:
            return None
        taken = self._hidden.take()
        if taken:
            return taken[0] if len(taken) == 1 else torch.cat(taken)
        return self._hidden_rows(0)

    def _hidden_rows(self, count: int) -> Tensor:
        source = self._decoder.source
        width = len(self.hidden_layers) * self._decoder.config.hidden_size
        return torch.zeros(count, width, dtype=source.dtype, device=source.device)

    def seconds_of_forward(self, rows: int, all_logits: bool = True) -> float:
        """Run a forward over some rows after the committed ones, keep none of them, and return its seconds.

        Args:
            rows: Number of rows.
            all_logits: True if each row's logits are wanted, as in verification; else only the last row's, as in a
                prompt.
        """
        base = len(self.token_ids)
        logit_rows = None if all_logits else slice(rows - 1, None)
        begun = time.perf_counter()
        positions = torch.arange(base, base + rows)
        self._decoder.forward(torch.zeros_like(positions), positions, self._cache, logit_rows=logit_rows)
        return time.perf_counter() - begun

    def _read_again(self, check: Callable[[], None]) -> None:
        """Read the text again into a cache that has lost it.

        Its hidden rows were kept or handed over already.
        """
        self._last_hidden, self._in_place = None, False
        self._cache.truncate(0)
        text, self.token_ids = self.token_ids, []
        layers, self.hidden_layers = self.hidden_layers, ()
        try:
            self.prefill(text, check)
        except BaseException:
            self.token_ids = text
            raise
        finally:
            self.hidden_layers = layers

    def _begin_long_text(self, check: Callable[[], None]) -> None:
        """Read the text again once it is long: LongRoPE then turns all keys differently, as in transformers."""
        text, self.token_ids = self.token_ids, []
        # Their hidden rows were handed over when they were read first.
        self._hidden_from = len(text)
        self._cache.begin(len(text) + 1)
        self.prefill(text, check)
