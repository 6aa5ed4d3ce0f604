"""Pictures of the welcome page: ``python -m tests.support.welcome_pictures FOLDER``."""

from __future__ import annotations

import os
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize

from app.chat.model_entries import DownloadEntry
from app.ui.main_window import MainWindow
from app.ui.places import WELCOME
from app.ui.theme.theme import Theme
from app.ui.welcome.page import WelcomePage
from engine.messages import MachineReported, MeasuringProgress, ReportMachine
from tests.support.fake_workspace import FakeWorkspace
from tests.support.machine_scene import machine
from tests.support.model_pictures import stock
from tests.support.screenshots import begin, open_window, take

WIDE, SMALL = QSize(1280, 820), QSize(380, 560)


def welcome(theme: Theme, workspace: FakeWorkspace, size: QSize) -> tuple[MainWindow, WelcomePage]:
    """A window at its first start."""
    window = open_window(theme, workspace, size)
    window.first_run.begin()
    page = window.places.page(WELCOME)
    assert isinstance(page, WelcomePage)
    return window, page


def stocked() -> FakeWorkspace:
    """Nothing is here, and what runs is predicted."""
    workspace = FakeWorkspace()
    workspace.settings.first_run_done = False
    stock(workspace)
    store = workspace.model_store
    store.installed.entries = store.installed.entries[:1]
    store.downloads.entries = {}
    workspace.settings.model = "smollm2"
    return workspace


def report(workspace: FakeWorkspace, measured: bool = True) -> None:
    """The engine answers."""
    asked = workspace.machine_talk.last(ReportMachine)
    workspace.tell(MachineReported(asked.request_id, machine(measured, gpu=True)))


def pictures(theme: Theme, word: str, folder: object, sizes: tuple[tuple[str, QSize, int], ...]) -> None:
    """The page when everything is known."""
    for name, size, scroll in sizes:
        workspace = stocked()
        window, page = welcome(theme, workspace, size)
        report(workspace)
        page.refresh()
        take(window, folder, f"{name}-{word}")  # type: ignore[arg-type]
        if scroll:
            page.area.verticalScrollBar().setValue(scroll)
            take(window, folder, f"{name}-{word}-below")  # type: ignore[arg-type]
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
    asked = workspace.machine_talk.last(ReportMachine)
    workspace.tell(MeasuringProgress(asked.request_id, "memory", 0.4))
    guesses = {name: replace(one, measured=False) for name, one in predicted.items()}
    workspace.model_store.forecasts.known.update(guesses)
    page.refresh()
    take(window, folder, "welcome-measuring")
    workspace.model_store.forecasts.known.update(predicted)
    best = next(iter(page.cards.cards.values())).content
    assert best is not None
    workspace.model_store.downloads.entries = {
        "x": DownloadEntry("x", best.model.repos[0], "receiving", 2_100_000_000, 5_600_000_000, 18e6, 194.0)
    }
    page._say_trouble("The hub cannot be reached: check the connection.")
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
