"""Finding articles: SQLite's full-text search over all of them, in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache, cached_property

from app.help.article import Article, read_articles
from app.help.words import corrected, telling_words, words_of

# Weights of a word in the title, in the keywords and in the text.
_WEIGHTS = (8.0, 4.0, 1.0)


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
