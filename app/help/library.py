"""Finding articles: SQLite's full-text search over all of them, in memory, by a question's words.

Small words are left out, and mistyped ones put right.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from functools import cache, cached_property

from app.help.article import Article, read_articles

_WORD = re.compile(r"[^\W_]+(?:[-.'][^\W_]+)*|--[a-z][a-z-]+")
_SHORT = 4  # shorter words are too alike to be put right
_ALIKE = 0.75

# Words that say nothing about what is asked.
_STOP_WORDS = """
    tenon app program a about actually all also am an and any anything are as at be been being but by can cannot
    can't could did do does doesn't doing don't else ever every for from get gets give go going got had has have he
    help her here hi hello how i i'd i'm if in into is isn't it it's its just keep know let like lot make makes
    making many may me mean means more most much must my need no not now of off ok on one only or our out over
    please possible put really said say set shall she should show so some something still such take tell than thank
    thanks that that's the their them then there these they thing things this those through to too try trying up us
    use used uses using very want wants was way we well were what what's when where where's which while who why will
    with without won't would yes you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Weights of a word in the title, in the keywords and in the text.
_WEIGHTS = (8.0, 4.0, 1.0)


def words_of(text: str) -> list[str]:
    """Words of a text in lower case, in their order, each once."""
    lower = text.lower().replace("\u2019", "'")
    return list(dict.fromkeys(found.group().removesuffix("'s") for found in _WORD.finditer(lower)))


def telling_words(text: str) -> list[str]:
    """Return the words that say what is asked, or all of them if none does."""
    words = words_of(text)
    return [word for word in words if word not in STOP_WORDS] or words


def corrected(word: str, known: Collection[str]) -> str:
    """Return the known word that a word was probably meant to be, or the word itself."""
    if len(word) < _SHORT or any(one.startswith(word) or _same_stem(one, word) for one in known):
        return word
    alike = get_close_matches(word, known, n=5, cutoff=_ALIKE)
    # Of words that are as alike, one of the same letters in another order.
    return next((one for one in alike if sorted(one) == sorted(word)), alike[0] if alike else word)


def _same_stem(one: str, other: str) -> bool:
    """Return True if they differ in their endings alone, as far as that can be said without a dictionary."""
    shared = min(len(one), len(other))
    return shared >= 5 and abs(len(one) - len(other)) <= 4 and one[: shared - 1] == other[: shared - 1]


class HelpLibrary:
    """All articles.

    Args:
        articles: In the order of the contents.
    """

    def __init__(self, articles: Sequence[Article]) -> None:
        self.articles = tuple(articles)
        self._by_name = {article.name: article for article in articles}

    def __getitem__(self, name: str) -> Article:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def search(self, text: str, most: int = 8) -> list[Article]:
        """Return the articles that match, the best first; words may be unfinished, inflected or mistyped."""
        words = [corrected(word, self._vocabulary) for word in telling_words(text)]
        if not words:
            return []
        if self._index is None:
            fitting = [(-len(set(words) & self._words_of(one)), one) for one in self.articles]
            return [one for score, one in sorted(fitting, key=lambda entry: entry[0]) if score][:most]
        wanted = " OR ".join(f'"{word}"*' for word in words)
        rows = self._index.execute(
            "SELECT name FROM help WHERE help MATCH ? ORDER BY bm25(help, 0, ?, ?, ?)", (wanted, *_WEIGHTS)
        )
        found = [self._by_name[name] for (name,) in rows]
        found.sort(key=lambda one: frozenset(words) not in self._names_of(one))
        return found[:most]

    @cached_property
    def _index(self) -> sqlite3.Connection | None:
        """Index of the articles, or None if this SQLite has no full-text search."""
        index = sqlite3.connect(":memory:")
        try:
            index.execute(
                "CREATE VIRTUAL TABLE help USING fts5("
                "name UNINDEXED, title, keywords, body, tokenize = 'porter unicode61', prefix = '2 3')"
            )
        except sqlite3.OperationalError:
            index.close()
            return None
        rows = ((one.name, one.title, ", ".join(one.keywords), one.body) for one in self.articles)
        index.executemany("INSERT INTO help VALUES (?, ?, ?, ?)", rows)
        return index

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset(word for article in self.articles for word in self._words_of(article))

    def _names_of(self, article: Article) -> set[frozenset[str]]:
        """Return the words of an article's title and of each keyword, by which a question names it."""
        return {frozenset(telling_words(name)) for name in (article.title, *article.keywords)}

    @staticmethod
    def _words_of(article: Article) -> set[str]:
        return set(words_of(" ".join((article.title, *article.keywords, article.body))))


@cache
def help_library() -> HelpLibrary:
    """Return the articles that ship with Tenon, read at the first call."""
    return HelpLibrary(read_articles())
