"""Everything in the window can be used by keys alone, and has a name and a role for those who hear it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.screen_reader import ROLES
from app.ui.sheet import Sheet
from tests.support.fast_cases import chosen
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.window_surfaces import PARTS, POPUPS, SURFACES, opened

_MOST_STOPS = 200
_RING_PX = 6


def _focusable(surface: QWidget) -> list[QWidget]:
    """Widgets that Tab has to reach. A group of which one is chosen is one stop: the arrow keys go on in it."""
    found = []
    for widget in surface.findChildren(QWidget):
        if not (widget.isVisible() and widget.isEnabled() and widget.window() is surface.window()):
            continue
        if isinstance(widget, QAbstractButton) and not widget.isChecked():
            group = widget.group()
            if group is not None and group.exclusive():
                continue
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None:
            found.append(widget)
    return found


def _name(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def _words(widget: QWidget) -> str:
    return f"{type(widget).__name__} “{_name(widget)}”"


def _press_tab(surface: QWidget, back: bool = False) -> QWidget:
    key = Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab
    QTest.keyClick(QApplication.focusWidget() or surface, key)
    return QApplication.focusWidget()


def _stops(surface: QWidget, back: bool = False) -> Iterator[QWidget]:
    """Widgets that Tab comes by, until it is where it began."""
    stops = [_press_tab(surface, back)]
    while len(stops) < _MOST_STOPS:
        yield stops[-1]
        focus = _press_tab(surface, back)
        if focus in stops:
            assert focus is stops[0], f"Tab goes in circles from {_words(focus)} on"
            return
        stops.append(focus)
    raise AssertionError("Tab does not come round")


def _shows_focus(widget: QWidget) -> bool:
    """True if something of the widget or around it is painted otherwise while it has the focus."""
    window = widget.window()
    QTest.qWait(1)
    around = QRect(widget.mapTo(window, QPoint()), widget.size())
    around = around.adjusted(-_RING_PX, -_RING_PX, _RING_PX, _RING_PX) & window.rect()
    focused = window.grab(around).toImage()
    widget.clearFocus()
    without = window.grab(around).toImage()
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    return bool(focused != without)


def _is_seen(widget: QWidget) -> bool:
    return isinstance(widget, QAbstractScrollArea) or not widget.visibleRegion().isEmpty()


def _is_seen_again(widget: QWidget) -> bool:
    """True if a control is in view once it gets the focus in a chat that is laid out, which has gone to its end."""
    QTest.qWait(200)
    widget.clearFocus()
    widget.setFocus(Qt.FocusReason.BacktabFocusReason)
    return _is_seen(widget)


def _check_names_and_roles(surface: QWidget) -> None:
    buttons = [
        button
        for button in surface.findChildren(QAbstractButton)
        # An icon that lies in a field only decorates it.
        if button.isVisible() and not isinstance(button.parent(), QLineEdit)
    ]
    controls = {*_focusable(surface), *buttons}
    assert controls
    nameless = [type(widget).__name__ for widget in controls if not _name(widget)]
    # Widgets that only scroll others have none.
    roles = {w: QAccessible.queryAccessibleInterface(w).role() for w in controls}
    client, none = QAccessible.Role.Client, QAccessible.Role.NoRole
    plain = [
        _words(widget)
        for widget, role in roles.items()
        if role in (client, none) and not isinstance(widget, QAbstractScrollArea)
    ]
    assert (nameless, plain) == ([], [])


def _check_tab(surface: QWidget) -> None:
    """Tab reaches every control visibly, and comes round."""
    stops, unseen = [], []
    for widget in _stops(surface):
        stops.append(widget)
        if not _shows_focus(widget):
            unseen.append(_words(widget))
    assert [_words(widget) for widget in _focusable(surface) if widget not in stops] == []
    assert unseen == []
    if isinstance(surface, Sheet):
        inside = surface.area.isAncestorOf
        heights = [(not inside(widget), widget.mapTo(surface, QPoint()).y()) for widget in stops]
        first = heights.index(min(heights))
        heights = heights[first:] + heights[:first]
        assert heights == sorted(heights), "Tab does not go down"
    back = []
    for widget in _stops(surface, back=True):
        back.append(_words(widget))
        # Tab that comes into a page from outside scrolls it, too.
        assert _is_seen(widget) or _is_seen_again(widget), f"{_words(widget)} is out of view"
    assert set(back) == set(map(_words, stops))


# The pages of settings are made of the same rows; `test_dialog` goes through their tab stops.
@pytest.mark.parametrize("name", chosen(SURFACES, lambda name: not name.startswith("settings, ") or "speed" in name))
def test_controls_have_names_tab_reaches_them_and_escape_closes(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, name: str
) -> None:
    window.page.composer.prompt.setCursorWidth(0)
    with opened(name, window, workspace) as surface:
        _check_names_and_roles(surface)
        # The palette has one field, and closes without the focus.
        if name not in POPUPS and name != "palette":
            _check_tab(surface)
        if name not in PARTS:
            assert surface is not window
            QTest.keyClick(QApplication.focusWidget() or surface, Qt.Key.Key_Escape)
            qtbot.waitUntil(lambda: not shiboken6.isValid(surface) or not surface.isVisible())


def test_every_role_is_of_a_class_that_is_there(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    names = set()
    for name in ("chat", "details", "inspector", "machine page"):
        with opened(name, window, workspace) as surface:
            names |= {type(widget).__name__ for widget in surface.findChildren(QWidget)}
    assert set(ROLES) - names == set()


def test_the_ring_follows_what_is_scrolled(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    with opened("chat", window, workspace):
        ring, bar = window.ring, window.page.transcript.verticalScrollBar()
        copy = next(stop for stop in _stops(window) if _name(stop) == "Copy code")
        while QApplication.focusWidget() is not copy:
            _press_tab(window)
        before = ring.pos()
        assert ring.isVisible()
        bar.setValue(bar.value() + (40 if bar.value() < bar.maximum() - 40 else -40))
        assert ring.pos() != before
        middle = copy.mapTo(window, copy.rect().center())
        assert (ring.geometry().center() - middle).manhattanLength() <= 2
        bar.setValue(bar.maximum() if bar.value() < bar.maximum() / 2 else 0)
        assert not ring.isVisible()
