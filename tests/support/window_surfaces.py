"""Everything that can be open in the window, one after the other: for checks that are about all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import shiboken6
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.settings.pages import PAGES
from app.ui.main_window import MainWindow
from app.ui.places import MACHINE, MODELS
from engine.messages import MachineReported, MakePlan, PlanMade, ReportMachine
from tests.support.fake_workspace import FakeWorkspace, statistics
from tests.support.machine_scene import machine, plan
from tests.support.screenshots import ANSWER, LONG
from tests.support.trouble_pictures import SHORT

FORMULA = "A formula:\n\n$$\nx = \\frac{1}{2}\n$$\n\nand its end."


def fill_chat(window: MainWindow, workspace: FakeWorkspace) -> int:
    """Open a chat with every kind of block, an own message, an error with buttons and a status strip."""
    workspace.add_conversation("An older chat", 90_000, "A question?", "An answer.")
    chat = workspace.add_conversation("Everything", 0, "Question?", ANSWER, "More?", LONG, "And?", FORMULA)
    workspace.change(chat, statistics=statistics(530))
    window.page.open(chat)
    workspace.send(chat, "One more question")
    workspace.stream(chat, "It begins, and then")
    workspace.fail(chat, SHORT.message, SHORT)
    QTest.qWait(60)
    return chat


def _settings(name: str) -> Callable[[MainWindow, FakeWorkspace], None]:
    def show(window: MainWindow, workspace: FakeWorkspace) -> None:
        workspace.settings.settings_level = "advanced"
        window.settings.open_page(name)

    return show


def _command(name: str) -> Callable[[MainWindow, FakeWorkspace], None]:
    return lambda window, workspace: window.commands[name].trigger()


def _machine(window: MainWindow, workspace: FakeWorkspace) -> None:
    window.places.go(MACHINE)
    talk = workspace.machine_talk
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine(gpu=True)))
    workspace.tell(PlanMade(talk.last(MakePlan).request_id, plan(gpu=True)))
    window.places.page(MACHINE).setFocus()


def _compare(window: MainWindow, workspace: FakeWorkspace) -> None:
    chat = window.page.current
    assert chat is not None
    window.comparisons.open_on(workspace.reply(chat).id)


def _chat_settings(window: MainWindow, workspace: FakeWorkspace) -> None:
    window.commands["chat-settings"].trigger()


def _toast(window: MainWindow, workspace: FakeWorkspace) -> None:
    window.toast.say("The chat is deleted.", "Undo", lambda: None, lasting=True, on_details=lambda: None)


# What is open, by name. Each opens over a window whose chat is filled, and closes by Escape.
OVER_THE_WINDOW: dict[str, Callable[[MainWindow, FakeWorkspace], None]] = {
    **{f"settings-{page.name}": _settings(page.name) for page in PAGES},
    "palette": _command("palette"),
    "shortcuts": _command("shortcuts"),
    "about": _command("about"),
    "details": lambda window, workspace: window.trouble.show_details(SHORT),
    "erase": _command("erase-everything"),
    "chat settings": _chat_settings,
    "comparison": _compare,
    "model menu": lambda window, workspace: window.page.header.model_button.click(),
    "mode menu": lambda window, workspace: window.page.composer.mode_button.click(),
    "app menu": lambda window, workspace: window.page.header.menu_button.click(),
}
# Parts of the window itself.
INSIDE: dict[str, Callable[[MainWindow, FakeWorkspace], None]] = {
    "chat": lambda window, workspace: None,
    "empty chat": lambda window, workspace: window.shelf.new_chat(),
    "inspector": lambda window, workspace: window.inspector.toggle(),
    "find": _command("find"),
    "toast": _toast,
    "models": lambda window, workspace: window.places.go(MODELS),
    "machine": _machine,
}


def surface_on_top(window: MainWindow) -> QWidget:
    """The popup or dialog above the window, or the window."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        return popup
    modal = QApplication.activeModalWidget()
    if modal is not None:
        return modal
    dialogs = [found for found in window.findChildren(QDialog) if found.isVisible()]
    if dialogs:
        return dialogs[-1]
    return window.palette_box if window.palette_box.isVisible() else window


@contextmanager
def opened(name: str, window: MainWindow, workspace: FakeWorkspace) -> Iterator[QWidget]:
    """Open one over a filled chat."""
    if window.page.current is None:
        fill_chat(window, workspace)
    (OVER_THE_WINDOW | INSIDE)[name](window, workspace)
    QTest.qWait(60)
    surface = surface_on_top(window)
    yield surface
    if shiboken6.isValid(surface) and surface is not window and surface.isVisible():
        surface.close()
    QTest.qWait(10)
