"""A stand-in for a GPU: the host's memory under another name, so that placing, carrying and counting run."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.messages.machine import FormatSpeed, Gpu, GpuSpeed, HostSpeed, Speeds
from engine.model.weight_format import MEASURED_NAMES
from engine.placement.device import Link
from engine.planning.profile import Profile

STAND_IN = torch.device("cpu", 0)


def use_gpu(monkeypatch: pytest.MonkeyPatch, free_bytes: int = (2 << 30) + (512 << 20), unified: bool = False) -> None:
    """This machine has one GPU, the stand-in."""
    gpu = Gpu(str(STAND_IN), "cuda", "stand-in", free_bytes, free_bytes, unified)
    monkeypatch.setattr("engine.planning.hardware.read_gpus", lambda: (gpu,))


def lose_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in is lost, as a GPU is to a process in which one of its kernels has failed: every call raises."""
    to_device = Link.to_device

    def lost(link: Link, tensor: Tensor) -> Tensor:
        if link.device == STAND_IN:
            raise torch.AcceleratorError("CUDA error: device-side assert triggered\nCompile with ...")
        return to_device(link, tensor)

    monkeypatch.setattr(Link, "to_device", lost)
    monkeypatch.setattr("engine.loaded_model.answers", lambda device: device != STAND_IN)
    use_no_gpu(monkeypatch)


def use_speeds(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """This machine was measured: the stand-in does this share of what both do at once, and nothing else takes time.

    Replies teach no other times.
    """
    host = HostSpeed(1e6, 0.0, {name: FormatSpeed(1e6, 1e15, 0.0) for name in MEASURED_NAMES})
    gpu = GpuSpeed(share / (1.0 - share) * 1e6, 1e15, 0.0, 1e15)
    speeds = Speeds("2026-11-23T12:00:00+00:00", host, {str(STAND_IN): gpu}, {})
    monkeypatch.setattr("engine.planning.hardware.kept_speeds", lambda report: speeds)
    monkeypatch.setattr("engine.planning.planner.read_profile", lambda path: Profile())


def use_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has no GPU, whatever it has."""
    monkeypatch.setattr("engine.planning.hardware.read_gpus", lambda: ())


def use_no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process takes nothing without a model, so that budgets are the model's alone."""
    monkeypatch.setattr("engine.planning.hardware.process_bytes", lambda: 0)
