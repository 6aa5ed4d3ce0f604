"""The articles, as they are written in assets/help: one Markdown file for each section.

``{memory}`` in one is filled with words about this computer; ``{do:new-chat}``, ``{setting:theme}`` and
``{article:size}`` become links to a command, a setting and another article, each under the name that the window has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "help"
_HEAD = re.compile(r"^## (?P<title>.+?) \{#(?P<name>[a-z-]+)\}$", re.MULTILINE)
_KEYWORDS = "Keywords: "
_PLACEHOLDER = re.compile(r"\{(?:(?P<kind>[a-z]+):)?(?P<name>[a-z_-]+)\}")


@dataclass(frozen=True)
class Article:
    """Something that a user may want to know about Tenon."""

    name: str  # name in links and code: ``context-full``
    title: str  # title as it is shown
    section: str  # the section that it stands in
    keywords: tuple[str, ...]  # other words that people use for it
    body: str  # Markdown with placeholders

    def filled(self, word_for: Callable[[str, str], str]) -> str:
        """Return the body with each placeholder replaced by the word for its kind and name."""
        return _PLACEHOLDER.sub(lambda found: word_for(found["kind"] or "", found["name"]), self.body)


def read_articles(folder: Path = FOLDER) -> tuple[Article, ...]:
    """Every article, section by section.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file does not begin with its section's name, or an article without its keywords.
    """
    return tuple(article for path in sorted(folder.glob("*.md")) for article in _read(path))


def _read(path: Path) -> list[Article]:
    text = path.read_text(encoding="utf-8")
    parts = _HEAD.split(text)  # what stands before the first head, then title, name and text of each
    section = parts[0].strip()
    if not section.startswith("# "):
        raise ValueError(f"{path} does not begin with the name of its section")
    articles = []
    for title, name, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        keywords, _, body = rest.strip().partition("\n")
        if not keywords.startswith(_KEYWORDS):
            raise ValueError(f"{path}: the article {name} does not begin with its keywords")
        words = tuple(word.strip() for word in keywords.removeprefix(_KEYWORDS).split(","))
        articles.append(Article(name, title, section.removeprefix("# "), words, body.strip()))
    return articles
