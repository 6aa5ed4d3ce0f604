"""The target's own replies, to learn from: many texts written at once, so that its weights are read once for all.

The texts lie side by side in one cache as branches that never meet, and each row sees its own text alone. A row's bits
depend on its path and a token's noise on seed and position, so a text is the one that the target writes by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy
import torch
from torch import Tensor

from engine.model.attention import Paths
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
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


@dataclass
class _Text:
    """A text while it is written."""

    turns: Sequence[Turn]
    ids: list[int] = field(default_factory=list)
    own: list[bool] = field(default_factory=list)
    rows: int = 0  # number of its first tokens that the cache holds
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
        return True

    def take(self, logits: Tensor, row: int, end_ids: Collection[int], longest: int) -> bool:
        """Take the next token; return whether the text goes on."""
        turn = self.turns[self.turn]
        token = turn.sampler.pick(logits, row, len(self.ids), self.ids)
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

    def example(self, features: Tensor) -> Example:
        """Return the text so far; nothing follows its last token, so that token's features are not known."""
        kept = min(len(self.ids), self.rows + 1)
        return Example(tuple(self.ids[:kept]), tuple(self.own[:kept]), features[: kept - 1].clone())


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
        self._decoder, self._end_ids, self._longest = decoder, end_ids, longest
        self._check = check
        # Rows of the cache, of which the texts in progress take at most ``width * longest``
        self.capacity = width * longest + _FORWARD_ROWS + longest
        self._cache = decoder.new_cache(self.capacity)
        self._cache.begin(longest)
        self._held = 0  # rows in the cache, including those of texts that have ended
        self._texts: list[_Text | None] = [None] * width
        #: Where in the cache the rows of each text lie.
        self._places = numpy.zeros((width, longest), dtype=numpy.int32)
        self._features = torch.empty(width, longest, decoder.config.hidden_size, dtype=torch.bfloat16)

    @torch.inference_mode()
    def write(self, asked: Iterator[Sequence[Turn]], count: int | None = None) -> Iterator[Example]:
        """Write texts and hand them out in the order in which they end.

        Args:
            asked: Texts to write, which need not end; turns after a text has reached its full length are skipped.
            count: Number of texts; None for as many as are asked for.
        """
        fitting = (text for text in map(_Text, asked) if text.go_on() and 0 < len(text.ids) < self._longest)
        texts = itertools.islice(fitting, count)
        while True:
            self._begin(texts)
            running = [(at, text) for at, text in enumerate(self._texts) if text is not None]
            if not running:
                return
            logits = self._forward(running)
            for row, (at, text) in enumerate(running):
                if not text.take(logits, row, self._end_ids, self._longest):
                    self._texts[at] = None
                    yield text.example(self._features[at])

    def unfinished(self) -> Iterator[Example]:
        """Yield the unfinished texts as far as they got, once no more are wanted."""
        for at, text in enumerate(self._texts):
            if text is not None and text.rows:
                self._texts[at] = None
                yield text.example(self._features[at])

    def _begin(self, texts: Iterator[_Text]) -> None:
        rows = sum(len(text.ids) - text.rows for text in self._texts if text is not None)
        for at, text in enumerate(self._texts):
            if rows >= _FORWARD_ROWS:
                return
            begun = next(texts, None) if text is None else None
            if begun is not None:
                self._texts[at] = begun
                rows += len(begun.ids)

    def _forward(self, running: Sequence[tuple[int, _Text]]) -> Tensor:
        """Read the tokens that the cache lacks of all texts; return the (texts, V) logits after them."""
        new = [(at, place) for at, text in running for place in range(text.rows, len(text.ids) - 1)]
        silent = len(new)
        new += [(at, len(text.ids) - 1) for at, text in running]
        if self._held + len(new) > self.capacity:
            self._tidy(running)
        slots, places = (numpy.array(part) for part in zip(*new, strict=True))
        self._places[slots, places] = numpy.arange(self._held, self._held + len(new))
        paths = Paths(
            torch.from_numpy((places + 1).astype(numpy.int32)),
            torch.from_numpy(numpy.ascontiguousarray(self._places[slots, : int(places.max()) + 1])),
        )
        output = self._decoder.forward(
            torch.tensor([self._text(at).ids[place] for at, place in new]),
            torch.from_numpy(places),
            self._cache,
            mask=paths,
            logit_rows=slice(silent, None),
            check=self._check,
            uncommitted=self._held,
        )
        self._features[torch.from_numpy(slots), torch.from_numpy(places)] = output.hidden.bfloat16()
        self._held += len(new)
        for _, text in running:
            text.rows = len(text.ids)
        return output.logits

    def _text(self, at: int) -> _Text:
        text = self._texts[at]
        assert text is not None
        return text

    def _tidy(self, running: Sequence[tuple[int, _Text]]) -> None:
        kept = numpy.sort(numpy.concatenate([self._places[at, : text.rows] for at, text in running]))
        self._cache.commit((), kept.tolist())
        for at, text in running:
            self._places[at, : text.rows] = numpy.searchsorted(kept, self._places[at, : text.rows])
        self._held = len(kept)
