"""The paint of a chat's row in the list, and of the words around what a search found."""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.chat.search import SearchHit
from app.ui import figures
from app.ui.painting import LEFT, RIGHT, in_row, isolated, paint_box, paint_dot, paint_words
from app.ui.sidebar.conversation_model import BUSY_ROLE, HIT_ROLE, ID_ROLE, PINNED_ROLE, ROW_ROLE, Row
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr

_LINES = 2
_BEFORE = 24  # characters kept before the first word that was found, so that it stands on the first line
_BETWEEN = "•· "  # parts items and cells: nothing to begin with
_ROW_PX = 32
_HEAD_PX = 36
_MARGIN_PX = 8
_PADDING_PX = 8
_MENU_PX = 28
_PIN_PX = 16
_DOT_PX = 8
_ICON_PX = 16
_CHEVRON_PX = 14
_INSET_PX = 18  # chats in a folder begin where its icon does

Index = QModelIndex | QPersistentModelIndex


def snippet_height(theme: Theme) -> int:
    """Height of the two lines, in px."""
    return _LINES * QFontMetrics(theme.font(TextStyle.SMALL)).lineSpacing()


def paint_snippet(painter: QPainter, theme: Theme, hit: SearchHit, box: QRect) -> None:
    """Paint a hit's snippet into a box."""
    font = theme.font(TextStyle.SMALL)
    text, marks = shortened(hit)
    layout = QTextLayout(text, font)
    option = QTextOption(Qt.AlignmentFlag.AlignLeft)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats([_bold(theme, start, end) for start, end in marks])
    layout.beginLayout()
    line_px = QFontMetrics(font).lineSpacing()
    for number in range(_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(box.width())
        line.setPosition(QPointF(0, number * line_px))
    layout.endLayout()
    painter.setPen(theme.color("sub"))
    layout.draw(painter, QPointF(box.topLeft()))


def shortened(hit: SearchHit) -> tuple[str, list[tuple[int, int]]]:
    """Return the snippet from shortly before the first word found, and the places of the words in it."""
    first = hit.marks[0][0] if hit.marks else 0
    if first <= _BEFORE:
        return hit.snippet, list(hit.marks)
    cut = hit.snippet.find(" ", first - _BEFORE, first) + 1 or first
    while hit.snippet[cut] in _BETWEEN:
        cut += 1
    return f"…{hit.snippet[cut:]}", [(start - cut + 1, end - cut + 1) for start, end in hit.marks]


def _bold(theme: Theme, start: int, end: int) -> QTextLayout.FormatRange:
    shape = QTextLayout.FormatRange()
    shape.start, shape.length = start, end - start
    words = QTextCharFormat()
    words.setFontWeight(QFont.Weight.DemiBold)
    words.setForeground(theme.color("text"))
    shape.format = words
    return shape


class ConversationDelegate(QStyledItemDelegate):
    """Group heads, titles, marks of running and queued replies, and the menu button of a row."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.keyboard = False
        self.drop_row = -1  # where what is dragged would land

    @property
    def _pin_px(self) -> int:
        return self._theme.type.px(_PIN_PX)

    @property
    def _chevron_px(self) -> int:
        return self._theme.type.px(_CHEVRON_PX)

    @property
    def _icon_px(self) -> int:
        return self._theme.type.px(_ICON_PX)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if index.data(HIT_ROLE) is not None:
            return QSize(120, self._theme.type.px(self._theme.spaced(_ROW_PX)) + snippet_height(self._theme))
        row: Row = index.data(ROW_ROLE)
        head = row.conversation_id is None and not row.group
        type_ = self._theme.type
        return QSize(120, type_.px(_HEAD_PX) if head else type_.side(self._theme.spaced(_ROW_PX)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row: Row = index.data(ROW_ROLE)
        if row.group:
            self._paint_folder(painter, option, index, row)
        elif row.conversation_id is None:
            self._paint_head(painter, option, index)
        else:
            self._paint_row(painter, option, index)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setProperty("kind", "rename")
        editor.setAccessibleName(tr("Title") if index.data(ID_ROLE) is not None else tr("Name of the folder"))
        editor.setMaxLength(200)
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(_MARGIN_PX, 1, -_MARGIN_PX, -1))

    @staticmethod
    def menu_rect(row: QRect) -> QRect:
        """Box of the three dots when lines begin at the left."""
        return QRect(row.right() - _MARGIN_PX - _MENU_PX, row.top(), _MENU_PX, row.height())

    def _paint_head(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        box = in_row(option, option.rect.adjusted(_MARGIN_PX + _PADDING_PX, 0, -_MARGIN_PX, -8))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        paint_words(painter, self._theme, box, str(index.data()), TextStyle.SMALL_BOLD, "mute", flags)

    def _paint_folder(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: Row) -> None:
        fill = QRectF(option.rect.adjusted(_MARGIN_PX, 0, -_MARGIN_PX, 0))
        self._paint_fill(painter, option, index, fill, selected=False)
        box = option.rect.adjusted(_MARGIN_PX + _PADDING_PX - 1, 0, -_MARGIN_PX - _PADDING_PX, 0)
        chevron = "chevron-right" if row.folded else "chevron-down"
        place = QRect(box.left(), box.top(), self._chevron_px, box.height())
        self._paint_icon(painter, option, place, chevron, self._chevron_px)
        box.setLeft(box.left() + self._chevron_px + 4)
        icon = "folder" if row.folder else "archive"
        self._paint_icon(painter, option, QRect(box.left(), box.top(), self._icon_px, box.height()), icon)
        box.setLeft(box.left() + self._icon_px + 6)
        count = figures.whole(row.count)
        small = self._theme.font(TextStyle.SMALL)
        painter.setFont(small)
        painter.setPen(self._theme.color("mute"))
        if option.state & QStyle.StateFlag.State_MouseOver and row.folder:
            self._paint_icon(painter, option, self.menu_rect(option.rect), "ellipsis")
            box.setRight(self.menu_rect(option.rect).left() - 2)
        else:
            painter.drawText(in_row(option, box), RIGHT, count)
            box.setRight(box.right() - QFontMetrics(small).horizontalAdvance(count) - 8)
        font = self._theme.font(TextStyle.UI_MEDIUM)
        painter.setFont(font)
        painter.setPen(self._theme.color("sub"))
        title = QFontMetrics(font).elidedText(row.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(in_row(option, box), LEFT, isolated(title, option.direction))

    def _paint_fill(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, fill: QRectF, selected: bool
    ) -> None:
        """Paint the ground of a row: chosen, under the pointer, focused, or the target of a drop."""
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = self.keyboard and bool(option.state & QStyle.StateFlag.State_HasFocus)
        if selected or hovered:
            paint_box(painter, self._theme, fill, 8, "accs" if selected else "hover")
        if focused or index.row() == self.drop_row:
            painter.setPen(QPen(self._theme.color("acc"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(fill.adjusted(1, 1, -1, -1), 7, 7)

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        state = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        fill = QRectF(option.rect.adjusted(_MARGIN_PX, 0, -_MARGIN_PX, 0))
        self._paint_fill(painter, option, index, fill, selected)
        row: Row = index.data(ROW_ROLE)
        inset = _INSET_PX if row.folder or row.archived else 0
        box = option.rect.adjusted(_MARGIN_PX + _PADDING_PX + inset, 0, -_MARGIN_PX - _PADDING_PX, 0)
        hit = index.data(HIT_ROLE)
        if hit is not None:
            height = snippet_height(self._theme)
            lower = box.adjusted(0, box.height() - height - 4, 0, -4)
            paint_snippet(painter, self._theme, hit, in_row(option, lower))
            box.setHeight(box.height() - height)
        elif selected or hovered:
            self._paint_icon(painter, option, self.menu_rect(option.rect), "ellipsis")
            box.setRight(self.menu_rect(option.rect).left() - 2)
        elif index.data(PINNED_ROLE):
            place = QRect(box.right() - self._pin_px + 1, box.top(), self._pin_px, box.height())
            self._paint_icon(painter, option, place, "pin")
            box.setRight(place.left() - 4)
        busy = index.data(BUSY_ROLE) if hit is None else ""
        if busy:
            dot = in_row(option, QRect(box.right() - _DOT_PX, option.rect.top(), _DOT_PX, 1))
            middle = QPointF(dot.left() + _DOT_PX / 2, option.rect.center().y() + 1)
            paint_dot(painter, self._theme, middle, _DOT_PX, "acc", hollow=busy != "running")
            box.setRight(box.right() - _DOT_PX - 6)
        font = self._theme.font(TextStyle.UI_MEDIUM if selected else TextStyle.UI)
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        title = QFontMetrics(font).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(in_row(option, box), LEFT, isolated(title, option.direction))

    def _paint_icon(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRect, name: str, side: int = 0
    ) -> None:
        box, side = in_row(option, box), side or self._icon_px
        ratio = painter.device().devicePixelRatioF()
        icon = tinted_pixmap(name, self._theme.palette.sub, side, ratio)
        painter.drawPixmap(box.x() + (box.width() - side) // 2, box.y() + (box.height() - side) // 2, icon)
