"""Chips that are asked for, measured, and left alone."""

from __future__ import annotations

import builtins
import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import torch

from engine.cli import main
from engine.engine_process import EngineProcess
from engine.errors import Cancelled
from engine.graphics import adapters, asking, known
from engine.graphics.adapters import Chip, find_adapters, memory_of, open_chip, rests, why_none
from engine.graphics.asking import ask_drivers
from engine.graphics.known import SWITCH, Adapter, Known, chip_sentence, keep_known, read_known
from engine.messages import LoadOptions
from engine.messages.machine import GpuSpeed, HostSpeed, PlainError, Speeds
from engine.placement.device import answers
from engine.planning import hardware
from engine.planning.hardware import free_device_bytes, held_device_bytes, measure_report, read_report
from engine.planning.machine_speeds import read_room
from engine.planning.probes.graphics import read_gpus

SPEED = GpuSpeed(60e9, 1e12, 5e-6, 20e9, packed=True)


def hang(connection: Connection) -> None:
    time.sleep(1000)


def crash(connection: Connection, chip: Adapter) -> None:
    """A driver that crashes when its second chip is measured."""
    connection.send(Known(chips=(chip, replace(chip, device="vulkan:1")), speeds={chip.device: SPEED}))
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_driver_that_computes_on_the_processor_is_no_chip(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    (gpu,) = read_gpus()
    assert (gpu.device, gpu.name, gpu.unified) == (chip.adapter.device, chip.adapter.name, True)
    assert gpu.by_shaders
    monkeypatch.setenv(SWITCH, "1")
    assert find_adapters() == {}
    assert read_gpus() == ()
    assert "No driver" in why_none()


def test_drivers_are_asked_once_in_another_process_and_again_when_they_change(
    chip: Chip, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(adapters, "_found", lambda: pytest.fail("a driver was loaded"))
    keep_known(Known())
    ask_drivers(lambda: None)
    (found,) = read_known().chips
    assert found == chip.adapter
    assert min(value for name, value in vars(read_known().speeds[found.device]).items() if name != "packed") > 0
    assert f"Tenon can use {found.name} through Vulkan" in chip_sentence()
    assert main(["gpu"]) == 0
    assert chip_sentence() in capsys.readouterr().out

    monkeypatch.setattr("engine.planning.hardware.ask_drivers", lambda check: pytest.fail("asked again"))
    kept = SimpleNamespace(busy=False)
    monkeypatch.setattr("engine.planning.hardware.kept_speeds", lambda report: kept)
    assert measure_report().gpus
    monkeypatch.setattr(known.platform, "release", lambda: "7.0")  # or another driver's files
    assert read_known() == Known()
    asked = []
    monkeypatch.setattr("engine.planning.hardware.ask_drivers", asked.append)
    measure_report()
    assert len(asked) == 1


def test_no_driver_is_asked_where_that_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert read_gpus() == ()
    ask_drivers(lambda: pytest.fail("a driver is asked"))


def test_a_chip_whose_package_comes_or_goes_is_asked_again(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_known().chips
    monkeypatch.setattr(known, "find_spec", lambda name: None)
    assert read_known() == Known()


def test_speeds_of_a_chip_that_fails_later_are_forgotten(chip: Chip) -> None:
    host = HostSpeed(1e9, 1e-6, {})
    keep_known(Known(chips=(chip.adapter,), speeds={chip.adapter.device: SPEED}))
    hardware._keep_speeds(read_report(), Speeds("2026-11-30T12:00:00+00:00", host, {}, {}))
    hardware.keep_error(read_report(), "one", PlainError(1000, 1.5))
    assert read_report().speeds.gpus == {chip.adapter.device: SPEED}  # type: ignore[union-attr]
    keep_known(Known(chips=(chip.adapter,)))
    assert read_report().speeds.gpus == {}  # type: ignore[union-attr]


def test_what_is_written_is_held_once(chip: Chip) -> None:
    """The host's copy of what a chip is to take, as long as nothing is submitted, would be held beside it."""
    content, process = torch.ones(4 << 20, dtype=torch.uint8), psutil.Process()
    before, taken = process.memory_info().rss, [chip.buffer(content) for _ in range(64)]
    chip.run([], (taken[-1], 4))
    assert process.memory_info().rss - before < 1.5 * 64 * content.nbytes


@pytest.mark.parametrize(("option", "environment"), [(True, ""), (False, "1"), (False, "")])
def test_a_chip_is_used_if_that_is_switched_on_and_it_was_measured(
    option: bool, environment: str, chip: Chip, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(chip.adapter, device="vulkan:1", kind="card", largest_bytes=1 << 30)  # of the same name
    monkeypatch.setenv(SWITCH, environment)
    keep_known(Known(chips=(chip.adapter, other), speeds={"vulkan:0": SPEED}))
    report = read_report()
    assert [gpu.device for gpu in report.gpus] == ["vulkan:0", "vulkan:1"]
    options = LoadOptions(graphics_chip=option)
    assert read_room(report, options).device == ""  # the machine was not measured
    host = SimpleNamespace(busy=False)
    for speeds, device in (
        ({}, ""),
        ({"vulkan:0": SPEED}, "vulkan:0"),
        ({"vulkan:0": SPEED, "vulkan:1": replace(SPEED, memory_bytes_per_s=90e9)}, "vulkan:1"),
    ):
        measured = replace(report, speeds=SimpleNamespace(gpus=speeds, disks={}, host=host, busy=False))  # type: ignore[arg-type]
        assert read_room(measured, options).device == (device if option or environment else "")
        assert read_room(measured, replace(options, vram_budget_bytes=0)).device == ""


def test_a_driver_that_hangs_when_asked_is_a_sentence_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_LONGEST_S", 0.3)
    ask_drivers(lambda: None, hang)
    assert "did not answer in 0 s" in chip_sentence()
    assert read_known().key  # so that it is not asked again
    assert read_gpus() == ()


def test_a_pipe_of_windows_ends_as_others_do(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        exitcode = 0

        def poll(self, seconds: float) -> bool:
            raise BrokenPipeError

        def __getattr__(self, name: str) -> Any:
            return lambda *given: None

    ended = Ended()
    monkeypatch.setattr(
        asking, "spawning", lambda: SimpleNamespace(Pipe=lambda duplex: (ended, ended), Process=lambda **named: ended)
    )
    ask_drivers(lambda: None)
    assert read_known().problem == ""


def test_no_chip_of_a_driver_that_crashes_is_used(chip: Chip) -> None:
    ask_drivers(lambda: None, partial(crash, chip=chip.adapter))
    assert len(read_known().chips) == 2
    assert read_known().speeds == {}
    assert "ended the process that asked it (code -9)" in chip_sentence()


def test_asking_can_be_cancelled() -> None:
    before = read_known()

    def check() -> None:
        raise Cancelled("The request was stopped.")

    with pytest.raises(Cancelled):
        ask_drivers(check, hang)
    assert read_known() == before


def test_a_chip_that_fails_while_it_is_measured_is_told(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that lies about its limits."""
    sent: list[Known] = []
    monkeypatch.setattr(asking, "belong_to_window", lambda: None)
    monkeypatch.setattr(asking.os, "dup2", lambda *files: None)
    liar = replace(chip.adapter, largest_bytes=1 << 40)
    monkeypatch.setattr(asking, "find_adapters", lambda: {liar: None})
    asking._answer(SimpleNamespace(send=sent.append))  # type: ignore[arg-type]
    keep_known(sent[-1])
    assert read_known().speeds == {}
    assert f"{chip.adapter.name} failed while it was measured" in chip_sentence()


@pytest.mark.parametrize("gone", [True, False])
def test_a_chip_that_is_gone_or_has_another_driver_is_not_opened(
    gone: bool, chip: Chip, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graphics card beside a laptop that was pulled out."""
    monkeypatch.setattr(adapters, "_opened", {})
    keep_known(Known(chips=(replace(chip.adapter, driver="an older one"),)))
    if gone:
        monkeypatch.setattr(adapters, "_found", lambda: ())
    with pytest.raises(RuntimeError, match="is not there any more, or has another driver"):
        open_chip(chip.adapter.device)
    assert rests(chip.adapter.device)


def test_a_driver_that_does_not_answer_in_a_reply_is_left_alone(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "_LONGEST_S", 0)
    buffer = chip.buffer(4)
    monkeypatch.setattr(chip, "_back", None)
    for _ in range(2):  # a draft, and then the model's layers
        with pytest.raises(RuntimeError, match="it did not answer"):
            chip.run([], (buffer, 4))
    assert rests(chip.adapter.device)


def use_and_crash(connection: Connection, number: int, device: str = "vulkan:0") -> None:
    keep_known(replace(read_known(), process_id=os.getpid() if device else 1))
    os.kill(os.getpid(), number)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("number", "device", "left"),
    [(signal.SIGSEGV, "vulkan:0", False), (signal.SIGSEGV, "", True), (9, "vulkan:0", True)],
)
def test_a_driver_that_crashes_the_engine_is_left_alone_from_then_on(number: int, device: str, left: bool) -> None:
    """A process that is killed, or has no chip open, tells nothing of the driver."""
    codes: list[int | None] = []
    process = EngineProcess(partial(use_and_crash, number=number, device=device), lambda event: None, codes.append)
    process._reader.join()
    assert codes == [-number]
    assert bool(read_known().chips) == left
    assert left or f"(code -{int(number)})" in chip_sentence()


def test_memory_is_counted_and_given_back(chip: Chip) -> None:
    device = torch.device(chip.adapter.device)
    before = held_device_bytes(device)
    buffer = chip.buffer(1 << 20)
    assert held_device_bytes(device) == before + (1 << 20)
    del buffer
    assert held_device_bytes(device) == before
    assert free_device_bytes(device) > 0
    assert memory_of("vulkan:7", 5) == 0


@pytest.mark.parametrize("size_bytes", [1 << 33, 1 << 40])
def test_a_buffer_larger_than_the_device_is_one_line_and_the_chip_rests(chip: Chip, size_bytes: int) -> None:
    with pytest.raises(RuntimeError) as raised:
        chip.buffer(size_bytes)
    assert "\n" not in str(raised.value)
    assert rests(chip.adapter.device)
    (gpu,) = read_gpus()
    assert gpu.free_bytes == 0
    assert not answers(torch.device(chip.adapter.device))


def test_without_the_package_there_is_no_chip_and_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *others: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "wgpu":
            raise ImportError(name)
        return real(name, *others, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.delitem(sys.modules, "wgpu", raising=False)
    monkeypatch.setattr(adapters, "_found", adapters._found.__wrapped__)  # what was found before is known
    assert find_adapters() == {}
    assert why_none() == "Graphics chips need the package wgpu, which is not installed here."
