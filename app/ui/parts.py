"""Rows and columns, labels of plain text, and buttons, each made in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Literal, TypeVar

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt, QUrl, SignalInstance
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QTextDocument
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QStyleOption,
    QToolButton,
    QWidget,
)

from app.ui.painting import paint_icon
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme

STRETCH: Literal["stretch"] = "stretch"
_Box = TypeVar("_Box", bound=QBoxLayout)
_Thing = QWidget | QLayout
_Part = _Thing | tuple[_Thing, int] | tuple[QWidget, int, Qt.AlignmentFlag] | int | Literal["stretch"]
_LONGEST_LINE = 2_000  # characters of one line that are looked at: more than there is room for
_Pressed = Callable[..., object] | SignalInstance | None


def filled(
    box: _Box,
    *parts: _Part,
    margins: int | tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> _Box:
    """Fill a row or a column in the order of its parts.

    Args:
        box: A layout, new or filled in part.
        parts: Widgets and layouts, each alone or with its stretch and alignment; gaps in px; `STRETCH` for a gap that
            takes the room that is left.
        margins: Px at all sides, or at the left, above, at the right and below; None for those of the style.
        spacing: Px between parts; None for the style's.

    Returns:
        The same layout.
    """
    if margins is not None:
        box.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if part == STRETCH:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            thing, stretch, *alignment = part if isinstance(part, tuple) else (part, 0)
            if isinstance(thing, QLayout):
                box.addLayout(thing, stretch)
            else:
                box.addWidget(thing, stretch, *alignment)
    return box


def turn(box: QBoxLayout, down: bool) -> None:
    """Let the parts of a layout stand one below the other, or side by side."""
    box.setDirection(QBoxLayout.Direction.TopToBottom if down else QBoxLayout.Direction.LeftToRight)


def in_columns(grid: QGridLayout, widgets: Iterable[QWidget], columns: int) -> None:
    """Put widgets into columns of the same width, from the left to the right and then below."""
    for number, widget in enumerate(widgets):
        grid.addWidget(widget, number // columns, number % columns)
    for column in range(grid.columnCount()):
        grid.setColumnStretch(column, int(column < columns))


def order_tabs(widgets: Iterable[QWidget]) -> None:
    """Let the Tab key go from each widget to the next."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def scrolled(content: QWidget, parent: QWidget, name: str = "") -> QScrollArea:
    """Return an area without a frame in which a column scrolls up and down."""
    area = QScrollArea(parent)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(content)
    area.setAccessibleName(name)
    return area


class Flow(QLayout):
    """Hidden widgets take no place."""

    def __init__(self, gap_px: int = 8, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap_px
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), apply=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, apply=True)

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in shown) + self._gap * max(0, len(shown) - 1)
        return QSize(width, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QSize:
        shown = [item.minimumSize() for item in self._items if not item.isEmpty()]
        return QSize(
            max((size.width() for size in shown), default=0),
            max((size.height() for size in shown), default=0),
        )

    def _arrange(self, rect: QRect, apply: bool) -> int:
        """Return the height in px."""
        left, top, line = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(max(1, rect.width()), 10_000))
            if left > rect.x() and left + size.width() > rect.x() + rect.width():
                left, top, line = rect.x(), top + line + self._gap, 0
            if apply:
                item.setGeometry(QRect(QPoint(left, top), size))
            left += size.width() + self._gap
            line = max(line, size.height())
        return top + line - rect.y()


class InertDocument(QTextDocument):
    """A document that has what was put into it and nothing else."""

    def loadResource(self, type: int, name: QUrl | str) -> QImage:
        """Return one transparent point, since Qt would look on the disk for a resource without any."""
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing


class PlainLabel(QLabel):
    """A label that shows its text as it is.

    Args:
        text: The text; or the parent, of a label that has none yet.
        kind: Look, by the name that the style sheet has for it.
        wrap: True if it may take several lines.
    """

    def __init__(
        self,
        text: str | QWidget | None = None,
        parent: QWidget | None = None,
        kind: str = "",
        wrap: bool = False,
    ) -> None:
        super().__init__(text if isinstance(text, QWidget) else parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if kind:
            self.setProperty("kind", kind)
        if isinstance(text, str):
            self.setText(text)


class IconLabel(PlainLabel):
    """An icon of assets/icons in the colour of a role of `Palette`; it follows the theme."""

    def __init__(self, theme: Theme, name: str, role: str, side_px: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(side_px, side_px)
        self.show_icon(name, role)

    def show_icon(self, name: str, role: str) -> None:
        """Show another icon."""
        self._name, self._role = name, role
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_icon(QPainter(self), self._theme, self, self._name, 0, self.width(), self._role)


class PlainQuestion(QMessageBox):
    """A box whose text is shown as it is: what it asks about has a name that somebody else chose."""

    def __init__(self, title: str, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWindowTitle(title)
        self.setText(text)


class ElidedLabel(PlainLabel):
    """A label of one line; the whole text is its tool tip where it is cut."""

    def minimumSizeHint(self) -> QSize:
        return QSize(min(super().sizeHint().width(), 40), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        metrics = self.fontMetrics()
        text = metrics.elidedText(self.text()[:_LONGEST_LINE], Qt.TextElideMode.ElideRight, self.width())
        if self.toolTip() != (self.text() if text != self.text() else ""):
            self.setToolTip(self.text() if text != self.text() else "")
        self.style().drawItemText(
            painter, self.rect(), int(self.alignment()), option.palette, self.isEnabled(), text,
            self.foregroundRole(),
        )  # fmt: skip


class LabelledButton(QToolButton):
    """A button with an icon and words beside it, and as much room before as after them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)

    def sizeHint(self) -> QSize:
        """Size without the two spaces that Qt adds after the words."""
        size = super().sizeHint()
        if self.toolButtonStyle() is not Qt.ToolButtonStyle.ToolButtonTextBesideIcon:
            return size
        return size.shrunkBy(QMargins(0, 0, 2 * self.fontMetrics().horizontalAdvance(" "), 0))


def push_button(
    words: str,
    parent: QWidget | None,
    pressed: _Pressed = None,
    kind: str = "",
    default: bool | None = None,
) -> QPushButton:
    """Return a button with words, whose look the style sheet has by ``kind``.

    ``default`` is True for the one that Enter presses in a dialog, False for one that Enter never presses.
    """
    button = QPushButton(words, parent)
    if kind:
        button.setProperty("kind", kind)
    if default:
        button.setDefault(True)
    elif default is not None:
        button.setAutoDefault(False)
    if pressed is not None:
        button.clicked.connect(pressed)
    return button


def icon_button(
    theme: Theme,
    icon: str,
    name: str,
    parent: QWidget | None,
    pressed: _Pressed = None,
    icon_px: int = 16,
    side_px: int = 0,
    tip: str = "",
) -> QToolButton:
    """Return a button with an icon.

    Args:
        icon: File name in assets/icons without its ending.
        pressed: A signal or a slot.
        side_px: Side of the button; 0 leaves it to the layout.
        tip: Tool tip; empty for its name.
    """
    button = QToolButton(parent)
    button.setIcon(themed_icon(theme, icon))
    scale_icon(theme, button, icon_px, side_px)
    button.setAccessibleName(name)
    button.setToolTip(tip or name)
    if pressed is not None:
        button.clicked.connect(pressed)
    return button


def search_field(theme: Theme, words: str, parent: QWidget | None, clears: bool = True) -> QLineEdit:
    """Return a field with the sign of a search; ``clears`` gives it a button that empties it."""
    field = QLineEdit(parent)
    field.setPlaceholderText(words)
    field.setAccessibleName(words)
    field.setClearButtonEnabled(clears)
    field.addAction(themed_icon(theme, "search"), QLineEdit.ActionPosition.LeadingPosition)
    return field
