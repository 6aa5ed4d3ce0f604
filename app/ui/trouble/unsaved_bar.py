"""Bar above everything as long as something of the chats is in memory alone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.chat.troubles import title_of
from app.ui.boxes import filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.screen_reader import announce
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import ErrorReport

_NARROW_PX = 640
_ICON_PX = 20


class UnsavedBar(QFrame):
    """Nobody can close it: it goes when all is saved.

    Args:
        mend: Does what the remedy of a report says.
        tell: Shows a report's details.
    """

    def __init__(
        self,
        theme: Theme,
        mend: Callable[[ErrorReport], object],
        tell: Callable[[ErrorReport], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mend_report = mend
        self._tell_of = tell
        self._report: ErrorReport | None = None
        self.setProperty("kind", "unsaved")
        self._icon = PlainLabel(self)
        self._title = PlainLabel(self, kind="strong", wrap=True)
        self._sentence = PlainLabel(self, kind="sub", wrap=True)
        self.folder_button = push_button(tr("Open the data folder"), self, self._mend)
        self.details_button = push_button(tr("Show details"), self, self._tell, kind="link")
        words = filled(QVBoxLayout(), self._title, self._sentence, spacing=2)
        top = Qt.AlignmentFlag.AlignTop
        row = filled(QHBoxLayout(), (self._icon, 0, top), (words, 1), spacing=10)
        buttons = filled(QHBoxLayout(), self.folder_button, self.details_button, spacing=4)
        self._row = filled(
            QBoxLayout(QBoxLayout.Direction.LeftToRight, self),
            (row, 1),
            buttons,
            margins=(16, 8, 12, 8),
            spacing=10,
        )
        self._restyle()
        theme.changed.connect(self._restyle)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence; empty where all is saved."""
        return "" if self._report is None else self._report.message

    def say(self, report: ErrorReport | None) -> None:
        """Say why something is not saved; None where all is."""
        self._report = report
        self.setVisible(report is not None)
        if report is not None:
            self._title.setText(tr(title_of(report)))
            self._sentence.setText(report.message)
            self.setAccessibleName(f"{self._title.text()}. {report.message}")
            announce(self, self.accessibleName(), urgent=True)

    def sizeHint(self) -> QSize:
        """Fit the bar to its words at the window's width; buttons stand below them if that is small."""
        parent, directions = self.parentWidget(), QBoxLayout.Direction
        assert parent is not None
        width = parent.width()
        narrow = width < self._theme.type.px(_NARROW_PX)
        self._row.setDirection(directions.TopToBottom if narrow else directions.LeftToRight)
        for button in (self.folder_button, self.details_button):
            button.ensurePolished()
            button.setMinimumWidth(button.sizeHint().width())
        return QSize(width, self._row.totalHeightForWidth(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words wrap."""
        super().resizeEvent(event)
        self.updateGeometry()

    @Slot()
    def _restyle(self) -> None:
        self._icon.setPixmap(
            tinted_pixmap("circle-alert", self._theme.palette.red, _ICON_PX, self.devicePixelRatioF())
        )
        self.updateGeometry()

    @Slot()
    def _mend(self) -> None:
        if self._report is not None:
            self._mend_report(self._report)

    @Slot()
    def _tell(self) -> None:
        if self._report is not None:
            self._tell_of(self._report)
