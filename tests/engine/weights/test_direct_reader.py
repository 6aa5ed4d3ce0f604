"""Ranges of a file, whatever the file system knows and however the file ends."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.weights import direct_reader
from engine.weights.direct_reader import DirectReader, Extent, PageMemory

SIZE = 300_123


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(random.Random(0).randbytes(SIZE))
    return path


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_reader, "BLOCK_BYTES", 16384)


@pytest.mark.parametrize("direct", [True, False])
def test_ranges_come_whole_also_where_direct_reads_are_refused(
    direct: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not direct:
        monkeypatch.setattr(direct_reader, "_opens_direct", lambda path: False)
    reader = DirectReader([path])
    assert reader.direct <= ({path} if direct else set())
    data = path.read_bytes()
    ranges = [(0, 4096), (8192, 100_000), (299_008, SIZE - 299_008), (4096, 0), (0, SIZE)]
    memories = [PageMemory(size) for _, size in ranges]
    reads = [
        reader.submit([Extent(path, start, size)], memory)
        for (start, size), memory in zip(ranges, memories, strict=True)
    ]
    for (start, size), memory, read in zip(ranges, memories, reads, strict=True):
        assert read.wait(30)
        assert read.error is None
        assert bytes(memory.tensor(0, size).numpy()) == data[start : start + size]
    assert reader.read_bytes == sum(size for _, size in ranges)
    reader.close()


def test_the_system_s_own_answer_is_taken_on_direct_reads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(name: Any, flags: int, *more: int) -> int:
        if flags & getattr(os, "O_DIRECT", 0):
            raise OSError(22, "Invalid argument")
        return opened(name, flags, *more)

    monkeypatch.setattr(os, "open", refuse)
    reader = DirectReader([path])
    memory = PageMemory(5000)
    assert reader.submit([Extent(path, 0, 5000)], memory).wait(30)
    assert (reader.direct, bytes(memory.tensor(0, 5000).numpy())) == (frozenset(), path.read_bytes()[:5000])
    reader.close()


def test_a_file_that_ends_early_is_an_error(path: Path) -> None:
    reader = DirectReader([path])
    read = reader.submit([Extent(path, 0, SIZE + 20_000)], PageMemory(SIZE + 20_000))
    assert read.wait(30)
    assert isinstance(read.error, OSError)
    good = reader.submit([Extent(path, 0, 100)], PageMemory(100))
    assert good.wait(30)
    assert good.error is None
    reader.close()


def test_what_is_abandoned_does_not_touch_its_memory_any_more(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    read_block: Callable[..., None] = DirectReader._read_block

    def held(reader: DirectReader, *arguments: Any) -> None:
        gate.wait(30)
        read_block(reader, *arguments)

    monkeypatch.setattr(DirectReader, "_read_block", held)
    reader = DirectReader([path])
    first, second = PageMemory(SIZE), PageMemory(SIZE)
    reads = [reader.submit([Extent(path, 0, SIZE)], first), reader.submit([Extent(path, 0, SIZE)], second)]
    threading.Timer(0.05, gate.set).start()
    reader.abandon(reads[1])  # nothing of it has begun
    assert not second.tensor(0, SIZE).any()
    reader.abandon(reads[0])  # two blocks of it have
    before = bytes(first.view)
    reader.close()
    assert bytes(first.view) == before
    assert reader.read_bytes <= 4 * 16384


def test_closing_ends_what_waits(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    monkeypatch.setattr(DirectReader, "_read_block", lambda *arguments: gate.wait(30))
    reader = DirectReader([path])
    read = reader.submit([Extent(path, 0, SIZE)], PageMemory(SIZE))
    threading.Timer(0.05, gate.set).start()
    reader.close()
    assert read.wait(30)
    assert isinstance(read.error, OSError)
    assert not any(thread.is_alive() for thread in reader._threads)


def test_memory_begins_on_a_page_and_holds_whole_ones() -> None:
    memory = PageMemory(5000)
    assert (memory.size_bytes, len(memory.view)) == (5000, 8192)
    assert memory.tensor(0, 1).data_ptr() % 4096 == 0


def test_a_reading_thread_outlives_what_goes_wrong_in_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = DirectReader([path])
    read_block = DirectReader._read_block
    with monkeypatch.context() as patch:
        patch.setattr(DirectReader, "_read_block", lambda *arguments: {}["gone"])
        failed = reader.submit([Extent(path, 0, 4096)], PageMemory(4096))
        assert failed.wait(10)
        assert isinstance(failed.error, OSError)
    assert DirectReader._read_block is read_block
    memory = PageMemory(4096)
    again = reader.submit([Extent(path, 0, 4096)], memory)
    assert again.wait(10)
    assert again.error is None
    assert bytes(memory.view[:4096]) == path.read_bytes()[:4096]
    reader.close()
    with pytest.raises(OSError, match="closed"):
        reader.submit([Extent(path, 0, 4096)], memory)
