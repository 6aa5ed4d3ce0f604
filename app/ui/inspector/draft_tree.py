"""The tree that was drafted in one round: its layout, and its picture with the path that held."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import exp
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.chat.reply_trace import Origin, TracedToken
from app.ui import figures
from app.ui.inspector.tokens import shown_text
from app.ui.painting import smooth
from app.ui.theme.theme import TextStyle, Theme
from app.words import mark, tr
from engine.messages import RoundRecord

Fate = Literal["root", "accepted", "corrected", "plain", "rejected"]
_NODE_PX = (57, 27)
_GAP_PX = (20, 9)
_MARGIN_PX = 3
# Probes are dots in the gap below their node: diameter, distance from dot to dot, and how far below.
_PROBE_PX = (3.0, 6.0, 3.0)
_PROBE_OPACITY = 0.7
_NOTHING = mark("No step is chosen.")
_WORDS: dict[Fate, str] = {
    "root": mark("the token before"),
    "accepted": mark("guessed and accepted"),
    "corrected": mark("the model's own, in place of the guesses"),
    "plain": mark("the model's own"),
    "rejected": mark("guessed and not taken"),
}
# Edge, width of the edge, fill, text.
_LOOKS: dict[Fate, tuple[str, float, str, str]] = {
    "root": ("ctl", 1.0, "press", "text"),
    "accepted": ("acc", 2.0, "accs", "text"),
    "corrected": ("map", 2.0, "maps", "mapt"),
    "plain": ("mute", 1.0, "", "text"),
    "rejected": ("ctl", 1.0, "", "mute"),
}


@dataclass(frozen=True)
class PlacedNode:
    """A token of the tree."""

    text: str
    # End. ``corrected`` and ``plain`` are the target's own token after the path, where some guess was refused
    # and where there was none
    fate: Fate
    column: int  # depth; the root's is 0
    row: int  # 0 is the path's; above it rows are negative
    parent: int  # Parent's index among the placed nodes, -1 for the root
    score: float | None = None  # cumulative log-probability under the drafter, None where that is not known
    probes: int = 0  # number of probes after it


def place_tree(record: RoundRecord) -> list[PlacedNode]:
    """Every node of a round with texts: the root, the path that held, the target's own token, then the rest."""
    texts = record.texts
    if texts is None:
        return []
    placing = _Placing(record)
    # The reply may have ended on the path.
    held = record.accepted[: len(texts.emitted)]
    placed = [PlacedNode(texts.root, "root", 0, 0, -1, probes=placing.probes[-1])]
    placing.taken.add((0, 0))
    path = [-1, *held]
    for depth, node in enumerate(held, 1):
        placing.index[node] = depth
        placing.taken.add((depth, 0))
        score = record.scores[node] if record.scores else None
        probes = placing.probes[node]
        placed.append(PlacedNode(texts.drafted[node], "accepted", depth, 0, depth - 1, score, probes))
    if len(texts.emitted) > len(held):
        fate: Fate = "corrected" if record.tested > len(record.accepted) else "plain"
        placing.taken.add((len(path), 0))
        placed.append(PlacedNode(texts.emitted[len(held)], fate, len(path), 0, len(path) - 1))
    for node in path:
        for child in placing.children[node]:
            if child not in placing.index:
                side = placing.nearer_side(placed[placing.index[node]].column + 1)
                placing.place(child, side, side, placed)
    return placed


class _Placing:
    """State while a tree is laid out."""

    def __init__(self, record: RoundRecord) -> None:
        self.record = record
        self.children: dict[int, list[int]] = {node: [] for node in (-1, *range(len(record.tokens)))}
        for node, parent in enumerate(record.parents):
            self.children[parent].append(node)
        self.probes = Counter(record.probes)
        self.index = {-1: 0}
        self.taken: set[tuple[int, int]] = set()

    def nearer_side(self, column: int) -> int:
        """Return True if a free row of a column is nearer to the path above (-1) or below (1)."""
        distance = 1
        while (column, -distance) in self.taken and (column, distance) in self.taken:
            distance += 1
        return 1 if (column, -distance) in self.taken else -1

    def place(self, node: int, row: int, side: int, placed: list[PlacedNode]) -> None:
        """Put a refused node and what hangs on it into the first free rows outwards from one."""
        texts = self.record.texts
        assert texts is not None
        parent = self.index[self.record.parents[node]]
        column = placed[parent].column + 1
        while (column, row) in self.taken:
            row += side
        self.taken.add((column, row))
        self.index[node] = len(placed)
        score = self.record.scores[node] if self.record.scores else None
        probes = self.probes[node]
        placed.append(PlacedNode(texts.drafted[node], "rejected", column, row, parent, score, probes))
        for child in self.children[node]:
            self.place(child, row, side, placed)


class DraftTree(QWidget):
    """Painted, from left to right. The arrow keys ask for the round before or after."""

    step_wanted = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._record: RoundRecord | None = None
        self.nodes: list[PlacedNode] = []  # tree that is painted
        self._top_row = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._describe()

    def set_record(self, record: RoundRecord | None) -> None:
        """Show a round's tree."""
        if record is not self._record:
            self._record = record
            self.nodes = [] if record is None else place_tree(record)
            self._top_row = min((node.row for node in self.nodes), default=0)
            self._describe()
            self.restyle()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.resize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        if not self.nodes:
            return QSize(240, self._theme.type.px(_NODE_PX[1]))
        columns = 1 + max(node.column for node in self.nodes)
        rows = 1 + max(node.row for node in self.nodes) - self._top_row
        width, height = self._pitch()
        gap_x, gap_y = width - self._node_size()[0], height - self._node_size()[1]
        below = gap_y if any(node.probes for node in self.nodes) else 0
        return QSize(columns * width - gap_x + 2 * _MARGIN_PX, rows * height - gap_y + below + 2 * _MARGIN_PX)

    def path_place(self) -> QRect:
        """Places of the path, the target's own token included."""
        place = QRectF()
        for node in self.nodes:
            if node.row == 0 and node.fate != "rejected":
                place = place.united(self._box(node))
        return place.toAlignedRect()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not event.modifiers():
            self.step_wanted.emit(-1 if event.key() == Qt.Key.Key_Left else 1)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the keyboard's focus at a click, without choosing anything."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def event(self, event: QEvent) -> bool:
        """Say what a node is and how likely the draft found it."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = QPointF(event.pos())
            for node in self.nodes:
                if self._box(node).contains(at):
                    QToolTip.showText(event.globalPos(), _node_words(node), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        if not self.nodes:
            painter.setFont(self._theme.font(TextStyle.SMALL))
            painter.setPen(self._theme.color("mute"))
            painter.drawText(QRectF(self.rect()), Qt.TextFlag.TextWordWrap, tr(_NOTHING))
        ordered = sorted(self.nodes, key=lambda node: node.fate != "rejected")
        for node in ordered:
            if node.parent >= 0:
                self._paint_line(painter, self.nodes[node.parent], node)
        for node in ordered:
            self._paint_node(painter, node)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.color("acc"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.visibleRegion().boundingRect()).adjusted(1, 1, -1, -1), 6, 6)

    def _paint_line(self, painter: QPainter, parent: PlacedNode, node: PlacedNode) -> None:
        begin, end = self._box(parent), self._box(node)
        start = QPointF(begin.right(), begin.center().y())
        goal = QPointF(end.left(), end.center().y())
        path = QPainterPath(start)
        if start.y() == goal.y():
            path.lineTo(goal)
        else:
            bend = (goal.x() - start.x()) * 0.6
            path.cubicTo(start + QPointF(bend, 0), goal - QPointF(bend, 0), goal)
        pen = QPen(self._theme.color(_LOOKS[node.fate][0]), 2.5)
        if node.fate in ("rejected", "plain"):
            pen.setWidthF(1.0)
        if node.fate == "rejected":
            pen.setDashPattern([3.0, 3.0])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _paint_node(self, painter: QPainter, node: PlacedNode) -> None:
        edge, width, fill, text = _LOOKS[node.fate]
        pen = QPen(self._theme.color(edge), width)
        if node.fate == "rejected":
            pen.setDashPattern([3.0, 3.0])
        if node.fate == "plain":
            pen.setDashPattern([1.0, 1.5])
        painter.setPen(pen)
        painter.setBrush(self._theme.color(fill) if fill else self._theme.color("side"))
        box = self._box(node)
        painter.drawRoundedRect(box, 6, 6)
        chosen = node.fate in ("root", "accepted", "corrected")
        painter.setFont(self._theme.font(TextStyle.SMALL_BOLD if chosen else TextStyle.SMALL))
        painter.setPen(self._theme.color(text))
        words = _node_text(node)
        metrics = QFontMetricsF(painter.font())
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, box.width() - 6)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, words)
        if node.probes:
            self._paint_probes(painter, box, node.probes)

    def _paint_probes(self, painter: QPainter, box: QRectF, probes: int) -> None:
        """Paint as many faint dots below a node, from the right, as there is room for."""
        size, step, below = _PROBE_PX
        color = self._theme.color("mute")
        color.setAlphaF(_PROBE_OPACITY)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for place in range(min(probes, int(box.width() / step))):
            painter.drawEllipse(QRectF(box.right() - size - place * step, box.bottom() + below, size, size))

    def _node_size(self) -> tuple[int, int]:
        px = self._theme.type.px
        return px(_NODE_PX[0]), px(_NODE_PX[1])

    def _pitch(self) -> tuple[int, int]:
        width, height = self._node_size()
        return width + _GAP_PX[0], height + _GAP_PX[1]

    def _box(self, node: PlacedNode) -> QRectF:
        (width, height), (step_x, step_y) = self._node_size(), self._pitch()
        return QRectF(
            _MARGIN_PX + node.column * step_x, _MARGIN_PX + (node.row - self._top_row) * step_y, width, height
        )

    def _describe(self) -> None:
        by_fate: dict[Fate, list[str]] = {}
        for node in self.nodes:
            by_fate.setdefault(node.fate, []).append(_node_text(node))
        words = "; ".join(f"{tr(_WORDS[fate])}: {', '.join(texts)}" for fate, texts in by_fate.items())
        probes = sum(node.probes for node in self.nodes)
        if probes:
            words = f"{words}; {tr('prompt tokens: {count}', count=probes)}"
        self.setAccessibleName(tr("Draft tree: {steps}", steps=words or tr(_NOTHING)))


def _node_text(node: PlacedNode) -> str:
    return shown_text(TracedToken(node.text, Origin.PLAIN, 0))


def _node_words(node: PlacedNode) -> str:
    words = f"{node.text!r}: {tr(_WORDS[node.fate])}"
    if node.score is not None:
        percent = figures.digits(100 * exp(min(node.score, 0.0)), 2)
        words = tr("{token}, found likely by {percent} %", token=words, percent=percent)
    if node.probes:
        words = f"{words}; {tr('prompt tokens: {count}', count=node.probes)}"
    return words
