"""A table: its frame, in which it is scrolled sideways when it is too wide."""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QScrollArea, QWidget

from app.chat.formula import Formula
from app.ui.painting import smooth
from app.ui.theme.theme import Theme
from app.ui.transcript.drafted_text import Stretch
from app.ui.transcript.selectable import Selectable, SelectableWhole
from app.ui.transcript.table_grid import TableGrid
from app.words import tr


class TableBlock(SelectableWhole):
    """The frame around a table: round corners, sideways scrolling, copy."""

    height_changed = Signal()

    def __init__(self, theme: Theme, markdown: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._markdown = markdown
        self._drafted: list[Stretch] = []
        self._fitted: tuple[int, int] | None = None
        self._grid = TableGrid(theme, markdown)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._grid)
        self._scroll.viewport().setAutoFillBackground(False)
        self._grid.setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        theme.formulas.changed.connect(self._formulas_came)
        self.setAccessibleName(tr("Table"))
        self.setAccessibleDescription(self._grid.text())

    def set_markdown(self, markdown: str) -> None:
        """Show another table."""
        if markdown != self._markdown:
            self._markdown = markdown
            self._fitted = None
            self._grid.set_markdown(markdown)
            self.setAccessibleDescription(self._grid.text())

    def set_drafted(self, stretches: list[Stretch]) -> None:
        """Mark the parts of the table that came from accepted drafts."""
        if stretches != self._drafted:
            self._drafted = stretches
            self._fitted = None
            self._grid.mark(self._markdown, stretches)

    def whole_source(self) -> str:
        """Markdown."""
        return self._markdown

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach."""
        return [self]

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return self._grid.found

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self._grid.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one, scroll sideways to it, and return where it is."""
        place = self._grid.choose_found(number)
        if not place.isEmpty():
            self._scroll.ensureVisible(place.center().x(), place.center().y(), place.width() // 2, 0)
        return place.translated(self._grid.pos())

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        if self._fitted is None or self._fitted[0] != width:
            size = self._grid.fit(width - 2)
            self._grid.resize(size)
            self._scroll.setLayoutDirection(
                Qt.LayoutDirection.RightToLeft if self._grid.right_to_left else Qt.LayoutDirection.LeftToRight
            )
            self._fitted = (width, size.height() + 2 + (10 if size.width() > width - 2 else 0))
        return self._fitted[1]

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self._fitted = None
        self._grid.mark(self._markdown, self._drafted)

    @Slot(object)
    def _formulas_came(self, formulas: frozenset[Formula]) -> None:
        if self._grid.awaits(formulas):
            self.restyle()
            self.height_changed.emit()

    def copy(self) -> None:
        """Copy the table as tab-separated text, which spreadsheets take."""
        QGuiApplication.clipboard().setText(self._grid.text())

    def _select(self, selected: bool) -> None:
        super()._select(selected)
        self._grid.set_selected(selected)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the scrolled part inside the frame's edge."""
        self._scroll.setGeometry(1, 1, self.width() - 2, self.height() - 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the edge."""
        painter = smooth(self)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.fillPath(path, QColor(self.theme.color("bg")))
        painter.setPen(self.theme.color("line"))
        painter.drawPath(path)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the transcript."""
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy by the usual keys."""
        if event.matches(QKeySequence.StandardKey.Copy):
            if not self.copy_selection():
                self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the table."""
        menu = QMenu(self)
        action = QAction(tr("Copy table"), menu)
        action.triggered.connect(self.copy)
        menu.addAction(action)
        menu.exec(event.globalPos())
