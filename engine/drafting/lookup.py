"""Prompt lookup: the text often repeats itself, so its own past is a free draft.

The last tokens are looked up in everything before them (prompt and reply); what followed there is proposed. Source:
Saxena, "Prompt Lookup Decoding" (2023), and the n-gram tables of LLMA (Yang et al. 2023). How far a match reaches back
tells how likely it goes on, as in the match models of text compressors (Mahoney, "Adaptive Weighing of Context Models
for Lossless Data Compression", 2005): each node has its chance, learned without drafting it, and a schedule takes those
that pay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import log

from torch import Tensor

from engine.drafting.chances import Chances, Matched
from engine.drafting.drafter import Drafter
from engine.model.token_tree import Draft, DraftShape

#: The shortest match of each class; the last holds all that are longer.
CLASSES = (2, 3, 4, 5, 7, 10, 16, 32)
# The chances before anything was seen, as chats, quotations and edits of a small model have them
# (tests/benchmarks/lookup.py), and the number of observations they count for.
_BUILT_IN = (0.4, 0.5, 0.65, 0.75, 0.82, 0.88, 0.93, 0.98)
_BUILT_IN_WEIGHT = 20.0
# Matches that all earlier replies together count for in a reply, and the rate at which a reply forgets its own.
_EARLIER = 6.0
_MEMORY = 0.97
# Share of their observations that earlier replies keep after each reply.
_KEPT = 0.9
# Standard errors below the mean: nodes that pay only if the estimate is lucky are not drafted.
_CAREFUL = 0.5
# Matches are found by their last four tokens if there are any, else by two. A single token says too little.
_KEYS = (4, 2)
SHORTEST_MATCH = _KEYS[-1]
# A longer match decides nothing more.
LONGEST_MATCH = 32
# Places remembered for one n-gram: the latest ones.
_PLACES = 4
# Nodes less likely than this (its logarithm) are not worth a row even if rows cost next to nothing.
_UNLIKELY = -4.0
_NOTHING = Draft()


class MatchChances:
    """The chance that a match of some length goes on as it did before, estimated with care.

    Matches are observed whether or not they were drafted, so learning costs no forward. Earlier replies stand in
    until a reply's own observations outweigh theirs, which they soon do: a text that is quoted and one that is made
    up differ. The estimate is half a standard error below the mean.

    Args:
        earlier: Value of `earlier` from another session.
    """

    def __init__(self, earlier: Mapping[int, Matched] | None = None) -> None:
        # Observations of the replies before this one, by the shortest match of each class
        self.earlier = {shortest: Matched() for shortest in CLASSES} | dict(earlier or {})
        self.begin()

    def of_another_reply(self) -> MatchChances:
        """Return chances for a reply that may run beside others: it learns alone, and what it keeps counts for all."""
        found = MatchChances()
        found.earlier = self.earlier
        found.begin()
        return found

    def begin(self) -> None:
        """Begin a reply: what the reply before has shown is dropped, unless it was kept."""
        self._means = [
            (_BUILT_IN_WEIGHT * built_in + known.held) / (_BUILT_IN_WEIGHT + known.seen)
            for built_in, known in zip(_BUILT_IN, map(self.earlier.__getitem__, CLASSES), strict=True)
        ]
        self._own = Chances(_EARLIER, _MEMORY, _CAREFUL)
        self._all = [Matched() for _ in CLASSES]
        self._logs = list(map(self._log, range(len(CLASSES))))

    @property
    def known(self) -> bool:
        """True if any earlier reply has shown anything."""
        return any(matched.seen for matched in self.earlier.values())

    def keep(self) -> None:
        """Count the reply among the earlier ones from now on."""
        for shortest, seen in zip(CLASSES, self._all, strict=True):
            if seen.seen:
                before = self.earlier[shortest]
                seen = Matched(_KEPT * before.seen + seen.seen, _KEPT * before.held + seen.held)
                self.earlier[shortest] = seen
        self.begin()

    def learn(self, length: int, held: bool) -> None:
        """Learn from the token that came after a match.

        Args:
            length: Length of the match in tokens, at least 2.
            held: True if the token was the one that had followed before.
        """
        at = class_of(length)
        self._own.learn(at, held)
        self._all[at].add(held)
        self._logs[at] = self._log(at)

    def _log(self, at: int) -> float:
        return log(max(self._own.chance(at, self._means[at]), 1e-3))

    def log_chance(self, length: int) -> float:
        """Return the logarithm of the chance that a match of this length goes on as before."""
        return self._logs[class_of(length)]


def class_of(length: int) -> int:
    """Return the index of the class of matches of this length, which is at least 2."""
    return bisect_right(CLASSES, length) - 1


class PromptLookup(Drafter):
    """Drafts the continuation of the longest suffix that occurred before, each node with the log of its chance.

    An index from n-gram to the places where it ended is extended as tokens arrive, so that a proposal costs a few
    dictionary look-ups whatever the length of the context. Each token that comes is compared with the one that
    would have been proposed, whether it was drafted or not.

    Args:
        chances: Chances of matches in earlier replies of the model; they learn from this one.
    """

    gives_chances = True

    def __init__(self, chances: MatchChances | None = None) -> None:
        self._chances = MatchChances() if chances is None else chances
        self._tokens: list[int] = []
        self._places: dict[tuple[int, ...], list[int]] = {}
        # Length of the match and the place after it; None if there is no match.
        self._match: tuple[int, int] | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """Index a new prompt; no rows are needed."""
        self._tokens = []
        self._places = {}
        self._chances.begin()
        for token in prompt:
            self._append(token)
        self._match = self._longest()
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None = None, probes: Tensor | None = None) -> None:
        """Learn from the tokens what matches are worth, and append them."""
        for token in tokens:
            if self._match is not None:
                length, place = self._match
                self._chances.learn(length, self._tokens[place] == token)
            self._append(token)
            self._match = self._longest()

    def propose(self, shape: DraftShape) -> Draft:
        """Draft the continuation of the longest match (the latest of equally long ones) as far as that is likely."""
        return self.after((), shape.rows) if shape.rows > 0 and self._match is not None else _NOTHING

    def after(self, guesses: Sequence[int], most: int) -> Draft:
        """Draft at most ``most`` tokens behind the text and some guesses; scores assume that the guesses hold."""
        match = self._longest(guesses) if guesses else self._match
        if match is None or most < 1:
            return _NOTHING
        length, place = match
        scores: list[float] = []
        score = self._chances.log_chance(length)
        while score >= _UNLIKELY and len(scores) < most:
            scores.append(score)
            score += self._chances.log_chance(length + len(scores))
        tokens = self._continuation(place, guesses, len(scores))
        return Draft(tuple(tokens), tuple(range(-1, len(tokens) - 1)), tuple(scores))

    def _append(self, token: int) -> None:
        # An n-gram is indexed when the token after it is known, so a suffix never finds itself.
        end = len(self._tokens)
        for length in _KEYS:
            if length <= end:
                places = self._places.setdefault(tuple(self._tokens[end - length :]), [])
                places.append(end)
                if len(places) > _PLACES:
                    del places[0]
        self._tokens.append(token)

    def _longest(self, guesses: Sequence[int] = ()) -> tuple[int, int] | None:
        """Return the length and place of the longest match, the latest of equally long ones."""
        end = (*self._tokens[-LONGEST_MATCH:], *guesses)[-LONGEST_MATCH:]
        places = {place for key in _KEYS for place in self._places.get(end[-key:], ())}
        return max(((self._length(place, end), place) for place in places), default=None)

    def _length(self, place: int, end: tuple[int, ...]) -> int:
        """Return how many tokens before a place of the text equal the last ones of ``end``."""
        tokens, count = self._tokens, len(end)
        most, length = min(place, count), SHORTEST_MATCH
        while length < most and tokens[place - length - 1] == end[count - length - 1]:
            length += 1
        return length

    def _continuation(self, start: int, guesses: Sequence[int], length: int) -> list[int]:
        """Return ``length`` tokens from ``start`` on; beyond the text and the guesses they repeat from there."""
        found = [*self._tokens[start : start + length], *guesses][:length]
        period = len(self._tokens) + len(guesses) - start
        while len(found) < length:
            found.append(found[len(found) - period])
        return found
