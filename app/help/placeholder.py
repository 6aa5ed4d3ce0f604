"""The placeholders of articles: what the window and this computer put in when an article is shown.

``{memory}`` is filled with words about this computer; ``{do:new-chat}``, ``{setting:theme}`` and ``{article:size}``
become links to a command, a setting and another article, each under the name that the window has for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_PLACEHOLDER = re.compile(r"\{(?:(?P<kind>[a-z]+):)?(?P<name>[a-z_-]+)\}")


def placeholders(body: str) -> Iterator[tuple[str, str]]:
    """Kind and name of each; the kind is empty for words about this computer."""
    for found in _PLACEHOLDER.finditer(body):
        yield found["kind"] or "", found["name"]


def filled(body: str, word_for: Callable[[str, str], str]) -> str:
    """The body with every placeholder replaced by what ``word_for`` gives for its kind and name."""
    return _PLACEHOLDER.sub(lambda found: word_for(found["kind"] or "", found["name"]), body)
