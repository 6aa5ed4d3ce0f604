"""The engine's pipe carries messages and nothing else."""

from __future__ import annotations

import pickle
import zlib
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from engine.messages import ChatMessage, Generate, LoadOptions
from engine.messages.pipe import MessageDamaged, receive, send

MESSAGE = Generate("1", LoadOptions("smollm2"), (ChatMessage("user", "Hi \ud800"),))


@pytest.fixture
def ends() -> tuple[Connection, Connection]:
    return Pipe()


def test_a_message_comes_as_it_went(ends: tuple[Connection, Connection]) -> None:
    send(ends[0], MESSAGE)
    assert receive(ends[1]) == MESSAGE
    ends[0].close()
    with pytest.raises(EOFError):
        receive(ends[1])


class Caller:
    """Calls something where it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.place,)


def test_nothing_is_called_by_what_comes(ends: tuple[Connection, Connection], tmp_path: Path) -> None:
    send(ends[0], Caller(tmp_path / "called"))
    with pytest.raises(MessageDamaged):
        receive(ends[1])
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("content", [None, 5, (MESSAGE,), Generate, "text"])
def test_only_messages_are_taken(ends: tuple[Connection, Connection], content: object) -> None:
    send(ends[0], content)
    with pytest.raises(MessageDamaged):
        receive(ends[1])


@pytest.mark.parametrize("place", [0, 3, 5, 60, -2])
def test_a_flipped_bit_is_noticed(ends: tuple[Connection, Connection], place: int) -> None:
    pickled = pickle.dumps(MESSAGE)
    data = bytearray(zlib.crc32(pickled).to_bytes(4, "little") + pickled)
    data[place] ^= 1
    ends[0].send_bytes(data)
    with pytest.raises(MessageDamaged):
        receive(ends[1])
