"""A table of a reply: its frame, its grid of cells, and the widths of its columns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.chat.formula import Formula
from app.chat.markdown_blocks import split_cells
from app.chat.search import places
from app.ui.painting import runs_right_to_left, smooth
from app.ui.parts import InertDocument
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.formula_text import place_formulas, selected_text, set_markdown
from app.ui.transcript.hidden_signs import mark_inline_code
from app.ui.transcript.markdown_style import (
    NO_HTML_MARKDOWN,
    leading_px,
    paint_ornaments,
    prose_text,
    space_block,
    style_markdown,
)
from app.ui.transcript.selectable import SelectableWhole
from app.ui.transcript.text_marks import (
    Stretch,
    clipped,
    cursors,
    drafted_format,
    found_format,
    rendered_stretches,
    stretches_of_blocks,
)
from app.words import tr

# Text of a cell without any Markdown, as in most cells. Reading it as Markdown would take three times as long.
_PLAIN = re.compile(r"(?!\d+\))(?:[^\W_](?:[^\W_]|(?<! )[ ]|[,%()/+]|[.](?=\d)|[:-](?=[^\W_]))*)?")
_STEPS = 40  # halvings, after which a width is right to far less than a pixel
_PAD_X_PX = 12
_PAD_Y_PX = 4
# A column of long texts is at least this wide, one with a longer word as wide as that one, up to a limit.
_LEAST_COLUMN_PX = 96
_WIDEST_WORD_PX = 180
_LONGEST_CELL = 2_000  # characters that are shown; copying takes all
_ROOMY_COLUMN_PX = 220  # where the table is scrolled sideways anyway


def column_widths(natural: Sequence[float], least: Sequence[float], width: float, roomy: float) -> list[float]:
    """Widths of columns, in px: they fill the width, and go beyond it only where it cannot hold the least.

    Spare room goes to all alike; a shortage is taken from the widest first.

    Args:
        natural: Width of each column when nothing in it is wrapped.
        least: Least width of each; not more than its natural width.
        width: Room for all of them.
        roomy: Width of a column that has the text for it, in a table that is scrolled sideways anyway.
    """
    spare = width - sum(natural)
    if spare >= 0:
        return [column + spare / len(natural) for column in natural]
    if sum(least) > width:
        return _capped(natural, least, roomy)
    below, above = 0.0, max(natural)
    for _ in range(_STEPS):
        cap = (below + above) / 2
        if sum(_capped(natural, least, cap)) > width:
            above = cap
        else:
            below = cap
    return _capped(natural, least, below)


def _capped(natural: Sequence[float], least: Sequence[float], cap: float) -> list[float]:
    return [max(low, min(column, cap)) for column, low in zip(natural, least, strict=True)]


class TableCell:
    """One cell: a document, laid out at a column's width."""

    def __init__(self, theme: Theme, markdown: str, alignment: Qt.AlignmentFlag, head: bool) -> None:
        self.markdown = markdown
        self.places: list[Stretch] = []
        font = theme.font(TextStyle.TABLE)
        if head:
            font.setWeight(font.Weight.DemiBold)
        self.document = InertDocument()
        self.document.setDocumentMargin(0)
        self.document.setDefaultFont(font)
        self._option = QTextOption(alignment)
        self._option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self._wrap(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._cut = len(markdown) > _LONGEST_CELL
        shown = f"{markdown[:_LONGEST_CELL]}…" if self._cut else markdown
        height, formulas = theme.type.line_height(TextStyle.TABLE), []
        if _PLAIN.fullmatch(shown):
            self.document.setPlainText(shown)
            space_block(QTextCursor(self.document), self.document.firstBlock(), None, height)
        else:
            formulas = set_markdown(self.document, shown, NO_HTML_MARKDOWN)
            style_markdown(self.document, theme, font, line_height=height)
            mark_inline_code(self.document, theme)
        self.awaited = place_formulas(self.document, formulas, theme)
        self.document.setTextWidth(-1)
        self.natural_width = self.document.idealWidth() + 1  # width in px when nothing in it is wrapped
        self._has_formulas = bool(formulas)

    @cached_property
    def word_width(self) -> float:
        """Width of its longest word in px. Only a table that is too wide asks: it lays the text out twice more."""
        if self._has_formulas:  # one becomes smaller rather than be parted
            return self.natural_width
        self._wrap(QTextOption.WrapMode.WordWrap)
        self.document.setTextWidth(1)
        width = self.document.idealWidth() + 1
        self.document.setTextWidth(-1)  # or each letter would be laid out as a line
        self._wrap(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        return width

    def _wrap(self, mode: QTextOption.WrapMode) -> None:
        self._option.setWrapMode(mode)
        self.document.setDefaultTextOption(self._option)

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """See where a pattern is; None ends the search."""
        self.places = [] if pattern is None else places(pattern, self.document.toPlainText())

    def paint(self, painter: QPainter, theme: Theme, current: int | None, visible: QRectF) -> None:
        """Paint it from the upper left, with what was found; lines outside of ``visible`` may stay away."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = visible
        context.palette = QGuiApplication.palette()
        selections = []
        for number, cursor in enumerate(cursors(self.document, self.places)):
            selection = QAbstractTextDocumentLayout.Selection()
            selection.cursor = cursor
            selection.format = found_format(theme, number == current)
            selections.append(selection)
        context.selections = selections
        paint_ornaments(painter, self.document, theme, QRectF(QPointF(0, 0), self.document.size()))
        self.document.documentLayout().draw(painter, context)

    @property
    def text(self) -> str:
        """Text, all of it, with the source of formulas."""
        if self._cut:
            return prose_text(self.markdown)
        cursor = QTextCursor(self.document)
        cursor.select(QTextCursor.SelectionType.Document)
        return selected_text(cursor)

    def mark(self, theme: Theme, stretches: list[Stretch]) -> None:
        """Mark parts of its Markdown that came from accepted drafts; it lasts as long as the cell."""
        written = self.markdown[:_LONGEST_CELL]
        stretches = clipped(stretches, 0, len(written))
        shown = rendered_stretches(written, self.document.toPlainText(), stretches)
        for cursor in cursors(self.document, shown):
            cursor.mergeCharFormat(drafted_format(theme))

    def fit(self, width: float) -> float:
        """Height at a width, in px."""
        self.document.setTextWidth(width)
        return self.document.size().height()


class TableGrid(QWidget):
    """The painted table."""

    def __init__(self, theme: Theme, markdown: str) -> None:
        super().__init__()
        self._theme = theme
        self._rows: list[list[TableCell]] = []
        self._cache: defaultdict[tuple[str, int, bool], list[TableCell]] = defaultdict(list)
        self._widths: list[float] = []
        self._heights: list[float] = []
        self.right_to_left: bool = False
        self._pattern: re.Pattern[str] | None = None
        self._current: int | None = None
        self._selected = False
        self.set_markdown(markdown)

    def set_markdown(self, markdown: str, keep: bool = True) -> None:
        """Show another table; cells that did not change are kept unless ``keep`` is False."""
        head, delimiter, *body = markdown.split("\n")
        self.right_to_left = runs_right_to_left(head)
        leading = Qt.AlignmentFlag.AlignRight if self.right_to_left else Qt.AlignmentFlag.AlignLeft
        alignments = [_alignment(cell, leading) for cell in split_cells(delimiter)]
        before = self._cache if keep else {}
        self._cache = defaultdict(list)
        self._rows = []
        for number, line in enumerate([head, *body]):
            texts = split_cells(line)[: len(alignments)]
            texts += [""] * (len(alignments) - len(texts))
            row = []
            for alignment, text in zip(alignments, texts, strict=True):
                key = (text, alignment.value, number == 0)
                # A document holds one layout, so a cell cannot stand in two columns.
                kept = before.get(key)
                cell = kept.pop() if kept else TableCell(self._theme, text, alignment, number == 0)
                self._cache[key].append(cell)
                row.append(cell)
            self._rows.append(row)
        self.search(self._pattern)

    def mark(self, markdown: str, stretches: list[Stretch]) -> None:
        """Mark the parts of the table's Markdown that came from accepted drafts, and no others."""
        self.set_markdown(markdown, keep=False)
        cells = self._cells()
        parts = stretches_of_blocks(markdown, [cell.markdown for cell in cells], stretches)
        for cell, part in zip(cells, parts, strict=True):
            cell.mark(self._theme, part)

    def fit(self, width: int) -> QSize:
        """Lay the table out and return the size it takes, which may be wider than asked for."""
        columns = range(len(self._rows[0]))
        pad = 2 * _PAD_X_PX
        px = self._theme.type.px
        natural = [max(row[c].natural_width for row in self._rows) + pad for c in columns]
        least = natural
        if sum(natural) > width:
            words = [max(row[c].word_width for row in self._rows) + pad for c in columns]
            least = [
                min(whole, max(px(_LEAST_COLUMN_PX), min(word, px(_WIDEST_WORD_PX), width / 2)))
                for whole, word in zip(natural, words, strict=True)
            ]
        roomy = min(px(_ROOMY_COLUMN_PX), 0.6 * width)
        self._widths = column_widths(natural, least, float(width), roomy)
        self._heights = [
            max(cell.fit(w - pad) for cell, w in zip(row, self._widths, strict=True)) + 2 * _PAD_Y_PX + 1
            for row in self._rows
        ]
        self._heights[0] += 2
        return QSize(round(sum(self._widths)), round(sum(self._heights)))

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self._pattern = pattern
        self._current = None
        for cell in self._cells():
            cell.search(pattern)
        self.update()

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return sum(len(cell.places) for cell in self._cells())

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return its cell's place."""
        self._current = number
        self.update()
        before, top = 0, 0.0
        for row, height in zip(self._rows, self._heights, strict=False):
            for cell, left, width in zip(row, self._lefts(), self._widths, strict=True):
                before += len(cell.places)
                if number is not None and number < before:
                    return QRectF(left, top, width, height).toRect()
            top += height
        return QRect()

    def _lefts(self) -> list[float]:
        ends = list(accumulate(self._widths))
        if self.right_to_left:
            return [ends[-1] - end for end in ends]
        return [end - width for end, width in zip(ends, self._widths, strict=True)]

    def _cells(self) -> list[TableCell]:
        return [cell for row in self._rows for cell in row]

    def set_selected(self, selected: bool) -> None:
        """Show whether a selection reaches over it."""
        if selected != self._selected:
            self._selected = selected
            self.update()

    def awaits(self, formulas: frozenset[Formula]) -> bool:
        """Return True if one of these formulas stands here as its source."""
        return any(not cell.awaited.isdisjoint(formulas) for cell in self._cells())

    def text(self) -> str:
        """Return the table as tab-separated lines."""
        return "\n".join("\t".join(cell.text for cell in row) for row in self._rows)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self._frame()), 7, 7)
        painter.setClipPath(path)
        line = self._theme.color("line")
        if self._selected:
            painter.fillRect(self.rect(), self._theme.color("accs"))
        top = 0.0
        for number, (row, height) in enumerate(zip(self._rows, self._heights, strict=True)):
            if number == 0 and not self._selected:
                painter.fillRect(QRectF(0, 0, self.width(), height), self._theme.color("surf"))
            if top + height >= event.rect().top() and top <= event.rect().bottom():
                self._paint_row(painter, row, top, QRectF(event.rect()))
                if number < len(self._rows) - 1:
                    painter.fillRect(QRectF(0, round(top + height) - 1, self.width(), 1), line)
            top += height

    def _frame(self) -> QRect:
        """Return the part within the frame, whose corners are round."""
        viewport = self.parentWidget()
        return self.rect() if viewport is None else viewport.rect().translated(-self.pos())

    def _paint_row(self, painter: QPainter, row: list[TableCell], top: float, visible: QRectF) -> None:
        extra = (1 if row is self._rows[0] else 0) - leading_px(self._theme, TextStyle.TABLE)
        for cell, left in zip(row, self._lefts(), strict=True):
            painter.save()
            place = QPointF(left + _PAD_X_PX, top + _PAD_Y_PX + extra)
            painter.translate(place)
            cell.paint(painter, self._theme, self._current_in(cell), visible.translated(-place))
            painter.restore()

    def _current_in(self, cell: TableCell) -> int | None:
        """Index of the current one of a cell's places."""
        if self._current is None or not cell.places:
            return None
        cells = self._cells()
        at = next(number for number, one in enumerate(cells) if one is cell)
        return self._current - sum(len(one.places) for one in cells[:at])


def _alignment(cell: str, leading: Qt.AlignmentFlag) -> Qt.AlignmentFlag:
    """Alignment of a column's text; absolute, since a cell's own direction would turn it around."""
    alignment = leading
    if cell.endswith(":"):
        alignment = Qt.AlignmentFlag.AlignHCenter if cell.startswith(":") else Qt.AlignmentFlag.AlignRight
    return alignment | Qt.AlignmentFlag.AlignAbsolute


class TableBlock(SelectableWhole):
    """The frame around a table: round corners, sideways scrolling, copy."""

    def __init__(self, theme: Theme, markdown: str, parent: QWidget | None = None) -> None:
        self._grid = TableGrid(theme, markdown)
        super().__init__(theme, self._grid, tr("Table"), parent)
        self._markdown = markdown
        self._drafted: list[Stretch] = []
        self._fitted: tuple[int, int] | None = None
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
        return self._markdown

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

    def awaits(self, formulas: frozenset[Formula]) -> bool:
        return self._grid.awaits(formulas)

    def copy(self) -> None:
        """Copy the table as tab-separated text, which spreadsheets take."""
        QGuiApplication.clipboard().setText(self._grid.text())

    def _select(self, selected: bool) -> None:
        super()._select(selected)
        self._grid.set_selected(selected)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._scroll.setGeometry(1, 1, self.width() - 2, self.height() - 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.fillPath(path, QColor(self.theme.color("bg")))
        painter.setPen(self.theme.color("line"))
        painter.drawPath(path)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction(tr("Copy table"), self.copy)
        menu.exec(event.globalPos())
