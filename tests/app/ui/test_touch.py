"""Small touch screens: what is pressed is as large as a finger, all scrolls under it, and nothing needs a pointer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtGui import QInputDevice, QPointingDevice
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QListView,
    QScroller,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.place_page import PlacePage
from app.ui.places import PLACES
from app.ui.theme import theme as themes
from app.ui.theme.theme import Theme
from app.ui.transcript.bubble import OwnMessage
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.window_scene import LLAMA, fill

SIZES = [QSize(800, 480), QSize(1024, 600)]


@pytest.fixture
def touching(qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> Iterator[Theme]:
    """A theme for a touch screen."""
    monkeypatch.setattr(themes, "has_touch_screen", lambda: True)
    made = Theme(dark=False)
    made.apply()
    yield made
    theme.apply()


@pytest.fixture(params=SIZES, ids=lambda size: f"{size.width()}x{size.height()}")
def window(request: pytest.FixtureRequest, qtbot: QtBot, touching: Theme) -> MainWindow:
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    made = MainWindow(touching, workspace)
    qtbot.addWidget(made)
    made.resize(request.param)
    made.show()
    made.page.open(chat)
    qtbot.waitExposed(made)
    return made


def too_small(shown: QWidget) -> list[str]:
    """Buttons and fields that are smaller than a finger, or cut off at the side."""
    found = []
    for part in [*shown.findChildren(QAbstractButton), *shown.findChildren(QLineEdit), *shown.findChildren(QComboBox)]:
        if not part.isVisible() or isinstance(part.parent(), QLineEdit | QComboBox | QAbstractSpinBox):
            continue
        left = part.mapTo(shown, QPoint(0, 0)).x()
        if min(part.width(), part.height()) < 44 or left < 0 or left + part.width() > shown.width():
            found.append(f"{type(part).__name__} {part.accessibleName() or part.text()!r} {part.geometry()}")
    return found


def test_what_is_pressed_in_a_chat_is_as_large_as_a_finger(window: MainWindow) -> None:
    assert too_small(window) == []
    rows = window.sidebar.list
    assert sum(rows.sizeHintForRow(row) >= 44 for row in range(6)) >= 4  # beside the headings


@pytest.mark.parametrize("place", [place.name for place in PLACES])
def test_each_page_scrolls_to_its_end_and_nothing_of_it_is_cut(qtbot: QtBot, window: MainWindow, place: str) -> None:
    window.places.go(place)
    qtbot.wait(50)
    page = window.places.page(place)
    assert isinstance(page, PlacePage)
    assert too_small(window) == []
    assert page.area.horizontalScrollBar().maximum() == 0
    assert QScroller.hasScroller(page.area.viewport())


def test_settings_fit_the_screen(qtbot: QtBot, window: MainWindow) -> None:
    window.settings.open_page("speed")
    dialog = window.settings.dialog
    assert isinstance(dialog, QDialog)
    qtbot.wait(50)
    assert dialog.size() == dialog.size().boundedTo(window.size())
    assert too_small(dialog) == []
    pages = dialog.findChild(QListView)
    rows = [pages.visualRect(pages.model().index(row, 0)) for row in range(pages.model().rowCount())]
    assert all(row.height() >= 44 and row.bottom() < after.top() for row, after in pairwise(rows))
    dialog.close()


def test_actions_of_ones_own_message_need_no_pointer_above_it(window: MainWindow) -> None:
    own = next(view for view in window.page.transcript.views if isinstance(view, OwnMessage))
    assert all(button.seen for button in own.buttons._buttons.values())


def test_a_finger_scrolls_and_presses(qtbot: QtBot, window: MainWindow) -> None:
    device = QTest.createTouchDevice(QInputDevice.DeviceType.TouchScreen)
    assert isinstance(device, QPointingDevice)
    area = window.page.transcript
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    before, place = bar.value(), area.viewport().mapTo(window, area.viewport().rect().center())
    finger = QTest.touchEvent(window, device)
    finger.press(0, place, window).commit()
    for step in range(1, 12):
        finger.move(0, place + QPoint(0, 10 * step), window).commit()
        qtbot.wait(10)
    finger.release(0, place + QPoint(0, 110), window).commit()
    qtbot.waitUntil(lambda: bar.value() < before)
    shown = window.sidebar.isVisible()
    button = window.page.header.sidebar_button
    place = button.mapTo(window, button.rect().center())
    finger.press(1, place, window).commit()
    finger.release(1, place, window).commit()
    qtbot.waitUntil(lambda: window.sidebar.isVisible() != shown)


def test_the_field_stays_above_a_keyboard_on_the_screen(qtbot: QtBot, window: MainWindow) -> None:
    top = window.height() - 200
    window.fingers.stay_above(QRectF(0, top, window.width(), 200))
    qtbot.wait(20)
    field = window.page.composer.prompt
    assert field.mapTo(window, QPoint(0, field.height())).y() <= top
    window.fingers.stay_above(QRectF())
    qtbot.wait(20)
    assert field.mapTo(window, QPoint(0, field.height())).y() > top
