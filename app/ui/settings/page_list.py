"""The list of pages at the left of the dialog; in a narrow one a field that opens."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QVBoxLayout, QWidget

from app.settings.pages import Page
from app.ui.boxes import filled
from app.ui.list_box import ListBox
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_WIDTH_PX = 176
_BESIDE_PX = 68  # icon, edges and margins


class PageList(QFrame):
    """The same pages twice: `box` is put where the narrow dialog has room for it.

    Attributes:
        box: The pages as a field.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, pages: Sequence[Page], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "dialog-nav")
        self._model = QStandardItemModel(self)
        self.box = ListBox(theme, parent)
        for number, page in enumerate(pages):
            item = QStandardItem(themed_icon(theme, page.icon), f" {tr(page.title)}")
            item.setAccessibleText(tr(page.title))
            item.setEditable(False)
            self._model.appendRow(item)
            self.box.addItem(tr(page.title), number)
        self.list = QListView(self)
        self.list.setProperty("kind", "pages")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # after a click the chosen row has no ring
        scale_icon(theme, self.list, 16)
        self.list.setModel(self._model)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        for control in (self.list, self.box):
            control.setAccessibleName(tr("Pages of settings"))
        filled(QVBoxLayout(self), self.list, margins=(8, 12, 8, 12))
        self.choose(0)
        self.list.selectionModel().currentChanged.connect(self._current_changed)
        self.list.clicked.connect(self._clicked)
        self.box.activated.connect(self._activated)
        theme.changed.connect(self._fit)
        self._fit()

    @property
    def current(self) -> int:
        """The chosen page's number."""
        return self.list.currentIndex().row()

    def choose(self, number: int) -> None:
        """Choose a page."""
        index = self._model.index(number, 0)
        self.list.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.box.setCurrentIndex(number)

    @Slot()
    def _fit(self) -> None:
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        words = max(metrics.horizontalAdvance(self.box.itemText(row)) for row in range(self.box.count()))
        self.setFixedWidth(max(self._theme.type.px(_WIDTH_PX), words + _BESIDE_PX))

    @Slot(QModelIndex, QModelIndex)
    def _current_changed(self, now: QModelIndex, before: QModelIndex) -> None:
        self.box.setCurrentIndex(now.row())
        self.chosen.emit(now.row())

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        self.chosen.emit(index.row())  # the current one too: it ends a search

    @Slot(int)
    def _activated(self, number: int) -> None:
        self.choose(number)
