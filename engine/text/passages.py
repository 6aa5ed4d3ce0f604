"""The passages of documents that match a question, found by full-text search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from engine.messages import Attachment

# Characters of a passage: a paragraph of usual length is one, short ones are put together, long ones are cut.
_USUAL = 700
_LONGEST = 1400
# Hits that get their neighbours along, and hits in all.
_WITH_NEIGHBOURS = 4
_HITS = 24
# A hit below this share of the best one's score matches by accident.
_WORTH = 0.35
# A word of more than this share of the passages says nothing about any of them.
_COMMON = 0.4
_FEW = 8
_MOST_WORDS = 48

_WORD = re.compile(r"\w+")
# A question that names pages, in the languages of the window.
_PAGE = re.compile(r"\b(?:pages?|seiten?|p\.|s\.)\s*0*(\d{1,5})\b", re.IGNORECASE)
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_BREAK = re.compile(r"\n|[.!?。！？]\s+|\s")
# Scripts without spaces: each character is indexed as a word, and a question's pairs of them are looked for.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# Words of questions, in the languages that are asked most here. Rare in a text, and about nothing.
_QUESTION_WORDS = """
summarize summarise summary overview document file pdf
a about all an and any are as at be been but by can could describe did do does explain find for from give had has have
how i if in into is it its list may me my of on or please say says should so some tell than that the their them there
these they this to was were what when where which who whom whose why will with would you your
dokument datei zusammenfassung zusammen fasse
aber als am an auch auf aus bei bin bitte bis das dass dem den der des die dies dieser doch du ein eine einem einen
einer er es für gibt hat ich ihr im in ist kann man mich mir mit nach nicht noch nur oder sagt sein sich sie sind so
steht über um und uns unter vom von vor war warum was welche welcher welches wenn wer werden wie wird wo zu zum zur
au aux avec ce ces cette comment dans de des donne du elle en est et il je la le les leur lui mais ne nous ou où par
pas pour pourquoi qu que quel quelle quelles quels qui sa se ses son sont sur un une vous
al como con cual cuál cuándo del dónde el ella es esta este las lo los más no o para pero porque qué quién si sin su
sus una y
che chi come cosa da dei della di dove e gli ha ma mi nel non per perché quale quali quando sono
"""
_NO_TERMS = frozenset(_QUESTION_WORDS.split())


@dataclass(frozen=True)
class Passage:
    """A stretch of an attachment's text."""

    attachment: int  # number of the attachment
    section: int  # number of its page or chapter; 0 without any
    start: int
    end: int  # the end of it, exclusive


class PassageIndex:
    """Passages of some attachments, searched by words with BM25 (SQLite's FTS5)."""

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        self.passages = [
            Passage(number, section, start, end)
            for number, attachment in enumerate(attachments)
            for section, start, end in split(attachment)
        ]
        self._attachments = attachments
        self._texts = [attachments[one.attachment].text[one.start : one.end] for one in self.passages]

    def ranked(self, question: str) -> list[int]:
        """Numbers of the passages that match a question, the best first.

        Nothing where no word of it says anything, or SQLite has no full-text search.
        """
        try:
            hits = self._hits(question)
        except sqlite3.OperationalError:  # built without FTS5
            hits = []
        return list(dict.fromkeys([*self._on_named_pages(question), *hits]))

    def with_neighbours(self, hits: Sequence[int]) -> list[int]:
        """Return the hits in their order, and after the best ones the paragraphs around them."""
        best = hits[:_WITH_NEIGHBOURS]
        around = [near for hit in best for near in (hit + 1, hit - 1) if self._beside(hit, near)]
        return list(dict.fromkeys([*best, *around, *hits]))

    def spread(self, wanted: Sequence[int], count: int) -> list[int]:
        """Numbers of passages for a question about the whole: the beginnings of files, and others evenly between."""
        firsts = [number for number in wanted if self.passages[number].start == 0]
        step = max(len(wanted) / max(count, 1), 1.0)
        evenly = [wanted[int(at * step)] for at in range(min(count, len(wanted)))]
        return list(dict.fromkeys([*firsts, *evenly]))

    def _on_named_pages(self, question: str) -> list[int]:
        """Passages of the pages that a question names by their numbers."""
        named = set(_PAGE.findall(question))
        paged = {at for at, one in enumerate(self._attachments) if one.unit == "page"}
        return [
            number
            for number, one in enumerate(self.passages)
            if named and one.attachment in paged and str(one.section + 1) in named
        ]

    def _beside(self, hit: int, near: int) -> bool:
        return 0 <= near < len(self.passages) and self.passages[near].attachment == self.passages[hit].attachment

    def _hits(self, question: str) -> list[int]:
        words = list(dict.fromkeys(_words(question)))
        terms = [word for word in words if word not in _NO_TERMS][:_MOST_WORDS]
        if not terms or not self.passages:
            return []
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(
                "CREATE VIRTUAL TABLE passages USING"
                " fts5(body, content='', tokenize='porter unicode61 remove_diacritics 2')"
            )
            database.executemany(
                "INSERT INTO passages(rowid, body) VALUES (?, ?)",
                ((number, _spaced(text)) for number, text in enumerate(self._texts)),
            )
            if len(self.passages) >= _FEW:
                most = _COMMON * len(self.passages)
                count = "SELECT count(*) FROM passages WHERE passages MATCH ?"
                terms = [one for one in terms if database.execute(count, (_quoted(one),)).fetchone()[0] <= most]
            if not terms:
                return []
            rows = database.execute(
                "SELECT rowid, -bm25(passages) FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?",
                (" OR ".join(map(_quoted, terms)), _HITS),
            ).fetchall()
        return [number for number, score in rows if score >= _WORTH * rows[0][1]]


def split(attachment: Attachment) -> Iterator[tuple[int, int, int]]:
    """Return an attachment's text in passages: whole paragraphs, none over the end of a page or a chapter.

    Yields:
        The number of the section, the first character and the end, exclusive.
    """
    starts = [section.start for section in attachment.sections] or [0]
    ends = [*starts[1:], len(attachment.text)]
    # Text before the first heading belongs to the first section.
    for number, (start, end) in enumerate(zip([0, *starts[1:]], ends, strict=True)):
        for piece_start, piece_end in _joined(_paragraphs(attachment.text, start, end)):
            yield number, piece_start, piece_end


def within(numbers: Sequence[int], budget: int, cost: Callable[[int], int], taken: set[int]) -> list[int]:
    """As many of the passages as the budget holds, in their order of rank.

    Args:
        numbers: The best first.
        budget: Tokens.
        cost: Of a passage, in tokens.
        taken: Passages that are in the prompt already, which cost nothing and are left out.
    """
    chosen = []
    for number in numbers:
        if number in taken:
            continue
        tokens = cost(number)
        if tokens <= budget:
            chosen.append(number)
            budget -= tokens
    return chosen


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for gap in _PARAGRAPH_END.finditer(text, start, end):
        yield from _cut(text, at, gap.start())
        at = gap.end()
    yield from _cut(text, at, end)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a long paragraph into pieces: at a line's or a sentence's end, at a space, or anywhere."""
    while end - start > _LONGEST:
        ends = [found.end() for found in _BREAK.finditer(text, start + _USUAL // 2, start + _USUAL)]
        strong = [at for at in ends if text[at - 1] == "\n" or text[max(at - 2, 0)] in ".!?。！？"]
        middle = (strong or ends or [start + _USUAL])[-1]
        yield start, middle
        start = middle
    if text[start:end].strip():
        yield start, end


def _joined(pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Put short paragraphs together, a heading with what follows it."""
    begun: tuple[int, int] | None = None
    for start, end in pieces:
        if begun is not None and end - begun[0] > _USUAL:
            yield begun
            begun = None
        begun = (start if begun is None else begun[0], end)
    if begun is not None:
        yield begun


def _spaced(text: str) -> str:
    return _UNSPACED.sub(lambda found: f" {found[0]} ", text)


def _words(question: str) -> Iterator[str]:
    """Return the words of a question in lower case; of scripts without spaces, pairs of characters."""
    for word in _WORD.findall(question.casefold()):
        runs = re.split(f"({_UNSPACED.pattern}+)", word)
        for run in runs:
            if _UNSPACED.match(run):
                yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))
            elif run:
                yield run


def _quoted(word: str) -> str:
    """Return a word as FTS5 takes it literally; a pair of characters as a phrase."""
    return f'"{_spaced(word).strip()}"'
