"""Slider and exact number, and the other fields by themselves."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.settings.setting import Number, Words
from app.settings.settings import Settings
from app.ui.settings.fields import NumberField, SwitchField, TextField, value_words
from app.ui.theme.theme import Theme


def field_of(qtbot: QtBot, theme: Theme, name: str, most: float | None = None) -> NumberField:
    number = Settings.declared()[name].control
    assert isinstance(number, Number)
    field = NumberField(theme, number, most, name, "Help.", None)  # type: ignore[arg-type]
    qtbot.addWidget(field)
    field.resize(320, 40)
    field.show()
    return field


def test_slider_and_number_say_the_same(qtbot: QtBot, theme: Theme) -> None:
    field = field_of(qtbot, theme, "context")
    field.show_value(0)
    assert (field.slider.value(), field.box.text(), field.value()) == (0, "Model's own", 0)
    with qtbot.waitSignal(field.edited):
        field.slider.setValue(9)
    assert field.value() == 8_192
    assert field.box.text() == "8,192"
    with qtbot.waitSignal(field.edited):
        field.box.setValue(8_191)  # exact, where the slider has no place for it
    assert (field.value(), field.slider.value()) == (8_191, 9)
    field.box.setValue(1_000_000)
    assert field.slider.value() == field.slider.maximum()


def test_showing_a_value_is_no_edit(qtbot: QtBot, theme: Theme) -> None:
    field = field_of(qtbot, theme, "ram_budget_bytes", 16.0)
    with qtbot.assertNotEmitted(field.edited):
        field.show_value(6_543_210_000)
        field.show_value(None)
    assert field.value() is None


def test_budgets_are_free_or_in_gigabytes(qtbot: QtBot, theme: Theme) -> None:
    field = field_of(qtbot, theme, "ram_budget_bytes", 16.0)
    field.show_value(None)
    assert field.box.text() == "What is free"
    field.box.setValue(4.5)
    assert field.box.text() == "4.5 GB"
    assert field.value() == 4_500_000_000
    field.box.setValue(0.0)  # between nothing and the least there is
    assert field.value() == 100_000_000
    field.slider.setValue(field.slider.maximum())
    assert field.value() == 16_000_000_000
    field.slider.setValue(0)
    assert field.value() is None
    gpu = field_of(qtbot, theme, "vram_budget_bytes")
    gpu.box.setValue(0.0)
    assert gpu.value() == 0


def test_the_keys_and_the_pointer_move_the_slider(qtbot: QtBot, theme: Theme) -> None:
    field = field_of(qtbot, theme, "draft_width")
    field.show_value(10)
    assert field.slider is not None
    qtbot.keyClick(field.slider, Qt.Key.Key_Right)
    assert field.value() == 11
    qtbot.mouseClick(field.slider, Qt.MouseButton.LeftButton, pos=QPoint(field.slider.width() - 2, 10))
    assert field.value() == 64
    qtbot.mouseClick(field.slider, Qt.MouseButton.LeftButton, pos=QPoint(2, 10))
    assert field.value() == 1


def test_the_value_in_use_is_marked_on_the_slider(qtbot: QtBot, theme: Theme) -> None:
    field = field_of(qtbot, theme, "context")
    field.show_in_use(8_192)
    assert field.slider._in_use == 9
    before = field.slider.grab().toImage()
    field.show_in_use(None)
    assert field.slider._in_use is None
    assert field.slider.grab().toImage() != before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("context", 8_192, "8,192"), ("context", 0, "Model's own"), ("ram_budget_bytes", 6_500_000_000, "6.5 GB"),
        ("ram_budget_bytes", None, "What is free"), ("look_up", True, "On"), ("verify", "typical",
        "Typical acceptance (lossy)"), ("drafts", (), "Automatic"), ("drafts", ("/models/small", "/b"), "small, b"),
        ("system_prompt", "a\n b", "a b"), ("idle_unload_minutes", 0, "Never"), ("theme", "dark", "Dark"),
        ("weights", "q4_k_m", "4-bit"), ("temperature", 0.5, "0.50"),
    ],
)  # fmt: skip
def test_values_as_words(name: str, value: object, words: str) -> None:
    assert value_words(Settings.declared()[name], value) == words


def test_a_switch_is_clicked_anywhere_on_it(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    field = SwitchField(theme, "Title", "Help.", parent)
    field.resize(300, 40)
    parent.resize(320, 60)
    parent.show()
    with qtbot.waitSignal(field.edited):
        qtbot.mouseClick(field.box, Qt.MouseButton.LeftButton, pos=QPoint(9, field.box.height() // 2))
    assert field.value() is True


def test_tab_leaves_a_text_and_its_caret_stays_while_it_is_shown_again(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    field = TextField(theme, Words(lines=3), "Title", "Help.", parent)
    parent.show()
    qtbot.keyClicks(field.edit, "Be brief.")
    cursor = field.edit.textCursor()
    cursor.setPosition(2)
    field.edit.setTextCursor(cursor)
    field.show_value("Be brief.")
    assert field.edit.textCursor().position() == 2
    qtbot.keyClick(field.edit, Qt.Key.Key_Tab)
    assert field.value() == "Be brief."
