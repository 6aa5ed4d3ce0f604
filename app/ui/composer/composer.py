"""The composer: attached files, the field, the draft, how full the context is, and the button that sends and stops."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QEnterEvent, QFontMetrics, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.chat.modes import Choice, draft_words, mode_title
from app.ui import figures
from app.ui.bars import ShareBar
from app.ui.choice_popup import MenuButton
from app.ui.composer.prompt_edit import AttachmentRow, PromptEdit
from app.ui.painting import paint_box, paint_icon, paint_words, painted, smooth
from app.ui.parts import STRETCH, PlainLabel, filled, icon_button
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.modes import AUTO, MEMORY_TITLES

OPEN_FOLDER = "open-draft-folder"
OPEN_DRAFT_FILE = "open-draft-file"
MEMORY = "memory"
_MOST_WORDS_PX = 260
_BAR_PX = (56, 4)
_NEARLY_FULL = 0.9
_ICON_PX = 14
_SIDE_PX = 10
_SQUARE_PX = 10
_ARROW_PX = 18


class ContextMeter(QWidget):
    """The bar and its words; nothing until a reply has told the figures."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._used = 0
        self._limit = 0
        self._narrow = False
        self._bar = ShareBar(theme, tr("Context in use"), self)
        self._bar.setFixedSize(*_BAR_PX)
        self.words = PlainLabel(self, kind="meter")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        filled(
            QHBoxLayout(self),
            *((self._bar, 0, Qt.AlignmentFlag.AlignVCenter), self.words),
            margins=0,
            spacing=8,
        )
        self.hide()

    def set_usage(self, used: int, limit: int) -> None:
        """Tokens in use and tokens there are; a limit of 0 hides the meter."""
        self._used, self._limit = min(used, limit), limit  # the newest token is counted before it has a place
        self._show()

    def set_narrow(self, narrow: bool) -> None:
        """Show a percentage instead of the tokens."""
        self._narrow = narrow
        self._show()

    def _show(self) -> None:
        self.setVisible(self._limit > 0)
        if self._limit <= 0:
            return
        used, limit = figures.whole(self._used), figures.whole(self._limit)
        whole = tr("{used} of {limit} tokens", used=used, limit=limit)
        share = self._used / self._limit
        self._bar.show_share(share, "g3" if share < _NEARLY_FULL else "mapt")
        self.words.setText(figures.percent(share) if self._narrow else whole)
        self.setToolTip(tr("{used} of {limit} tokens of the model's context are in use", used=used, limit=limit))
        self._bar.setAccessibleDescription(whole)


class DraftButton(MenuButton):
    """Shows what guesses ahead, and after it the mode that ran where that was left to Tenon."""

    draft_chosen = Signal(str)
    memory_chosen = Signal(str)
    folder_requested = Signal()
    file_requested = Signal()
    memories_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, _ICON_PX, QSizePolicy.Policy.Fixed, parent)
        self._drafts: tuple[str, ...] = ()
        self._memory = AUTO
        self.running: str = ""  # the mode that ran or is planned; empty if unknown
        self._lists_memories = False
        self._describe()

    @property
    def words(self) -> str:
        """The draft, the mode that ran if it was left to Tenon, and the memory if that was chosen."""
        words = draft_words(self._drafts)
        if self.running and not self._drafts:
            words = f"{words}: {mode_title(self.running)}"
        if self._memory != AUTO:
            words = tr("{draft}, {memory}", draft=words, memory=tr(MEMORY_TITLES[self._memory]))
        return words

    def show_choice(self, drafts: tuple[str, ...], memory: str) -> None:
        """Show what was chosen."""
        if (drafts, memory) != (self._drafts, self._memory):
            self._drafts, self._memory, self.running = drafts, memory, ""
            self._describe()

    def set_running(self, mode: str) -> None:
        """Say which mode runs."""
        if mode != self.running:
            self.running = mode
            self._describe()

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM)).horizontalAdvance(self.words)
        return QSize(
            _SIDE_PX * 2 + self._icon_px * 2 + 6 + 8 + min(words, self._theme.type.px(_MOST_WORDS_PX)) + 2,
            self._theme.type.side(28),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        paint_box(painter, self._theme, self.rect(), 8, self._fill("raised"), "btn")
        paint_icon(painter, self._theme, self, "zap", _SIDE_PX, self._icon_px, "acc")
        end = self.width() - _SIDE_PX - self._icon_px
        paint_icon(painter, self._theme, self, "chevron-down", end, self._icon_px)
        left = _SIDE_PX + self._icon_px + 6
        box = painted(self, left, 0, self.width() - left - _SIDE_PX - self._icon_px - 2, self.height())
        elide = Qt.TextElideMode.ElideRight
        paint_words(painter, self._theme, box, self.words, TextStyle.UI_MEDIUM, "text", elide=elide)

    def _describe(self) -> None:
        self.setAccessibleName(tr("Draft: {draft}", draft=self.words))
        self.setToolTip(tr("Choose what guesses ahead, and where the model lies"))
        self.updateGeometry()
        self.update()

    def open_menu(self, drafts: list[Choice]) -> None:
        """Show the drafts to choose from, and the way to the places in memory."""
        self._lists_memories = False
        self._open_popup(tr("Draft"), self._rows(drafts), above=True)

    def refresh_menu(self, drafts: list[Choice], memories: list[Choice]) -> None:
        """Show the choices anew in the menu, if it is still open."""
        if self.popup is None:
            return
        if self._lists_memories:
            self.popup.show_choices(tr("Memory"), memories)
        else:
            self.popup.show_choices(tr("Draft"), self._rows(drafts))

    def show_memories(self, memories: list[Choice]) -> None:
        """Show the places in memory in place of the drafts."""
        self._lists_memories = True
        self.refresh_menu([], memories)

    def _rows(self, drafts: list[Choice]) -> list[Choice]:
        memory = tr(MEMORY_TITLES[self._memory])
        return [
            *drafts,
            Choice(OPEN_FOLDER, tr("Choose a folder..."), ""),
            Choice(OPEN_DRAFT_FILE, tr("Choose a file..."), ""),
            Choice(MEMORY, tr("Memory..."), memory, leads_on=True),
        ]

    @Slot(str)
    def _choose(self, key: str) -> None:
        ways = {
            OPEN_FOLDER: self.folder_requested, OPEN_DRAFT_FILE: self.file_requested, MEMORY: self.memories_requested,
        }  # fmt: skip
        if key in ways:
            ways[key].emit()
        else:
            (self.memory_chosen if self._lists_memories else self.draft_chosen).emit(key)


class SendButton(QAbstractButton):
    """The one filled button of the window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.stops: bool = False  # True if a click stops a reply
        self._narrow = False
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves it where one types
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        self.set_stops(False)

    def set_stops(self, stops: bool) -> None:
        """Turn into Stop, or back into Send."""
        self.stops = stops
        self.setAccessibleName(tr("Stop") if stops else tr("Send"))
        self.setToolTip(tr("Stop the reply (Esc)") if stops else tr("Send (Enter)"))
        self.updateGeometry()
        self.update()

    def set_narrow(self, narrow: bool) -> None:
        """Leave the word out where there is little room."""
        self._narrow = narrow
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        side = self._theme.type.side(32)
        if not self.stops or self._narrow:
            return QSize(side, side)
        word = QFontMetrics(self._theme.font(TextStyle.UI_BOLD)).horizontalAdvance(tr("Stop"))
        return QSize(12 + _SQUARE_PX + 7 + word + 13, side)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Nothing: the second press of a double click would stop what the first one sent."""
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        enabled, theme = self.isEnabled(), self._theme
        fill = "acc_press" if self.isDown() else "acc_hover" if self.underMouse() else "acc"
        paint_box(painter, theme, self.rect(), 8, fill if enabled else "surf", fill if enabled else "line")
        if not self.stops:
            side = theme.type.px(_ARROW_PX)
            ink = "onacc" if enabled else "mute"
            paint_icon(painter, theme, self, "arrow-up", (self.width() - side) // 2, side, ink)
            return
        left = (self.width() - _SQUARE_PX) / 2 if self._narrow else 12
        square = painted(self, left, (self.height() - _SQUARE_PX) / 2, _SQUARE_PX, _SQUARE_PX)
        paint_box(painter, theme, square, 2, "onacc")
        if not self._narrow:
            word = painted(self, left + _SQUARE_PX + 7, 0, self.width(), self.height())
            paint_words(painter, theme, word, tr("Stop"), TextStyle.UI_BOLD, "onacc")


class Composer(QWidget):
    """Emits what the user wants; it decides nothing."""

    send_requested = Signal(str, object)  # text, tuple of Attachment
    attach_requested = Signal()
    files_offered = Signal(object)  # list of Path, or of a QImage that was pasted
    stop_requested = Signal()
    cancelled = Signal()  # by Escape, while there is no reply to stop
    busy_send_refused = Signal()
    reading_send_refused = Signal(str)  # name of a file that is still being read

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.prompt = PromptEdit(theme, self)
        self.attachments = AttachmentRow(theme, self)
        self.attach_button = icon_button(
            theme, "paperclip", tr("Attach files"), self, self.attach_requested, side_px=28
        )
        self.draft_button = DraftButton(theme, self)
        self.tokens = PlainLabel(self, kind="meter")  # of the message that is typed
        self.meter = ContextMeter(theme, self)
        self.send_button = SendButton(theme, self)
        self.prompt.submitted.connect(self._submit)
        self.prompt.cancelled.connect(self._cancel)
        self.prompt.textChanged.connect(self._enable)
        self.prompt.focus_changed.connect(self.update)
        self.prompt.files_offered.connect(self.files_offered)
        self.attachments.changed.connect(self._enable)
        self.send_button.clicked.connect(self._clicked)
        row = filled(
            QHBoxLayout(),
            *(self.attach_button, -10, self.draft_button, STRETCH, self.tokens, self.meter, self.send_button),
            margins=0,
            spacing=16,
        )
        filled(QVBoxLayout(self), self.attachments, self.prompt, row, margins=(10, 11, 10, 9), spacing=6)
        self._enable()
        self.show_tokens(0)

    @property
    def text(self) -> str:
        """Typed text."""
        return self.prompt.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is typed and put the cursor at its end."""
        self.prompt.setPlainText(text)
        self.prompt.moveCursor(self.prompt.textCursor().MoveOperation.End)

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Go to the field. A focus proxy would do so too, and Tab would never leave the composer."""
        self.prompt.setFocus(reason)

    def set_busy(self, busy: bool) -> None:
        """Show whether this conversation's reply is under way or queued."""
        if busy != self.send_button.stops:
            self.send_button.set_stops(busy)
            self._enable()

    def set_narrow(self, narrow: bool) -> None:
        """Below 720 px."""
        self.send_button.set_narrow(narrow)
        self.meter.set_narrow(narrow)

    def show_tokens(self, tokens: int) -> None:
        """Say how many tokens the message has; 0 hides that."""
        self.tokens.setVisible(tokens > 0)
        count = figures.whole(tokens)
        self.tokens.setText(tr("+ {count} tokens", count=count))
        self.tokens.setToolTip(tr("Your message and its files have {count} tokens", count=count))

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        focused = self.prompt.hasFocus()
        edge = "acc" if focused else "sub" if self.underMouse() else "ctl"
        width = 2 if focused else 1
        painter.setPen(QPen(self._theme.color(edge), width))
        painter.setBrush(self._theme.color("raised"))
        inset = width / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 10, 10)

    @Slot()
    def _clicked(self) -> None:
        if self.send_button.stops:
            self.stop_requested.emit()
        else:
            self._submit()
        self.prompt.setFocus()  # the button may be of no use now, and the next thing is to write

    @Slot()
    def _submit(self) -> None:
        text, attachments = self.text.strip(), self.attachments.attachments
        if not text and not attachments and not self.attachments.pending:
            return
        if self.send_button.stops:
            self.busy_send_refused.emit()
            return
        if self.attachments.pending:
            self.reading_send_refused.emit(next(iter(self.attachments.pending.values())))
            return
        self.prompt.clear()
        self.attachments.set_attachments(())
        self.send_requested.emit(text, attachments)

    @Slot()
    def _cancel(self) -> None:
        (self.stop_requested if self.send_button.stops else self.cancelled).emit()

    @Slot()
    def _enable(self) -> None:
        reading = list(self.attachments.pending.values())
        ready = (self.prompt.has_words() or bool(self.attachments.attachments)) and not reading
        self.send_button.setEnabled(self.send_button.stops or ready)
        if not self.send_button.stops:
            first = tr("{name} is being read", name=reading[0]) if reading else tr("Type a message first")
            self.send_button.setToolTip(tr("Send (Enter)") if ready else first)
