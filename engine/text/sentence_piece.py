"""SentencePiece: the tokenizer.model of folders from before tokenizer.json, and merges of GGUF files, kept on the disk.

A tokenizer.model is a message of protocol buffers (sentencepiece_model.proto), of which a few fields count:

    1  pieces, each: 1 text, 2 score (float), 3 kind as GGUF numbers it (1 where it is left out)
    2  trainer: 3 model type (2 is BPE), 40 the id of the unknown token (0 where it is left out), 41 of the first
    3  normalizer: 3 whether a text begins with a space (true where it is left out)
"""

from __future__ import annotations

import base64
import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from engine.errors import UnsupportedModel
from engine.files import read_cached, write_cached
from engine.gguf.tokenizer import merges_by_score, read_tokenizer

_BPE = 2
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_SUFFIX = ".merges"
#: Vocabularies that are kept, of 6 MB each: those that were used last.
_MOST = 8
#: Version of the kept files, to be raised whenever `merges_by_score` makes other merges.
_VERSION = 1


def read_sentence_piece(data: bytes) -> Tokenizer:
    """Build the tokenizer of a file's content.

    Raises:
        UnsupportedModel: It is not of the BPE kind.
        ValueError: The file is damaged.
    """
    pieces: list[dict[int, Any]] = []
    trainer: dict[int, Any] = {}
    normalizer: dict[int, Any] = {}
    for number, value in _fields(data):
        if number == 1:
            pieces.append(dict(_fields(value)))
        elif number == 2:
            trainer = dict(_fields(value))
        elif number == 3:
            normalizer = dict(_fields(value))
    if trainer.get(3, 1) != _BPE:
        raise UnsupportedModel(
            "The model's tokenizer.model is of a kind that Tenon does not know: copy its tokenizer.json there."
        )
    metadata = {
        "model": "llama",
        "tokens": [piece[1].decode("utf-8") for piece in pieces],
        "scores": [piece.get(2, 0.0) for piece in pieces],
        "token_type": [piece.get(3, 1) for piece in pieces],
        "unknown_token_id": trainer.get(40, 0),
        "bos_token_id": trainer.get(41, 1),
        "add_space_prefix": bool(normalizer.get(3, 1)),
    }
    return read_tokenizer({f"tokenizer.ggml.{name}": value for name, value in metadata.items()})[0]


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Return the fields of a message by their numbers; raise ValueError if it ends early."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FOUR_BYTES, _EIGHT_BYTES):
            size = 4 if kind == _FOUR_BYTES else 8
        else:
            raise ValueError(f"a field of the kind {kind}")
        piece, at = data[at : at + size], at + size
        if at > len(data):
            raise ValueError("the file ends early")
        yield number, struct.unpack("<f", piece)[0] if kind == _FOUR_BYTES else piece


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in pieces of seven bits, and its end."""
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("the file ends early")
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def kept_merges(
    folder: Path, tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float]
) -> NDArray[np.int32]:
    """Return what `merges_by_score` makes of a vocabulary, from the folder where it is there, and keep it.

    Args:
        folder: Folder for files that can be made again.
        kinds: Kinds of the tokens, as GGUF numbers them.
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
