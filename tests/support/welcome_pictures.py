"""Pictures of the first start: ``python -m tests.support.welcome_pictures FOLDER``."""

from __future__ import annotations

import os
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from app.chat.model_entries import Missed
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.welcome.panel import WelcomePanel
from engine.messages import DownloadStatus, MachineReported, MeasuringProgress, ReportMachine
from tests.support.machine_scene import machine
from tests.support.model_pictures import stock
from tests.support.screenshots import begin, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace

WIDE, SMALL = QSize(1280, 820), QSize(380, 560)


def welcome(theme: Theme, workspace: ScriptedWorkspace, size: QSize) -> tuple[MainWindow, WelcomePanel]:
    """A window at its first start."""
    window = open_window(theme, workspace, size)
    window.first_run.begin()
    assert window.first_run.panel is not None
    return window, window.first_run.panel


def stocked() -> ScriptedWorkspace:
    """Nothing is here, and what runs is predicted."""
    workspace = ScriptedWorkspace()
    workspace.settings.first_run_done = False
    stock(workspace)
    store = workspace.model_store
    store.installed.entries = store.installed.entries[:1]
    store.downloads.entries = {}
    workspace.settings.model = "smollm2"
    return workspace


def report(workspace: ScriptedWorkspace, measured: bool = True) -> None:
    """The engine answers."""
    workspace.machine.look()
    asked = workspace.engine.last(ReportMachine)
    workspace.tell(MachineReported(asked.request_id, machine(measured, gpu=True)))


def pictures(theme: Theme, word: str, folder: object, sizes: tuple[tuple[str, QSize, int], ...]) -> None:
    """The page when everything is known."""
    for name, size, scroll in sizes:
        workspace = stocked()
        window, page = welcome(theme, workspace, size)
        report(workspace)
        page.refresh()
        QApplication.processEvents()
        take(window, folder, f"{name}-{word}")
        if scroll:
            page.verticalScrollBar().setValue(scroll)
            take(window, folder, f"{name}-{word}-below")
        window.close()


def main() -> None:
    """Take them."""
    app, theme, folder = begin(dark=False)
    sizes = (("welcome", WIDE, 0), ("welcome-small", SMALL, 520))
    pictures(theme, "light", folder, sizes)
    workspace = stocked()
    predicted = dict(workspace.model_store.forecasts.known)
    workspace.model_store.forecasts.known.clear()
    window, page = welcome(theme, workspace, WIDE)
    take(window, folder, "welcome-first")
    report(workspace, measured=False)
    workspace.machine.measure_speeds()
    asked = workspace.engine.last(ReportMachine)
    workspace.tell(MeasuringProgress(asked.request_id, "memory", 0.4))
    guesses = {name: replace(one, basis="guess") for name, one in predicted.items()}
    workspace.model_store.forecasts.known.update(guesses)
    page.refresh()
    take(window, folder, "welcome-measuring")
    workspace.model_store.forecasts.known.update(predicted)
    best = next(iter(page.cards.cards.values())).content
    assert best is not None
    workspace.model_store.downloads.entries = {
        "x": DownloadStatus("x", best.model.repos[0], "receiving", 2_100_000_000, 5_600_000_000, 18e6, 194.0)
    }
    wanted = list(page.cards.cards.values())[1].content
    assert wanted is not None
    sentence = (
        "The hub that models come from cannot be reached: check the network, and the proxy or mirror (HF_ENDPOINT) if "
        "you use one."
    )
    workspace.model_store.offers.miss(Missed(wanted.model, False, "", sentence))
    page.refresh()
    take(window, folder, "welcome-downloading")
    window.close()
    theme.set_dark(True)
    pictures(theme, "dark", folder, sizes)
    theme.set_dark(False)
    theme.set_scale(1.5)
    pictures(theme, "150", folder, (("welcome", WIDE, 600), ("welcome-small", SMALL, 900)))
    app.quit()


if __name__ == "__main__":
    main()
