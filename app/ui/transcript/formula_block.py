"""A formula on lines of its own: centred, smaller or scrolled where it is too wide, its source until it is typeset."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import (
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from app.chat.formula import Formula, FormulaShape
from app.chat.markdown_blocks import Block
from app.ui.parts import PlainLabel
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.formula_text import FORMULA_SCALE
from app.ui.transcript.selectable import SelectableWhole
from app.ui.transcript.text_marks import Stretch
from app.words import tr

_PADDING_Y_PX = 6
_SMALLEST = 0.75  # of the text's size; what is wider still is scrolled
_BAR_PX = 10


class FormulaPicture(QWidget):
    """The painted formula."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._em_px = 0.0
        self._shape: FormulaShape | None = None

    def fit(self, shape: FormulaShape, width: int) -> QSize:
        """Choose a size for the font, and return what the formula takes: more than the width where it must be."""
        em = FORMULA_SCALE * self._theme.font(TextStyle.READING).pixelSize()
        natural = shape.width * em + 4
        self._shape = shape
        self._em_px = em * min(1.0, max(_SMALLEST, width / natural))
        height = (shape.ascent + shape.descent) * self._em_px
        return QSize(max(width, round(shape.width * self._em_px) + 4), round(height) + 2 * _PADDING_Y_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._shape is None:
            return
        left = (self.width() - self._shape.width * self._em_px) / 2
        origin = QPointF(left, _PADDING_Y_PX + self._shape.ascent * self._em_px)
        self._theme.formulas.paint(QPainter(self), origin, self._shape, self._em_px, self._theme.color("text"))


class FormulaBlock(SelectableWhole):
    """The formula, or its source where it is not closed, not yet set or cannot be read."""

    def __init__(self, theme: Theme, block: Block, parent: QWidget | None = None) -> None:
        self._picture = FormulaPicture(theme)
        super().__init__(theme, self._picture, tr("Formula"), parent)
        self._block = block
        self._source = PlainLabel(self, wrap=True)
        self.restyle()

    def whole_source(self) -> str:
        return self._block.source

    @property
    def typeset(self) -> bool:
        """True if the formula is shown, and not its source."""
        return self._source.isHidden()

    def set_block(self, block: Block) -> None:
        """Show more of the same formula."""
        if block != self._block:
            self._block = block
            self.restyle()

    def set_drafted(self, stretches: list[Stretch]) -> None:
        """Do nothing: a drawing has no places to mark."""

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        shape = self._shape()
        if shape is None:
            return self._source.heightForWidth(width) + 2 * _PADDING_Y_PX
        size = self._picture.fit(shape, width)
        self._picture.resize(size)
        return size.height() + (_BAR_PX if size.width() > width else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._scroll.setGeometry(self.rect())
        self._source.setGeometry(self.rect().adjusted(0, _PADDING_Y_PX, 0, -_PADDING_Y_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.selected:
            QPainter(self).fillRect(self.rect(), self.theme.color("accs"))

    def _formula(self) -> Formula:
        return Formula(self._block.text, display=True)

    def _shape(self) -> FormulaShape | None:
        return self.theme.formulas.shape(self._formula()) if self._block.closed else None

    def restyle(self) -> None:
        shape = self._shape()
        self._source.setFont(self.theme.font(TextStyle.CODE))
        self._source.setText(self._block.text)
        self._source.setVisible(shape is None)
        self._scroll.setVisible(shape is not None)
        self._picture.update()
        self.setAccessibleDescription(self._block.text)

    def awaits(self, formulas: frozenset[Formula]) -> bool:
        return self._formula() in formulas
