"""Messages through the engine's pipe: damaged on the way, or made by somebody else."""

from __future__ import annotations

import os
import pickle
import struct
import zlib
from contextlib import suppress
from dataclasses import is_dataclass
from multiprocessing import Pipe
from pathlib import Path
from random import Random

from engine.messages import (
    Attachment,
    ChatMessage,
    Failed,
    Generate,
    LoadOptions,
    SamplingOptions,
    Shutdown,
    TokensAdded,
    pipe,
)
from engine.messages.reports import ErrorReport
from tests.fuzz.mutation import damaged_bytes

_MESSAGES: tuple[object, ...] = (
    Generate(
        "1",
        LoadOptions("smollm2", drafts=("x",)),
        (ChatMessage("user", "Grüße 👋", (Attachment("a.py", 3, "x"),)),),
        SamplingOptions(0.5),
    ),
    TokensAdded("1", "text", (1, 2, 3)),
    Failed("1", ErrorReport("OutOfMemory", "No.", "details")),
    Shutdown(),
)
_FOREIGN = (
    b"cos\nsystem\n(S'touch PLACE'\ntR.",
    b"cbuiltins\neval\n(S'open(\"PLACE\",\"w\")'\ntR.",
    b"cengine.messages.pipe\npickle.loads\n(C\x00tR.",
    b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93\x8c\x12open('PLACE', 'w')\x85R.",
    b"(" * 3000 + b".",
    b"]" * 3000 + b"a" * 2999 + b".",
    b"r\xff\xff\xff\x0f.",
    b"\x80\x05B\xff\xff\xff\x7fx.",
    b"I1\n.", b"N.", b"", b".",
)  # fmt: skip


class Target:
    """A pipe for each case, into which one end writes and whose other end reads until it ends."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / "opened"
        self._pickles = [pickle.dumps(message, protocol) for message in _MESSAGES for protocol in (2, 4, 5)]

    def run(self, random: Random) -> None:
        pickles = random.choices(self._pickles, k=random.randrange(1, 4))
        kind = random.randrange(3)
        if kind == 0:  # damaged on the way
            data = damaged_bytes(random, b"".join(map(_frame, pickles)))
        elif kind == 1:  # another version's, or of a damaged memory: the checksum is right
            data = b"".join(_frame(damaged_bytes(random, pickled)) for pickled in pickles)
        else:
            foreign = random.choice(_FOREIGN).replace(b"PLACE", str(self._place).encode())
            data = _frame(pickles[0]) + _frame(foreign if random.random() < 0.5 else damaged_bytes(random, foreign))
        self._read(data)
        assert not self._place.exists(), "something was called"

    def close(self) -> None:
        pass

    def _read(self, data: bytes) -> None:
        ours, theirs = Pipe()
        try:
            os.write(ours.fileno(), data)
            ours.close()
            with suppress(EOFError, OSError, pipe.MessageDamaged):
                while True:
                    message = pipe.receive(theirs)
                    assert is_dataclass(message)
                    assert type(message).__module__.startswith("engine.messages")
        finally:
            theirs.close()


def _frame(pickled: bytes) -> bytes:
    """As `pipe.send` and the connection write it."""
    body = zlib.crc32(pickled).to_bytes(4, "little") + pickled
    return struct.pack("!i", len(body)) + body
