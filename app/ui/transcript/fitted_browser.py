"""Read-only text that is as tall as it needs to be."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.ui.inert_text import InertDocument
from app.ui.theme.theme import Theme
from app.ui.transcript.long_text import Beginning, wrap_mode
from app.ui.transcript.selectable import SelectableText
from app.ui.transcript.text_marks import TextMarks

# Any usual width. Qt lays a text out as it comes, and at its own first width of 0 each letter is a line: seconds, for a
# word of 30,000 letters.
_FIRST_WIDTH_PX = 600


class FittedBrowser(SelectableText, QTextBrowser):
    """A text browser without a frame or scroll bars that says how tall it is at a width."""

    link_activated = Signal(QUrl)
    grown = Signal()  # more of its text is to be shown

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocument(InertDocument(self))
        self.theme = theme
        self.marks = TextMarks(self, theme)
        self.beginning = Beginning(self, self.marks, self.grown.emit)
        self._fitted: tuple[int, int] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setLineWrapColumnOrWidth(_FIRST_WIDTH_PX)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setUndoRedoEnabled(False)
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.anchorClicked.connect(self.link_activated)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)

    def whole_source(self) -> str:
        """Whole text, shown or not."""
        return self.beginning.text

    def fit(self, width: int) -> int:
        """Lay the text out at a width in px and return its height."""
        if self._fitted is None or self._fitted[0] != width:
            # With its own width, not the viewport's: Qt would lay the text out again at each change of size.
            self.setLineWrapColumnOrWidth(width)
            self.document().setTextWidth(width)
            height = round(self.document().size().height() + 0.49)
            self._fitted = (width, self.beginning.fit(width, height))
        return self._fitted[1]

    def wrap_for(self, text: str) -> None:
        """Choose where the lines of a text break."""
        option = self.document().defaultTextOption()
        option.setWrapMode(wrap_mode(text))
        self.document().setDefaultTextOption(option)

    def natural_width(self) -> int:
        """Width of the longest line when nothing is wrapped, in px."""
        document, before = self.document(), self.document().textWidth()
        document.setTextWidth(-1)
        width = int(document.idealWidth()) + 1
        document.setTextWidth(before)
        return width

    def content_changed(self) -> None:
        """Forget the height: the text or the fonts changed."""
        self._fitted = None

    def sizeHint(self) -> QSize:
        """Size as laid out last."""
        width, height = self._fitted or (0, 0)
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        """Anything: the transcript gives the size."""
        return QSize(0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the transcript."""
        event.ignore()
