"""Parts around the rows: head, foot and list of pages."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QListView,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.settings.pages import EVERY_MODEL, Page
from app.ui.form_fields import ListBox
from app.ui.parts import STRETCH, IconLabel, PlainLabel, filled, push_button, search_field, turn
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.sentences import paragraph

_FOOT_NARROW_PX = 560
_ICON_PX = 16
_NAME_PX = 240
_SIDE_PX = 20
_HEAD_BESIDE_PX = 60  # the edges of the switch, and what its words keep from them
_WIDTH_PX = 176
_BESIDE_PX = 68  # icon, edges and margins


class Foot(QFrame):
    """Says how many changes there are; the buttons work while there is one."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "dialog-foot")
        self._icon = IconLabel(theme, "info", "acc", _ICON_PX, self)
        self.words = PlainLabel(self, wrap=True)
        self.words.setMinimumWidth(40)
        self.undo_button = QPushButton(tr("Undo changes"), self)
        self.apply_button = push_button(tr("Apply"), self, kind="primary")
        for button in (self.undo_button, self.apply_button):
            button.setAutoDefault(False)
        said = filled(QHBoxLayout(), self._icon, (self.words, 1), spacing=8)
        buttons = filled(QHBoxLayout(), STRETCH, self.undo_button, self.apply_button, spacing=8)
        self._box = filled(QHBoxLayout(), (said, 1), buttons, spacing=12)
        filled(QVBoxLayout(self), self._box, margins=(20, 12, 20, 12))

    def show_changes(self, count: int, sentences: list[str]) -> None:
        """Say what Apply would do, and whatever else there is to say."""
        said = tr("Changes to apply: {count}.", count=count) if count else ""
        self.words.setText(paragraph(said, *sentences))
        for part in (self._icon, self.words):
            part.setVisible(bool(self.words.text()))
        self.undo_button.setEnabled(count > 0)
        self.apply_button.setEnabled(count > 0)

    def fit(self, width: int) -> None:
        """Put the words above the buttons in a narrow dialog."""
        turn(self._box, width < self._theme.type.px(_FOOT_NARROW_PX))


class Segments(QFrame):
    """One of them is always chosen.

    Args:
        name: Subject of the switch, for those who hear the window.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "segments")
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.buttons: dict[str, QToolButton] = {}
        self._name = name
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._clicked)
        self._line = filled(QHBoxLayout(self), margins=2, spacing=2)

    def add(self, key: str, words: str, tip: str = "") -> None:
        """One more at the right end."""
        button = QToolButton(self)
        button.setProperty("kind", "segment")
        button.setText(words)
        button.setToolTip(tip)
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(f"{self._name}: {words}")
        self._group.addButton(button)
        self._line.addWidget(button)
        self.buttons[key] = button

    def choose(self, key: str) -> None:
        """Show another one as chosen, without saying so."""
        self.buttons[key].setChecked(True)

    @property
    def current(self) -> str:
        """The chosen one."""
        return next((key for key, button in self.buttons.items() if button.isChecked()), "")

    @Slot(QAbstractButton)
    def _clicked(self, button: QAbstractButton) -> None:
        self.chosen.emit(self.current)


class Head(QWidget):
    """Search and switches.

    Args:
        model: Reference of the chosen model.
        model_name: Name in the window.
        pages: The pages as a field, for a narrow dialog.
    """

    def __init__(self, theme: Theme, model: str, model_name: str, pages: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "page")
        self.search = search_field(theme, tr("Search all settings"), self)
        self.search.setMinimumWidth(80)
        self.setMinimumWidth(1)  # or the rows would be as wide where it scrolls away with them
        self.level = Segments(tr("Settings shown"), self)
        self.level.add("simple", tr("Simple"))
        self.level.add("advanced", tr("Advanced"))
        self.scope = Segments(tr("Chosen for"), self)
        self.scope.add(EVERY_MODEL, tr("For all models"))
        self.scope.add(model, tr("For {model}", model=model_name), model_name)
        self._model, self._model_name = model, model_name
        self.scope.choose(EVERY_MODEL)
        self._column = filled(QVBoxLayout(self), margins=(_SIDE_PX, 14, _SIDE_PX, 6), spacing=10)
        self._search_line, self._level_line, scope_line = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        pages.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._pages = pages
        self._column.addWidget(pages)
        for line in (self._search_line, self._level_line, scope_line):
            self._column.addLayout(line)  # before it is filled, or PySide keeps the items of what moves
        self._search_line.setSpacing(12)
        self._search_line.addWidget(self.search, 1)
        self._search_line.addWidget(self.level)
        scope_line.addWidget(self.scope)
        for line in (self._level_line, scope_line):
            line.addStretch(1)

    def controls(self) -> list[QWidget]:
        """Return what takes the focus, from the left to the right and from the top to the bottom."""
        return [self._pages, self.search, *self.level.buttons.values(), *self.scope.buttons.values()]

    def fit(self, width: int, narrow: bool) -> None:
        """Make a field of the pages in a narrow dialog, and put everything below one another."""
        self._pages.setVisible(narrow)
        if narrow:
            self._level_line.insertWidget(0, self.level)
        else:
            self._search_line.addWidget(self.level)
        metrics = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM))
        all_models = metrics.horizontalAdvance(self.scope.buttons[EVERY_MODEL].text())
        room = max(width - 2 * _SIDE_PX - all_models - _HEAD_BESIDE_PX, 60)
        words = tr("For {model}", model=self._model_name)
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, min(room, self._theme.type.px(_NAME_PX)))
        self.scope.buttons[self._model].setText(words)


class PageList(QFrame):
    """The same pages twice: `box` is put where the narrow dialog has room for it."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, pages: Sequence[Page], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "dialog-nav")
        self._model = QStandardItemModel(self)
        self.box = ListBox(theme, parent)  # the pages as a field
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
