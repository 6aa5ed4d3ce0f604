"""Pictures of the help: ``python -m tests.support.help_pictures FOLDER``."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize

from app.ui.help.page import HelpPage
from app.ui.main_window import MainWindow
from app.ui.places import HELP
from app.ui.theme.theme import Theme
from engine.messages import MachineReported, MakePlan, PlanMade, ReportMachine
from tests.support.machine_scene import machine, plan
from tests.support.model_pictures import stock
from tests.support.screenshots import begin, fill, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace

WIDE, SMALL = QSize(1280, 820), QSize(380, 560)


def opened(theme: Theme, size: QSize) -> tuple[ScriptedWorkspace, MainWindow, HelpPage]:
    """A window with the help, on a computer that was looked at."""
    workspace = ScriptedWorkspace()
    fill(workspace)
    stock(workspace)
    window = open_window(theme, workspace, size)
    window.help.open()
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    talk = workspace.engine
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine(gpu=True)))
    workspace.tell(PlanMade(talk.last(MakePlan).request_id, plan(gpu=True)))
    return workspace, window, page


def take_all(theme: Theme, folder: Path, word: str, sizes: tuple[tuple[str, QSize], ...]) -> None:
    """Contents, a search, articles, the palette, and the line under a chat."""
    for name, size in sizes:
        workspace, window, page = opened(theme, size)
        take(window, folder, f"help-{name}-{word}")
        page.show_found("draft model")
        take(window, folder, f"help-found-{name}-{word}")
        for article in ("size", "modes", "computer", "sampling"):
            page.show_article(article)
            take(window, folder, f"help-{article}-{name}-{word}")
        window.palette_box.open()
        window.palette_box.field.setText("dark")
        window.palette_box._search("dark")
        take(window, folder, f"help-palette-{name}-{word}")
        window.palette_box.hide()
        window.shelf.new_chat()
        take(window, folder, f"help-empty-{name}-{word}")
        window.page.ask("How big a model can I run?")
        take(window, folder, f"help-line-{name}-{word}")
        window.close()
        workspace.deleteLater()


def main() -> None:
    """Take them."""
    app, theme, folder = begin(dark=False)
    take_all(theme, folder, "light", (("wide", WIDE), ("small", SMALL)))
    theme.set_dark(True)
    take_all(theme, folder, "dark", (("wide", WIDE),))
    app.quit()


if __name__ == "__main__":
    main()
