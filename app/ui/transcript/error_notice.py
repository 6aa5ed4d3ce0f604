"""A failed reply: what happened, what is safe, and the buttons that do something about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.chat.troubles import Remedy, remedy_of, title_of
from app.ui.boxes import filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import scale_icon, themed_icon, tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import ErrorReport

_ICON_PX = 20
_SIDE_PX = 16
_GAP_PX = 12
_ICONS = {Remedy.TRY_AGAIN: "rotate-ccw", Remedy.SMALLER_CONTEXT: "refresh-cw"}


class ErrorNotice(QFrame):
    """A red block in the transcript."""

    remedy_requested = Signal(object)  # Remedy
    details_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._remedy = Remedy.TRY_AGAIN
        self.setProperty("kind", "error")
        self._icon = PlainLabel(self)
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
        row = filled(QHBoxLayout(), (self._icon, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=_GAP_PX)
        filled(QVBoxLayout(self), row, self._buttons, margins=(_SIDE_PX, 14, _SIDE_PX, 14), spacing=0)
        self.restyle()

    @property
    def words(self) -> tuple[str, str]:
        """Title and sentence."""
        return self._title.text(), self._sentence.text()

    def set_error(self, report: ErrorReport, has_text: bool, can_act: bool, saved: bool = True) -> None:
        """Say what happened.

        Args:
            report: From the engine or the bridge.
            has_text: True if part of the reply was written.
            can_act: True if this is the last reply, the only one that something can be done about.
            saved: True if what was written is on the disk.
        """
        self._remedy = remedy_of(report)
        again = self._remedy is Remedy.TRY_AGAIN
        self._title.setText(tr(title_of(report)))
        self._sentence.setText(report.message)
        self._kept.setText(tr("The text so far is kept.") if has_text else tr("Your message is kept."))
        self._kept.setVisible(saved)
        self._name_remedy()
        self.remedy_button.setAccessibleName(tr(self._remedy.value))
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
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._buttons.setDirection(direction)
        layout.activate()
        border = (
            self.contentsMargins().left() + self.contentsMargins().right()
        )  # of which the layout knows nothing
        return max(layout.heightForWidth(width - border), layout.minimumSize().height()) + border

    def restyle(self) -> None:
        """Take the theme's colours again."""
        self._icon.setPixmap(
            tinted_pixmap("circle-alert", self.theme.palette.red, _ICON_PX, self.devicePixelRatioF())
        )

    def _name_remedy(self, with_icon: bool = True) -> None:
        icon = _ICONS.get(self._remedy) if with_icon else None
        # Qt leaves too little between an icon and its words.
        self.remedy_button.setText((" " if icon else "") + tr(self._remedy.value))
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
