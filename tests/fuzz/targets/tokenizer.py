"""tokenizer.json and all that stands beside it, and tokenizer.model of SentencePiece."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random

from tests.fuzz.asked_engine import AskedEngine
from tests.fuzz.models import write_small
from tests.fuzz.mutation import damaged_bytes, damaged_json

_JSON, _CONFIG, _MAP, _ADDED = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
_PIECES = "tokenizer.model"


class Target:
    """A folder whose tokenizer is damaged in one of its files."""

    def __init__(self, folder: Path) -> None:
        self._folder = write_small(folder / "model")
        self._json = json.loads((self._folder / _JSON).read_text(encoding="utf-8"))
        self._config = json.loads((self._folder / _CONFIG).read_text(encoding="utf-8"))
        self._config |= {"added_tokens_decoder": {"0": {"content": "<|endoftext|>", "special": True}},
                         "additional_special_tokens": ["<a>"], "bos_token": {"content": "<s>"}}  # fmt: skip
        self._older = {"eos_token": "<|im_end|>", "additional_special_tokens": ["<b>"]}
        self._added = {"<c>": 300, "<d>": 301}
        self._pieces = _sentence_piece(list(self._json["model"]["vocab"]))
        self._engine = AskedEngine(folder / "models")
        assert self._engine.ask(self._folder)
        for kind in range(2):
            self._write(kind)
            assert self._engine.ask(self._folder), kind

    def run(self, random: Random) -> None:
        kind = random.choice((0, 0, 0, 1))
        self._write(kind)
        beside = random.randrange(3)
        if beside == 1:
            (self._folder / _CONFIG).write_bytes(
                damaged_json(random, self._config | {"tokenizer_class": "GPT2Tokenizer"})
            )
        elif beside == 2:
            (self._folder / _MAP).write_bytes(damaged_json(random, self._older))
            (self._folder / _ADDED).write_bytes(damaged_json(random, self._added))
        elif kind == 0:
            (self._folder / _JSON).write_bytes(damaged_json(random, self._json))
        else:
            (self._folder / _PIECES).write_bytes(damaged_bytes(random, self._pieces))
        self._engine.ask(self._folder)

    def close(self) -> None:
        self._engine.close()

    def _write(self, kind: int) -> None:
        """A good tokenizer of one kind: tokenizer.json or tokenizer.model."""
        for name in (_JSON, _CONFIG, _MAP, _ADDED, _PIECES):
            (self._folder / name).unlink(missing_ok=True)
        if kind == 0:
            (self._folder / _JSON).write_text(json.dumps(self._json), encoding="utf-8")
        else:
            (self._folder / _PIECES).write_bytes(self._pieces)


def _sentence_piece(tokens: list[str]) -> bytes:
    """A tokenizer.model with these tokens and those of single bytes."""
    pieces = [("<unk>", 2), ("<s>", 3), ("</s>", 3), *((f"<0x{byte:02X}>", 6) for byte in range(256))]
    pieces += [(token, 1) for token in tokens[:100] if not token.startswith("<")]
    data = b""
    for number, (text, kind) in enumerate(pieces):
        inner = _field(1, text.encode()) + b"\x15" + struct.pack("<f", -float(number)) + b"\x18" + bytes([kind])
        data += _field(1, inner)
    return data + _field(2, b"\x18\x02\xc0\x02\x00\xc8\x02\x01") + _field(3, b"\x18\x01")


def _field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content
