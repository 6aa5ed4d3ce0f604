from __future__ import annotations

import ast
import errno
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu, QToolButton
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.theme import icons
from app.ui.theme.icons import ICON_FOLDER, tinted_pixmap
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.sources import tree_of

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(ICON_FOLDER.glob("*.svg"))
# Which argument of what makes icons names one.
MAKERS = {"themed_icon": 1, "tinted_pixmap": 0, "IconLabel": 1, "icon_button": 1}


def trees() -> list[ast.AST]:
    return [tree_of(path) for path in (ROOT / "app").rglob("*.py")]


def literals(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def named_in(node: ast.AST) -> set[str]:
    """Names that are given to what makes icons, and those that are called icons."""
    found: set[str] = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            place = MAKERS.get(name, len(call.args))
            if len(call.args) > place and isinstance(call.args[place], ast.Constant):
                found |= literals(call.args[place])
            found |= {
                text
                for keyword in call.keywords
                if keyword.arg == "icon" and isinstance(keyword.value, ast.Constant)
                for text in literals(keyword.value)
            }
    return found


def test_every_icon_file_is_used() -> None:
    used = set().union(*(literals(tree) for tree in trees()))

    assert [path.stem for path in FILES if path.stem not in used] == []


def test_every_named_icon_exists() -> None:
    named = set().union(*(named_in(tree) for tree in trees()))

    assert len(named) > 20
    assert sorted(named - {path.stem for path in FILES} - {""}) == []


def test_the_windows_commands_and_buttons_have_icons_that_can_be_painted(window: MainWindow) -> None:
    buttons = [button for button in window.findChildren(QToolButton) if not button.icon().isNull()]

    assert len(buttons) > 5
    for button in buttons:
        image = button.icon().pixmap(16, 16).toImage()
        assert any(image.pixelColor(x, y).alpha() for x in range(16) for y in range(16)), button.toolTip()


def test_no_menu_has_icons(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    workspace.shelf.move_to_folder(chat, "Work")
    window.page.open(chat)
    rows, views = window.sidebar.list, window.page.transcript.views
    menus = [window.menu, rows.menu(chat), rows.head_menu("Work"), *(view.buttons.menu() for view in views)]
    menus += [menu for one in menus for menu in one.findChildren(QMenu)]
    entries = [entry for menu in menus for entry in menu.actions()]
    assert len(entries) > 40
    assert [entry.text() for entry in entries if not entry.icon().isNull()] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_icon_has_no_colour_of_its_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert path.stem.startswith("tenon") or "currentColor" in text


def test_an_icon_whose_file_cannot_be_opened_is_blank_this_time(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    def drawn() -> bool:
        image = tinted_pixmap("check", "#123456", 17).toImage()
        return any(image.pixelColor(x, y).alpha() for x in range(17) for y in range(17))

    icons._svg.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", refuse)
        assert not drawn()
    assert drawn()
