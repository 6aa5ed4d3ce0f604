from __future__ import annotations

import dataclasses
import errno
import os
import pickle
import queue
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import InvalidOption, OutOfDisk
from engine.hub import download, model_folders, transfer
from engine.hub.connection import Hub
from engine.hub.download import DownloadPlan
from engine.hub.download_queue import DownloadQueue, stored_downloads
from engine.hub.installed import installed_models
from engine.hub.offer import make_offer
from engine.hub.transfer import TransferRate
from engine.messages import DownloadStatus
from tests.engine.hub.conftest import IMPATIENT
from tests.support import hub_faults as faults
from tests.support.hub_faults import large
from tests.support.hub_server import HubServer

SIZE = 60_000


class Watch:
    """The events of a queue, and waiting for one of them."""

    def __init__(self) -> None:
        self.events: queue.Queue[DownloadStatus] = queue.Queue()
        self.seen: list[DownloadStatus] = []

    def wait(self, matches: Callable[[DownloadStatus], bool]) -> DownloadStatus:
        while True:
            event = self.events.get(timeout=20)
            self.seen.append(event)
            if matches(event):
                return event

    def until(self, name: str, state: str) -> DownloadStatus:
        return self.wait(lambda event: (event.name, event.state) == (name, state))


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path))
    return tmp_path / "models"


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def start(models: Path, server: HubServer, watch: Watch) -> Iterator[Callable[[], DownloadQueue]]:
    """Start the program's queue; all are closed at the end."""
    running: list[DownloadQueue] = []

    def begin() -> DownloadQueue:
        ticks = iter(range(10**9))
        found = DownloadQueue(
            models,
            lambda: Hub(stall_s=30.0),
            watch.events.put,
            IMPATIENT,
            reserve_bytes=0,
            clock=lambda: float(next(ticks)),
        )
        running.append(found)
        return found

    yield begin
    for found in running:
        found.close()


@pytest.fixture
def plans(hub: Hub, server: HubServer, models: Path) -> dict[str, DownloadPlan]:
    found = {}
    for number, name in enumerate("abc"):
        server.add(f"o/{name}", {"m-Q4_0.gguf": random.Random(number).randbytes(SIZE)})
        found[name] = make_offer(hub, models, f"o/{name}", name=name).plan
    return found


def installed() -> list[str]:
    return [model.name for model in installed_models()]


def test_downloads_come_one_after_the_other(
    start: Callable[[], DownloadQueue], plans: dict[str, DownloadPlan], watch: Watch
) -> None:
    running = start()
    for name in "abc":
        running.add(plans[name])
    watch.until("c", "done")
    assert installed() == ["a", "b", "c"]
    assert [event.name for event in watch.seen if event.state == "done"] == ["a", "b", "c"]
    assert running.statuses() == ()
    for name in "abc":
        done = [event.done_bytes for event in watch.seen if event.name == name]
        assert done == sorted(done)
        assert done[-1] == SIZE


def test_pause_resume_and_cancel(
    start: Callable[[], DownloadQueue],
    plans: dict[str, DownloadPlan],
    watch: Watch,
    server: HubServer,
    models: Path,
) -> None:
    server.once(large(faults.stall(0.5)), times=2)
    running = start()
    running.add(plans["a"])
    running.add(plans["b"])
    watch.wait(lambda event: event.name == "a" and event.done_bytes >= SIZE // 2)
    running.pause("a")
    paused = watch.until("a", "paused")
    assert paused.done_bytes == SIZE // 2
    watch.wait(lambda event: event.name == "b" and event.done_bytes >= SIZE // 2)
    running.cancel("b")
    watch.until("b", "cancelled")
    running.resume("a")
    watch.until("a", "done")
    assert installed() == ["a"]
    assert stored_downloads(models) == []
    assert server.downloads() == [None, None, f"bytes={SIZE // 2}-"]
    for call in (running.pause, running.resume, running.cancel):
        with pytest.raises(InvalidOption, match="no download"):
            call("b")


def test_the_queue_goes_on_when_the_program_starts_again(
    start: Callable[[], DownloadQueue], plans: dict[str, DownloadPlan], watch: Watch, server: HubServer
) -> None:
    server.once(large(faults.stall(0.5)))
    first = start()
    first.add(plans["a"])
    first.add(plans["b"])
    first.add(plans["c"])
    first.pause("c")
    watch.wait(lambda event: event.name == "a" and event.done_bytes >= SIZE // 2)
    first.close()
    second = start()
    assert [status.name for status in second.statuses()][-1] == "c"
    watch.until("b", "done")
    assert installed() == ["a", "b"]
    assert [(status.name, status.state) for status in second.statuses()] == [("c", "paused")]
    second.resume("c")
    watch.until("c", "done")


def test_what_comes_goes_on_over_another_connection(
    start: Callable[[], DownloadQueue],
    plans: dict[str, DownloadPlan],
    watch: Watch,
    server: HubServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.once(large(faults.stall(0.5)))
    running = start()
    running.reconnect()  # nothing runs
    running.add(plans["a"])
    watch.wait(lambda event: event.done_bytes >= SIZE // 2)
    with HubServer().running() as mirror:
        mirror.repos = server.repos
        monkeypatch.setenv("HF_ENDPOINT", mirror.address)
        running.reconnect()
        watch.until("a", "done")
        assert mirror.downloads() == [f"bytes={SIZE // 2}-"]
    assert server.downloads() == [None]
    assert {event.state for event in watch.seen} <= {"queued", "receiving", "done"}


def test_a_failure_is_told_and_the_next_one_runs(
    start: Callable[[], DownloadQueue], plans: dict[str, DownloadPlan], watch: Watch, server: HubServer
) -> None:
    server.once(large(faults.status(404)), times=1)
    running = start()
    running.add(plans["a"])
    running.add(plans["b"])
    failed = watch.until("a", "failed")
    assert "not on the hub any more" in str(failed.message)
    watch.until("b", "done")
    running.add(plans["a"])
    watch.until("a", "done")
    assert installed() == ["a", "b"]


def test_a_wait_says_why(
    start: Callable[[], DownloadQueue], plans: dict[str, DownloadPlan], watch: Watch, server: HubServer
) -> None:
    server.once(large(faults.status(429, Retry_After="0")))
    running = start()
    running.add(plans["a"])
    assert "too much to do" in str(watch.until("a", "waiting").message)
    watch.until("a", "done")


def test_room_is_checked_for_the_whole_queue(
    start: Callable[[], DownloadQueue],
    plans: dict[str, DownloadPlan],
    watch: Watch,
    server: HubServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.once(large(faults.stall(0.0)))
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 2 * SIZE)
    running = start()
    running.add(plans["a"])
    running.add(plans["b"])
    with pytest.raises(OutOfDisk, match="queued before it"):
        running.add(plans["c"])
    assert [status.name for status in running.statuses()] == ["a", "b"]
    running.cancel("b")
    running.add(plans["c"])


def test_an_unexpected_error_ends_one_download_and_not_the_queue(
    models: Path, plans: dict[str, DownloadPlan], watch: Watch
) -> None:
    def broken() -> Hub:
        raise RuntimeError("keyring exploded")

    running = DownloadQueue(models, broken, watch.events.put, IMPATIENT, reserve_bytes=0)
    running.add(plans["a"])
    assert "keyring exploded" in str(watch.until("a", "failed").message)
    running.add(plans["b"])
    watch.until("b", "failed")
    running.close()


def test_a_status_is_frozen_and_pickles() -> None:
    status = DownloadStatus("a", "o/a", "receiving", 1, 2, 3.0, 4.0, "text")
    assert pickle.loads(pickle.dumps(status)) == status
    with pytest.raises(dataclasses.FrozenInstanceError):
        status.name = "b"  # type: ignore[misc]


def test_the_pace_is_of_the_last_seconds() -> None:
    pace = TransferRate()
    assert pace.bytes_per_s() is None
    assert pace.seconds_left(100) is None
    for second in range(30):
        pace.note(float(second), 1000 * second if second < 15 else 15_000 + 100 * (second - 15))
    assert pace.bytes_per_s() == pytest.approx(100)
    assert pace.seconds_left(500) == pytest.approx(5)
    pace.forget()
    assert pace.bytes_per_s() is None


def test_a_full_disk_fails_one_download_and_the_queue_goes_on(
    start: Callable[[], DownloadQueue],
    plans: dict[str, DownloadPlan],
    watch: Watch,
    server: HubServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor can how it stands be written to the disk that is full."""
    running = start()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:

        def refuse(*arguments: object) -> None:
            raise full

        patch.setattr(download, "write_download", refuse)
        patch.setattr(transfer.Transfer, "run", refuse)
        running.add(plans["a"])
        failed = watch.until("a", "failed")
        assert failed.message
    running.add(plans["b"])
    watch.until("b", "done")
    running.resume("a")
    watch.until("a", "done")
    assert installed() == ["a", "b"]
