"""One reply: its blocks, what went wrong, and the strip under it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from PySide6.QtCore import QRect, QSize, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.chat.conversation import NO_STRETCHES, Message, MessageState
from app.chat.engine_state import EngineState
from app.chat.reply import notices_of, trouble_of
from app.chat.troubles import Remedy, remedy_of, title_of
from app.ui import figures
from app.ui.parts import IconLabel, PlainLabel, filled, push_button, turn
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.bubble import MessageWidget
from app.ui.transcript.markdown_style import plain_parts
from app.ui.transcript.message_actions import Action, reply_actions
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.ui.transcript.status_strip import Prefill, StatusStrip, fit_finished_foot, fit_live_foot, reply_status
from app.words import tr
from engine.messages import ErrorReport

_ICON_PX = 20
_SIDE_PX = 16
_GAP_PX = 12
_ICONS = {Remedy.TRY_AGAIN: "rotate-ccw", Remedy.SMALLER_CONTEXT: "refresh-cw"}
_HEIGHT_PX = 30
_RULE_GAP_PX = 10
_LEAST_RULE_PX = 16
_COPIED_AT_ONCE = 2  # parts of plain text
_WRITING = (MessageState.WAITING, MessageState.STREAMING)


class ErrorNotice(QFrame):
    """A red block in the transcript."""

    remedy_requested = Signal(object)  # Remedy
    details_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._remedy, self._remedy_words = Remedy.TRY_AGAIN, ""
        self.setProperty("kind", "error")
        icon = IconLabel(theme, "circle-alert", "red", _ICON_PX, self)
        self._title = PlainLabel(self, kind="strong", wrap=True)
        self._sentence = PlainLabel(self, kind="sub", wrap=True)
        self._kept = PlainLabel(self, kind="sub", wrap=True)
        for label in (self._title, self._sentence, self._kept):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.remedy_button = push_button("", self, self._do_remedy, kind="primary")
        scale_icon(theme, self.remedy_button, 16)
        self.retry_button = push_button(tr("Try again as it was"), self, self._retry)
        self.details_button = push_button(tr("Show details"), self, self.details_requested, kind="link")
        words = filled(QVBoxLayout(), self._title, self._sentence, self._kept, spacing=4)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        for button in self._shown_buttons(every=True):
            self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons.addStretch(1)
        row = filled(QHBoxLayout(), (icon, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=_GAP_PX)
        filled(QVBoxLayout(self), row, self._buttons, margins=(_SIDE_PX, 14, _SIDE_PX, 14), spacing=0)

    @property
    def words(self) -> tuple[str, str]:
        """Title and sentence."""
        return self._title.text(), self._sentence.text()

    def set_error(self, report: ErrorReport, has_text: bool, can_act: bool, saved: bool = True) -> None:
        """Say what happened.

        Args:
            has_text: True if part of the reply was written.
            can_act: True if this is the last reply, the only one that something can be done about.
            saved: True if what was written is on the disk.
        """
        self._remedy = remedy_of(report)
        self._remedy_words = figures.remedy_words(self._remedy, report)
        again = self._remedy is Remedy.TRY_AGAIN
        self._title.setText(tr(title_of(report)))
        self._sentence.setText(report.message)
        self._kept.setText(tr("The text so far is kept.") if has_text else tr("Your message is kept."))
        self._kept.setVisible(saved)
        self._name_remedy()
        self.remedy_button.setAccessibleName(self._remedy_words)
        self.remedy_button.setVisible(can_act)
        self.retry_button.setVisible(can_act and not again)
        self.setAccessibleName(tr("Error: {sentence}", sentence=report.message))

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        layout = self.layout()
        assert layout is not None
        buttons = self._shown_buttons()
        self._name_remedy()
        needed = sum(button.sizeHint().width() for button in buttons) + 8 * (len(buttons) - 1)
        room, inset = width - 2 * _SIDE_PX - 2, _ICON_PX + _GAP_PX
        narrow = needed > room - inset
        widest = max(button.sizeHint().width() for button in buttons)
        if widest > room - inset:  # even one below the other
            inset = 0
            self._name_remedy(with_icon=widest <= room)
            self._shorten_remedy(room)
        self._buttons.setContentsMargins(inset, 12, 0, 0)
        turn(self._buttons, narrow)
        layout.activate()
        border = self.contentsMargins().left() + self.contentsMargins().right()  # of which the layout knows nothing
        return max(layout.heightForWidth(width - border), layout.minimumSize().height()) + border

    def _name_remedy(self, with_icon: bool = True) -> None:
        icon = _ICONS.get(self._remedy) if with_icon else None
        # Qt leaves too little between an icon and its words.
        self.remedy_button.setText((" " if icon else "") + self._remedy_words)
        self.remedy_button.setIcon(themed_icon(self.theme, icon, "onacc") if icon else QIcon())

    def _shorten_remedy(self, room: int) -> None:
        """Words too long for the line end with dots; a screen reader gets them in full."""
        button, words = self.remedy_button, self.remedy_button.text()
        beside = button.sizeHint().width() - button.fontMetrics().horizontalAdvance(words)
        button.setText(button.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room - beside))
        button.setToolTip("" if button.text() == words else words)

    def _shown_buttons(self, every: bool = False) -> list[QPushButton]:
        buttons = [self.remedy_button, self.retry_button, self.details_button]
        return [button for button in buttons if every or not button.isHidden()]

    @Slot()
    def _do_remedy(self) -> None:
        self.remedy_requested.emit(self._remedy)

    @Slot()
    def _retry(self) -> None:
        self.remedy_requested.emit(Remedy.TRY_AGAIN)


class ModelChange(QWidget):
    """Words between two rules."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.words: str = ""  # text that it shows

    def set_model(self, name: str) -> None:
        """Name the model that writes from here on."""
        self.words = tr("From here on: {model}", model=name)
        self.setAccessibleName(self.words)
        self.setToolTip(self.words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._theme.type.px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self._theme.font(TextStyle.SMALL)
        metrics = QFontMetrics(font)
        room = self.width() - 2 * (_RULE_GAP_PX + _LEAST_RULE_PX)
        words = metrics.elidedText(self.words, Qt.TextElideMode.ElideMiddle, room)
        width = metrics.horizontalAdvance(words) + 2
        height = self.height() - self._theme.type.px(_RULE_GAP_PX)
        left = (self.width() - width) // 2
        painter.setFont(font)
        painter.setPen(self._theme.color("mute"))
        painter.drawText(QRect(left, 0, width, height), Qt.AlignmentFlag.AlignCenter, words)
        painter.setPen(self._theme.color("line"))
        painter.drawLine(0, height // 2, left - _RULE_GAP_PX, height // 2)
        painter.drawLine(left + width + _RULE_GAP_PX, height // 2, self.width(), height // 2)


class ReplyView(MessageWidget):
    """Shows a reply while it is written and after."""

    inspect_requested = Signal(int)  # its message's id
    trouble_requested = Signal(int, object, object)  # message id, ErrorReport, Remedy
    link_activated = Signal(QUrl)
    tool_answered = Signal(int, int, str)  # message id, number of the step, `Answer`

    after_editing = Action.COPY

    def __init__(self, theme: Theme, message: Message, engine: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(theme, message, parent)
        self.error: ErrorNotice | None = None
        self._saved = True
        self.model_change: ModelChange | None = None
        self._engine = engine
        self._prefill: Prefill | None = None
        self._last = False
        self._before = ""
        self._drafted_shown = False
        self._caret_lit = True
        self._notices: list[QLabel] = []
        self._fitted: tuple[int, int] | None = None
        self._copying: Iterator[str] = iter(())
        self._copied: list[str] = []
        self._copier = QTimer(self, singleShot=True, interval=0)
        self._copier.timeout.connect(self._copy)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # growing leaves what is painted as it is
        self.setAccessibleName(tr("Reply"))
        self.blocks = ReplyBlocks(theme, self)
        self._show_text()
        self.blocks.tool_answered.connect(self._answer)
        self.blocks.height_changed.connect(self._changed)
        self.blocks.link_activated.connect(self.link_activated)
        self.strip = StatusStrip(theme, reply_status(message, engine, None), self)
        self.strip.clicked.connect(self._inspect)
        self._make_buttons(
            (Action.COPY, Action.REGENERATE, Action.PREVIOUS, Action.NEXT, Action.CONTINUE, Action.RETRY),
            (Action.COPY_PLAIN, Action.EDIT, Action.BRANCH, Action.COMPARE, Action.DELETE),
        )
        self._show_state()

    # --- content ----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The reply's Markdown so far."""
        return self.blocks.text[len(self._before) :]

    @property
    def joined(self) -> bool:
        """True if it is a part of one text that goes on below it."""
        return bool(self._before) and not self._last

    def set_before(self, text: str) -> None:
        """Show the text that the reply goes on with, as one with it; empty for a reply of its own."""
        if text != self._before:
            self._before = text
            self._show_text()
            self._show_state()

    @property
    def notice_texts(self) -> list[str]:
        """The sentences beside the reply."""
        return [label.text() for label in self._notices]

    def change_text(self, message: Message) -> None:
        """Take the text of a reply that has grown; it is shown at once or a moment later."""
        self.message = message
        self.blocks.change_text(self._before + message.content)

    def show_unconfirmed(self, text: str) -> None:
        """Show a guess of what follows, in place of the last."""
        if self.message.state in _WRITING:
            self.blocks.show_unconfirmed(text)

    def set_message(self, message: Message) -> None:
        """Take the reply's new state, figures, notices or text."""
        before, self.message = self.message, message
        if message.state.unfinished and _without_figures(before) == _without_figures(message):
            self._show_strip()  # several times a second, and nothing else has to be looked at
            return
        # While it is written the text comes by `change_text`; what is left of it is shown at the end.
        if message.steps != before.steps or (message.content != self.text and not message.state.unfinished):
            self._show_text()
        self._show_state()

    def set_engine(self, engine: EngineState) -> None:
        """Take the engine's new state, which only a reply that is still to come shows."""
        self._engine = engine
        if self.message.state in (MessageState.QUEUED, MessageState.WAITING):
            self._show_strip()

    def set_prefill(self, fraction: float, seconds_left: float | None = None) -> None:
        """Show the share of the prompt that is read, and the seconds until all of it is."""
        self._prefill = Prefill(fraction, seconds_left)
        self._show_strip()

    def set_last(self, last: bool) -> None:
        """Say whether it is the conversation's last reply, the only one that can be tried again."""
        if last != self._last:
            self._last = last
            self._show_state()

    def set_model_change(self, name: str) -> None:
        """Name the model where another one wrote the reply before; empty where it did not."""
        if name and self.model_change is None:
            self.model_change = ModelChange(self.theme, self)
            self.model_change.show()
        if self.model_change is not None and (name or not self.model_change.isHidden()):
            self.model_change.set_model(name)
            self.model_change.setVisible(bool(name))
            self._changed()

    def set_drafted_shown(self, shown: bool) -> None:
        """Colour what came from accepted drafts, once the reply is finished."""
        if shown != self._drafted_shown:
            self._drafted_shown = shown
            self._show_drafted()

    def set_caret_lit(self, lit: bool) -> None:
        """Blink: called by the transcript's one timer while the reply waits."""
        self._caret_lit = lit
        self._show_caret()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.blocks.restyle()
        self.buttons.restyle()
        self._changed()

    def fit(self, width: int) -> int:
        """Place everything at a width and return the height, in px."""
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        top = 0
        if self.model_change is not None and not self.model_change.isHidden():
            top = self.model_change.sizeHint().height()
            self.model_change.setGeometry(0, 0, width, top)
        body = self.editor or self.blocks
        height = body.fit(width)
        body.setGeometry(0, top, width, height)
        top += height
        for notice in self._notices:
            height = notice.heightForWidth(width)
            notice.setGeometry(0, top + 8, width, height)
            top += height + 8
        if self.error is not None and not self.error.isHidden():
            height = self.error.fit(width)
            top += 12 if top else 0
            self.error.setGeometry(0, top, width, height)
            top += height
        if self.message.state.unfinished:
            top = fit_live_foot(self.strip, self.buttons, width, top)
        elif not self.joined and self.editor is None:
            top = fit_finished_foot(self.theme, self.strip, self.buttons, width, top)
        self._fitted = (width, top)
        return top

    @Slot()
    def _changed(self) -> None:
        self._fitted = None
        self.height_changed.emit()

    def _show_state(self) -> None:
        state = self.message.state
        self.blocks.set_complete(not state.unfinished)
        self._show_drafted()
        self._show_notices()
        # A reply that failed or was cut off with a reason says it in red; a plain stop needs no alarm.
        self._show_error(trouble_of(self.message))
        self.buttons.show_actions(reply_actions(self.message, self._last))
        self.strip.set_status(reply_status(self.message, self._engine, self._prefill))
        for foot in (self.buttons, self.strip):
            foot.setVisible(not self.joined or self.message.state.unfinished)
        self._show_caret()
        self._changed()

    def _show_drafted(self) -> None:
        shown = self._drafted_shown and not self.message.state.unfinished
        self.blocks.set_drafted(self.message.drafted.moved(len(self._before)) if shown else NO_STRETCHES)

    def _show_error(self, trouble: ErrorReport | None) -> None:
        if trouble is not None and self.error is None:
            self.error = ErrorNotice(self.theme, self)
            self.error.remedy_requested.connect(self._mend)
            self.error.details_requested.connect(self._show_details)
        if self.error is not None:
            if trouble is not None:
                self.error.set_error(trouble, bool(self.text), self._last, self._saved)
            self.error.setVisible(trouble is not None)

    def set_saved(self, saved: bool) -> None:
        """Note whether what was written is on the disk."""
        if saved != self._saved:
            self._saved = saved
            if self.error is not None and not self.error.isHidden():
                self._show_error(trouble_of(self.message))
                self._changed()

    def _show_notices(self) -> None:
        notices = notices_of(self.message)
        if self.notice_texts == list(notices):
            return
        for label in self._notices:
            label.hide()
            label.deleteLater()
        self._notices = []
        for text in notices:
            label = PlainLabel(text, self, kind="notice", wrap=True)
            label.show()
            self._notices.append(label)

    def _show_text(self) -> None:
        text = self._before + self.message.content
        self.blocks.set_steps(self.message.steps, len(self._before), len(text))
        self.blocks.set_text(text)

    @Slot(int, str)
    def _answer(self, number: int, answer: str) -> None:
        self.tool_answered.emit(self.message.id, number, answer)

    def _show_strip(self) -> None:
        if self.strip.set_status(reply_status(self.message, self._engine, self._prefill)):
            self._changed()

    def _show_caret(self) -> None:
        self.blocks.set_caret(self._caret_lit if self.message.state in _WRITING else None)

    @Slot()
    def _inspect(self) -> None:
        self.inspect_requested.emit(self.message.id)

    def _copy_message(self, action: Action) -> None:
        self._copying = plain_parts(self.text) if action is Action.COPY_PLAIN else iter([self.text])
        self._copied.clear()
        self._copy()

    @Slot()
    def _copy(self) -> None:
        """Make some more of the text to copy; a long one is copied when all of it is made."""
        parts = list(islice(self._copying, _COPIED_AT_ONCE))
        self._copied += parts
        if len(parts) == _COPIED_AT_ONCE:
            self._copier.start()
        else:
            QGuiApplication.clipboard().setText("".join(self._copied))
            self._copied = []
            self.buttons.say_copied()

    def _show_editor(self, shown: bool) -> None:
        for part in (self.blocks, self.buttons, self.strip):
            part.setVisible(not shown)

    @Slot(object)
    def _mend(self, remedy: Remedy) -> None:
        if remedy is Remedy.TRY_AGAIN:
            self.action_requested.emit(self.message.id, Action.RETRY)
        else:
            self.trouble_requested.emit(self.message.id, trouble_of(self.message), remedy)

    @Slot()
    def _show_details(self) -> None:
        self._mend(Remedy.DETAILS)


def _without_figures(message: Message) -> Message:
    """Return a reply without its figures, and without its text while that is written."""
    return replace(message, content="", drafted=NO_STRETCHES, statistics=None)
