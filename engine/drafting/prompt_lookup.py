"""Prompt lookup: the text often repeats itself, so its own past is a free draft.

The last n tokens are looked up in everything before them (prompt and reply); what followed there is proposed. Source:
Saxena, "Prompt Lookup Decoding" (2023), and the n-gram tables of LLMA (Yang et al. 2023). Several earlier places
that went on differently make a tree, the longest match first.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.model.token_tree import Draft

# A single token says too little about what follows it, and beyond four a longer match decides nothing more.
LONGEST_MATCH = 4
SHORTEST_MATCH = 2
# Places remembered for one n-gram; the latest come first, and a few tell all that the others would.
_PLACES = 4


class PromptLookup:
    """Drafts continuations of the longest suffix that occurred before.

    An index from n-gram to the places where it ended is extended as tokens arrive, so that a proposal costs a few
    dictionary look-ups whatever the length of the context.
    """

    hidden_layers: tuple[int, ...] = ()

    def __init__(self, branches: int = 2) -> None:
        """Set up an empty index.

        Args:
            branches: Continuations merged into the tree; 1 drafts chains.
        """
        self._branches = branches
        self._tokens: list[int] = []
        self._places: dict[tuple[int, ...], list[int]] = {}

    def reset(self, prompt: Sequence[int]) -> int:
        """Index a new prompt; no rows are needed."""
        self._tokens = []
        self._places = {}
        self.observe(prompt)
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        """Append tokens and index the n-grams that they complete."""
        for token in tokens:
            # An n-gram is indexed when the token after it is known, so a suffix never finds itself.
            end = len(self._tokens)
            for length in range(SHORTEST_MATCH, min(LONGEST_MATCH, end) + 1):
                places = self._places.setdefault(tuple(self._tokens[end - length :]), [])
                places.append(end)
                if len(places) > _PLACES:
                    del places[0]
            self._tokens.append(token)

    def propose(self, budget: int) -> Draft:
        """A tree of what followed the longest earlier matches, at most ``budget`` nodes."""
        starts = self._starts() if budget > 0 else []
        # The likeliest continuation gets most of the budget; the others are there for its first tokens.
        aside = budget // 4
        lengths = [budget - aside * (len(starts) - 1), *[aside] * (len(starts) - 1)]
        paths = [self._continuation(start, length) for start, length in zip(starts, lengths, strict=False)]
        return Draft.from_paths(paths, budget)

    def draft_ahead(self) -> bool:
        """This drafter waits for the verdict."""
        return False

    def _starts(self) -> list[int]:
        """Places after the longest earlier matches, the longest and latest first, with distinct next tokens."""
        found: dict[int, int] = {}
        for length in range(min(LONGEST_MATCH, len(self._tokens)), SHORTEST_MATCH - 1, -1):
            for start in reversed(self._places.get(tuple(self._tokens[-length:]), ())):
                found.setdefault(self._tokens[start], start)
                if len(found) == self._branches:
                    return list(found.values())
        return list(found.values())

    def _continuation(self, start: int, length: int) -> list[int]:
        """``length`` tokens from ``start`` on; where they run into the end of the text, the repetition goes on."""
        found = self._tokens[start : start + length]
        period = len(self._tokens) - start
        while len(found) < length:
            found.append(found[len(found) - period])
        return found
