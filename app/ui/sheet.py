"""Dialogs of one column: a heading, what is asked or told, and two buttons; and the one that asks for a name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.ui.parts import STRETCH, PlainLabel, filled, order_tabs, push_button, scrolled
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr

_WIDTH_PX = 460
_EDGE_PX = 20
_LONGEST_NAME = 60


class Sheet(RingedDialog):
    """A dialog as high as its words, which scroll where the window around it has no room for them.

    Args:
        accept: Words of the button that does what the dialog is about.
        sentences: Paragraphs below the heading.
        heading: Words above all; empty for the title.
        danger: True if what it does cannot be undone: Enter presses the other button then.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        accept: str,
        parent: QWidget | None = None,
        *sentences: str,
        heading: str = "",
        danger: bool = False,
    ) -> None:
        super().__init__(theme, title, parent)
        self._theme = theme
        content = QWidget(self)
        self.heading = PlainLabel(heading or title, content, kind="section", wrap=True)
        self.head = filled(QHBoxLayout(), (self.heading, 1), spacing=10)
        self.column = filled(QVBoxLayout(), self.head, spacing=10)
        self._whole = filled(QVBoxLayout(content), self.column, STRETCH, margins=(_EDGE_PX, 18, _EDGE_PX, 8))
        self.area = scrolled(content, self, title)
        self.area.verticalScrollBar().rangeChanged.connect(self._range_changed)
        self.cancel_button = push_button(tr("Cancel"), self, self.reject, default=danger or None)
        kind = "danger" if danger else "primary"
        self.accept_button = push_button(accept, self, self.accept, kind=kind, default=not danger)
        buttons = filled(
            QHBoxLayout(),
            *(STRETCH, self.cancel_button, self.accept_button),
            margins=(_EDGE_PX, 12, _EDGE_PX, 16),
            spacing=8,
        )
        filled(QVBoxLayout(self), (self.area, 1), buttons, margins=0, spacing=0)
        for sentence in sentences:
            self.add_words(sentence)
        self.fit()

    def add_words(self, words: str, kind: str = "sub") -> QLabel:
        """Add a paragraph and return its label."""
        label = PlainLabel(words, self, kind=kind, wrap=True)
        self.column.addWidget(label)
        return label

    @property
    def words_px(self) -> int:
        """Width of the column beside a scroll bar, in px."""
        return min(self._theme.type.px(_WIDTH_PX), self.room(32).width()) - 2 * _EDGE_PX - self._bar_px

    @property
    def _bar_px(self) -> int:
        return self.area.verticalScrollBar().sizeHint().width()

    def fit(self) -> None:
        """Make the dialog as high as its words, within the window around it, and let Tab go down its parts."""
        width = self.words_px + 2 * _EDGE_PX
        for part in self.findChildren(QWidget):  # the style decides on how high it is
            part.ensurePolished()
        self._whole.activate()
        # Measured as beside a scroll bar: a bar that came once would make the words need it
        height = self._whole.totalHeightForWidth(width) + self._theme.type.px(32) + 32
        self.resize(width + self._bar_px, min(height, max(260, self.room(40).height())))
        parts = [one for one in self.area.findChildren(QWidget) if one.focusPolicy() & Qt.FocusPolicy.TabFocus]
        parts.sort(key=lambda one: one.mapTo(self.area, QPoint()).y())
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # or Qt leaves it where it is in the order
        order_tabs([self.area, *parts, self.cancel_button, self.accept_button])
        self._range_changed(0, self.area.verticalScrollBar().maximum())

    @Slot(int, int)
    def _range_changed(self, least: int, most: int) -> None:
        """Let Tab reach what the keys can scroll."""
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus if most > least else Qt.FocusPolicy.NoFocus)


class NameDialog(Sheet):
    """A field and two buttons. Accepting calls back with a name that is not blank.

    Args:
        title: The dialog's title, and the field's label.
        button: Text of the button that accepts.
        name: Text in the field at first.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        button: str,
        name: str,
        then: Callable[[str], object],
        parent: QWidget,
    ) -> None:
        super().__init__(theme, title, button, parent)
        self.field = QLineEdit(name, self)
        self.field.setAccessibleName(title)
        self.field.setMaxLength(_LONGEST_NAME)
        self.field.selectAll()
        self.field.textChanged.connect(self._changed)
        self.heading.setBuddy(self.field)
        self.column.addWidget(self.field)
        self.field.setFocus()
        self._changed()
        self.fit()
        self.accepted.connect(lambda: then(self.field.text().strip()))

    @Slot()
    def _changed(self) -> None:
        self.accept_button.setEnabled(bool(self.field.text().strip()))
