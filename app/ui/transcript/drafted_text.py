"""Places of text from accepted drafts once its Markdown is rendered. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Stretch = tuple[int, int]
"""Start and end of some text, in characters."""


def stretches_of_blocks(
    content: str, blocks: Sequence[str], stretches: Iterable[Stretch]
) -> list[list[Stretch]]:
    """Divide stretches of a reply among its blocks.

    Args:
        content: The reply's Markdown.
        blocks: The Markdown of its blocks in order.
        stretches: Parts of the content, ascending; gone through for each block.

    Returns:
        For each block its parts, counted from its own start; none for a block that is no literal part of the content.
    """
    found: list[list[Stretch]] = []
    place = 0
    for block in blocks:
        start = content.find(block, place)
        if start < 0:
            found.append([])
            continue
        end = place = start + len(block)
        found.append(clipped(stretches, start, end))
    return found


def clipped(stretches: Iterable[Stretch], start: int, end: int) -> list[Stretch]:
    """Cut stretches to a part of their text, counted from the start of that part."""
    parts = ((max(first, start) - start, min(last, end) - start) for first, last in stretches)
    return [(first, last) for first, last in parts if first < last]


def rendered_stretches(markdown: str, rendered: str, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the same stretches in the rendered text of a block.

    The rendered text is the written one less its marks, so each rendered character is the next such one of the
    Markdown. Line ends are left out: coloured, they would cover the mark of the list's next item.
    """
    inside = [False] * len(markdown)
    for first, last in stretches:
        inside[first:last] = [True] * (last - first)
    found: list[Stretch] = []
    place = 0
    for at, character in enumerate(rendered):
        source = _next_place(markdown, character, place)
        if source < 0:
            continue
        place = source + 1
        if not inside[source] or character == "\n":
            continue
        if found and found[-1][1] == at:
            found[-1] = (found[-1][0], at + 1)
        else:
            found.append((at, at + 1))
    return found


def in_utf16(text: str, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the same stretches in UTF-16 units, as Qt counts them: an emoji is two of these."""
    if text.isascii():
        return list(stretches)
    place, counted = 0, 0
    found: list[Stretch] = []
    for start, end in stretches:
        counted += _units(text[place:start])
        length = _units(text[start:end])
        found.append((counted, counted + length))
        place, counted = end, counted + length
    return found


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _next_place(markdown: str, character: str, place: int) -> int:
    """Next place of a character; a line break may have become a space and the reverse."""
    if not character.isspace():
        return markdown.find(character, place)
    return next((at for at in range(place, len(markdown)) if markdown[at].isspace()), -1)
