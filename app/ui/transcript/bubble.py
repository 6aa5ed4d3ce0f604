"""The user's own message: a bubble at the right, its text exactly as typed, and the editor that changes it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil

from PySide6.QtCore import QEvent, QRect, Qt, Signal, Slot
from PySide6.QtGui import QEnterEvent, QFontMetrics, QFontMetricsF, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.chat.conversation import Message
from app.ui.composer.prompt_edit import PromptEdit
from app.ui.figures import extent
from app.ui.painting import in_lines, place
from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.picture import PictureButton
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.markdown_style import leading_px
from app.ui.transcript.message_actions import Action, MessageActions
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.words import tr
from engine.messages import Attachment

_PADDING_X_PX = 14
_PADDING_Y_PX = 8
_LONG = 2_000
_FENCE = "```"
_FOLDED_LINES, _WHOLE_LINES = 16, 24  # lines that are shown of a message with more than the second number
_WIDEST_PX = 10_000
_LARGEST_SHARE = 0.82
_LEAST_SHARE = 0.6  # a bubble is not made narrower than this for the buttons beside it
_ROW_GAP_PX = 2
_BESIDE_GAP_PX = 6  # between the buttons and the bubble, where there is room at its left
_BESIDE_UP_PX = 6
_FILE_GAP_PX = 4
_PICTURE_PX = 220
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


class MessageWidget(QWidget):
    """A message with its buttons, and the field that stands in its place while it is worded anew."""

    height_changed = Signal()
    action_requested = Signal(int, object)  # message id, Action
    alternative_chosen = Signal(int)  # message id
    edited = Signal(int, str)  # message id, the other wording

    after_editing = Action.EDIT  # the button that has the focus once the field is left without another wording

    def __init__(self, theme: Theme, message: Message, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.message = message
        self.editor: MessageEditor | None = None

    def _make_buttons(self, order: Sequence[Action], more: Sequence[Action]) -> None:
        """Make the buttons, after all that the Tab key reaches before them."""
        noun = "reply" if self.message.role == "assistant" else "message"
        self.buttons = MessageActions(self.theme, noun, order, more, self)
        self.buttons.triggered.connect(self._act)
        self.buttons.alternative_chosen.connect(self.alternative_chosen)

    @property
    def text(self) -> str:
        """The message."""
        return self.message.content

    def set_alternatives(self, ids: Sequence[int]) -> None:
        """Set the versions of this message, itself included, oldest first."""
        if self.buttons.set_alternatives(ids, self.message.id):
            self._changed()

    def edit(self) -> None:
        """Put a field in place of the message."""
        self.editor = MessageEditor(self.theme, self.text, self, reply=self.message.role == "assistant")
        self.editor.submitted.connect(self._submit)
        self.editor.cancelled.connect(self._leave_editor)
        self.editor.height_changed.connect(self._changed)
        self.editor.show()
        self._show_editor(True)
        self._changed()
        self.editor.begin()

    def _show_editor(self, shown: bool) -> None:
        """Hide the message while its field is open, or show it again."""
        raise NotImplementedError

    def _copy_message(self, action: Action) -> None:
        """Copy the text."""
        raise NotImplementedError

    @Slot()
    def _changed(self) -> None:
        self.height_changed.emit()

    @Slot(object)
    def _act(self, action: Action) -> None:
        if action in (Action.COPY, Action.COPY_PLAIN):
            self._copy_message(action)
        elif action is Action.EDIT:
            self.edit()
        else:
            self.action_requested.emit(self.message.id, action)

    @Slot(str)
    def _submit(self, text: str) -> None:
        self.edited.emit(self.message.id, text)

    @Slot()
    def _leave_editor(self) -> None:
        if self.editor is not None:
            editor, self.editor = self.editor, None
            self._show_editor(False)
            self.buttons.button(self.after_editing).setFocus(Qt.FocusReason.OtherFocusReason)
            editor.hide()
            editor.deleteLater()
            self._changed()


class OwnMessage(MessageWidget):
    """A row with the bubble at its right; its buttons are seen under the pointer, and by whoever comes by Tab.

    They stand at the bubble's left, or below it where there is no room.
    """

    def __init__(self, theme: Theme, message: Message, parent: QWidget | None = None) -> None:
        super().__init__(theme, message, parent)
        self._bubble = QFrame(self)
        self._bubble.setProperty("kind", "bubble")
        self.blocks = ReplyBlocks(theme, self._bubble, plain=True)
        self.blocks.set_text(message.content)
        self.blocks.set_complete(True)
        self.blocks.height_changed.connect(self.height_changed)
        self.joined = False
        self._files = [self._file_label(one) for one in message.attachments if one.picture is None]
        self._pictures = [PictureButton(theme, one, self._bubble) for one in message.attachments if one.picture]
        self.fold = push_button("", self._bubble, self._turn_fold, kind="link")  # shows all, or the beginning
        self._unfolded = False
        self._show_bubble()
        self._make_buttons(
            (Action.COPY, Action.EDIT, Action.DELETE, Action.PREVIOUS, Action.NEXT), (Action.BRANCH, Action.COMPARE)
        )
        self.buttons.show_actions((Action.COPY, Action.EDIT, Action.DELETE, Action.BRANCH, Action.COMPARE))
        self.buttons.set_seen(False)
        self.restyle()

    def set_joined(self, joined: bool) -> None:
        """Leave the text to the reply that goes on with it, and keep the buttons and the names of files."""
        if joined != self.joined:
            self.joined = joined
            self._show_bubble()
            self.height_changed.emit()

    def _show_bubble(self) -> None:
        files = bool(self.message.attachments)
        self.blocks.setVisible(not self.joined and (bool(self.message.content) or not files))
        self._bubble.setVisible(files or not self.joined)

    def set_message(self, message: Message) -> None:
        """Take the message's new state; its text never changes."""
        self.message = message

    def restyle(self) -> None:
        """Take the theme's fonts again."""
        self.buttons.restyle()
        self.blocks.restyle()

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        if self.editor is not None:
            height = self.editor.fit(width)
            self.editor.setGeometry(0, 0, width, height)
            return height
        metrics = QFontMetrics(self.theme.font(TextStyle.SMALL_BOLD))
        names = [f"{one.name}, {extent(one)}" for one in self.message.attachments if one.picture is None]
        box = self.theme.type.px(_PICTURE_PX)
        sizes = [one.fit(min(box, int(width * _LEAST_SHARE)), box) for one in self._pictures]
        together = sum(size.width() + _FILE_GAP_PX for size in sizes) - _FILE_GAP_PX if sizes else 0
        natural = float(_WIDEST_PX)
        if len(self.message.content) < _LONG:  # a longer one fills the width
            fonts = [self.theme.font(TextStyle.READING), self.theme.font(TextStyle.READING)]
            fonts[1].setFamilies(self.theme.font(TextStyle.CODE).families())
            letters = [QFontMetricsF(font) for font in fonts[: 2 if _FENCE in self.message.content else 1]]
            lines = self.message.content.expandtabs().split("\n")
            natural = max(one.horizontalAdvance(line) for one in letters for line in lines) + 2
        inner = max([ceil(natural), together, *(metrics.horizontalAdvance(name) + 2 for name in names)])
        self.fold.setText(tr("Show less") if self._unfolded else tr("Show all"))
        if self.message.content.count("\n") >= _WHOLE_LINES:
            inner = max(inner, self.fold.sizeHint().width())
        row = self.buttons.natural_size()
        beside = width - row.width() - _BESIDE_GAP_PX  # what leaves the buttons their place at the left
        most = min(int(width * _LARGEST_SHARE), beside if beside >= width * _LEAST_SHARE else width)
        inner = min(inner, most - 2 * _PADDING_X_PX)
        top = _PADDING_Y_PX
        places = in_lines([size.width() for size in sizes], inner, _FILE_GAP_PX)
        for line, row_of in groupby(zip(self._pictures, places, strict=True), lambda one: one[1][1]):
            high = 0
            for picture, (left, _) in row_of:
                size = picture.size()
                outer = inner + 2 * _PADDING_X_PX
                place(picture, _PADDING_X_PX + int(left), top, size.width(), size.height(), outer)
                high = max(high, size.height())
            top += high + (0 if self.blocks.isHidden() and not names and line == places[-1][1] else _FILE_GAP_PX)
        for label, name in zip(self._files, names, strict=True):
            label.setText(metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, inner))
            place(label, _PADDING_X_PX, top, inner, metrics.height(), inner + 2 * _PADDING_X_PX)
            top += metrics.height() + (0 if self.blocks.isHidden() else _FILE_GAP_PX)
        height = 0 if self.blocks.isHidden() else self.blocks.fit(inner)
        line = self.theme.type.line_height(TextStyle.READING)
        long = height > _WHOLE_LINES * line
        height = _FOLDED_LINES * line if long and not self._unfolded else height
        self.blocks.setGeometry(_PADDING_X_PX, top - leading_px(self.theme, TextStyle.READING) + 1, inner, height)
        self.fold.setVisible(long)
        if long:
            size = self.fold.sizeHint()
            place(self.fold, _PADDING_X_PX, top + height, size.width(), size.height(), inner + 2 * _PADDING_X_PX)
            top += size.height()
        outer = inner + 2 * _PADDING_X_PX
        bottom = top + height + _PADDING_Y_PX + 1
        place(self._bubble, width - outer, 0, outer, bottom, width)
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
        self.blocks.unfolding = True
        self.height_changed.emit()
        self.blocks.unfolding = False

    def enterEvent(self, event: QEnterEvent) -> None:
        self.buttons.set_seen(True)

    def leaveEvent(self, event: QEvent) -> None:
        self.buttons.set_seen(False)

    def _show_editor(self, shown: bool) -> None:
        self.buttons.setVisible(not shown)
        if shown:
            self._bubble.hide()
        else:
            self._show_bubble()

    def _copy_message(self, action: Action) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self.buttons.say_copied()

    def _file_label(self, attachment: Attachment) -> QLabel:
        label = PlainLabel(self._bubble, kind="file")
        label.setAccessibleName(tr("Attached file {name}", name=attachment.name))
        label.setToolTip("\n".join(filter(None, (attachment.name, attachment.missing))))
        label.setAccessibleDescription(attachment.missing)
        return label
