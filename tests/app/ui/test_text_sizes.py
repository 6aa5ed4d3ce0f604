"""The smallest window with the largest and the smallest text: no word is cut."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QToolButton, QWidget

from app.ui import pane
from app.ui.main_window import MainWindow
from app.ui.theme.theme import LARGEST_SCALE, SMALLEST_SCALE, Theme
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.window_surfaces import DIALOGS, PARTS, POPUPS, opened

_SETTLED_MS = 100  # pages that gather changes have shown them


def _cut(widget: QLabel | QAbstractButton) -> bool:
    """True if fewer words are seen than there are; those that end with dots are short on purpose."""
    if isinstance(widget, QLabel):
        needed = widget.minimumSizeHint()
        high = widget.heightForWidth(widget.width()) if widget.wordWrap() else needed.height()
        return widget.width() < needed.width() or widget.height() < high
    icons = Qt.ToolButtonStyle.ToolButtonIconOnly
    if isinstance(widget, QToolButton) and widget.toolButtonStyle() == icons and not widget.icon().isNull():
        return False
    words = widget.fontMetrics().size(0, widget.text())
    beside = widget.iconSize().width() if not widget.icon().isNull() else 0
    return widget.width() < words.width() + beside or widget.height() < words.height()


def _cut_words(surface: QWidget) -> list[str]:
    every: list[QLabel | QAbstractButton] = [
        *surface.findChildren(QLabel), *surface.findChildren(QAbstractButton)
    ]  # fmt: skip
    worded = [
        widget
        for widget in every
        # Some buttons paint themselves, and the one in a field is an icon whose words are its name.
        if widget.isVisible() and widget.text() and not isinstance(widget.parent(), QLineEdit)
        if widget.window() is surface.window() and type(widget).__module__.startswith("PySide6")
    ]
    return [f"{type(widget).__name__} “{widget.text()}”" for widget in worded if _cut(widget)]


@pytest.mark.parametrize(
    ("scale", "names"),
    [
        # What lies over the window needs no window of its own.
        (LARGEST_SCALE, (*DIALOGS, *POPUPS)),
        *((LARGEST_SCALE, (name,)) for name in PARTS),
        *((SMALLEST_SCALE, (name,)) for name in ("chat", "empty chat", "settings, speed", "models page")),
    ],
)
def test_no_word_is_cut(
    theme: Theme,
    window: MainWindow,
    workspace: ScriptedWorkspace,
    scale: float,
    names: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pane, "_SLIDE_MS", 0)
    window.resize(window.minimumSize())
    theme.set_scale(scale)
    cut = {}
    for name in names:
        with opened(name, window, workspace) as surface:
            QTest.qWait(_SETTLED_MS)
            cut[name] = _cut_words(surface)
    theme.set_scale(1.0)
    assert cut == {name: [] for name in names}
