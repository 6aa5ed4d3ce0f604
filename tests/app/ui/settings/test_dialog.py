"""The dialog of settings: pages, search, what is shown to whom, Apply and Undo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase
from app.chat.modes import UNUSABLE
from app.settings.pages import PAGES, rows
from app.settings.setting import Names, Number, Switch
from app.settings.settings import Settings
from app.ui.form_fields import TickBox
from app.ui.settings.dialog import SettingsDialog
from app.ui.settings.fields import (
    ChoiceField,
    LineField,
    NamesField,
    NumberField,
    SwitchField,
    TextField,
)
from app.ui.settings.number_input import Slider
from app.ui.settings.rows import ActionRow, SettingRow
from app.ui.theme.theme import Theme
from engine.messages import Cancel, CheckDrafts, DraftChecked, ModelAdvice, ModelUnloaded, SamplingOptions
from engine.modes import MODES
from tests.support.fast_cases import chosen
from tests.support.scripted_workspace import READY, ScriptedWorkspace, statistics

MODEL = "smollm2"


def change(row: SettingRow, value: Any) -> None:
    """Change a field as a person would."""
    field = row.field
    if isinstance(field, NumberField):
        field.box.set_number(value)
    elif isinstance(field, NamesField):
        field.box.setCurrentIndex(field.box.findData(value))
    elif isinstance(field, SwitchField):
        field.box.setChecked(value)
    elif isinstance(field, ChoiceField):
        field._choose(value[0] if isinstance(value, tuple) else value)
    elif isinstance(field, LineField):
        field.line.setText(value)
        field.line.textEdited.emit(value)
    else:
        assert isinstance(field, TextField)
        field.edit.setPlainText(value)


def other(name: str) -> Any:
    """An allowed value that is not the usual one."""
    setting = Settings.declared()[name]
    control = setting.control
    if name == "drafts":
        return ("smollm2-draft",)
    if name == "memory":
        return "disk"
    if name in ("hub_mirror", "proxy"):
        return "https://mirror.example.org"
    if isinstance(control, Switch):
        return not setting.default
    if isinstance(control, Names):
        return control.titles[-1][0]
    if isinstance(control, Number):
        shown = control.least if control.empty else control.slider[1] if control.slider else control.most
        return round(shown * control.unit_size) if control.unit_size > 1 or not control.places else shown
    return "Be brief."


def shown_rows(dialog: SettingsDialog) -> list[str]:
    return [name for name, row in dialog.stack.rows() if row.isVisible()]


def test_every_setting_can_be_changed_and_changes_nothing_before_apply(
    dialog: SettingsDialog, workspace: ScriptedWorkspace
) -> None:
    wanted = {name: other(name) for name in rows()}
    for name, value in wanted.items():
        assert dialog.row(name).field.value() == dialog.pending.applied_value(name)
        change(dialog.row(name), value)
    assert workspace.settings.stored() == {"first_run_done": True, "settings_level": "advanced"}
    assert f"{len(wanted)}." in dialog.foot.words.text()
    dialog.foot.apply_button.click()
    for name, value in wanted.items():
        assert dialog.pending.applied_value(name) == value, name
    assert not dialog.foot.apply_button.isEnabled()
    for name in wanted:
        assert dialog.row(name).reset_button.isVisibleTo(dialog.row(name)), name
        dialog.row(name).reset_button.click()
    dialog.foot.apply_button.click()
    assert workspace.settings.stored() == {"first_run_done": True, "settings_level": "advanced"}


def test_a_changed_row_is_marked_and_can_be_undone(dialog: SettingsDialog) -> None:
    dialog.go("speed")
    row = dialog.row("context")
    assert not row._changed
    assert not row.reset_button.isVisible()
    assert row.in_use.text() == "8,192"
    change(row, 4096)
    assert row._changed
    assert row.reset_button.isVisible()
    assert "loaded again" in dialog.foot.words.text()
    assert "2.3 s" in dialog.foot.words.text()
    assert row.in_use.text() == "8,192"
    dialog.foot.undo_button.click()
    assert (row.field.value(), row._changed) == (0, False)
    assert dialog.foot.words.text() == ""


def test_what_needs_no_load_says_nothing_of_one(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    change(dialog.row("draft_width"), 3)
    change(dialog.row("temperature"), 0.5)
    assert "loaded" not in dialog.foot.words.text()
    workspace.tell(ModelUnloaded())
    change(dialog.row("context"), 4096)
    assert "loaded" not in dialog.foot.words.text()


def test_simple_shows_few_and_advanced_all(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    dialog.go("speed")
    everything = shown_rows(dialog)
    dialog.head.level.buttons["simple"].click()
    few = shown_rows(dialog)
    assert set(few) == {name for name in everything if not rows()[name].advanced}
    assert 0 < len(few) < len(everything)
    assert workspace.settings.settings_level == "simple"
    for page in PAGES:
        dialog.go(page.name)
        assert any(row.isVisible() for row in dialog.stack.page(PAGES.index(page)).item_views()), page.name


def test_a_search_finds_titles_and_helps_on_all_pages(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.head.level.buttons["simple"].click()
    qtbot.keyClicks(dialog.head.search, "LIKELY leaves out")
    assert shown_rows(dialog) == ["min_p"]  # an advanced one, by its help
    dialog.head.search.setText("draft")
    assert {"drafts", "draft_depth", "drafted_shown", "verify"} <= set(shown_rows(dialog))
    titles = [page.title.text() for page in dialog.stack.pages() if page.title.isVisible()]
    assert titles == ["Speed and memory", "Appearance"]
    dialog.head.search.setText("dark")
    assert shown_rows(dialog) == ["theme"]  # by a choice
    dialog.head.search.setText("telemetry")
    assert shown_rows(dialog) == []
    assert not dialog.stack.nothing.isVisible()
    dialog.head.search.setText("xyzzy")
    assert dialog.stack.nothing.isVisible()
    dialog.go("style")
    assert dialog.head.search.text() == ""
    assert shown_rows(dialog) == ["temperature", "stop_loops"]


def test_the_search_has_a_key(qtbot: QtBot, dialog: SettingsDialog) -> None:
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.head.search.setText("draft")
    dialog.page_list.list.setFocus()
    qtbot.keyClick(dialog, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert dialog.head.search.hasFocus()
    assert dialog.head.search.selectedText() == "draft"


def test_values_of_one_model(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    dialog.go("style")
    change(dialog.row("temperature"), 0.5)
    dialog.head.scope.buttons[MODEL].click()
    assert set(shown_rows(dialog)) <= {name for name, row in rows().items() if row.per_model}
    row = dialog.row("temperature")
    assert (row.field.value(), row.reset_button.isVisible()) == (0.5, False)  # as for all models
    change(row, 1.5)
    dialog.foot.apply_button.click()
    assert workspace.settings.temperature == 0.5
    assert workspace.settings.of_model(MODEL).temperature == 1.5
    assert workspace.settings.of_model("/other").temperature == 0.5
    dialog.head.scope.buttons[""].click()
    assert row.field.value() == 0.5
    assert row.note.text() == "SmolLM2 135M has a value of its own: 1.50."
    dialog.head.scope.buttons[MODEL].click()
    row.reset_button.click()
    dialog.foot.apply_button.click()
    assert workspace.settings.by_model == {}


def test_pages_without_values_of_models_are_for_all_models(dialog: SettingsDialog) -> None:
    dialog.go("style")
    dialog.head.scope.buttons[MODEL].click()
    dialog.go("appearance")
    assert not dialog.head.scope.isVisible()
    assert dialog.scope == ""
    assert "theme" in shown_rows(dialog)
    dialog.go("style")
    assert dialog.scope == MODEL


def test_a_setting_without_effect_says_why_and_stays(qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace) -> None:
    workspace.settings.vram_budget_bytes = 1_000_000_000
    workspace.set_engine(replace(READY, gpu=""))
    dialog = SettingsDialog(theme, workspace)
    qtbot.addWidget(dialog)
    row = dialog.row("vram_budget_bytes")
    assert not row.field.isEnabled()
    assert row.note.text() == "There is no GPU that Tenon can use here."
    assert row.reset_button.isHidden()


def test_the_lossy_rule_says_so(dialog: SettingsDialog) -> None:
    field = dialog.row("verify").field
    assert isinstance(field, NamesField)
    lossy = {field.box.itemData(row): "lossy" in field.box.itemText(row) for row in range(field.box.count())}
    assert lossy == {"sample-and-match": False, "typical": True}


def test_places_that_cannot_be_are_listed_with_the_reason(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    workspace.set_engine(replace(workspace.model.state, gpu=""))
    dialog.go("speed")
    field = dialog.row("memory").field
    assert isinstance(field, ChoiceField)
    field.open()
    listed = {choice.key: choice for choice in field.popup.choices}
    assert list(listed) == ["auto", "disk", UNUSABLE]
    assert listed["auto"].checked
    needs = "Needs a GPU, and there is none that Tenon can use here."
    assert needs in listed[UNUSABLE].problem
    field.popup.choose(UNUSABLE)
    assert field.value() == "auto"
    field.popup.choose("disk")
    assert (field.value(), field.popup) == ("disk", None)
    assert [name for _, name in dialog.pending.changes()] == ["memory"]
    change(dialog.row("memory"), "gpu")
    assert dialog.row("memory").note.text() == needs


def test_drafts_that_do_not_fit_are_greyed_as_answers_come(
    dialog: SettingsDialog, workspace: ScriptedWorkspace
) -> None:
    workspace.settings.remember_drafts("/models/other", ("/models/draft",))
    field = dialog.row("drafts").field
    assert isinstance(field, ChoiceField)
    field.open()
    asked = workspace.engine.last(CheckDrafts)
    workspace.tell(DraftChecked(asked.request_id, "smollm2-draft", "Another vocabulary."))
    (unusable,) = (choice.problem for choice in field.popup.choices if choice.key == UNUSABLE)
    assert unusable == "Draft head of SmolLM2: Another vocabulary."
    field.popup.choose("/models/draft")
    assert dialog.pending.value("drafts") == ("/models/draft",)
    dialog.pending.undo()
    dialog.close()
    assert workspace.engine.sent[-1] == Cancel(asked.request_id)


def test_what_is_in_use_follows_the_engine(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    dialog.go("speed")
    assert workspace.model.report is not None
    workspace.load(replace(workspace.model.report, context=4_096))
    chat = workspace.turns.send(None, "Hello")
    drafts = dialog.row("drafts")
    assert (drafts.field.button.text(), drafts.in_use.text()) == (
        "Automatic",
        "",
    )  # no mode has taken any yet
    workspace.finish(chat, statistics(mode="dovetail"), drafts=("smollm2-draft",))
    workspace.model.changed.emit(workspace.model.state)
    assert (drafts.field.button.text(), drafts.in_use.text()) == ("Automatic", "Draft head of SmolLM2")
    workspace.turns.send(chat, "Hello?")
    workspace.finish(chat, statistics(mode="lookup"))
    workspace.model.changed.emit(workspace.model.state)
    assert drafts.in_use.text() == "Lookup"
    assert dialog.row("context").in_use.text() == "4,096"
    workspace.tell(ModelUnloaded())
    assert dialog.row("context").in_use.text() == ""


def test_what_is_in_use_is_no_copy_of_the_choice(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    assert workspace.model.report is not None
    workspace.load(replace(workspace.model.report, threads=2, kv_cache="q8_0"))
    change(dialog.row("language"), "de")
    dialog.foot.apply_button.click()
    assert workspace.settings.language == "de"
    assert dialog.row("language").in_use.toolTip() == "English"  # until the next start
    assert dialog.row("threads").in_use.toolTip() == "2"
    assert dialog.row("kv_cache").in_use.toolTip() == "8-bit (lossy)"
    nodes = dialog.row("draft_nodes")
    assert (nodes.field.value(), nodes.in_use.toolTip()) == (None, "Usual")
    workspace.finish(workspace.turns.send(None, "Hello"), statistics(mode="ppd"))
    workspace.model.changed.emit(workspace.model.state)
    options = [each for mode in MODES.values() if mode.name == "ppd" for each in mode.options]
    (usual,) = (each.default for each in options if each.name == "draft_nodes")
    assert nodes.in_use.toolTip() == str(usual)
    change(nodes, 7)
    dialog.foot.apply_button.click()
    assert nodes.in_use.toolTip() == "7"


def test_what_becomes_of_a_load_is_said(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    workspace.set_engine(READY.loading())
    assert dialog.foot.words.text() == "The model is being loaded."
    workspace.set_engine(replace(READY, phase=EnginePhase.IDLE, sentence="It needs more memory."))
    assert dialog.foot.words.text() == "It needs more memory."
    workspace.set_engine(READY)
    assert dialog.foot.words.text() == ""


def test_a_value_that_is_not_allowed_stays_to_be_mended_and_is_not_chosen(dialog: SettingsDialog) -> None:
    row = dialog.row("proxy")
    change(row, "nonsense")
    assert row.note.text() == "Write a whole address, such as http://proxy.example.org:3128."
    assert dialog.pending.changes() == []
    assert row.field.value() == "nonsense"
    change(row, "http://proxy.example.org:80")
    assert dialog.pending.value("proxy") == "http://proxy.example.org:80"
    assert row.note.text() == ""
    change(row, "more nonsense")
    dialog.foot.undo_button.click()
    assert (row.field.value(), row.note.text()) == ("", "")


def test_closing_asks_what_becomes_of_changes(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    change(dialog.row("threads"), 4)
    dialog.close()
    assert dialog.isVisible()
    question = dialog.findChild(QMessageBox)
    next(button for button in question.buttons() if button.text() == "Apply changes").click()
    assert not dialog.isVisible()
    assert workspace.settings.threads == 4


def test_closing_can_discard_and_go_on(qtbot: QtBot, dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    change(dialog.row("threads"), 4)
    for words, visible in (("Go on editing", True), ("Discard changes", False)):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        question = next(box for box in dialog.findChildren(QMessageBox) if box.isVisible())
        next(button for button in question.buttons() if button.text() == words).click()
        assert dialog.isVisible() == visible
    assert workspace.settings.threads == 0


def test_a_passing_wheel_changes_nothing(dialog: SettingsDialog) -> None:
    for name in rows():
        for control in dialog.row(name).field.controls:
            middle = QPointF(control.rect().center())
            wheel = QWheelEvent(
                middle, control.mapToGlobal(middle), QPoint(0, -120), QPoint(0, -120), Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
            )  # fmt: skip
            QApplication.sendEvent(control, wheel)
    assert dialog.pending.changes() == []


def _overlaps(row: QWidget) -> list[tuple[QWidget, QWidget]]:
    parts = row.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    seen = [part for part in parts if part.isVisible() and not (isinstance(part, QLabel) and not part.text())]
    return [
        (one, two)
        for place, one in enumerate(seen)
        for two in seen[place + 1 :]
        if one.geometry().intersects(two.geometry())
    ]


def _outside(view: QWidget) -> list[QWidget]:
    parts = [part for part in view.findChildren(QWidget) if part.isVisible()]
    return [part for part in parts if not part.parentWidget().rect().contains(part.geometry())]


def _cut(view: QWidget) -> list[QLabel]:
    labels = [label for label in view.findChildren(QLabel) if label.isVisible() and label.wordWrap()]
    return [label for label in labels if label.height() < label.heightForWidth(label.width())]


@pytest.mark.parametrize(
    ("width", "scale"),
    chosen([(360, 1.0), (360, 1.5), (700, 1.0), (946, 1.0), (1400, 1.5)], [(360, 1.5), (946, 1.0)]),
)
def test_words_are_whole_and_nothing_overlaps_at_any_width(
    qtbot: QtBot, dialog: SettingsDialog, theme: Theme, width: int, scale: float
) -> None:
    theme.set_scale(scale)
    dialog.resize(width, 560)
    change(dialog.row("context"), 4096)
    for page in PAGES:
        dialog.go(page.name)
        shown = dialog.stack.page(PAGES.index(page))
        views = list(shown.item_views())
        parts = [*views, *(view.side for view in views if isinstance(view, ActionRow))]
        qtbot.waitUntil(
            lambda shown=shown, parts=parts: (
                not _cut(shown) and not any(map(_overlaps, parts)) and not any(map(_outside, parts))
            )
        )
        for view in views:
            assert view.width() <= dialog.width()


def test_everything_has_a_name_and_the_tab_key_reaches_it_in_order(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.go("speed")
    change(dialog.row("context"), 4096)
    dialog.head.search.setFocus()
    reached: list[QWidget] = []
    for _ in range(60):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in reached:
            break
        reached.append(focused)
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    for control in reached:
        words = control.accessibleName() or (control.text() if isinstance(control, QAbstractButton) else "")
        assert words, control
    context, threads = dialog.row("context"), dialog.row("threads")
    order = [*context.field.controls, context.reset_button, *threads.field.controls, dialog.foot.apply_button]
    places = [reached.index(control) for control in order]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["look_up", "context"])
def test_the_focus_is_shown_once_and_to_the_keyboard_alone(qtbot: QtBot, dialog: SettingsDialog, name: str) -> None:
    dialog.go("speed")
    control = dialog.row(name).field.controls[0]
    assert isinstance(control, (TickBox, Slider))
    dialog.head.search.setFocus()
    blurred = control.grab().toImage()
    control.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.waitUntil(control.hasFocus)
    assert not dialog.ring.isVisible()
    dialog.head.search.setFocus()
    with dialog.ring.move_by_keyboard():
        control.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(dialog.ring.isVisible)
    assert control.grab().toImage() == blurred  # it paints no ring of its own
    around = control.outline().translated(control.mapTo(dialog, QPoint(0, 0)))
    assert dialog.ring.geometry().contains(around)
    assert dialog.ring.height() < around.height() + 12


def test_a_row_has_room_for_all_words_in_use(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.go("privacy")
    row = dialog.row("titles_by_model")
    words = "For every model but the one that is built in"
    row.show_state(False, True, words, "")
    assert row.in_use.text() == words
    qtbot.waitUntil(lambda: row.in_use.heightForWidth(row.in_use.width()) <= row.in_use.height())


def test_what_a_model_has_of_its_own_is_what_is_in_use(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    workspace.settings.set_for_model(MODEL, "temperature", 1.5)
    dialog.pending.undo()
    dialog.go("style")
    row = dialog.row("temperature")
    assert (row.field.value(), row.in_use.text()) == (None, "1.50")


def test_a_reset_hands_the_focus_to_its_field(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.go("speed")
    row = dialog.row("context")
    change(row, 4096)
    row.reset_button.setFocus()
    qtbot.keyClick(row.reset_button, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is row.field.controls[0]


def test_a_page_is_made_when_it_is_shown(dialog: SettingsDialog) -> None:
    assert [page.page.name for page in dialog.stack.pages()] == ["model"]
    dialog.go("style")
    assert [page.page.name for page in dialog.stack.pages()] == ["model", "style"]


def test_in_a_narrow_dialog_the_pages_are_a_field(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.resize(380, 560)
    qtbot.waitUntil(lambda: not dialog.page_list.isVisible())
    assert dialog.page_list.box.isVisible()
    dialog.page_list.box.setCurrentIndex(2)
    dialog.page_list.box.activated.emit(2)
    assert "temperature" in shown_rows(dialog)
    dialog.resize(946, 760)
    qtbot.waitUntil(dialog.page_list.isVisible)
    assert dialog.head.parent() is dialog
    assert dialog.page_list.current == 2


def test_numbers_in_force_are_shown_with_where_they_come_from(
    dialog: SettingsDialog, workspace: ScriptedWorkspace
) -> None:
    temperature, penalty = dialog.row("temperature"), dialog.row("repetition_penalty")
    assert (temperature.in_use.toolTip(), penalty.in_use.toolTip()) == ("0.60", "1.10")
    assert temperature.note.text() == "Automatic is 0.60, as the model's makers advise."
    assert penalty.note.text() == "Automatic is 1.10, the usual value."
    change(temperature, 0.0)
    assert temperature.note.text() == ""
    assert penalty.note.text() == "Automatic is 1.00, because the temperature is 0."
    assert temperature.in_use.toolTip() == "0.60"
    dialog.apply()
    assert (temperature.in_use.toolTip(), penalty.in_use.toolTip()) == ("0.00", "1.00")


def test_zero_says_what_it_stands_for(dialog: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    workspace.advise(ModelAdvice(SamplingOptions(top_k=0)))
    dialog.go("style")
    assert dialog.row("top_k").note.text().startswith("Automatic is 0 (every token), ")
