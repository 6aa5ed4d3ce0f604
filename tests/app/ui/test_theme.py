from __future__ import annotations

import gc
import re

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import getCppPointer

from app.ui import figures
from app.ui.form_fields import ListBox
from app.ui.main_window import MainWindow
from app.ui.theme.icons import ICON_FOLDER, app_icon, themed_icon
from app.ui.theme.palette import DARK, LIGHT, Palette
from app.ui.theme.theme import _SHEET, Theme


def contrast(first: str, second: str) -> float:
    """WCAG 2.2 contrast ratio."""

    def luminance(color: str) -> float:
        channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


PLAIN = ("bg", "side", "surf", "raised")
# Each role that words are written in, and every fill that it stands on.
WRITTEN = {
    "text": (*PLAIN, "hover", "press", "accs", "maps", "reds"),
    "sub": (*PLAIN, "hover", "press", "accs", "maps", "reds"),
    "mute": (*PLAIN, "hover", "reds"),  # placeholders, units, and what is disabled
    "acc": (*PLAIN, "hover", "accs", "reds"),  # links
    "acct": ("accs", *PLAIN),
    "mapt": ("maps", *PLAIN),
    "red": (*PLAIN, "hover", "reds"),
    "onacc": ("acc", "acc_hover", "acc_press"),
    **dict.fromkeys(("keyword", "string", "number", "call", "comment"), ("surf",)),
}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("role", WRITTEN)
def test_text_can_be_read(palette: Palette, role: str) -> None:
    found = {fill: contrast(getattr(palette, role), getattr(palette, fill)) for fill in WRITTEN[role]}
    assert {fill: ratio for fill, ratio in found.items() if ratio < 4.5} == {}


def test_the_style_sheet_writes_in_no_other_role() -> None:
    written = set(re.findall(r"(?<![-\w])color: \$(\w+)", _SHEET.template))
    assert written
    assert written <= set(WRITTEN)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("fill", PLAIN)
def test_the_focus_can_be_told_from_what_is_around_it(palette: Palette, fill: str) -> None:
    assert contrast(palette.acc, getattr(palette, fill)) >= 3.0


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_edges_of_fields_can_be_seen(palette: Palette) -> None:
    for fill in ("bg", "raised"):
        assert contrast(palette.ctl, getattr(palette, fill)) >= 3.0
    assert contrast(palette.red, palette.reds) >= 3.0


def test_an_icon_follows_the_theme(theme: Theme) -> None:
    icon = themed_icon(theme, "copy", "acc")
    colors = set()
    for dark in (False, True):
        theme.set_dark(dark)
        picture = icon.pixmap(QSize(16, 16)).toImage()
        colors |= {
            picture.pixelColor(x, y).name()
            for x in range(16)
            for y in range(16)
            if picture.pixelColor(x, y).alpha() > 250
        }
    assert {LIGHT.acc.lower(), DARK.acc.lower()} <= colors


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 3.0])
def test_an_icon_is_sharp_on_a_dense_screen(theme: Theme, ratio: float) -> None:
    pixmap = themed_icon(theme, "copy").pixmap(QSize(16, 16), ratio)
    assert pixmap.width() == 16 * ratio
    assert pixmap.devicePixelRatio() == ratio


def test_icons_outlive_their_python_objects(qtbot: QtBot, theme: Theme) -> None:
    buttons = []
    for _ in range(50):
        button = QToolButton()
        button.setIcon(QIcon(themed_icon(theme, "copy")))
        qtbot.addWidget(button)
        buttons.append(button)
    gc.collect()
    for button in buttons:
        assert not button.grab().isNull()


def test_every_icon_is_licensed() -> None:
    assert "ISC License" in (ICON_FOLDER / "LICENSE").read_text(encoding="utf-8")


def test_the_apps_icon_has_a_drawing_for_small_sizes(theme: Theme) -> None:
    sizes = {size.width() for size in app_icon().availableSizes()}
    assert {16, 24, 32, 256} <= sizes


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (figures.speed(14.23), "14.2 tok/s"),
        (figures.speed(251.7), "252 tok/s"),
        (figures.duration(430.2), "430 ms"),
        (figures.duration(1130.0), "1.1 s"),
        (figures.time_left(0.2), "1 s left"),
        (figures.time_left(12.4), "12 s left"),
        (figures.time_left(300.0), "5 min left"),
        (figures.time_left(9000.0), "2.5 h left"),
        (figures.gigabytes(128_000_000_000), "128"),
        (figures.gigabytes(0), "0.0"),
        (figures.percent(0.784), "78 %"),
        (figures.size(5_300_000_000), "5.3 GB"),
        (figures.size(412_000_000), "412 MB"),
    ],
)
def test_figures_have_three_digits_and_a_unit(text: str, wanted: str) -> None:
    assert text.replace(",", ".") == wanted


def test_the_style_is_set_once(qtbot: QtBot) -> None:
    theme = Theme(dark=False)
    theme.apply()
    style = getCppPointer(QApplication.style())
    for dark in (True, False):
        theme.set_dark(dark)
    theme.set_scale(1.5)
    assert getCppPointer(QApplication.style()) == style
    theme.set_scale(1.0)


def test_icons_grow_with_the_text(qtbot: QtBot, window: MainWindow, theme: Theme) -> None:
    button, paperclip = window.page.header.menu_button, window.page.composer.attach_button
    before = (button.iconSize().width(), button.width(), paperclip.iconSize().width(), paperclip.width())
    theme.set_scale(1.5)
    qtbot.wait(10)
    after = (button.iconSize().width(), button.width(), paperclip.iconSize().width(), paperclip.width())
    assert after == tuple(round(1.5 * side) for side in before)


@pytest.mark.parametrize("dark", [False, True])
def test_the_chosen_row_of_a_list_that_opens_can_be_read(qtbot: QtBot, theme: Theme, dark: bool) -> None:
    theme.set_dark(dark)
    window = QWidget()
    qtbot.addWidget(window)
    box = ListBox(theme, window)
    box.addItems(["Automatic", "Always"])
    window.show()
    box.showPopup()
    view = box.view()
    view.setCurrentIndex(box.model().index(1, 0))
    row = view.visualRect(box.model().index(1, 0))
    image = view.grab().toImage()
    colours = {image.pixelColor(x, row.center().y() + y).name() for x in range(row.width()) for y in range(-8, 9)}
    assert {theme.color("accs").name(), theme.color("acct").name()} <= colours
    assert theme.color("acc").name() not in colours
    box.hidePopup()


def test_a_list_that_is_too_narrow_says_that_words_are_left_out(qtbot: QtBot, theme: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    pictures = []
    for words in ("8-bit where memory is short", "8-bit w…is short"):
        box = ListBox(theme, window)
        box.addItem(words)
        box.resize(160, box.sizeHint().height())
        box.show()
        pictures.append(box.grab().toImage())
    window.show()
    assert pictures[0] != pictures[1]  # these are two texts
    whole = box.fontMetrics().elidedText("8-bit where memory is short", Qt.TextElideMode.ElideMiddle, 160 - 16 - 28 - 4)
    box.setItemText(0, whole)
    assert "…" in whole
    assert box.grab().toImage() == pictures[0]


def test_no_ring_goes_to_the_next_button_where_a_clicked_one_is_disabled(qtbot: QtBot, window: MainWindow) -> None:
    first, second = QPushButton("One", window), QPushButton("Two", window)
    for button in (first, second):
        button.show()
    first.clicked.connect(lambda: first.setEnabled(False))
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert not first.isEnabled()
    assert not window.ring.isVisible()
