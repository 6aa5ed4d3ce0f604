"""Dialog with all that is known of an error: for the user, and to be copied for somebody who mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.chat.troubles import title_of
from app.ui.boxes import STRETCH, filled
from app.ui.form_fields import LongTextEdit
from app.ui.inert_text import PlainLabel
from app.ui.opener import show_folder
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.trouble.details_foot import DetailsFoot
from app.ui.trouble.shortage_bar import ShortageBar
from app.words import tr
from engine.messages import ErrorReport

if TYPE_CHECKING:
    from app.diagnostics.report import Diagnostics

_WIDTH_PX = 592
_SIDE_PX = 20
_MOST_LINES = 12
_LEAST_TEXT_PX = 72


class DetailsDialog(RingedDialog):
    """Title, sentence, who held the memory where it is about that, and technical details without chat text.

    Args:
        diagnostics: Makes the texts.
    """

    def __init__(
        self, theme: Theme, report: ErrorReport, diagnostics: Diagnostics, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, tr("What happened"), parent)
        self._theme = theme
        self._report = report
        self._diagnostics = diagnostics
        title = PlainLabel(tr(title_of(report)), self, kind="title", wrap=True)
        self._sentence = PlainLabel(report.message, self, kind="sub", wrap=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        body = filled(QVBoxLayout(), title, self._sentence, margins=(_SIDE_PX, 14, _SIDE_PX, 14), spacing=6)
        if report.memory is not None:
            filled(body, 4, ShortageBar(theme, report.memory, self))
        filled(body, 6, (self._make_card(), 1))
        self.foot = self._make_foot()
        filled(QVBoxLayout(self), (body, 1), self.foot, margins=0, spacing=0)
        self.foot.close_button.setFocus()
        self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:
        """Return a size as wide as the design says, where the window has room for it."""
        room = self.room(32)
        width = min(self._theme.type.px(_WIDTH_PX), room.width())
        layout = self.layout()
        assert layout is not None
        wanted = layout.totalHeightForWidth(width) - self.text.sizeHint().height() + self._text_height
        return QSize(width, min(wanted, room.height()))

    def _make_card(self) -> QFrame:
        card = QFrame(self)
        card.setProperty("kind", "card")
        head = QFrame(card)
        head.setProperty("kind", "card-head")
        head.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        name = PlainLabel(tr("Technical details"), head, kind="meter")
        privacy = PlainLabel(tr("no chat text included"), head, kind="meter")
        filled(QHBoxLayout(head), name, STRETCH, privacy, margins=(12, 8, 12, 8))
        self.text = LongTextEdit(card)
        self.text.setPlainText(self._diagnostics.technical(self._report))
        self.text.setProperty("kind", "details")
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setFont(self._theme.font(TextStyle.CODE_SMALL))
        self.text.setAccessibleName(tr("Technical details"))
        self.text.setTabChangesFocus(True)
        lines = min(_MOST_LINES, self.text.document().lineCount() + 3)
        self.text.setMinimumHeight(self._theme.type.px(_LEAST_TEXT_PX))
        self._text_height = lines * self.text.fontMetrics().lineSpacing() + 16
        filled(QVBoxLayout(card), head, (self.text, 1), margins=1, spacing=0)
        return card

    def _make_foot(self) -> DetailsFoot:
        foot = DetailsFoot(self._theme, lambda: self._diagnostics.whole(self._report), self)
        self.folder_button = QToolButton(foot)
        self.folder_button.setProperty("kind", "quiet")
        self.folder_button.setText(tr("Open log folder"))
        self.folder_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.folder_button.clicked.connect(self._open_folder)
        foot.add(self.folder_button)
        return foot

    @Slot()
    def _open_folder(self) -> None:
        problem = show_folder(self._diagnostics.log_folder)
        if problem:
            self.text.setPlainText(problem)
