"""GPU support as the window asks for it, with a package index on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.gpu_addon import GpuAddon
from app.chat.machine import GpuSupport
from engine.errors import AddonUnusable
from engine.gpu_addon import addon, installation
from engine.gpu_addon.bundled_torch import BundledTorch
from engine.gpu_addon.installed_addon import find_installed, gpu_folder
from engine.planning.probes.graphics_cards import GraphicsCard
from tests.support.hub_faults import corrupt, stall
from tests.support.wheel_server import TORCH, WheelServer, put_addon


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WheelServer]:
    cards = (GraphicsCard("nvidia", "Test GPU", "590.1", 8.9),)
    torch = BundledTorch(TORCH, None, frozenset({"filelock"}))
    monkeypatch.setattr("engine.gpu_addon.addon.read_graphics_cards", lambda: cards)
    monkeypatch.setattr("engine.gpu_addon.addon.bundled_torch", lambda folder: torch)
    with WheelServer().running() as running:
        monkeypatch.setitem(addon._data(), "index", f"{running.address}/whl")
        yield running


@pytest.fixture
def support(server: WheelServer) -> Iterator[GpuAddon]:
    made = GpuAddon()
    yield made
    made.close()


def settle(qtbot: QtBot, support: GpuAddon, ask: Callable[[], None]) -> GpuSupport:
    """Ask for something and wait until it is done."""
    seen: list[GpuSupport] = []
    support.changed.connect(seen.append)
    ask()
    assert support.support.busy
    qtbot.waitUntil(lambda: not support.support.busy)
    support.changed.disconnect(seen.append)
    assert seen[-1] == support.support
    return support.support


def test_from_looking_to_works_to_removed(qtbot: QtBot, server: WheelServer, support: GpuAddon) -> None:
    put_addon(server)
    assert support.support == GpuSupport()
    found = settle(qtbot, support, support.look)
    assert (found.state, found.title, found.disk_bytes) == ("offered", "CUDA 13.0", 0)
    assert found.sentence == (
        "GPU support for Test GPU with driver 590.1 is CUDA 13.0. Tenon looks for graphics chips when the machine is "
        "measured."
    )
    sized = settle(qtbot, support, support.ask_size)
    assert (sized.state, sized.address) == ("sized", server.index)
    assert sized.size_bytes == sum(map(len, server.wheels.values()))
    assert sized.unpacked_bytes > 400_000
    assert server.fetched() == []
    works = settle(qtbot, support, support.fetch)
    assert (works.state, works.restart) == ("works", True)
    assert works.disk_bytes > sized.unpacked_bytes
    assert "works with Test GPU 0 and Test GPU 1" in works.sentence
    gone = settle(qtbot, support, support.remove)
    assert (gone.state, gone.disk_bytes, gone.restart) == ("offered", 0, True)
    assert find_installed() is None


def test_nothing_is_fetched_before_its_size_was_said(qtbot: QtBot, server: WheelServer, support: GpuAddon) -> None:
    put_addon(server)
    assert settle(qtbot, support, support.fetch).state == "sized"
    assert server.fetched() == []


def test_one_thing_at_a_time(qtbot: QtBot, server: WheelServer, support: GpuAddon) -> None:
    put_addon(server)
    support.ask_size()
    support.remove()
    support.look()
    assert support.support.step == "sizing"
    qtbot.waitUntil(lambda: not support.support.busy)
    assert support.support.state == "sized"


def test_pausing_keeps_what_came_and_fetching_goes_on(qtbot: QtBot, server: WheelServer, support: GpuAddon) -> None:
    torch, _ = put_addon(server)
    settle(qtbot, support, support.ask_size)
    server.once(stall(0.5))
    support.fetch()
    assert support.support.state == "fetching"
    qtbot.waitUntil(lambda: support.support.done_bytes > 0)
    assert support.support.total_bytes == support.support.size_bytes
    part = gpu_folder() / ".incoming" / f"{torch}.part"
    qtbot.waitUntil(lambda: part.stat().st_size > 100_000)
    support.pause()
    qtbot.waitUntil(lambda: not support.support.busy)
    paused = support.support
    assert (paused.state, paused.done_bytes) == ("paused", 0)
    assert paused.disk_bytes > 100_000
    assert settle(qtbot, support, support.fetch).state == "works"
    assert [range_ is None for name, range_ in server.fetched() if name == torch] == [True, False]


def test_failures_are_said_and_can_be_tried_again(
    qtbot: QtBot, server: WheelServer, support: GpuAddon, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = settle(qtbot, support, support.ask_size)
    assert failed.state == "failed"
    assert "no torch 9.8.7 with CUDA 13.0 or CUDA 12.6" in failed.sentence
    put_addon(server)
    settle(qtbot, support, support.ask_size)
    server.faults.append(corrupt)
    failed = settle(qtbot, support, support.fetch)
    assert failed.state == "failed"
    assert "arrived damaged twice" in failed.sentence
    assert failed.size_bytes > 0
    server.faults.clear()
    with monkeypatch.context() as patched:
        patched.setattr(installation, "unpack", lambda *arguments: 1 / 0)
        failed = settle(qtbot, support, support.fetch)
    assert failed.sentence.startswith("Something unexpected went wrong")
    assert settle(qtbot, support, support.fetch).state == "works"


def test_one_that_does_not_work_is_off_and_can_be_removed(qtbot: QtBot, server: WheelServer, support: GpuAddon) -> None:
    put_addon(server, available=False)
    settle(qtbot, support, support.ask_size)
    off = settle(qtbot, support, support.fetch)
    assert off.state == "off"
    assert "is switched off, because its torch sees no GPU" in off.sentence
    assert settle(qtbot, support, support.remove).state == "offered"


def test_a_machine_of_which_nothing_is_known(qtbot: QtBot, support: GpuAddon, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(folder: object) -> BundledTorch:
        raise AddonUnusable("This Tenon does not say which torch it runs on.")

    monkeypatch.setattr("engine.gpu_addon.addon.bundled_torch", unknown)
    failed = settle(qtbot, support, support.look)
    assert (failed.state, failed.title) == ("failed", "")


def test_closing_in_the_middle_says_nothing_more(qtbot: QtBot, server: WheelServer, support: GpuAddon) -> None:
    put_addon(server)
    settle(qtbot, support, support.ask_size)
    server.once(stall(0.5))
    support.fetch()
    qtbot.waitUntil(lambda: support.support.done_bytes > 0)
    seen: list[GpuSupport] = []
    support.changed.connect(seen.append)
    support.close()
    thread = support._worker._thread
    thread.join(20)
    assert not thread.is_alive()
    qtbot.wait(50)
    assert seen == []
    support.fetch()
    assert seen == []
    assert find_installed() is None
