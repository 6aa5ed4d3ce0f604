"""Markdown into a document: formulas are pictures that stand on the baseline, and a line that ends breaks."""

from __future__ import annotations

import re

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from app.chat.formula import Formula, FormulaPlace, FormulaShape, find_formulas
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.text_marks import in_utf16

_KIND = QTextFormat.ObjectTypes.UserObject.value + 1
_LATEX = QTextFormat.Property.UserProperty.value + 1
_DISPLAY = _LATEX + 1
SOURCE = _LATEX + 2  # what is copied for an object: a text, or a character by its number
_SIDE_EM = 0.06  # beside a formula; its shape ends where its ink does
_OVERHANG_EM = 0.12  # so far an index may reach below the line before it moves the line
FORMULA_SCALE = 1.1  # formulas' letters are smaller than most interface fonts' of the same size


_LINE_ENDS = dict.fromkeys((0x2028, 0x2029, 0xFDD0, 0xFDD1), "\n")  # in a document
# After each line of the Markdown that Qt may join to the next one. It is a space to Markdown, beside which marks of
# emphasis still open and close; Unicode holds it equal to the other, which is left to a text that has it.
_BREAK, _SAME_SPACE = "\u2001", "\u2003"
# Not after a fence, a rule, the line under a heading or a table's head, a row of a table, and a link's definition.
_LINE_END = re.compile(
    r"^(?![ \t>]*(?:```|~~~|[-=*_:| \t]+$|\||\[[^\]\n]+\]:))(.*?(?:[^\s\\]|\\\\))\\?[ \t]*\n(?=[ \t>]*[^\s>])",
    re.MULTILINE,
)
OBJECT = "\ufffc"  # what stands for an image, or for another object, in a document's text


class FormulaObject(QPyTextObject):
    """Tells Qt how large a formula is, and paints it."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def intrinsicSize(self, doc: QTextDocument, pos: int, format: QTextFormat) -> QSizeF:
        """Size in px: as high as Qt's way to align it makes necessary."""
        kind = format.toCharFormat()
        shape = self._shape(kind)
        if shape is None:
            return QSizeF()
        em = self._em_px(kind, shape, doc.textWidth())
        width = (shape.width + 2 * _SIDE_EM) * em
        metrics = QFontMetrics(kind.font())
        alignment = kind.verticalAlignment()
        if alignment == QTextCharFormat.VerticalAlignment.AlignMiddle:
            quarter = metrics.xHeight() / 4
            return QSizeF(width, 2 * max(shape.ascent * em - quarter, shape.descent * em + quarter))
        return QSizeF(width, shape.ascent * em + metrics.descent())

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, pos: int, format: QTextFormat
    ) -> None:
        kind = format.toCharFormat()
        shape = self._shape(kind)
        if shape is None:
            return
        metrics = QFontMetrics(kind.font())
        alignment = kind.verticalAlignment()
        below = float(metrics.descent())
        if alignment == QTextCharFormat.VerticalAlignment.AlignMiddle:
            below = (rect.height() - metrics.xHeight() / 2) / 2
        em = self._em_px(kind, shape, doc.textWidth())
        origin = QPointF(rect.left() + _SIDE_EM * em, rect.bottom() - below)
        named = kind.hasProperty(QTextFormat.Property.ForegroundBrush.value)
        color = kind.foreground().color() if named else self._theme.color("text")
        self._theme.formulas.paint(painter, origin, shape, em, color)

    def _shape(self, kind: QTextCharFormat) -> FormulaShape | None:
        formula = Formula(str(kind.property(_LATEX)), bool(kind.property(_DISPLAY)))
        return self._theme.formulas.shape(formula)

    @staticmethod
    def _em_px(kind: QTextCharFormat, shape: FormulaShape, room_px: float) -> float:
        """Return the text's size, or less if the formula is wider than a line."""
        em = FORMULA_SCALE * kind.font().pixelSize()
        width = (shape.width + 2 * _SIDE_EM) * em
        return em * room_px / width if 0 < room_px < width else em


def without_formulas(markdown: str) -> tuple[str, list[tuple[str, Formula]]]:
    """Return the Markdown with a mark in place of each formula, and the formulas with their sources."""
    places = find_formulas(markdown)
    if not places:
        return markdown, []
    parts, end = [], 0
    for place in places:
        parts += [_cleaned(markdown[end : place.start]), OBJECT]
        end = place.end
    parts.append(_cleaned(markdown[end:]))
    return "".join(parts), [(_source(markdown, place), place.formula) for place in places]


def with_formulas(marked: str, formulas: list[tuple[str, Formula]]) -> str:
    """Return the text with each formula's source in place of its mark."""
    sources = iter([source for source, _ in formulas])
    return "".join(next(sources, "") if c == OBJECT else c for c in marked) if formulas else marked


def set_markdown(
    document: QTextDocument, markdown: str, features: QTextDocument.MarkdownFeature
) -> list[tuple[str, Formula]]:
    """Put Markdown into a document; return the formulas in it, which `place_formulas` puts in their places.

    Images are looked for in what Qt has read, and not in the Markdown: what was taken out of it may have made one.
    """
    marked, formulas = without_formulas(markdown)
    _read(document, marked, features)
    if formulas and document.toPlainText().count(OBJECT) != len(formulas):
        _read(document, _cleaned(markdown), features)  # one stood where Markdown shows nothing, in an address
        return []
    return formulas


def _read(document: QTextDocument, markdown: str, features: QTextDocument.MarkdownFeature) -> None:
    """Put Markdown into a document. Qt makes a paragraph or an item of a hard break, and a space of a soft one."""
    marked = _LINE_END.sub(rf"\1{_BREAK}\n", markdown.replace(_BREAK, _SAME_SPACE))
    document.setMarkdown(marked, features)
    images_as_links(document)
    text = document.toRawText() if _BREAK in marked else ""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    places = in_utf16(text, [match.span() for match in re.finditer(f"{_BREAK} ?", text)])
    for start, end in reversed(places):
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        kind = cursor.charFormat()
        between = " " if kind.fontFixedPitch() else "\u2028"
        cursor.insertText(between if end - start == 2 else "", kind)
    cursor.endEditBlock()


def place_formulas(document: QTextDocument, formulas: list[tuple[str, Formula]], theme: Theme) -> frozenset[Formula]:
    """Put pictures where the marks stand, and sources where there is no picture; return those still awaited."""
    if not formulas:
        return frozenset()
    layout = document.documentLayout()
    if layout.handlerForObject(_KIND) is None:
        layout.registerHandler(_KIND, FormulaObject(theme, layout))
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    place = 0
    for source, formula in formulas:
        found = document.find(OBJECT, place)
        cursor.setPosition(found.selectionStart())
        cursor.setPosition(found.selectionEnd(), QTextCursor.MoveMode.KeepAnchor)
        _place(cursor, source, formula, theme)
        place = cursor.position()
    cursor.endEditBlock()
    return frozenset(formula for _, formula in formulas if theme.formulas.awaited(formula))


def _place(cursor: QTextCursor, source: str, formula: Formula, theme: Theme) -> None:
    kind = cursor.charFormat()
    shape = theme.formulas.shape(formula)
    if shape is None:
        code = theme.font(TextStyle.INLINE_CODE)
        code.setPixelSize(min(code.pixelSize(), kind.font().pixelSize()))
        kind.setFont(code)
        cursor.insertText(source, kind)
        return
    below = (shape.descent - _OVERHANG_EM) * FORMULA_SCALE * kind.font().pixelSize()
    deep = below > QFontMetrics(kind.font()).descent()
    alignments = QTextCharFormat.VerticalAlignment
    kind.setVerticalAlignment(alignments.AlignMiddle if deep else alignments.AlignBaseline)
    kind.setObjectType(_KIND)
    kind.setProperty(_LATEX, formula.latex)
    kind.setProperty(_DISPLAY, formula.display)
    kind.setProperty(SOURCE, source)
    cursor.insertText(OBJECT, kind)


def selected_text(cursor: QTextCursor) -> str:
    """Return the selected text with the source of each object, and with its non-breaking spaces."""
    text = cursor.selectedText().translate(_LINE_ENDS)
    if OBJECT not in text:
        return text
    sources = iter(_sources(cursor))
    return "".join(next(sources, "") if character == OBJECT else character for character in text)


def _sources(cursor: QTextCursor) -> list[str]:
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    found: list[str] = []
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() < end:
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            kind = fragment.charFormat()
            if kind.hasProperty(SOURCE):
                inside = range(max(start, fragment.position()), min(end, fragment.position() + fragment.length()))
                source = kind.property(SOURCE)
                found += [chr(source) if isinstance(source, int) else str(source)] * len(inside)
            iterator += 1
        block = block.next()
    return found


def _source(markdown: str, place: FormulaPlace) -> str:
    return markdown[place.start : place.end]


def _cleaned(text: str) -> str:
    return text.replace(OBJECT, "")


def images_as_links(document: QTextDocument) -> None:
    """Put each image's description in its place, as a link to the image."""
    if OBJECT not in document.toPlainText():
        return
    for position, shape in reversed(_images(document)):
        image = shape.toImageFormat()
        link = QTextCharFormat()
        link.setAnchor(True)
        link.setAnchorHref(image.name())
        words = str(image.property(QTextFormat.Property.ImageAltText) or "") or image.name()
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(words, link)


def _images(document: QTextDocument) -> list[tuple[int, QTextCharFormat]]:
    found = []
    block = document.begin()
    while block.isValid():
        part = block.begin()
        while not part.atEnd():
            fragment = part.fragment()
            if fragment.charFormat().isImageFormat():
                found += [
                    (position, fragment.charFormat())
                    for position in range(fragment.position(), fragment.position() + fragment.length())
                ]
            part += 1
        block = block.next()
    return found
