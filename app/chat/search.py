"""A search and its results."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.json_text import whole_characters
from engine.messages import Role

_MAX_TERMS = 12
_TERM = re.compile(r'"([^"]*)"|([^\s"]+)')
# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True)
class SearchTerm:
    """One word or phrase; all terms of a search must be in the text.

    Attributes:
        text: Text as it was typed, without its quotes.
        begins: True if a word may go on after it.
    """

    text: str
    begins: bool


@dataclass(frozen=True)
class SearchHit:
    """A message that was found.

    Attributes:
        title: Title of its conversation.
        snippet: One line of its text around the best place.
        marks: (start, end) of each place in the snippet that matches.
        created_at: Time of the message, in seconds since 1970, UTC.
    """

    conversation_id: int
    message_id: int
    title: str
    role: Role
    created_at: float
    snippet: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SearchResults:
    """Results, the best first, and a sentence for the user where the search was a lesser one."""

    hits: tuple[SearchHit, ...] = ()
    sentence: str = ""


def search_terms(typed: str) -> list[SearchTerm]:
    """Split what was typed into terms: words, of which the beginning is enough, and phrases in quotes.

    There is no other syntax, so that nothing typed can be wrong. What holds no letter and no digit is left out.
    """
    printable = "".join(char if char.isprintable() else " " for char in whole_characters(typed))
    found: list[SearchTerm] = []
    for match in _TERM.finditer(printable):
        phrase, word = match.groups()
        text = word if phrase is None else " ".join(phrase.split())
        if any(char.isalnum() for char in text):
            # A single letter begins a large part of all words: alone it means itself.
            found.append(SearchTerm(text, begins=phrase is None and len(text) > 1))
    return found[:_MAX_TERMS]


def is_unspaced(terms: list[SearchTerm]) -> bool:
    """Return True if a term is of a script without spaces, where an index of words finds nothing."""
    return any(_UNSPACED.search(term.text) for term in terms)
