"""The passages of documents that match a question, found by full-text search and by what they mean."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from engine.messages import Attachment
from engine.text.meaning import telling_words, vectors

# Characters of a passage: a paragraph of usual length is one, short ones are put together, long ones are cut.
_USUAL = 700
_LONGEST = 1400
# Hits that get their neighbours along, hits that go before these, and hits in all.
_WITH_NEIGHBOURS = 4
_BEFORE_NEIGHBOURS = 8
_HITS = 24
# A hit below this share of the best one's score matches by accident.
_WORTH = 0.35
# A word of more than this share of the passages says nothing about any of them.
_COMMON = 0.4
_FEW = 8
_MOST_WORDS = 48
# Passages whose meaning is searched: more would take too long to encode. Hits of it, which are at least this near to
# the question, measured by the nearest; where half of all passages are almost as near, none is a hit.
_MOST_ENCODED = 1500
_NEAR_HITS = 8
_NEAR = 0.5
_EVERYWHERE = 0.6
# Requests about a whole file, or about the reply: a question that is nearer to one of them than to every passage has
# no hits by meaning.
_GENERAL = (
    "Summarise this document.",
    "Give me an overview of the main points.",
    "Thanks, that was helpful.",
    "Explain your answer.",
)

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
# Words that are about nothing in a request about the whole or the reply, and may be about something in others.
_REQUESTS = """
add answer brief bullet bullets clear detail detailed details entire explain five four full german english gist good
great hello help helped helpful helps key letter like list long longer main make more most one overview paragraph
paragraphs poem point points read really rewrite say sentence sentences short shorter simple simpler simply sure
table takeaway takeaways ten text thank thanks three translate two use whole word words write
absatz absätze bitte danke deutsch drei einfach erkläre ersten fünf ganze ganzen hauptpunkte inhalt kurz kurze
kürzer liste punkte satz schreibe sätze sätzen tabelle text wichtigste wichtigsten wort worte wörter zehn zwei
überblick übersetze übersicht
"""
_REQUEST_WORDS = frozenset(_REQUESTS.split())


@dataclass(frozen=True)
class Passage:
    """A stretch of an attachment's text."""

    attachment: int  # number of the attachment
    section: int  # number of its page or chapter; 0 without any
    start: int
    end: int  # the end of it, exclusive


class PassageIndex:
    """Passages of some attachments, searched by words with BM25 (SQLite's FTS5), and by what they mean."""

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

        Nothing where no word of it says anything, or it is about the whole or the reply.
        """
        named = self._on_named_pages(question)
        terms = [word for word in dict.fromkeys(_words(question)) if word not in _NO_TERMS][:_MOST_WORDS]
        if not terms or not self.passages:
            return named
        by_meaning, general = ([], False) if named else self._near(question)
        terms = [word for word in terms if not (general and word in _REQUEST_WORDS)]
        try:
            by_words = self._hits(terms) if terms else []
        except sqlite3.OperationalError:  # built without FTS5
            by_words = []
        # A hit with few of the words may be an accident.
        had = sum(word in self._texts[hit].casefold() for hit in by_words[:1] for word in terms)
        hits = [*by_words, *by_meaning] if 2 * had > len(terms) else [*by_meaning, *by_words]
        return list(dict.fromkeys([*named, *hits]))

    def with_neighbours(self, hits: Sequence[int]) -> list[int]:
        """Return the hits in their order, and after some of them the paragraphs around the best."""
        around = [near for hit in hits[:_WITH_NEIGHBOURS] for near in (hit + 1, hit - 1) if self._beside(hit, near)]
        return list(dict.fromkeys([*hits[:_BEFORE_NEIGHBOURS], *around, *hits]))

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

    @property
    def by_words_alone(self) -> bool:
        """True if there are too many passages to search what they mean."""
        return len(self.passages) > _MOST_ENCODED

    @cached_property
    def _vectors(self) -> NDArray[np.float32] | None:
        numbered = groupby(range(len(self.passages)), lambda number: self.passages[number].attachment)
        return vectors(
            words for _, numbers in numbered for words in telling_words([self._texts[number] for number in numbers])
        )

    def _near(self, question: str) -> tuple[list[int], bool]:
        """Return the passages that mean what a question does; and True if it is about the whole, or about the reply."""
        asked = None if self.by_words_alone or self._vectors is None else vectors([question, *_GENERAL])
        if asked is None or self._vectors is None:
            return [], False
        near = self._vectors @ asked[0]
        best, general = float(near.max()), bool((asked[1:] @ asked[0]).max() >= near.max())
        if general or np.median(near) > _EVERYWHERE * best:
            return [], general
        return [int(number) for number in np.argsort(-near)[:_NEAR_HITS] if near[number] >= _NEAR * best], False

    def _hits(self, terms: list[str]) -> list[int]:
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
    """Return as many of the passages as the budget holds, in their order of rank.

    Args:
        numbers: The best first.
        budget: Most tokens.
        cost: Returns the tokens of a passage.
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
