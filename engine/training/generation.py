"""The target's own replies, to learn from: many texts written at once, so that its weights are read once for all.

Each text has a cache of its own. A row's bits depend on its path and a token's noise on seed and position, so a text is
the one that the target writes by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from engine.decoding.sequence import AskedRows, Target, TokenSequence
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.text_states import LEAST_STATES
from engine.model.token_tree import Draft
from engine.text.repetition import loop_start
from engine.training.features import Example

#: Texts written at once. With AMX 64 tokens together come ten times as fast as one by one, and 256 hardly faster.
WIDTH = 64
# New texts are begun while a forward has fewer rows than this.
_FORWARD_ROWS = 320
# Tokens after which a text is searched for a loop again.
_LOOK_EVERY = 32


@dataclass(frozen=True)
class Turn:
    """A part of a text: the given tokens, and how the target continues them."""

    given: tuple[int, ...]  # given token ids
    sampler: Sampler  # draws the tokens with which the target goes on
    limit: int  # most tokens that the target writes


@dataclass(eq=False)
class _Text:
    """A text while it is written."""

    sequence: TokenSequence  # its first tokens, as many as the target has read
    turns: Sequence[Turn]
    ids: list[int] = field(default_factory=list)
    own: list[bool] = field(default_factory=list)
    turn: int = -1
    written: int = 0  # in this turn

    def go_on(self) -> bool:
        """Begin the next turn; return False if there is none."""
        self.turn += 1
        if self.turn == len(self.turns):
            return False
        given = list(self.turns[self.turn].given)
        if self.ids and given[:1] == self.ids[-1:]:
            del given[0]  # the end of the turn before, which the target wrote itself
        self.ids += given
        self.own += [False] * len(given)
        self.written = 0
        self.sequence.cache.begin(len(self.ids))
        return True

    @property
    def unread(self) -> list[int]:
        """Tokens that the target has not read yet."""
        return self.ids[len(self.sequence.token_ids) :]

    def ask(self) -> AskedRows:
        """Return the unread tokens as rows of a forward: a root alone, or a piece of a prompt."""
        tokens = self.unread
        return AskedRows(self.sequence, tokens, Draft() if len(tokens) == 1 else None, ends_prompt=True)

    def take(self, logits: Tensor, end_ids: Collection[int], longest: int) -> bool:
        """Take the next token, given the (1, V) logits after the last; return whether the text goes on."""
        turn = self.turns[self.turn]
        token = turn.sampler.pick(logits, 0, len(self.ids), self.ids)
        self.ids.append(token)
        self.own.append(True)
        self.written += 1
        if len(self.ids) >= longest:
            return False
        if self.written % _LOOK_EVERY == 0 and loop_start(self.ids[-self.written :]) is not None:
            return False
        if token in end_ids:
            return self.go_on() and len(self.ids) < longest
        return self.written < turn.limit

    def example(self) -> Example:
        """Return the text so far; nothing follows its last token, so that token's features are not known."""
        features = self.sequence.take_hidden()
        assert features is not None, "the sequence keeps its features"
        kept = min(len(self.ids), len(features) + 1)
        return Example(tuple(self.ids[:kept]), tuple(self.own[:kept]), features[: kept - 1].bfloat16())


class Writer:
    """Writes texts with a target.

    Args:
        decoder: The target, its layers on the host.
        longest: Most tokens of a text.
        width: Most texts at once.
        check: Called between layers; raises to cancel.
    """

    def __init__(
        self,
        decoder: Decoder,
        end_ids: Collection[int],
        longest: int,
        width: int = WIDTH,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._target, self._end_ids, self._longest = Target(decoder), end_ids, longest
        self._width, self._check = width, check
        self._texts: list[_Text] = []

    def write(self, asked: Iterator[Sequence[Turn]], count: int | None = None, first: int = 0) -> Iterator[Example]:
        """Write texts and hand them out in the order in which they end.

        Args:
            asked: Texts to write, which need not end; turns after a text has reached its full length are skipped.
            count: Number of texts; None for as many as are asked for.
            first: Number of texts that were written before, which are left out.
        """
        fitting = (text for text in map(self._new_text, asked) if text.go_on() and 0 < len(text.ids) < self._longest)
        texts = itertools.islice(fitting, first, None if count is None else first + count)
        while True:
            self._begin(texts)
            if not self._texts:
                return
            for text, asked_rows in self._forward():
                if not text.take(asked_rows.logits, self._end_ids, self._longest):
                    self._texts.remove(text)
                    yield text.example()

    def unfinished(self) -> Iterator[Example]:
        """Yield the unfinished texts as far as they got, once no more are wanted."""
        texts, self._texts = self._texts, []
        yield from (text.example() for text in texts if text.sequence.token_ids)

    def _new_text(self, turns: Sequence[Turn]) -> _Text:
        sequence = TokenSequence(self._target, self._longest, states=LEAST_STATES)
        sequence.hidden_layers = (self._target.config.layers,)
        return _Text(sequence, turns)

    def _begin(self, texts: Iterator[_Text]) -> None:
        rows = sum(len(text.unread) for text in self._texts)
        while len(self._texts) < self._width and rows < _FORWARD_ROWS:
            begun = next(texts, None)
            if begun is None:
                return
            self._texts.append(begun)
            rows += len(begun.ids)

    def _forward(self) -> list[tuple[_Text, AskedRows]]:
        """Read the unread tokens of all texts; return each text's rows, whose logits are those after its last token."""
        asked = [(text, text.ask()) for text in self._texts]
        asked.sort(key=lambda one: one[1].draft is not None)  # pieces of prompts come first
        self._target.compute([rows for _, rows in asked], self._check)
        for text, rows in asked:
            text.sequence.commit(rows.tokens, range(len(rows.tokens)))
        return asked
