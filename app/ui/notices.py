"""Notices: a short one at the foot of the page, and one through the system when a long reply is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QSystemTrayIcon, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.ui.parts import Flow, IconLabel, PlainLabel, filled, icon_button, push_button
from app.ui.screen_reader import announce
from app.ui.theme.icons import app_icon
from app.ui.theme.theme import Theme
from app.words import tr

STAY_MS = 8_000
_SIGN_PX = 20
# A reply that takes less is waited for.
_LONG_S = 20.0
_STAYS_MS = 10_000
_DONE = (MessageState.COMPLETE, MessageState.FAILED, MessageState.INTERRUPTED)


class Toast(QFrame):
    """One at a time: a new one takes the place of the old. Trouble that nobody has closed comes back after it.

    It stands in the layout of the page that is shown, so that it covers nothing.
    """

    focus_left = Signal()

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self.setProperty("kind", "toast")
        self._lasting = False
        self._on_act: Callable[[], object] | None = None
        self._holds: Callable[[], bool] | None = None
        self._on_details: Callable[[], object] | None = None
        self._said: tuple[Any, ...] = ()  # the arguments of `say`
        self._covered: list[tuple[Any, ...]] = []  # of trouble that others stand before
        self._title = PlainLabel(self, kind="strong", wrap=True)
        self._title.hide()
        self._label = PlainLabel(self, wrap=True)
        self.action_button = push_button("", self, self._act)  # undoes or mends
        name, tip = tr("Close notice"), tr("Close")
        self._close = icon_button(theme, "x", name, self, self.dismiss, side_px=28, tip=tip)
        # Tells more
        self.details_button = push_button(tr("Show details"), self, self._tell_more, kind="link")
        self.details_button.hide()
        self._below = Flow(4)  # has the buttons of a toast with a title
        # A single line stands in the middle.
        self._words = filled(QVBoxLayout(), self._title, (self._label, 1), self._below, spacing=4)
        self._sign = IconLabel(theme, "triangle-alert", "mapt", _SIGN_PX, self)
        self._sign.hide()
        top = Qt.AlignmentFlag.AlignTop
        self._row = filled(
            QHBoxLayout(self),
            *((self._sign, 0, top), (self._words, 1), self.action_button, (self._close, 0, top)),
            margins=(16, 10, 8, 10),
            spacing=12,
        )
        self._timer = QTimer(self, singleShot=True, interval=STAY_MS)
        self._timer.timeout.connect(self.dismiss)
        window.installEventFilter(self)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence."""
        return self._label.text()

    @property
    def fades(self) -> bool:
        """True if it goes away by itself."""
        return self._timer.isActive()

    def say(
        self,
        sentence: str,
        action: str = "",
        on_action: Callable[[], object] | None = None,
        lasting: bool = False,
        title: str = "",
        on_details: Callable[[], object] | None = None,
        holds: Callable[[], bool] | None = None,
    ) -> None:
        """Show a sentence, with a button where ``action`` names one; pressed, it calls ``on_action``.

        A title stands above the sentence, and the buttons then below it; one that tells more is there with
        ``on_details``. ``holds`` says whether there is still something to act on; `check` asks it.
        """
        if self._shows_trouble() and self.text != sentence:
            self._covered.append(self._said)
        self._said = (sentence, action, on_action, lasting, title, on_details)
        self._covered = [said for said in self._covered if said[0] != sentence]
        self._on_act, self._on_details, self._holds = on_action, on_details, holds
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._sign.setVisible(bool(title))
        self._label.setProperty("kind", "sub" if title else "")
        self._label.style().polish(self._label)
        if title:
            self._below.addWidget(self.action_button)
        else:
            self._row.insertWidget(2, self.action_button)
        self._below.addWidget(self.details_button)
        self.details_button.setVisible(on_details is not None)
        self._label.setText(sentence)
        self.action_button.setText(action)
        self.action_button.setVisible(bool(action))
        self._lasting = lasting
        self.setAccessibleName(f"{title}. {sentence}" if title else sentence)
        self.show()
        self._timer.stop()
        if not lasting:
            self._timer.start()
        announce(self, self.accessibleName(), urgent=lasting)

    @Slot(str)
    def say_behind_trouble(self, sentence: str) -> None:
        """Show a sentence that stays; trouble with a title that is shown now is closed first."""
        if self._shows_trouble():
            self._covered.insert(0, (sentence, "", None, True, "", None))
        else:
            self.say(sentence, lasting=True)

    def _shows_trouble(self) -> bool:
        return self.isVisible() and self._lasting and bool(self._title.text())

    @Slot()
    def check(self) -> None:
        """Go away if what is offered was done elsewhere."""
        if self._holds is not None and not self._holds():
            self.dismiss()

    def leave_page(self) -> None:
        """Go away, unless it stays: the page that it was said on is left."""
        if not self._lasting:
            self.dismiss()

    @Slot()
    def dismiss(self) -> None:
        """Go away."""
        self._timer.stop()
        self._holds = None
        focused = self.focusWidget()
        if focused is not None and focused.hasFocus():
            self.focus_left.emit()
        self.hide()
        self._uncover()

    def _uncover(self) -> None:
        """Trouble comes back where it can be closed: not above the veil of a dialog."""
        if self._covered and not self.isVisible() and QApplication.activeModalWidget() is None:
            self.say(*self._covered.pop())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt says that no dialog blocks the window any longer."""
        if event.type() == QEvent.Type.WindowUnblocked:
            self._uncover()
        return False

    def take_back(self, sentence: str) -> None:
        """Withdraw a sentence that no longer holds, whether it is shown or covered by another."""
        self._covered = [said for said in self._covered if said[0] != sentence]
        if self.text == sentence:
            self.dismiss()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        if not self._lasting and self.isVisible():
            self._timer.start()

    @Slot()
    def _act(self) -> None:
        self._leave_for(self._on_act)

    @Slot()
    def _tell_more(self) -> None:
        self._leave_for(self._on_details)

    def _leave_for(self, action: Callable[[], object] | None) -> None:
        self.dismiss()
        if action is not None:
            action()


class DoneNotice(QObject):
    """Watches how long replies take. No word of a chat is in what the system shows: it may stand on a locked screen.

    Args:
        window: Nothing is said while it is active.
        clock: Seconds.
    """

    chat_wanted = Signal(int)  # the user has clicked the notification

    def __init__(self, workspace: Workspace, window: QWidget, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(window)
        self._settings = workspace.settings
        self._window = window
        self._clock = clock
        self._began: dict[int, float] = {}  # replies that are being written
        self._chat = 0
        self._tray: QSystemTrayIcon | None = None
        workspace.replies.message_changed.connect(self._message_changed)
        workspace.turns.message_added.connect(self._message_changed)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Back in the window, the icon in the tray has no use any more."""
        if event.type() == QEvent.Type.WindowActivate and self._tray is not None:
            self._tray.hide()
        return False

    @Slot(object)
    def _message_changed(self, message: Message) -> None:
        if message.state in (MessageState.WAITING, MessageState.STREAMING):
            self._began.setdefault(message.id, self._clock())
            return
        began = self._began.pop(message.id, None)
        if began is None or message.state not in _DONE:
            return
        long = self._clock() - began >= _LONG_S
        if long and self._settings.notify_when_done and not self._window.isActiveWindow():
            self._chat = message.conversation_id
            done = message.state is MessageState.COMPLETE
            self._tell(tr("A reply is done.") if done else tr("A reply could not be completed."))

    def _tell(self, sentence: str) -> None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            QApplication.alert(self._window)
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(app_icon(), self)
            self._tray.setToolTip("Tenon")
            self._tray.messageClicked.connect(self._clicked)
            self._tray.activated.connect(self._clicked)
        self._tray.show()
        self._tray.showMessage("Tenon", sentence, app_icon(), _STAYS_MS)

    @Slot()
    def _clicked(self) -> None:
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
        self.chat_wanted.emit(self._chat)
