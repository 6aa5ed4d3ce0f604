"""Pictures of the page about this machine: ``python -m tests.support.machine_pictures FOLDER``."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest

from app.chat.machine import Measuring, Stage
from app.ui.machine.page import MachinePage
from app.ui.main_window import MainWindow
from app.ui.places import MACHINE
from app.ui.theme.theme import Theme
from engine.messages import (
    BenchmarkRow,
    ErrorReport,
    Failed,
    MachineReport,
    MachineReported,
    MakePlan,
    PlanMade,
    PlanReport,
    ReportMachine,
)
from tests.support.machine_scene import machine, plan
from tests.support.screenshots import LLAMA, begin, fill, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace

WIDE, NARROW = QSize(1280, 820), QSize(380, 560)
MEASURED = (
    BenchmarkRow("dovetail", 14.2, 14.5),
    BenchmarkRow("lookup", 8.1, 8.9),
    BenchmarkRow("offload", 7.7, 7.8),
    BenchmarkRow("plain", 5.9, 5.9),
)


def shown(
    theme: Theme, size: QSize, report: MachineReport | None, made: PlanReport | str
) -> tuple[ScriptedWorkspace, MainWindow, MachinePage]:
    """A window with the page, and what the engine has answered."""
    workspace = ScriptedWorkspace(replace(LLAMA, model_ref="smollm2", model_name="Llama 3.1 8B"))
    fill(workspace)
    window = open_window(theme, workspace, size)
    window.places.go(MACHINE)
    page = window.places.page(MACHINE)
    assert isinstance(page, MachinePage)
    talk = workspace.engine
    if report is not None:
        workspace.tell(MachineReported(talk.last(ReportMachine).request_id, report))
    asked = talk.last(MakePlan).request_id
    if isinstance(made, str):
        workspace.tell(Failed(asked, ErrorReport("ModelNotFound", made)))
    else:
        workspace.tell(PlanMade(asked, made))
    return workspace, window, page


def measuring(workspace: ScriptedWorkspace, page: MachinePage) -> None:
    """In the middle of it."""
    every = ("dovetail", "lookup", "offload", "plain", "layer-offload")
    state = Measuring(Stage.MODES, "", 0.86, every, "layer-offload", 4, 12.0)
    assert workspace.machine.report is not None
    workspace.machine.kept.keep(workspace.machine.report, page.options(), MEASURED)
    workspace.machine._show(state)


def take_all(theme: Theme, folder: Path, word: str) -> None:
    """Every state at the usual size."""
    workspace, window, page = shown(theme, WIDE, machine(gpu=True), plan(gpu=True))
    take(window, folder, f"machine-{word}")
    measuring(workspace, page)
    take(window, folder, f"machine-measuring-{word}")
    workspace.machine._show(Measuring())
    take(window, folder, f"machine-measured-{word}")
    window.close()
    workspace, window, page = shown(theme, WIDE, machine(measured=False), plan(measured=False))
    take(window, folder, f"machine-assumed-{word}")
    workspace.machine._show(Measuring(Stage.SPEEDS, "memory", 0.4))
    take(window, folder, f"machine-speeds-{word}")
    window.close()


def take_narrow(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The page from its beginning, its middle and its end."""
    workspace, window, page = shown(theme, size, machine(gpu=True), plan(gpu=True))
    measuring(workspace, page)
    bar = page.area.verticalScrollBar()
    QTest.qWait(300)
    for part in range(4):
        bar.setValue(bar.maximum() * part // 3)
        take(window, folder, f"{name}-{part}")
    window.close()


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    for dark in (False, True):
        theme.set_dark(dark)
        take_all(theme, folder, "dark" if dark else "light")
    take_narrow(theme, folder, "machine-narrow-dark", NARROW)
    theme.set_dark(False)
    take_narrow(theme, folder, "machine-narrow-light", NARROW)
    _, window, _ = shown(theme, WIDE, None, "There is no model in that folder: choose another.")
    take(window, folder, "machine-problem-light")
    window.close()
    _, window, _ = shown(theme, QSize(900, 700), machine(gpu=True), plan(gpu=True))
    take(window, folder, "machine-between-light")
    window.close()
    theme.set_scale(1.5)
    take_narrow(theme, folder, "machine-scale-150", WIDE)
    take_narrow(theme, folder, "machine-narrow-150", NARROW)
    app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
