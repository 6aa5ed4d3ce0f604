"""Prompt lookup: the text often repeats itself, so its own past is a free draft.

The last tokens are looked up in everything before them (prompt and reply); what followed there is proposed. Source:
Saxena, "Prompt Lookup Decoding" (2023), and the n-gram tables of LLMA (Yang et al. 2023). How far a match reaches back
tells how likely it goes on, as in the match models of text compressors (Mahoney, "Adaptive Weighing of Context Models
for Lossless Data Compression", 2005): each node has its chance, and a schedule takes those that pay.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.match_chances import MatchChances
from engine.model.token_tree import Draft, DraftShape

# Matches are found by their last tokens: by four where there are such, else by two. A single one says too little.
_KEYS = (4, 2)
SHORTEST_MATCH = _KEYS[-1]
# Beyond this a longer match decides nothing more.
LONGEST_MATCH = 32
# Places remembered for one n-gram, the latest of them.
_PLACES = 4
# Nodes that are less likely than this are not worth a row even where rows cost next to nothing (its logarithm).
_UNLIKELY = -4.0
_NOTHING = Draft()


class PromptLookup(Drafter):
    """Drafts the continuation of the longest suffix that occurred before, each node with the log of its chance.

    An index from n-gram to the places where it ended is extended as tokens arrive, so that a proposal costs a few
    dictionary look-ups whatever the length of the context. What would have been proposed is compared with each token
    that comes, whether it was drafted or not.

    Args:
        chances: Of matches in earlier replies of the model; learns from this one.
    """

    gives_chances = True

    def __init__(self, chances: MatchChances | None = None) -> None:
        self._chances = MatchChances() if chances is None else chances
        self._tokens: list[int] = []
        self._places: dict[tuple[int, ...], list[int]] = {}
        # Length of the match, and the place behind it; None where there is none.
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

    def observe(
        self, tokens: Sequence[int], hidden: Tensor | None = None, probes: Tensor | None = None
    ) -> None:
        """Learn from the tokens what matches are worth, and append them."""
        for token in tokens:
            if self._match is not None:
                length, place = self._match
                self._chances.learn(length, self._tokens[place] == token)
            self._append(token)
            self._match = self._longest()

    def propose(self, shape: DraftShape) -> Draft:
        """Draft what followed the longest match (the latest of equally long ones), as far as that is likely."""
        if shape.rows < 1 or self._match is None:
            return _NOTHING
        length, place = self._match
        scores: list[float] = []
        score = self._chances.log_chance(length)
        while score >= _UNLIKELY and len(scores) < shape.rows:
            scores.append(score)
            score += self._chances.log_chance(length + len(scores))
        tokens = self._continuation(place, len(scores))
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

    def _longest(self) -> tuple[int, int] | None:
        """The longest match, the latest of those."""
        places = {place for key in _KEYS for place in self._places.get(tuple(self._tokens[-key:]), ())}
        return max(((self._length(place), place) for place in places), default=None)

    def _length(self, place: int) -> int:
        """Tokens before a place that are the text's last ones."""
        tokens, end = self._tokens, len(self._tokens)
        most, length = min(place, LONGEST_MATCH), SHORTEST_MATCH
        while length < most and tokens[place - length - 1] == tokens[end - length - 1]:
            length += 1
        return length

    def _continuation(self, start: int, length: int) -> list[int]:
        """``length`` tokens from ``start`` on; where they run into the end of the text, the repetition goes on."""
        found = self._tokens[start : start + length]
        period = len(self._tokens) - start
        while len(found) < length:
            found.append(found[len(found) - period])
        return found
