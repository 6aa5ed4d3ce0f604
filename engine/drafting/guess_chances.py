"""Chances that a member's guesses hold, learned from what came in their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp

from engine.model.token_tree import ROOT, Draft

# Classes of shares of the probability, of one width; and depths that are told apart.
_CLASSES, _DEPTHS = 10, 4
# What a guess is taken to be worth before any of its class was seen counts for so many, and how soon that is forgotten.
_WEIGHT, _MEMORY = 8.0, 0.99
# The same of what held lately beside what was expected: a text may be of a kind that a drafter knows, or of another.
_LATELY_WEIGHT, _LATELY_MEMORY = 1.0, 0.9
# Chances of a guess of which its drafter says nothing, by the likelier ones beside it.
_BY_RANK = (0.3, 0.1, 0.05, 0.03)
_LEAST = 1e-4


class GuessChances:
    """Chances of one drafter's guesses where the token before them holds, by depth and by the share that it gives them.

    Of drafts without scores the place among siblings stands for the share. All are multiplied by what held of its
    guesses lately over what was expected, so that one which is wrong throughout a text is heard no more after a few
    rounds.

    Attributes:
        known: The drafter's scores are chances as they were observed, so there is nothing to learn.
    """

    def __init__(self) -> None:
        self.known = False
        self._seen: dict[tuple[int, int], list[float]] = {}
        self._expected = self._held = 0.0  # lately

    def of(self, draft: Draft) -> list[float]:
        """(N,) of each node of a draft."""
        if self.known and draft.scores:
            return [share for _, share in _shares(draft)]
        lately = (_LATELY_WEIGHT + self._held) / (_LATELY_WEIGHT + self._expected)
        return [min(1.0, max(_LEAST, lately * usual)) for _, usual in self._usual(draft)]

    def learn(self, draft: Draft, tokens: Sequence[int]) -> None:
        """These tokens came behind the root of a draft: what it has beside each of them held or did not."""
        if self.known and draft.scores:
            return
        usual = list(self._usual(draft))
        at = ROOT
        for token in tokens:
            children = [node for node, parent in enumerate(draft.parents) if parent == at]
            if not children:
                return
            following = None
            self._expected *= _LATELY_MEMORY
            self._held *= _LATELY_MEMORY
            for node in children:
                key, expected = usual[node]
                counted = self._seen.setdefault(key, [0.0, 0.0])
                held = draft.tokens[node] == token
                self._expected, self._held = self._expected + expected, self._held + held
                counted[0], counted[1] = _MEMORY * counted[0] + held, _MEMORY * counted[1] + 1.0
                following = node if held else following
            if following is None:
                return
            at = following

    def _usual(self, draft: Draft) -> Iterator[tuple[tuple[int, int], float]]:
        """Of each node its class, and how often guesses of it have held."""
        for key, share in _shares(draft):
            held, seen = self._seen.get(key, (0.0, 0.0))
            yield key, (_WEIGHT * share + held) / (_WEIGHT + seen)


def _shares(draft: Draft) -> Iterator[tuple[tuple[int, int], float]]:
    """Of each node its class and the share that its drafter gives it behind its parent."""
    depths: list[int] = []
    children: dict[int, int] = {}
    for node, parent in enumerate(draft.parents):
        depths.append(1 + (0 if parent == ROOT else depths[parent]))
        depth = min(depths[-1], _DEPTHS)
        rank = children.get(parent, 0)
        children[parent] = rank + 1
        if not draft.scores:
            rank = min(rank, len(_BY_RANK) - 1)
            yield (depth, -1 - rank), _BY_RANK[rank]
            continue
        share = exp(min(0.0, draft.scores[node] - (0.0 if parent == ROOT else draft.scores[parent])))
        yield (depth, min(int(share * _CLASSES), _CLASSES - 1)), share
