"""A stand-in for a GPU: the host's memory under another name, so that placing, carrying and counting run."""

from __future__ import annotations

import pytest
import torch

from engine.messages.machine import Gpu

STAND_IN = torch.device("cpu", 0)


def use_gpu(
    monkeypatch: pytest.MonkeyPatch, free_bytes: int = (2 << 30) + (512 << 20), unified: bool = False
) -> None:
    """This machine has one GPU, the stand-in."""
    gpu = Gpu(str(STAND_IN), "cuda", "stand-in", free_bytes, free_bytes, unified)
    monkeypatch.setattr("engine.planning.hardware_report.read_gpus", lambda: (gpu,))


def use_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has no GPU, whatever it has."""
    monkeypatch.setattr("engine.planning.hardware_report.read_gpus", lambda: ())


def use_no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process takes nothing without a model, so that budgets are the model's alone."""
    monkeypatch.setattr("engine.planning.hardware.process_bytes", lambda: 0)
