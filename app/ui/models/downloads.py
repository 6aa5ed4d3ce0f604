"""List of downloads: how much is here, how fast it comes, and buttons to hold it, go on, or give it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.ui.bars import ShareBar
from app.ui.models.wording import download_words
from app.ui.parts import ElidedLabel, LabelledButton, PlainLabel, filled
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme, set_kind
from app.words import tr
from engine.hub.titles import title_of_model
from engine.messages import DownloadStatus

_NARROW_PX = 620


class RuledRow(QWidget):
    """Paints the rule; the rest is its children's."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.y() > 1:
            QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))


_Row = TypeVar("_Row", bound=QWidget)


class RowList(QFrame, Generic[_Row]):
    """Rows below one another; each is kept as long as what it shows is listed."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "rows")
        self.setAccessibleName(title)
        self.rows: dict[str, _Row] = {}  # by name
        self._column = filled(QVBoxLayout(self), margins=0, spacing=0)

    def _keep(self, names: Sequence[str], make: Callable[[str], _Row]) -> None:
        for name in self.rows.keys() - set(names):
            row = self.rows.pop(name)
            row.hide()
            row.deleteLater()
        for number, name in enumerate(names):
            if name not in self.rows:
                self.rows[name] = make(name)
            if self._column.indexOf(self.rows[name]) != number:
                self._column.insertWidget(number, self.rows[name])
        self.setVisible(bool(names))


class DownloadRow(RuledRow):
    """One download."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.entry: DownloadStatus | None = None
        self._narrow: bool | None = None
        self.name = ElidedLabel(kind="label", parent=self)
        self.bar = ShareBar(theme, tr("Download"), self)
        self.words = PlainLabel(self, kind="sub", wrap=True)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hold = self._sized(LabelledButton(self))
        self.cancel = self._sized(QToolButton(self))
        self.cancel.setIcon(themed_icon(theme, "x"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 10, 8, 10)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)

    def show_entry(self, entry: DownloadStatus) -> None:
        """Show how it stands."""
        self.entry = entry
        name = title_of_model(entry.name)
        self.name.setText(name)
        self.bar.show_share(entry.share, "acc" if entry.under_way else "g3")
        self.words.setText(download_words(entry))
        failed = entry.state == "failed"
        set_kind(self.words, "bad" if failed else "sub")
        icon = "pause" if entry.under_way else "rotate-ccw" if failed else "play"
        self.hold.setIcon(themed_icon(self._theme, icon))
        self.hold.setText(f" {tr('Try again')}" if failed else "")
        self.hold.setToolButtonStyle(
            Qt.ToolButtonStyle.ToolButtonTextBesideIcon if failed else Qt.ToolButtonStyle.ToolButtonIconOnly
        )
        set_kind(self.hold, "labelled" if failed else "")
        says = (
            tr("Pause {name}", name=name)
            if entry.under_way
            else tr("Try {name} again", name=name)
            if failed
            else tr("Go on with {name}", name=name)
        )
        for button, text in ((self.hold, says), (self.cancel, tr("Discard {name}", name=name))):
            button.setToolTip(text)
            button.setAccessibleName(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        if narrow == self._narrow:
            return
        self._narrow = narrow
        grid = self._grid
        if narrow:
            grid.addWidget(self.name, 0, 0)
            grid.addWidget(self.bar, 1, 0, 1, 3)
            grid.addWidget(self.words, 2, 0, 1, 3)
        else:
            grid.addWidget(self.name, 0, 0)
            grid.addWidget(self.bar, 0, 1)
            grid.addWidget(self.words, 0, 2)
        grid.addWidget(self.hold, 0, 1 if narrow else 3)
        grid.addWidget(self.cancel, 0, 2 if narrow else 4)
        for column, stretch in enumerate((1, 0, 0, 0, 0) if narrow else (3, 4, 4, 0, 0)):
            grid.setColumnStretch(column, stretch)

    def _sized(self, button: QToolButton) -> QToolButton:
        scale_icon(self._theme, button, 16)
        side = self._theme.type.px(28)
        button.setMinimumSize(side, side)
        return button


class DownloadList(RowList[DownloadRow]):
    """A list of the downloads, in the queue's order."""

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    cancel_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Downloads"), parent)

    def show_entries(self, entries: Sequence[DownloadStatus]) -> None:
        """Show these."""
        self._keep([entry.name for entry in entries], self._make)
        for entry in entries:
            self.rows[entry.name].show_entry(entry)

    def _make(self, name: str) -> DownloadRow:
        row = DownloadRow(self._theme, self)
        row.hold.clicked.connect(lambda: self._hold(row.entry))
        row.cancel.clicked.connect(lambda: self.cancel_requested.emit(name))
        return row

    def _hold(self, entry: DownloadStatus | None) -> None:
        if entry is not None:
            (self.pause_requested if entry.under_way else self.resume_requested).emit(entry.name)
