"""Pictures in a prompt: where they stand in its text, and the ids that their rows have among its tokens.

A row of a picture has an id below 0, drawn from a digest of the picture and of what encodes it. So a text that is
kept, in memory or on the disk, shares a picture with a prompt exactly where it has the same ids, as it does with words.
An id alone is short enough for chance, so a picture is shared whole or not at all.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import shake_256
from itertools import pairwise
from typing import Any

from engine.messages import ChatMessage, PictureLayout

#: Stands for a picture in a message's text.
MARK = "\ufffc"
#: Tokens for pictures, by llama.cpp's names of towers. Tokenizers of models that do not see have none of them.
ANCHORS = {
    "gemma3": "<start_of_image>",
    **dict.fromkeys(("gemma4v", "gemma4uv"), "<|image|>"),
    **dict.fromkeys(("idefics3", "lfm2"), "<image>"),
    "muse-glimmer": "<|patch|>",
    "pixtral": "[IMG]",
    "qwen3vl_merger": "<|image_pad|>",
}
# Ids of a picture's first rows are below this, those of its others between this and 0.
_FIRST, _BITS = -(1 << 30), (1 << 30) - 1


def names_pictures(metadata: Mapping[str, Any], sight: str) -> bool:
    """Return whether the tokenizer of a GGUF file, by its metadata, has the token for pictures of `ANCHORS`."""
    anchor = ANCHORS.get(sight)
    return anchor in metadata.get("tokenizer.ggml.tokens", (anchor,))


def row_ids(layout: PictureLayout, run: int) -> list[int]:
    """Return the ids of the rows of one of a picture's runs."""
    count = layout.runs[run]
    drawn = struct.unpack(f"<{count}I", shake_256(f"{layout.key}:{run}".encode()).digest(4 * count))
    # -1 stands for a row that has no token and belongs to no picture
    return [2 * _FIRST + (drawn[0] & _BITS), *(min(_FIRST + (one & _BITS), -2) for one in drawn[1:])]


def begins_run(token: int) -> bool:
    """Return whether an id is that of a run's first row."""
    return token < _FIRST


def whole_runs(tokens: Sequence[int], count: int) -> int:
    """Return the number of first tokens, at most ``count``, after which no run is cut in two."""
    while 0 < count < len(tokens) and _FIRST <= tokens[count] < 0:
        count -= 1
    return count


def plain(tokens: Sequence[int], stand_in: int) -> Sequence[int]:
    """Return tokens with one of the vocabulary in the place of each row of a picture."""
    if not tokens or min(tokens) >= 0:
        return tokens
    return [stand_in if token < 0 else token for token in tokens]


def marked(message: ChatMessage) -> ChatMessage:
    """Return a message with `MARK` at the place of each picture, and nowhere else, be it in its files."""
    ends = [0, *(min(max(one.at, 0), len(message.content)) for one in message.pictures), len(message.content)]
    pieces = [message.content[begin:end].replace(MARK, "") for begin, end in pairwise(ends)]
    files = tuple(replace(one, text=one.text.replace(MARK, " ")) for one in message.attachments)
    return replace(message, content=MARK.join(pieces), attachments=files)


def with_rows(ids: Sequence[int], layouts: Sequence[PictureLayout], anchors: Mapping[str, int | None]) -> Iterator[int]:
    """Yield the tokens of a prompt with the rows of its pictures, in order, at the anchors of their layouts."""
    runs = [(layout, run) for layout in layouts for run in range(len(layout.runs))]
    runs.reverse()
    for token in ids:
        if not runs or token != anchors[runs[-1][0].anchor]:
            yield token
            continue
        layout, run = runs.pop()
        if layout.follows:
            yield token
        yield from row_ids(layout, run)
