"""Text that loads nothing: one rule for what models, chat files, documents and hubs bring.

Qt's documents open the file behind the address of an image or a style sheet while they lay text out, also where a
widget's own `loadResource` brings nothing: what is missing is read from the disk by its name. Labels and tool tips make
such a document of whatever looks like HTML. So each document is an `InertDocument` and each label a
`PlainLabel`; tool tips are plain by the style sheet, which is in force before they get their text.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QTextDocument
from PySide6.QtWidgets import QLabel, QMessageBox, QStyleOption, QWidget

_LONGEST_LINE = 2_000  # characters of one line that are looked at: more than there is room for


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
        parent: Parent widget.
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
