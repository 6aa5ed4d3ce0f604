"""The user's own message: a bubble at the right, its text exactly as typed, and the editor that changes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtGui import (
    QEnterEvent,
    QFontMetrics,
    QGuiApplication,
    QTextBlockFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.chat.conversation import Message
from app.ui.composer.prompt_edit import PromptEdit, set_code_type
from app.ui.figures import extent
from app.ui.painting import place
from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.markdown_style import leading_px
from app.ui.transcript.message_actions import Action, MessageActions
from app.ui.transcript.prose import FittedBrowser
from app.words import tr
from engine.messages import Attachment

_PADDING_X_PX = 14
_PADDING_Y_PX = 8
_LONG = 2_000
_FOLDED_LINES, _WHOLE_LINES = 16, 24  # lines that are shown of a message with more than the second number
_WIDEST_PX = 10_000
_LARGEST_SHARE = 0.82
_ROW_GAP_PX = 2
_BESIDE_GAP_PX = 6  # between the buttons and the bubble, where there is room at its left
_BESIDE_UP_PX = 6
_FILE_GAP_PX = 4
_INSET_PX = 6  # the last icon, not its button's edge, stands in line with the bubble


class MessageEditor(QFrame):
    """A field with a message's text. Enter sends or keeps it, Escape cancels, as in the composer.

    Args:
        reply: The message is a reply, whose new wording is kept and not sent.
    """

    submitted = Signal(str)
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, theme: Theme, text: str, parent: QWidget, reply: bool = False) -> None:
        super().__init__(parent)
        self._before = text
        self.setProperty("kind", "card")
        self.prompt = PromptEdit(theme, self)
        self.prompt.setAccessibleName(tr("Edit reply") if reply else tr("Edit message"))
        self.prompt.submitted.connect(self._submit)
        self.prompt.cancelled.connect(self.cancelled)
        self.prompt.height_changed.connect(self.height_changed)
        self._cancel = push_button(tr("Cancel"), self, self.cancelled)
        self._send = push_button(tr("Keep") if reply else tr("Send"), self, self._submit, kind="primary")
        kept = tr("Keep it as a new version, which the model reads as its own; the old reply stays")
        self._send.setToolTip(kept if reply else tr("Send it as a new version; the old message stays"))
        buttons = filled(QHBoxLayout(), STRETCH, self._cancel, self._send, spacing=8)
        filled(QVBoxLayout(self), self.prompt, buttons, margins=(10, 8, 10, 10), spacing=6)

    def begin(self) -> None:
        """Put the text in. A field that is shown and placed knows how many lines that takes."""
        self.prompt.setPlainText(self._before)
        self.prompt.moveCursor(self.prompt.textCursor().MoveOperation.End)
        self.prompt.setFocus(Qt.FocusReason.OtherFocusReason)

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        self.resize(width, self.height())
        layout = self.layout()
        assert layout is not None
        layout.activate()
        return layout.minimumSize().height()

    @Slot()
    def _submit(self) -> None:
        text = self.prompt.toPlainText().strip()
        if text == self._before:
            self.cancelled.emit()
        else:
            self.submitted.emit(text)


class OwnMessage(QWidget):
    """A row with the bubble at its right; its buttons are seen under the pointer, and by whoever comes by Tab.

    They stand at the bubble's left, or below it where there is no room.
    """

    height_changed = Signal()
    action_requested = Signal(int, object)  # message id, Action
    alternative_chosen = Signal(int)  # message id
    edited = Signal(int, str)  # message id, the other wording

    def __init__(self, theme: Theme, message: Message, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.message = message
        self._bubble = QFrame(self)
        self._bubble.setProperty("kind", "bubble")
        self._text = FittedBrowser(theme, self._bubble)
        self._text.setAccessibleName(tr("Your message"))
        self._text.grown.connect(self._grow)
        self.joined = False
        self._files = [self._file_label(attachment) for attachment in message.attachments]
        self._natural = 0
        self.fold = push_button("", self._bubble, self._turn_fold, kind="link")  # shows all, or the beginning
        self._unfolded = False
        self._show_bubble()
        self.editor: MessageEditor | None = None
        self.buttons = MessageActions(
            theme,
            "message",
            (Action.COPY, Action.EDIT, Action.DELETE, Action.PREVIOUS, Action.NEXT),
            (Action.BRANCH, Action.COMPARE),
            self,
        )
        self.buttons.show_actions((Action.COPY, Action.EDIT, Action.DELETE, Action.BRANCH, Action.COMPARE))
        self.buttons.set_seen(False)
        self.buttons.triggered.connect(self._act)
        self.buttons.alternative_chosen.connect(self.alternative_chosen)
        self.restyle()

    @property
    def text(self) -> str:
        """The message."""
        return self.message.content

    def set_joined(self, joined: bool) -> None:
        """Leave the text to the reply that goes on with it, and keep the buttons and the names of files."""
        if joined != self.joined:
            self.joined = joined
            self._show_bubble()
            self.restyle()
            self.height_changed.emit()

    def _show_bubble(self) -> None:
        files = bool(self.message.attachments)
        self._text.setVisible(not self.joined and (bool(self.message.content) or not files))
        self._bubble.setVisible(files or not self.joined)

    def set_message(self, message: Message) -> None:
        """Take the message's new state; its text never changes."""
        self.message = message

    def set_alternatives(self, ids: Sequence[int]) -> None:
        """Set the versions of this message, itself included, oldest first."""
        if self.buttons.set_alternatives(ids, self.message.id):
            self.height_changed.emit()

    @property
    def body(self) -> FittedBrowser:
        """The text, which a selection can reach."""
        return self._text

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return self._text.marks.found

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self._text.marks.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        return self._text.marks.choose(number).translated(self._text.mapTo(self, QPoint(0, 0)))

    def restyle(self) -> None:
        """Take the theme's fonts again."""
        self.buttons.restyle()
        document = self._text.document()
        document.setDefaultFont(self.theme.font(TextStyle.READING))
        shown = "" if self.joined else self._text.beginning.of(self.message.content)
        self._text.wrap_for(shown)
        self._text.setPlainText(shown)
        set_code_type(document, self.theme)
        cursor = QTextCursor(document)
        cursor.select(QTextCursor.SelectionType.Document)
        shape = QTextBlockFormat()
        height = self.theme.type.line_height(TextStyle.READING)
        shape.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        cursor.mergeBlockFormat(shape)
        self._text.marks.refresh()
        self._text.content_changed()
        # Measuring lays the whole text out once more, and a long text fills the width anyway.
        long = len(self.message.content) > _LONG
        self._natural = _WIDEST_PX if long else self._text.natural_width()

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        if self.editor is not None:
            height = self.editor.fit(width)
            self.editor.setGeometry(0, 0, width, height)
            return height
        metrics = QFontMetrics(self.theme.font(TextStyle.SMALL_BOLD))
        names = [f"{one.name}, {extent(one)}" for one in self.message.attachments]
        inner = max([self._natural, *(metrics.horizontalAdvance(name) + 2 for name in names)])
        self.fold.setText(tr("Show less") if self._unfolded else tr("Show all"))
        if self.message.content.count("\n") >= _WHOLE_LINES:
            inner = max(inner, self.fold.sizeHint().width())
        inner = min(inner, int(width * _LARGEST_SHARE) - 2 * _PADDING_X_PX)
        top = _PADDING_Y_PX
        for label, name in zip(self._files, names, strict=True):
            label.setText(metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, inner))
            place(label, _PADDING_X_PX, top, inner, metrics.height(), inner + 2 * _PADDING_X_PX)
            top += metrics.height() + (0 if self._text.isHidden() else _FILE_GAP_PX)
        height = 0 if self._text.isHidden() else self._text.fit(inner)
        line = self.theme.type.line_height(TextStyle.READING)
        long = height > _WHOLE_LINES * line
        height = _FOLDED_LINES * line if long and not self._unfolded else height
        self._text.setGeometry(_PADDING_X_PX, top - leading_px(self.theme, TextStyle.READING) + 1, inner, height)
        self.fold.setVisible(long)
        if long:
            size = self.fold.sizeHint()
            place(self.fold, _PADDING_X_PX, top + height, size.width(), size.height(), inner + 2 * _PADDING_X_PX)
            top += size.height()
        outer = inner + 2 * _PADDING_X_PX
        bottom = top + height + _PADDING_Y_PX + 1
        place(self._bubble, width - outer, 0, outer, bottom, width)
        row = self.buttons.natural_size()
        bottom = 0 if self._bubble.isHidden() else bottom
        beside = width - outer - row.width() - _BESIDE_GAP_PX
        if beside >= 0 and bottom:
            self.buttons.setGeometry(beside, bottom - row.height() - _BESIDE_UP_PX, row.width(), row.height())
            return bottom
        left = width - row.width() + _INSET_PX
        place(self.buttons, left, bottom + _ROW_GAP_PX, row.width(), row.height(), width)
        return bottom + _ROW_GAP_PX + row.height()

    def unfold_to(self, place: QRect) -> None:
        """Show all of a long message if a place in it is below its beginning."""
        if place.bottom() > self._bubble.height() and self.fold.isVisible() and not self._unfolded:
            self._turn_fold()

    @Slot()
    def _turn_fold(self) -> None:
        self._unfolded = not self._unfolded
        self.height_changed.emit()

    def enterEvent(self, event: QEnterEvent) -> None:
        self.buttons.set_seen(True)

    def leaveEvent(self, event: QEvent) -> None:
        self.buttons.set_seen(False)

    def edit(self) -> None:
        """Put a field in place of the bubble."""
        self.editor = MessageEditor(self.theme, self.message.content, self)
        self.editor.submitted.connect(self._submit)
        self.editor.cancelled.connect(self._cancel)
        self.editor.height_changed.connect(self.height_changed)
        self.editor.show()
        self.height_changed.emit()
        self.editor.begin()
        self._bubble.hide()
        self.buttons.hide()

    def _file_label(self, attachment: Attachment) -> QLabel:
        label = PlainLabel(self._bubble, kind="file")
        label.setAccessibleName(tr("Attached file {name}", name=attachment.name))
        label.setToolTip("\n".join(filter(None, (attachment.name, attachment.missing))))
        label.setAccessibleDescription(attachment.missing)
        return label

    @Slot(object)
    def _act(self, action: Action) -> None:
        if action is Action.COPY:
            QGuiApplication.clipboard().setText(self.message.content)
            self.buttons.say_copied()
        elif action is Action.EDIT:
            self.edit()
        else:
            self.action_requested.emit(self.message.id, action)

    @Slot()
    def _grow(self) -> None:
        self.restyle()
        self.height_changed.emit()

    @Slot(str)
    def _submit(self, text: str) -> None:
        self.edited.emit(self.message.id, text)

    @Slot()
    def _cancel(self) -> None:
        if self.editor is None:
            return
        editor, self.editor = self.editor, None
        self._show_bubble()
        self.buttons.show()
        self.buttons.button(Action.EDIT).setFocus(Qt.FocusReason.OtherFocusReason)
        editor.hide()
        editor.deleteLater()
        self.height_changed.emit()
