"""Finding words in the messages of a conversation: what is looked for, and how often an unseen message has it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.chat.search import SearchTerm

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]*)\]\([^()\n]*\)")
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,}).*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^ {0,3}(?:#{1,6} |> ?|[-*+] |\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$)", re.MULTILINE)
_MOST_PLACES = 1_000
_MARKS = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)|~~")


def phrase_pattern(typed: str) -> re.Pattern[str] | None:
    """Pattern of what was typed, in any case and with any space between its words; None for nothing."""
    words = typed.split()
    return re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE) if words else None


def terms_pattern(terms: Sequence[SearchTerm]) -> re.Pattern[str] | None:
    """Any of the words that were searched for, at the beginning of a word; None for no words."""
    parts = [
        (r"\b" if term.text[:1].isalnum() and term.text[:1].isascii() else "")
        + r"\s+".join(map(re.escape, term.text.split()))
        for term in terms
    ]
    return re.compile("|".join(sorted(parts, key=len, reverse=True)), re.IGNORECASE) if parts else None


def visible_text(markdown: str) -> str:
    """About what a reply shows of its Markdown: without marks, addresses of links and folded thoughts."""
    text = _THOUGHT.sub("\n", markdown)
    text = _LINE_MARK.sub("", _FENCE.sub("", text))
    return _MARKS.sub("", _LINK.sub(r"\1", text))


def places(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Start and end of each place in a text, in characters; the last ones of very many are left out."""
    found = []
    for match in pattern.finditer(text):
        if match.end() > match.start():
            found.append(match.span())
        if len(found) == _MOST_PLACES:
            break
    return found
