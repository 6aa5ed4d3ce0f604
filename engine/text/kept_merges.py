"""SentencePiece's merges of a GGUF file, kept on the disk: to make them takes longer than the rest of a small model."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.files import read_cached, write_cached
from engine.gguf.tokenizer import merges_by_score

_SUFFIX = ".merges"
#: Vocabularies that are kept, of 6 MB each: those that were used last.
_MOST = 8
#: Of what is kept, to be raised whenever `merges_by_score` makes other merges.
_VERSION = 1


def kept_merges(
    folder: Path, tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float]
) -> NDArray[np.int32]:
    """Return what `merges_by_score` makes of a vocabulary, from the folder where it is there, and keep it.

    Args:
        folder: Of files that can be made again.
        tokens: Texts of the tokens.
        kinds: Of each, as GGUF numbers them.
        scores: Of each.
    """
    digest = hashlib.sha256(repr(_VERSION).encode())
    digest.update("\0".join(tokens).encode("utf-8", "surrogateescape"))
    digest.update(np.array(kinds).tobytes() + np.array(scores).tobytes())
    path = folder / f"{digest.hexdigest()[:32]}{_SUFFIX}"
    kept = read_cached(path)
    if isinstance(kept, str):
        with suppress(OSError):
            os.utime(path)
        return np.frombuffer(base64.b64decode(kept), "<i4").reshape(-1, 2)
    merges = merges_by_score(tokens, kinds, scores)
    write_cached(path, base64.b64encode(merges.astype("<i4").tobytes()).decode())
    with suppress(OSError):  # another process may delete the same ones
        by_use = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in by_use[_MOST:]:
            old.unlink(missing_ok=True)
    return merges
