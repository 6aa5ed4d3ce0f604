"""A search in conversations and its results, and finding words in the messages of one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.json_text import whole_characters
from engine.messages import Role

_MAX_TERMS = 12
_TERM = re.compile(r'"([^"]*)"|([^\s"]+)')
# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]*)\]\([^()\n]*\)")
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,}).*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^ {0,3}(?:#{1,6} |> ?|[-*+] |\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$)", re.MULTILINE)
_MOST_PLACES = 1_000
_MARKS = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)|~~")


@dataclass(frozen=True)
class SearchTerm:
    """One word or phrase; all terms of a search must be in the text."""

    text: str  # text as it was typed, without its quotes
    begins: bool  # True if a word may go on after it


@dataclass(frozen=True)
class SearchHit:
    """A message that was found."""

    conversation_id: int
    message_id: int
    title: str  # title of its conversation
    role: Role
    created_at: float  # time of the message, in seconds since 1970, UTC
    snippet: str  # one line of its text around the best place
    marks: tuple[tuple[int, int], ...]  # (start, end) of each place in the snippet that matches


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
