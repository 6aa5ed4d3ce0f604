"""A conversation's title until the user gives it another."""

from __future__ import annotations

import re

from app.words import mark, tr

TITLE_CHARACTERS = 60
UNTITLED = mark("New chat")
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_LABEL = re.compile(r"(?i)^(chat )?(title|titel|标题)\W*[:：]")
# Words of a model that talks instead of giving a title.
_TALK = re.compile(
    r"(?i)^(sure|certainly|of course|hello|hi|hey|thanks?|thank you|sorry|yes|no|okay|ok|i|i['’](m|ll|ve|d)|as an?"
    r"|here(['’]s)?|let['’]?s|you|your|we|please|it['’]?s|this is|that is|my)\b(?!-)"
)
_MOST_WORDS = 8
_FARTHEST_READ = 2_000  # a line may have millions of characters
_AROUND = " \t*_#`\"'“”„«»‘’"


def title_of(text: str) -> str:
    """Return the first line that says something, without control characters, and cut at a word with an ellipsis."""
    for line in text.splitlines():
        words = "".join(char if char.isprintable() else " " for char in line[:_FARTHEST_READ]).split()
        if words:
            return _cut(" ".join(words))
    return tr(UNTITLED)


def _cut(line: str) -> str:
    if len(line) <= TITLE_CHARACTERS:
        return line
    head = line[:TITLE_CHARACTERS]  # one more than fits beside the ellipsis: a word may end right there
    space = head.rfind(" ")
    # A line without a space in its second half (a web address, Chinese) is cut in the middle of the word.
    end = space if space >= TITLE_CHARACTERS // 2 else TITLE_CHARACTERS - 1
    return head[:end].rstrip(" ,.;:") + "…"


def model_title(text: str) -> str:
    """Return a title from a model's answer, or an empty text if the answer is of no use.

    Thoughts, quotes, Markdown and a label before it go; what is left is one line. A sentence, a question or small talk
    is no title.
    """
    said = _THOUGHT.sub("", text)
    if "<think>" in said:  # it never came to an end
        return ""
    for line in said.splitlines():
        bare = _LABEL.sub("", line.strip(_AROUND)).strip(_AROUND).rstrip(".")
        if any(char.isalnum() for char in bare):
            talks = bool(_TALK.match(bare)) or bare.endswith(("?", "!", ":", "？", "！", "：")) or ". " in bare
            return "" if talks or len(bare.split()) > _MOST_WORDS else title_of(bare)
    return ""
