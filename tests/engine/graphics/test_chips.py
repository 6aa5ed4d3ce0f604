"""Chips that are found, measured, and left alone."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest
import torch

from engine.cli import main
from engine.graphics import adapters
from engine.graphics.adapters import SWITCH, Chip, find_adapters, memory_of, rests, why_none
from engine.placement.device import answers
from engine.planning.hardware import free_device_bytes, held_device_bytes
from engine.planning.probes.graphics import measure_gpu, read_gpus


def test_a_driver_that_computes_on_the_processor_is_no_chip(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    (gpu,) = read_gpus()
    assert (gpu.device, gpu.name, gpu.unified) == (chip.adapter.device, chip.adapter.name, True)
    assert gpu.drafts_only
    monkeypatch.setenv(SWITCH, "1")
    assert find_adapters() == ()
    assert read_gpus() == ()
    assert "No driver" in why_none()


def test_no_driver_is_asked_unless_chips_are_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "_found", lambda: pytest.fail("a driver was asked"))
    for value in ("", "0", "yes"):
        monkeypatch.setenv(SWITCH, value)
        assert find_adapters() == ()
        assert "TENON_GRAPHICS=1" in why_none()


def test_its_speed_is_measured_with_the_shaders_of_drafts(chip: Chip) -> None:
    speed = measure_gpu(torch.device(chip.adapter.device), torch.bfloat16, 1 << 20, lambda: None)
    assert speed.packed
    assert min(value for name, value in vars(speed).items() if name != "packed") > 0


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


def test_without_the_package_there_is_no_chip_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def missing(name: str, *others: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "wgpu":
            raise ImportError(name)
        return real(name, *others, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.delitem(sys.modules, "wgpu", raising=False)
    monkeypatch.setattr(adapters, "_found", adapters._found.__wrapped__)  # what was found before is known
    assert read_gpus() == ()
    assert main(["gpu"]) == 0
    assert "The package wgpu, which speaks to graphics chips, is not installed" in capsys.readouterr().out
