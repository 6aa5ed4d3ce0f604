"""Formulas as pictures: asked for once each, kept while they are used, painted in the colours of the theme."""

from __future__ import annotations

from collections import OrderedDict
from math import ceil
from typing import Protocol

from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.chat.formula import Formula, FormulaShape

_MOST_SHAPES = 2_000
_MOST_PIXMAPS = 300
_GATHER_MS = 30  # formulas that come together change the transcript together
_EDGE_PX = 1  # a smooth edge needs a pixel beyond the shape


class Typesets(Protocol):
    """Source of the shapes of formulas, now or later."""

    answered: SignalInstance  # Formula; FormulaShape, or None where it cannot be read

    def ask(self, formula: Formula) -> None:
        """Have a formula typeset."""


class Formulas(QObject):
    """Shapes that are known, and pictures of them. Without a typesetter every formula stays its source."""

    changed = Signal(object)  # frozenset of the formulas whose shapes have come

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._typesetter: Typesets | None = None
        self._shapes: OrderedDict[Formula, FormulaShape | None] = OrderedDict()
        self._asked: set[Formula] = set()
        self._fresh: set[Formula] = set()
        self._pixmaps: OrderedDict[tuple[object, ...], QPixmap] = OrderedDict()
        self._gather = QTimer(self, singleShot=True, interval=_GATHER_MS)
        self._gather.timeout.connect(self._tell)

    def use(self, typesetter: Typesets) -> None:
        """Ask this one from now on."""
        self._typesetter = typesetter
        typesetter.answered.connect(self._take)

    def shape(self, formula: Formula) -> FormulaShape | None:
        """Shape of a formula; None where it cannot be read, or is not known yet: then `changed` follows."""
        if formula in self._shapes:
            self._shapes.move_to_end(formula)
        elif formula not in self._asked and self._typesetter is not None:
            self._asked.add(formula)
            self._typesetter.ask(formula)
        return self._shapes.get(formula)

    def awaited(self, formula: Formula) -> bool:
        """Return True if the formula's shape is still to come."""
        return formula in self._asked

    def paint(
        self, painter: QPainter, origin: QPointF, shape: FormulaShape, em_px: float, color: QColor
    ) -> None:
        """Paint a shape.

        Args:
            painter: Paints it.
            origin: The left end of its baseline.
            shape: The shape to paint.
            em_px: Size of the font.
            color: Colour of what has none of its own.
        """
        ratio = painter.device().devicePixelRatioF()
        key = (shape.svg, em_px, color.rgba(), ratio)
        pixmap = self._pixmaps.get(key)
        if pixmap is None:
            pixmap = _pixmap(shape, em_px, color, ratio)
            self._pixmaps[key] = pixmap
            if len(self._pixmaps) > _MOST_PIXMAPS:
                self._pixmaps.popitem(last=False)
        else:
            self._pixmaps.move_to_end(key)
        top = origin.y() - shape.ascent * em_px
        painter.drawPixmap(
            QPointF(round(origin.x() * ratio) / ratio - _EDGE_PX, round(top * ratio) / ratio - _EDGE_PX),
            pixmap,
        )

    @Slot(object, object)
    def _take(self, formula: Formula, shape: FormulaShape | None) -> None:
        self._asked.discard(formula)
        self._shapes[formula] = shape
        if len(self._shapes) > _MOST_SHAPES:
            self._shapes.popitem(last=False)
        if shape is not None:
            self._fresh.add(formula)
            if not self._gather.isActive():
                self._gather.start()

    @Slot()
    def _tell(self) -> None:
        fresh, self._fresh = frozenset(self._fresh), set()
        self.changed.emit(fresh)


def _pixmap(shape: FormulaShape, em_px: float, color: QColor, ratio: float) -> QPixmap:
    width, height = shape.width * em_px, (shape.ascent + shape.descent) * em_px
    pixmap = QPixmap(
        max(1, ceil((width + 2 * _EDGE_PX) * ratio)), max(1, ceil((height + 2 * _EDGE_PX) * ratio))
    )
    pixmap.fill(Qt.GlobalColor.transparent)
    svg = shape.svg.replace("black", color.name())
    edge = _EDGE_PX * ratio
    box = QRectF(edge, edge, width * ratio, height * ratio)
    with QPainter(pixmap) as painter:
        QSvgRenderer(QByteArray(svg.encode())).render(painter, box)
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
