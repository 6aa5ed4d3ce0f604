"""Rows of the dialog: a setting with its field and state, words, something to do, the access token."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from app.bridge.workspace import Workspace
from app.chat.engine_options import ADVISED, TOLD, InForce, sampling_in_force
from app.chat.modes import Choice
from app.settings.pages import EVERY_MODEL, PendingSettings, rows
from app.settings.settings import Settings
from app.ui.painting import place
from app.ui.parts import STRETCH, PlainLabel, filled, icon_button, push_button, turn
from app.ui.settings.fields import Field, value_words
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr

NARROW_PX = 600
_SIDE_PX = 12
_GAP_PX = 16
_WORDS_PX = 236
_FIELD_PX = 296
_IN_USE_PX = 108
_BUTTON_PX = 28
_BAR_PX = 3
_ROW_PX = 58
_LINE_ENDS = 0.3  # of a line, left where its last word ends
_TOKEN_PX = 140


class SettingRow(QWidget):
    """Laid out by `fit`, as words that wrap need it."""

    reset = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._changed = False
        self._in_use_words = ""
        self.title = PlainLabel(title, self, kind="label", wrap=True)
        self.help = PlainLabel(help_text, self, kind="small", wrap=True)
        self.note = PlainLabel(self, kind="small", wrap=True)
        self.note.hide()
        self.in_use = PlainLabel(self, kind="label", wrap=True)
        name = tr("Reset {setting}", setting=title)
        # Brings the usual value back
        self.reset_button = icon_button(theme, "rotate-ccw", name, self, self.reset)
        self.reset_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
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

    def show_note(self, words: str) -> bool:
        """Say something more below the help; returns whether that changes the row's height."""
        if words == self.note.text():
            return False
        self.note.setText(words)
        self.note.setVisible(bool(words))
        return True

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        px = self._theme.type.px
        pad = round(self._theme.spaced(11))
        if width < px(NARROW_PX):
            return self._fit_narrow(width, pad)
        words_width = min(px(_WORDS_PX), round(width * 0.33))
        in_use_width = px(_IN_USE_PX)
        right = width - 4 - _BUTTON_PX
        height = self._place_words(QRect(_SIDE_PX, pad, words_width, 0), width)
        if self.field.wide:
            height = self._place_words(QRect(_SIDE_PX, pad, right - _SIDE_PX - _GAP_PX, 0), width)
            field_height = self.field.wanted_height()
            place(self.field, _SIDE_PX, pad + height + 8, right - _SIDE_PX - _GAP_PX, field_height, width)
            self.in_use.hide()
            place(self.reset_button, right, pad - 4, _BUTTON_PX, _BUTTON_PX, width)
            return height + field_height + 8 + 2 * pad
        left = _SIDE_PX + words_width + _GAP_PX
        field_height = self.field.wanted_height()
        field_width = min(px(_FIELD_PX), right - in_use_width - 2 * _GAP_PX - left)
        total = max(height + 2 * pad, field_height + 2 * pad, px(self._theme.spaced(_ROW_PX)))
        self._place_words(QRect(_SIDE_PX, (total - height) // 2, words_width, 0), width)
        place(self.field, left, (total - field_height) // 2, field_width, field_height, width)
        self.in_use.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        place(self.in_use, right - 12 - in_use_width, 0, in_use_width, total, width)
        self.in_use.show()
        self._write_in_use()
        place(self.reset_button, right, (total - _BUTTON_PX) // 2, _BUTTON_PX, _BUTTON_PX, width)
        return total

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        if self._changed:
            painter.fillRect(self.rect(), theme.color("surf"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("acc"))
            painter.drawRoundedRect(QRectF(0, 6, _BAR_PX, self.height() - 13), 1.5, 1.5)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))

    @property
    def narrow(self) -> bool:
        """True if the parts are below one another."""
        return self.width() < self._theme.type.px(NARROW_PX)

    def _fit_narrow(self, width: int, pad: int) -> int:
        inner = width - _SIDE_PX - _BUTTON_PX - 8
        height = self._place_words(QRect(_SIDE_PX, pad, inner, 0), width)
        place(self.reset_button, width - _BUTTON_PX - 4, pad - 4, _BUTTON_PX, _BUTTON_PX, width)
        field_height = self.field.wanted_height()
        top = pad + height + 8
        place(self.field, _SIDE_PX, top, width - 2 * _SIDE_PX, field_height, width)
        top += field_height
        self.in_use.setVisible(not self.field.wide and bool(self._in_use_words))
        if not self.in_use.isHidden():
            line = self._theme.type.line_height(TextStyle.UI)
            self.in_use.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            place(self.in_use, _SIDE_PX, top + 4, width - 2 * _SIDE_PX, line, width)
            top += line + 4
            self._write_in_use()
        return top + pad

    def _place_words(self, box: QRect, width: int) -> int:
        """Place title, help and note below one another in a row of a width; returns their height."""
        top = box.top()
        for label in (self.title, self.help, self.note):
            if label is self.note and not label.text():
                continue
            height = label.heightForWidth(box.width())
            place(label, box.left(), top, box.width(), height, width)
            top += height + 1
        return top - 1 - box.top()

    def _write_in_use(self) -> None:
        words = self._in_use_words
        if self.narrow and words:
            words = tr("In use now: {value}", value=words)
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        lines = max(2, self.in_use.height() // self._theme.type.line_height(TextStyle.UI) - 1)
        room = self.in_use.width() if self.narrow else round((lines - _LINE_ENDS) * self.in_use.width())
        self.in_use.setText(metrics.elidedText(words, Qt.TextElideMode.ElideRight, room))


class NoteRow(QWidget):
    """Words across the page."""

    def __init__(self, theme: Theme, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.label = PlainLabel(words, self, wrap=True)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        pad = round(self._theme.spaced(12))
        inner = min(width - 2 * _SIDE_PX, self._theme.type.px(620))
        height = self.label.heightForWidth(inner)
        place(self.label, _SIDE_PX, pad, inner, height, width)
        return height + 2 * pad

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


class ActionRow(QWidget):
    """A title, a sentence, and at the right what can be done."""

    requested = Signal()

    def __init__(self, theme: Theme, title: str, help_text: str, button: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = PlainLabel(title, self, kind="label", wrap=True)
        self.help = PlainLabel(help_text, self, kind="small", wrap=True)
        self.detail = PlainLabel(self, kind="small", wrap=True)
        self.side = QWidget(self)
        self.line = filled(QHBoxLayout(self.side), margins=0, spacing=8)
        self.button: QPushButton | None = None
        if button:
            self.button = push_button(button, self.side, self.requested, default=False)
            self.button.setAccessibleDescription(help_text)
            self.line.addWidget(self.button)
            self.line.addStretch(1)

    def show_detail(self, words: str) -> None:
        """Say something below the help: a folder, a state. A long path is broken after its separators."""
        self.detail.setText(re.sub(r"([/\\])", "\\1\u200b", words))
        self.detail.setToolTip(words)
        self.detail.setAccessibleName(words)

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        px = self._theme.type.px
        pad = round(self._theme.spaced(11))
        narrow = width < px(NARROW_PX)
        words_width = width - 2 * _SIDE_PX if narrow else min(px(_WORDS_PX), round(width * 0.33))
        labels = [label for label in (self.title, self.help, self.detail) if label.text()]
        heights = [label.heightForWidth(words_width) for label in labels]
        words_height = sum(heights) + len(labels) - 1
        left = _SIDE_PX if narrow else _SIDE_PX + words_width + _GAP_PX
        side_width = width - left - _SIDE_PX
        self.fit_side(side_width)
        side_height = self.side.sizeHint().height()
        least = px(self._theme.spaced(_ROW_PX))
        total = max(words_height + 2 * pad, side_height + 2 * pad, least)
        top = pad if narrow else (total - words_height) // 2
        for label, height in zip(labels, heights, strict=True):
            place(label, _SIDE_PX, top, words_width, height, width)
            top += height + 1
        if narrow:
            place(self.side, left, top + 8, side_width, side_height, width)
            return top + 8 + side_height + pad
        place(self.side, left, (total - side_height) // 2, side_width, side_height, width)
        return total

    def fit_side(self, width: int) -> None:
        """Arrange what can be done for a width."""

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


class TokenRow(ActionRow):
    """The access token: a field that hides what is typed, and whether there is one."""

    kept = Signal(str)
    forgotten = Signal()
    grown = Signal()  # its words need another height

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

    def fit_side(self, width: int) -> None:
        """Put the buttons below the field where they have no room beside one another."""
        needed = self._buttons.sizeHint().width() + self._theme.type.px(_TOKEN_PX)
        turn(self.line, needed > width)

    def show_known(self, known: bool | None, problem: str) -> None:
        """Show whether there is a token, and what went wrong."""
        words = {None: "", True: tr("An access token is saved."), False: tr("No access token is saved.")}[known]
        self.show_detail(problem or words)
        self.forget_button.setEnabled(bool(known))
        self.grown.emit()

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

    def show(self, name: str, row: SettingRow, scope: str, in_use: Mapping[str, Any]) -> bool:
        """Show how a row stands; return whether its height is another now.

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
        return row.show_note(row.field.notice() or self._note(name, value, scope))

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
