"""Rows of the dialog: a setting with its field and state, words, something to do, the access token."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.engine_options import ADVISED, TOLD, InForce, sampling_in_force
from app.chat.modes import Choice
from app.settings.pages import EVERY_MODEL, PendingSettings, rows
from app.settings.settings import Settings
from app.ui.painting import smooth
from app.ui.parts import STRETCH, PlainLabel, filled, icon_button, push_button, turn
from app.ui.settings.fields import Field, value_words
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr

NARROW_PX = 600
WORDS_PX = 236
FIELD_PX = 296
IN_USE_PX = 108
BUTTON_PX = 28
SIDE_PX = 12
GAP_PX = 16
UNLIMITED_PX = 16_777_215  # as Qt has it
_END_PX = 4
_BAR_PX = 3
_ROW_PX = 58
_IN_USE_LINES = 3.7  # of the narrowest column, for the words of a value in use
_NOTE_PX = 620
_MOST = 100  # stretch of what takes the room up to its greatest width
_TOKEN_PX = 140


class LinedRow(QWidget):
    """A row with a line below it, which parts it from the next."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def arrange(self, narrow: bool) -> None:
        """Take the sizes of the theme; where it is narrow, parts stand below one another."""
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


class NoteRow(LinedRow):
    """Words across the page."""

    def __init__(self, theme: Theme, words: str, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.label = PlainLabel(words, self, wrap=True)
        self._box = filled(QHBoxLayout(self), (self.label, _MOST), STRETCH)

    def arrange(self, narrow: bool) -> None:
        pad = round(self._theme.spaced(12))
        self.label.setMaximumWidth(self._theme.type.px(_NOTE_PX))
        filled(self._box, margins=(SIDE_PX, pad, SIDE_PX, pad))


class TitledRow(LinedRow):
    """A title and sentences below it, and beside them, or below where it is narrow, what is done about them."""

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.title = PlainLabel(title, self, kind="label", wrap=True)
        self.help = PlainLabel(help_text, self, kind="small", wrap=True)
        self.note = PlainLabel(self, kind="small", wrap=True)
        self.note.hide()
        self._column = QVBoxLayout(self)
        self._line = QHBoxLayout()
        self._column.addLayout(self._line, 1)  # before it is filled, or PySide keeps the items of what moves
        words = filled(QVBoxLayout(), STRETCH, self.title, self.help, self.note, STRETCH, spacing=1)
        self._line.addLayout(words, WORDS_PX)

    def show_note(self, words: str) -> None:
        """Say something more below the help."""
        self.note.setText(words)
        self.note.setVisible(bool(words))

    def arrange(self, narrow: bool) -> None:
        pad = round(self._theme.spaced(11))
        filled(self._column, margins=(SIDE_PX, pad, _END_PX, pad), spacing=8)
        self.setMinimumHeight(self._theme.type.px(self._theme.spaced(_ROW_PX)))

    def _limit_words(self, most_px: int) -> None:
        for label in (self.title, self.help, self.note):
            label.setMaximumWidth(most_px)


class SettingRow(TitledRow):
    """A setting's field, the value that is in use, and the way back to the usual one."""

    reset = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(theme, title, help_text, parent)
        self._changed = False
        self._in_use_words = ""
        self._narrow = False
        self.in_use = PlainLabel(self, kind="label", wrap=True)
        name = tr("Reset {setting}", setting=title)
        # Brings the usual value back
        self.reset_button = icon_button(theme, "rotate-ccw", name, self, self.reset)
        self.reset_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.reset_button.setFixedSize(BUTTON_PX, BUTTON_PX)
        policy = self.reset_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset_button.setSizePolicy(policy)
        filled(self._line, self.reset_button, spacing=GAP_PX)
        self.field: Field  # changes the setting

    def put_field(self, field: Field) -> None:
        """Take in the field that changes the setting."""
        self.field = field
        self.title.setBuddy(field.controls[0])
        self.setTabOrder(field, self.reset_button)

    def show_state(self, changed: bool, usual: bool, in_use: str, usual_words: str) -> None:
        """Show how things stand.

        Args:
            in_use: The value in use, in words; empty where it is not known.
            usual_words: The value that a reset brings back, in words; empty for none.
        """
        self._changed = changed
        self._in_use_words = in_use
        self.in_use.setAccessibleName(tr("In use now: {value}", value=in_use) if in_use else "")
        self.in_use.setToolTip(in_use)
        self.reset_button.setVisible(not usual)
        usual_value = tr("Reset to default: {value}", value=usual_words)
        self.reset_button.setToolTip(usual_value if usual_words else tr("Reset to default"))
        self._write_in_use()
        self.update()

    def arrange(self, narrow: bool) -> None:
        super().arrange(narrow)
        px, below = self._theme.type.px, narrow or self.field.wide
        self._narrow = narrow
        if below:
            self._column.insertWidget(1, self.field)
            self._column.insertWidget(2, self.in_use)
        else:
            self._line.insertWidget(1, self.field, FIELD_PX, Qt.AlignmentFlag.AlignVCenter)
            self._line.insertWidget(2, self.in_use, IN_USE_PX)
        self._limit_words(UNLIMITED_PX if below else px(WORDS_PX))
        self.field.setMaximumWidth(UNLIMITED_PX if below else px(FIELD_PX))
        side = Qt.AlignmentFlag.AlignLeft if below else Qt.AlignmentFlag.AlignRight
        self.in_use.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        self._line.setAlignment(
            self.reset_button, Qt.AlignmentFlag.AlignTop if below else Qt.AlignmentFlag.AlignVCenter
        )
        self._write_in_use()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._changed:
            painter = smooth(self)
            painter.fillRect(self.rect(), self._theme.color("surf"))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("acc"))
            painter.drawRoundedRect(QRectF(0, 6, _BAR_PX, self.height() - 13), 1.5, 1.5)
            painter.end()
        super().paintEvent(event)

    def _write_in_use(self) -> None:
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        room = round(_IN_USE_LINES * self._theme.type.px(IN_USE_PX))
        words = metrics.elidedText(self._in_use_words, Qt.TextElideMode.ElideRight, room)
        self.in_use.setText(tr("In use now: {value}", value=words) if self._narrow and words else words)
        self.in_use.setVisible(not self.field.wide and (bool(words) or not self._narrow))


class ActionRow(TitledRow):
    """A row with buttons or a field at its right."""

    requested = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, button: str, parent: QWidget) -> None:
        super().__init__(theme, title, help_text, parent)
        self.side = QWidget(self)
        self.line = filled(QHBoxLayout(self.side), margins=0, spacing=8)
        filled(self._line, (self.side, FIELD_PX + IN_USE_PX, Qt.AlignmentFlag.AlignVCenter))
        self.button: QPushButton | None = None
        if button:
            self.button = push_button(button, self.side, self.requested, default=False)
            self.button.setAccessibleDescription(help_text)
            self.line.addWidget(self.button)
            self.line.addStretch(1)

    def show_detail(self, words: str) -> None:
        """Say something below the help: a folder, a state. A long path is broken after its separators."""
        self.show_note(re.sub(r"([/\\])", "\\1\u200b", words))
        self.note.setToolTip(words)
        self.note.setAccessibleName(words)

    def arrange(self, narrow: bool) -> None:
        super().arrange(narrow)
        turn(self._line, narrow)
        self._line.setSpacing(8 if narrow else GAP_PX)
        self._limit_words(UNLIMITED_PX if narrow else self._theme.type.px(WORDS_PX))


class TokenRow(ActionRow):
    """The access token: a field that hides what is typed, and whether there is one."""

    kept = Signal(str)
    forgotten = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(theme, title, help_text, "", parent)
        self.edit = QLineEdit(self.side)
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setPlaceholderText("hf_...")
        self.edit.setAccessibleName(title)
        self.edit.setAccessibleDescription(help_text)
        self.edit.textEdited.connect(self._typed)
        self.keep_button = QPushButton(tr("Save"), self.side)
        self.forget_button = QPushButton(tr("Remove"), self.side)
        for button in (self.keep_button, self.forget_button):
            button.setAutoDefault(False)
            button.setAccessibleDescription(title)
        self.keep_button.setEnabled(False)
        self.forget_button.setEnabled(False)
        self.keep_button.clicked.connect(self._keep)
        self.forget_button.clicked.connect(self.forgotten)
        self.edit.returnPressed.connect(self._keep)
        self._buttons = filled(QHBoxLayout(), self.keep_button, self.forget_button, STRETCH)
        self.line.addWidget(self.edit, 1)
        self.line.addLayout(self._buttons)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons below the field where they have no room beside one another."""
        super().resizeEvent(event)
        needed = self._buttons.sizeHint().width() + self._theme.type.px(_TOKEN_PX)
        turn(self.line, needed > self.side.width())

    def show_known(self, known: bool | None, problem: str) -> None:
        """Show whether there is a token, and what went wrong."""
        words = {None: "", True: tr("An access token is saved."), False: tr("No access token is saved.")}[known]
        self.show_detail(problem or words)
        self.forget_button.setEnabled(bool(known))

    @Slot()
    def _typed(self) -> None:
        self.keep_button.setEnabled(bool(self.edit.text().strip()))

    @Slot()
    def _keep(self) -> None:
        if self.edit.text().strip():
            self.kept.emit(self.edit.text())
            self.edit.clear()
            self.keep_button.setEnabled(False)


class FieldChoices(QObject):
    """Asks whenever a list opens; whether drafts fit is asked of the engine from `look` on until the dialog closes."""

    changed = Signal()  # more is known of the drafts

    def __init__(self, workspace: Workspace, pending: PendingSettings, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._pending = pending
        self._looking = False
        workspace.drafts.changed.connect(self.changed)

    def by_name(self) -> Mapping[str, Callable[[], list[Choice]]]:
        """Questions to ask, by the names of settings."""
        return {"memory": self.memories, "drafts": self.drafts}

    def memories(self) -> list[Choice]:
        """Return the places in memory; those that cannot be say why."""
        return self._workspace.memories("")

    def drafts(self) -> list[Choice]:
        """Return what can guess ahead for the chosen model."""
        self.look()
        return self._workspace.drafts.choices(self._pending.value("drafts"))

    def problem(self, name: str, value: Any) -> str:
        """Reason why the choice cannot be, as far as it is known without asking; empty where it can."""
        choices = self._workspace.memories(value) if name == "memory" else ()
        return next((choice.problem for choice in choices if choice.key == value and choice.problem), "")

    def look(self) -> None:
        """Ask the engine once which drafts fit; answers come with `changed`."""
        if not self._looking:
            self._looking = True
            self._workspace.drafts.look_through()

    @Slot()
    def stop(self) -> None:
        """Drop the questions that were not answered yet."""
        if self._looking:
            self._looking = False
            self._workspace.drafts.stop_looking()


class RowStates:
    """Brings rows up to date."""

    def __init__(self, workspace: Workspace, pending: PendingSettings, choices: FieldChoices) -> None:
        self._workspace = workspace
        self._pending = pending
        self._choices = choices
        self._rows = rows()
        self._reasons: Mapping[str, str] = {}
        # Reasons why a field's content is not chosen, by the name of its setting; it stays to be mended
        self.not_allowed: dict[str, str] = {}
        self.ask_reasons()

    def ask_reasons(self) -> None:
        """Find out again which settings have no effect here."""
        self._reasons = self._workspace.settings_desk.reasons()

    def numbers_in_force(self) -> dict[str, float]:
        """Return the sampling of the chat that is shown, as far as its model has told."""
        return {name: number.value for name, number in self._in_force(self._pending.applied).items()}

    def _in_force(self, settings: Settings) -> dict[str, InForce]:
        advice = self._workspace.advice()
        if advice is None:
            return {}
        of_model = settings.of_model(settings.model)
        return sampling_in_force({name: getattr(of_model, name) for name in ADVISED}, advice)

    def show(self, name: str, row: SettingRow, scope: str, in_use: Mapping[str, Any]) -> None:
        """Show how a row stands.

        Args:
            scope: Scope as in `PendingSettings`.
            in_use: Values that the engine works with, by the names of settings.
        """
        pending, setting = self._pending, Settings.declared()[name]
        value = pending.value(name, scope)
        if row.field.value() != value and name not in self.not_allowed:
            row.field.show_value(value)
        row.field.setEnabled(name not in self._reasons)
        known = name in in_use or name not in TOLD
        model = pending.applied.model if self._rows[name].per_model else EVERY_MODEL
        applied = pending.applied_value(name, scope or model)
        told = in_use.get(name) if name in TOLD or applied is None else applied
        marked = told if known else pending.applied_value(name, scope)
        row.field.show_in_use(None if name in self._reasons else marked)
        usual = pending.value(name) if scope else setting.default if name != "drafts" else ()
        nothing_to_reset = pending.is_usual(name, scope) and name not in self.not_allowed
        row.show_state(
            changed=pending.is_changed(name, scope),
            usual=nothing_to_reset or name in self._reasons,
            in_use="" if not known else value_words(setting, told) if told != () else tr("None"),
            usual_words=value_words(setting, usual),
        )
        row.show_note(row.field.notice() or self._note(name, value, scope))

    def _note(self, name: str, value: Any, scope: str) -> str:
        """Remark on a row: the first of these that applies."""
        if name in self._reasons:
            return tr(self._reasons[name])
        if name in self.not_allowed:
            return self.not_allowed[name]
        problem = self._choices.problem(name, value)
        own = self._pending.chosen.by_model.get(self._pending.chosen.model, {})
        if not problem and not scope and name in own:
            words = value_words(Settings.declared()[name], own[name])
            model = self._workspace.model.state.model_name
            return tr("{model} has a value of its own: {value}.", model=model, value=words)
        return problem or self._origin(name)

    def _origin(self, name: str) -> str:
        """Origin of a number that the user leaves open; empty for everything else."""
        number = self._in_force(self._pending.chosen).get(name)
        if number is None or number.origin == "set":
            return ""
        value = value_words(Settings.declared()[name], number.value)
        if not number.value and name in ("top_k", "min_p"):
            value = tr("0 (every token)")
        if number.origin == "makers":
            return tr("Automatic is {value}, as the model's makers advise.", value=value)
        if number.origin == "greedy":
            return tr("Automatic is {value}, because the temperature is 0.", value=value)
        return tr("Automatic is {value}, the usual value.", value=value)
