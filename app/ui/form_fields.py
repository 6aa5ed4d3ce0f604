"""Fields of forms: a box to tick, a list that opens, and plain text of any size."""

from __future__ import annotations

import re
import unicodedata

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QPlainTextEdit,
    QRadioButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.ui.painting import paint_icon, painted, smooth
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme

BOX_PX = 18
_ICON_PX = 14
_GAP_PX = 10
LONGEST_BLOCK = 2_000
_LINE = re.compile("[^\n\r\u2029\ufdd0\ufdd1]+")  # Qt begins a new block at each of these
_LONGEST_CLUSTER = 100
_JOINER, _SKINS = "\u200d", range(0x1F3FB, 0x1F400)
# An object's type is the one property that Qt gives to nothing that is typed after it, so that no break that a user
# makes is ever a soft one.
_SOFT = QTextCharFormat()
_SOFT.setObjectType(QTextFormat.ObjectTypes.UserObject.value + 2)


class TickBox(QCheckBox):
    """A box with words beside it, which wrap where there is no room."""

    def __init__(self, theme: Theme, words: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self._theme = theme
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(BOX_PX + _GAP_PX + words + 1, max(BOX_PX, self.fontMetrics().height()) + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(BOX_PX + 90, self.sizeHint().height())

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(1, width - BOX_PX - _GAP_PX), 10_000)
        words = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap.value, self.text())
        return max(BOX_PX, words.height()) + 4

    def hitButton(self, place: QPoint) -> bool:
        return self.rect().contains(place)

    def outline(self) -> QRect:
        """Return where the ring of the focus goes: around the box where it has no words."""
        return self.rect() if self.text() else self._box().toAlignedRect()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette, box = smooth(self), self._theme.palette, self._box()
        enabled, on = self.isEnabled(), self.isChecked() and self.isEnabled()
        painter.setPen(QColor(palette.acc if on else palette.ctl if enabled else palette.line))
        painter.setBrush(QColor(palette.acc if on else palette.bg if enabled else palette.surf))
        painter.drawRoundedRect(box, 4, 4)
        if self.isChecked():
            color = palette.onacc if on else palette.mute
            tick = tinted_pixmap("check", color, _ICON_PX, self.devicePixelRatioF())
            painter.drawPixmap(box.center() - QPointF(_ICON_PX, _ICON_PX) / 2, tick)
        painter.setPen(self._theme.color("text" if enabled else "mute"))
        inset = BOX_PX + _GAP_PX
        room = painted(self, inset, 0, self.width() - inset, self.height()).toRect()
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, flags.value | Qt.TextFlag.TextWordWrap.value, self.text())

    def _box(self) -> QRectF:
        return painted(self, 1.5, (self.height() - BOX_PX) / 2 + 0.5, BOX_PX - 1, BOX_PX - 1)


class RadioBox(QRadioButton):
    """Painted: the style's own has an edge that a dark page hides."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._theme = theme

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(3 + BOX_PX + _GAP_PX + width + 2, self._theme.type.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        box = QRectF(3.5, (self.height() - BOX_PX) / 2 + 0.5, BOX_PX - 1, BOX_PX - 1)
        on = self.isChecked()
        painter.setPen(self._theme.color("acc" if on else "ctl"))
        painter.setBrush(self._theme.color("acc" if on else "bg"))
        painter.drawEllipse(box)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("onacc"))
            painter.drawEllipse(QPointF(box.center()), 3.5, 3.5)
        painter.setPen(self._theme.color("text"))
        words = self.rect().adjusted(3 + BOX_PX + _GAP_PX, 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self.text())


class ListBox(QComboBox):
    """One of some names, with an arrow in the theme's colours.

    Args:
        letters: Letters that always fit.
    """

    def __init__(self, theme: Theme, parent: QWidget, letters: int = 4) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setItemDelegate(QStyledItemDelegate(self))  # Fusion's own paints a menu, in colours of its palette
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(letters)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the field, then the arrow, which a style sheet could only take from a file of one colour."""
        painter, option, style = QStylePainter(self), QStyleOptionComboBox(), self.style()
        self.initStyleOption(option)
        field, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = style.subControlRect(field, option, part, self).width()
        elided = option.fontMetrics.elidedText(self.currentText(), Qt.TextElideMode.ElideMiddle, room - 4)
        option.currentText = elided
        painter.drawComplexControl(field, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        side = self._theme.type.px(_ICON_PX)
        paint_icon(painter, self._theme, self, "chevron-down", self.width() - side - 9, side)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()


class LongTextEdit(QPlainTextEdit):
    """`toPlainText`, `setPlainText` and `insertPlainText` have the text without soft breaks, as it was given."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._soft = False
        self._changed: tuple[int, int] | None = None
        self.document().contentsChange.connect(self._note)
        self.textChanged.connect(self._part)

    def toPlainText(self) -> str:
        """Return the text with its non-breaking spaces, which Qt's own function changes."""
        raw = self.document().toRawText()
        return _joined(raw, self.document().begin()) if self._soft else raw.replace("\u2029", "\n")

    def setPlainText(self, text: str) -> None:
        """Replace the text; there is nothing to undo then, and the cursor is at the beginning."""
        first, *rest = _pieces(text)
        super().setPlainText(first)
        self._soft = False
        if rest:
            document = self.document()
            document.setUndoRedoEnabled(False)
            self.moveCursor(QTextCursor.MoveOperation.End)
            self._insert(rest, behind=True)
            document.setUndoRedoEnabled(True)
            self.moveCursor(QTextCursor.MoveOperation.Start)

    def insertPlainText(self, text: str) -> None:
        self._insert(_pieces(text))

    def has_words(self) -> bool:
        """Return True if the text is more than space; does not read all of it."""
        block = self.document().begin()
        while block.isValid():
            if block.text().strip():
                return True
            block = block.next()
        return False

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.insertPlainText(source.text())
            self.ensureCursorVisible()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selected text, exactly."""
        cursor, data = self.textCursor(), QMimeData()
        data.setText(_joined(cursor.selectedText(), self.document().findBlock(cursor.selectionStart())))
        return data

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete a character at a key, not the soft break beside it."""
        if event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete, Qt.Key.Key_K):
            self._step_over_break(backward=event.key() == Qt.Key.Key_Backspace)
        super().keyPressEvent(event)

    def _step_over_break(self, backward: bool) -> None:
        cursor = self.textCursor()
        block = cursor.block() if backward else cursor.block().next()
        beside = cursor.atBlockStart() if backward else cursor.atBlockEnd()
        if beside and not cursor.hasSelection() and block.isValid() and is_continued(block):
            moves = QTextCursor.MoveOperation
            cursor.movePosition(moves.PreviousCharacter if backward else moves.NextCharacter)
            self.setTextCursor(cursor)

    def _insert(self, pieces: list[str], behind: bool = False) -> None:
        """Insert pieces with soft breaks between them, and one before them where they go ``behind`` a piece."""
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        for number, piece in enumerate(pieces):
            if number or behind:
                self._break(cursor)
            cursor.insertText(piece, QTextCharFormat())
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def _break(self, cursor: QTextCursor) -> None:
        cursor.insertBlock(QTextBlockFormat(), _SOFT)
        self._soft = True

    @Slot(int, int, int)
    def _note(self, position: int, removed: int, added: int) -> None:
        first, last = self._changed or (position, position)
        self._changed = (min(first, position), max(last, position + added))

    @Slot()
    def _part(self) -> None:
        """Part what has become too long, as a part of the change that made it so."""
        changed, self._changed = self._changed, None
        if self.document().isRedoAvailable():
            return  # what was undone was parted when it was done; another change would take its redoing away
        for position in changed or ():
            block = self.document().findBlock(position)
            if block.length() <= 2 * LONGEST_BLOCK:
                continue
            cursor = QTextCursor(self.document())
            cursor.joinPreviousEditBlock()
            at = block.position()
            for piece in _pieces(block.text())[:-1]:
                at += len(piece.encode("utf-16-le", "surrogatepass")) // 2
                cursor.setPosition(at)
                self._break(cursor)
                at += 1
            cursor.endEditBlock()


def is_continued(block: QTextBlock) -> bool:
    """Return True if a block goes on with the paragraph of the block before it."""
    return block.charFormat().objectType() == _SOFT.objectType()


def _joined(raw: str, block: QTextBlock) -> str:
    """Return the text of a document from a block on, as Qt gives it, without soft breaks."""
    parts: list[str] = []
    for part in raw.split("\u2029"):
        parts += [part] if is_continued(block) or not parts else ["\n", part]
        block = block.next()
    return "".join(parts)


def _pieces(text: str) -> list[str]:
    """Return a text cut where soft breaks belong: after a space if there is one, never within a character."""
    pieces, begin = [], 0
    for line in _LINE.finditer(text):
        at = line.start()
        while line.end() - at > LONGEST_BLOCK:
            at = text.rfind(" ", at + LONGEST_BLOCK // 2, at + LONGEST_BLOCK) + 1 or at + LONGEST_BLOCK
            farthest = min(at + _LONGEST_CLUSTER, line.end())
            while at < farthest and _is_one_character(text[at - 1], text[at]):
                at += 1
            if at < line.end():
                pieces.append(text[begin:at])
                begin = at
    return [*pieces, text[begin:]]


def _is_one_character(before: str, after: str) -> bool:
    """Return True if two code points are parts of what a user takes for one character."""
    joined = _JOINER in (before, after) or ord(after) in _SKINS
    return joined or unicodedata.category(after).startswith("M")
