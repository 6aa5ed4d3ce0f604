"""The field of the composer, which grows with its text, and the row of files that go with the message."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QFocusEvent,
    QFontMetrics,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QToolButton, QWidget

from app.ui.figures import extent
from app.ui.form_fields import LongTextEdit
from app.ui.painting import in_lines, place
from app.ui.parts import icon_button
from app.ui.picture import PictureButton
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.messages import Attachment, fenced

_GAP_PX = 6
_CHIP_PX = 28
_WIDEST_NAME_PX = 220
_PICTURE_PX, _WIDEST_PICTURE_PX = 56, 112
_MOST_LINES = 8
_MARGIN_PX = 4
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
# Lines that are hardly ever prose.
_CODE_LINE = re.compile(
    r"""(?:[ ]{2,}|\t)(?![-*•\d])\S+(?:\s+\S+){0,4}\s*$                        # a few indented words
    | \s*(?:
        .*[{\[(]\s*$                                                            # beginning of a block
        | [\])}]+[,;]?\s*$                                                      # end of one
        | (?=.*[=()<>+*_&] | \S+(?:\s\S+){0,2};).*;\s*$                         # statement
        | [\w.\[\]"'*>$-]+(?:\s*:\s*[\w\[\].]+)?\s*[-+*/|&%:]?=\s*\S            # assignment
        | [\w.]+\(.*\)\s*$                                                      # call
        | "[^"]*"\s*:\s                                                         # key of JSON
        | </?[a-zA-Z][^>]*> | @\w+                                              # tag, decorator
        | (?://|/\*|\#\w+\s*[<"(\w]|--\s).*                                     # comment, preprocessor
        | (?:def|class|if|elif|else|for|while|try|except|finally|with|match|case|async)\b.*:\s*(?:\#.*)?$
        | (?:import|from|return|yield|raise|throw|const|let|var|fn|func|function|public|private|static)\s+\S+
        | (?:end|done|fi)\s*$ | .*;\s*(?:do|then)\s*$ | \#! | (?:@@|---|\+\+\+)\s | [-+]\w    # scripts, differences
        | (?:SELECT|FROM|WHERE|INSERT|UPDATE|CREATE|JOIN|ORDER\ BY|GROUP\ BY)\b
    )""",
    re.VERBOSE,
)
_LEAST_CODE_LINES = 3
_LOOKED_AT = 200  # lines


class AttachmentRow(QWidget):
    """Row of chips on as many lines as they take, hidden without files."""

    changed = Signal()
    given_up = Signal(int)  # key of a file that was being read

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.attachments: tuple[Attachment, ...] = ()  # the files, in the order they came
        self.pending: dict[int, str] = {}  # names of files that are still being read, by their keys
        self._chips: list[list[QAbstractButton]] = []  # of each file; a picture stands before its own
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)
        self.hide()

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the files."""
        if tuple(attachments) != self.attachments:
            self.attachments = tuple(attachments)
            self._show()

    def set_pending(self, pending: dict[int, str]) -> None:
        """Replace the files that are still being read."""
        if pending != self.pending:
            self.pending = dict(pending)
            self._show()

    def _show(self) -> None:
        for chip in self.findChildren(QAbstractButton):
            chip.hide()
            chip.deleteLater()
        self._chips = []
        for at, one in enumerate(self.attachments):
            shown = [] if one.picture is None else [PictureButton(self._theme, one, self)]
            self._chips.append([*shown, self._chip(one.name, extent(one), partial(self._remove, at), one.missing)])
            for picture in shown:
                picture.show()
        self._chips += [
            [self._chip(name, tr("being read"), partial(self.given_up.emit, key))] for key, name in self.pending.items()
        ]
        self.setVisible(bool(self._chips))
        self._place()
        self.changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete and Backspace take away the file whose button has the keyboard."""
        if event.key() not in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            super().keyPressEvent(event)
            return
        for chips in self._chips:
            if any(chip.hasFocus() for chip in chips):
                chips[-1].click()
                break

    def _chip(self, name: str, remark: str, pressed: Callable[[], None], missing: str = "") -> QToolButton:
        button = tr("Remove {name}", name=name)
        tip = "\n".join(filter(None, (button, missing)))
        chip = icon_button(self._theme, "x", button, self, pressed, 14, tip=tip)
        chip.setAccessibleDescription(missing)
        chip.setProperty("kind", "file")
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        metrics = QFontMetrics(self._theme.font(TextStyle.SMALL))
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _WIDEST_NAME_PX)
        chip.setText(f" {shown}, {remark}")
        chip.show()
        return chip

    def _remove(self, at: int) -> None:
        self.set_attachments((*self.attachments[:at], *self.attachments[at + 1 :]))

    @Slot()
    def _restyle(self) -> None:
        if self._chips:
            self._show()

    def _place(self) -> None:
        height, px = self._theme.type.side(_CHIP_PX), self._theme.type.px
        sizes = [
            [
                chip.fit(px(_WIDEST_PICTURE_PX), px(_PICTURE_PX))
                if isinstance(chip, PictureButton)
                else QSize(min(chip.sizeHint().width(), self.width()), height)
                for chip in chips
            ]
            for chips in self._chips
        ]
        widths = [sum(size.width() + _GAP_PX for size in row) - _GAP_PX for row in sizes]
        places = in_lines(widths, self.width(), _GAP_PX)
        top = 0
        for _, line in groupby(zip(self._chips, sizes, places, strict=True), lambda one: one[2][1]):
            files = list(line)
            high = max(size.height() for _, row, _ in files for size in row)
            for chips, row, (left, _) in files:
                for chip, size in zip(chips, row, strict=True):
                    place(chip, int(left), top + (high - size.height()) // 2, size.width(), size.height())
                    left += size.width() + _GAP_PX
            top += high + _GAP_PX
        self.setFixedHeight(max(0, top - _GAP_PX))


def looks_like_code(text: str) -> bool:
    """Return True if a text of several lines is a program, a configuration or the like, without a fence."""
    lines = [line for line in text.splitlines()[:_LOOKED_AT] if line.strip()]
    found = sum(1 for line in lines if _CODE_LINE.match(line[:_LOOKED_AT]))
    return found >= _LEAST_CODE_LINES and 2 * found >= len(lines) and not _FENCED.search(text)


def set_code_type(document: QTextDocument, theme: Theme) -> None:
    """Show what is fenced in the type of code."""
    text = _with_lines(document.toRawText())
    shape = QTextCharFormat()
    shape.setFontFamilies(theme.font(TextStyle.CODE).families())
    cursor, at, read = QTextCursor(document), 0, 0
    for block in _FENCED.finditer(text) if _FENCE.search(text) else ():
        for end, mode in ((block.start(), cursor.MoveMode.MoveAnchor), (block.end(), cursor.MoveMode.KeepAnchor)):
            at += len(text[read:end].encode("utf-16-le", "surrogatepass")) // 2
            read = end
            cursor.setPosition(at, mode)
        cursor.mergeCharFormat(shape)


def _with_lines(raw: str) -> str:
    """Return a text as Qt gives it with the usual ends of lines."""
    return raw.replace("\u2029", "\n")


def local_files(data: QMimeData) -> list[Path]:
    """Files of this machine that are dropped or pasted; none where it is anything else."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if all(url.isLocalFile() for url in urls) else []


class PromptEdit(LongTextEdit):
    """Enter submits, Shift+Enter breaks the line, Escape cancels, Page Up and Down scroll the transcript."""

    submitted = Signal()
    cancelled = Signal()
    page_requested = Signal(int)
    height_changed = Signal()
    focus_changed = Signal()
    files_offered = Signal(object)  # list of Path, or a list of one QImage: pasted

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._height = 0
        self._was_empty = True
        self.setProperty("kind", "prompt")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Message"))
        self.document().setDocumentMargin(_MARGIN_PX)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)  # a paste is laid out after textChanged
        self.textChanged.connect(self._repaint_placeholder)
        theme.changed.connect(self._restyle)
        self._restyle()

    def sizeHint(self) -> QSize:
        return QSize(200, self._height)

    def event(self, event: QEvent) -> bool:
        """Ctrl+End goes on to the latest message from the end; Ctrl+Z with nothing to undo here is the window's."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and (
                (event.matches(QKeySequence.StandardKey.MoveToEndOfDocument) and self.textCursor().atEnd())
                or (event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable())
            )
        ):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if shift:
                self.insertPlainText("\n")
                self.ensureCursorVisible()
            else:
                self.submitted.emit()
        elif key == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.page_requested.emit(-1 if key == Qt.Key.Key_PageUp else 1)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._height:
            self._fit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(local_files(source)) or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files are attached, their names are not typed. Code is fenced, for the reader and for the model."""
        files = local_files(source)
        if files:
            self.files_offered.emit(files)
        elif source.hasImage() and not source.text().strip():  # cells of a table come as both
            self.files_offered.emit([source.imageData()])
        elif source.hasText() and looks_like_code(source.text()):
            self._paste_code(source.text())
        else:
            super().insertFromMimeData(source)

    def setPlainText(self, text: str) -> None:
        super().setPlainText(text)
        document = self.document()
        document.setUndoRedoEnabled(False)
        set_code_type(document, self._theme)
        document.setUndoRedoEnabled(True)

    def _paste_code(self, code: str) -> None:
        cursor = self.textCursor()
        before = QTextCursor(self.document())
        before.setPosition(cursor.selectionStart(), before.MoveMode.KeepAnchor)
        above = _with_lines(before.selectedText())
        if len(_FENCE.findall(above)) % 2:  # it goes into code
            self.insertPlainText(code)
            return
        begins = "\n" if above and not above.endswith("\n") else ""
        self.insertPlainText(f"{begins}{fenced('', code).lstrip()}\n")
        cursor = self.textCursor()
        cursor.joinPreviousEditBlock()
        set_code_type(self.document(), self._theme)
        cursor.endEditBlock()
        self.setCurrentCharFormat(QTextCharFormat())
        self.ensureCursorVisible()

    @Slot()
    def _restyle(self) -> None:
        self.setFont(self._theme.font(TextStyle.READING))
        self.viewport().setFont(self.font())  # paints the placeholder, and takes no font from the field
        self._fit()

    @Slot()
    def _repaint_placeholder(self) -> None:
        """Repaint the placeholder as a whole, since Qt repaints only the letter that was typed."""
        if self.document().isEmpty() != self._was_empty:
            self._was_empty = not self._was_empty
            self.viewport().update()

    @Slot()
    def _fit(self) -> None:
        lines = max(1, round(self.document().size().height()))
        line = QFontMetricsF(self.font()).lineSpacing()
        height = math.ceil(min(lines, _MOST_LINES) * line) + 2 * _MARGIN_PX
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines > _MOST_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if self.verticalScrollBarPolicy() != policy:
            self.setVerticalScrollBarPolicy(policy)
        if height != self._height:
            self._height = height
            self.setFixedHeight(height)
            self.height_changed.emit()
        if lines <= _MOST_LINES:  # a text that came before the field had its size was scrolled to its end
            self.verticalScrollBar().setValue(0)
