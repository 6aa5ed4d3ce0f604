"""Every number of the settings by keys: no key of a number is refused, and the range holds in the end."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.settings.pages import rows
from app.settings.setting import Number
from app.settings.settings import Settings
from app.ui.settings.dialog import SettingsDialog
from app.ui.settings.fields import NumberField
from app.ui.settings.number_input import NumberBox
from app.ui.theme.theme import Theme

NUMBERS = [name for name in rows() if isinstance(Settings.declared()[name].control, Number)]


def number_of(name: str) -> Number:
    number = Settings.declared()[name].control
    assert isinstance(number, Number)
    return number


def field_of(qtbot: QtBot, theme: Theme, name: str) -> NumberField:
    field = NumberField(theme, number_of(name), None, name, "Help.", None)  # type: ignore[arg-type]
    qtbot.addWidget(field)
    field.show()
    field.box.setFocus()
    return field


def own(number: Number, shown: float) -> float:
    return round(shown * number.unit_size) if number.unit_size > 1 or not number.places else round(shown, number.places)


def by_key(qtbot: QtBot, box: NumberBox) -> None:
    qtbot.keyClick(box, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)


def by_double_click(qtbot: QtBot, box: NumberBox) -> None:
    qtbot.mouseDClick(box.lineEdit(), Qt.MouseButton.LeftButton, pos=QPoint(12, box.height() // 2))


def by_going_back(qtbot: QtBot, box: NumberBox) -> None:
    qtbot.keyClick(box, Qt.Key.Key_End)
    for _ in range(len(box.text())):
        qtbot.keyClick(box, Qt.Key.Key_Backspace)


def typed_of(number: Number, shown: float) -> str:
    return f"{shown:.{number.places}f}"


@pytest.mark.parametrize("name", NUMBERS)
def test_any_number_of_the_range_is_typed_over_any_other(qtbot: QtBot, theme: Theme, name: str) -> None:
    field, number = field_of(qtbot, theme, name), number_of(name)
    for emptied in (by_key, by_double_click, by_going_back):
        for before in (None if number.empty else number.least, number.most):
            for shown in (number.least, (number.least + number.most) / 2, number.most):
                field.show_value(None if before is None else own(number, before))
                emptied(qtbot, field.box)
                typed = typed_of(number, shown)
                qtbot.keyClicks(field.box, typed)
                qtbot.keyClick(field.box, Qt.Key.Key_Return)
                assert field.value() == own(number, float(typed)), (emptied, before)
                assert field.notice() == ""


@pytest.mark.parametrize("name", NUMBERS)
def test_too_large_a_number_is_the_most_at_once(qtbot: QtBot, theme: Theme, name: str) -> None:
    field, number = field_of(qtbot, theme, name), number_of(name)
    field.box.selectAll()
    typed = typed_of(number, number.most * 3)
    qtbot.keyClicks(field.box, typed)
    assert field.box.text().startswith(typed)  # every key is there, until the field is left
    most = field.box.textFromValue(number.most) + field.box.suffix()
    assert field.notice() == f"{most} is the most that can be set here."
    assert field.value() == own(number, number.most)
    qtbot.keyClick(field.box, Qt.Key.Key_Return)
    assert field.box.text() == most
    assert field.notice() != ""
    qtbot.keyClick(field.box, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(field.box, typed_of(number, number.most))
    assert field.notice() == ""


@pytest.mark.parametrize("name", [name for name in NUMBERS if number_of(name).least > 0])
def test_too_small_a_number_waits_for_the_next_key_and_is_the_least_at_the_end(
    qtbot: QtBot, theme: Theme, name: str
) -> None:
    field, number = field_of(qtbot, theme, name), number_of(name)
    field.show_value(own(number, number.most))
    field.box.selectAll()
    qtbot.keyClicks(field.box, "0")
    assert (field.value(), field.notice()) == (own(number, number.most), "")
    with qtbot.waitSignal(field.edited):
        qtbot.keyClick(field.box, Qt.Key.Key_Return)
    least = field.box.textFromValue(number.least) + field.box.suffix()
    assert field.notice() == f"{least} is the least that can be set here."
    assert field.value() == own(number, number.least)


def test_the_size_of_text_takes_its_third_digit_and_its_row_says_where_it_ends(
    qtbot: QtBot, dialog: SettingsDialog
) -> None:
    dialog.go("appearance")
    row = dialog.row("font_scale")
    assert isinstance(row.field, NumberField)
    box = row.field.box
    box.setFocus()
    box.selectAll()
    for typed, chosen in (("1", 100), ("2", 100), ("5", 125), ("0", 150)):
        qtbot.keyClicks(box, typed)
        assert dialog.pending.value("font_scale") == chosen
    assert row.note.text() == "150 % is the most that can be set here."
    qtbot.mouseClick(dialog.foot.apply_button, Qt.MouseButton.LeftButton)
    assert (dialog.pending.applied.font_scale, row.note.text()[:5]) == (150, "150 %")
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "8")
    dialog.head.search.setFocus()
    assert (box.text(), row.note.text()) == ("90 %", "90 % is the least that can be set here.")
    dialog.foot.undo_button.click()
    assert (box.text(), row.note.text()) == ("150 %", "")


def test_an_emptied_field_is_what_the_word_stands_for(qtbot: QtBot, theme: Theme) -> None:
    for name, words in (("context", "Model's own"), ("temperature", "Automatic"), ("font_scale", "120 %")):
        field = field_of(qtbot, theme, name)
        field.show_value(120 if name == "font_scale" else 1)
        by_going_back(qtbot, field.box)
        qtbot.keyClick(field.box, Qt.Key.Key_Return)
        assert field.box.text() == words


@pytest.mark.parametrize(
    ("language", "typed", "number"),
    [
        ("en_US", "0.5", 0.5),
        ("en_US", "0,5", 0.5),
        ("de_DE", "0,5", 0.5),
        ("de_DE", "0.5", 0.5),
        ("de_DE", "x", 1.0),
    ],
)
def test_a_point_and_a_comma_are_the_same(qtbot: QtBot, language: str, typed: str, number: float) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    box = NumberBox(Number(0, 5, 2), parent)
    box.setLocale(QLocale(language))
    box.setValue(1)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    assert box.number() == number
