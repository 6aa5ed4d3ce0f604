"""Finding a title by some of its letters, in their order: beginnings of words count most."""

from __future__ import annotations

_START = 8  # a letter that begins a word
_RUN = 9  # one that follows the letter found before it
_GAP = 1  # taken off for each letter stepped over, up to a few
_LONGEST_GAP = 3


def fuzzy_match(typed: str, title: str) -> tuple[int, list[int]] | None:
    """Score of a title against what was typed.

    Args:
        typed: Letters; spaces are left out.
        title: Is searched without regard to case.

    Returns:
        A score, more is better, and the places of the letters in the title; None where a letter is missing.
    """
    wanted = [character for character in typed.casefold() if not character.isspace()]
    letters = [character.casefold()[:1] for character in title]
    # Best score and path that end at each place, for the letters so far.
    best: dict[int, tuple[int, list[int]]] = {-1: (0, [])}
    for character in wanted:
        after: dict[int, tuple[int, list[int]]] = {}
        for at, letter in enumerate(letters):
            if letter != character:
                continue
            reached = [
                (score + _worth(title, before, at), [*path, at])
                for before, (score, path) in best.items()
                if before < at
            ]
            if reached:
                after[at] = max(reached)
        if not after:
            return None
        best = after
    score, path = max(best.values())
    return score, path


def _worth(title: str, before: int, at: int) -> int:
    if at == 0 or not title[at - 1].isalnum():
        return _START + (_START if at == 0 else 0)
    if before == at - 1:
        return _RUN
    return -_GAP * min(at - before - 1, _LONGEST_GAP)
