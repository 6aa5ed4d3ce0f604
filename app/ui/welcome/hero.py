"""The head of the welcome: the icon, the name, and who answers."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.chat.engine_state import EnginePhase, EngineState
from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.theme.icons import tinted_pixmap
from app.words import tr
from engine.messages import DEFAULT_MODEL
from engine.sentences import paragraph

_ICON_PX = 64
_NARROW_PX = 480  # the words need all of it


class _Icon(QWidget):
    """Tenon's own."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(_ICON_PX, _ICON_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it as large as the screen's pixels allow."""
        pixmap = tinted_pixmap("tenon", "", _ICON_PX, self.devicePixelRatioF())
        QPainter(self).drawPixmap(QRectF(self.rect()), pixmap, QRectF(pixmap.rect()))


class Hero(QWidget):
    """Says hello."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = PlainLabel(tr("Welcome to Tenon"), self, kind="display", wrap=True)
        self.lead = PlainLabel(self, kind="lead", wrap=True)
        words = filled(QVBoxLayout(), title, self.lead, spacing=2)
        row = filled(QHBoxLayout(self), margins=(0, 0, 0, 4), spacing=20)
        self._icon = _Icon(self)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(words, 1)

    def show_engine(self, state: EngineState) -> None:
        """Say who answers."""
        if state.phase is EnginePhase.STOPPED or state.sentence:
            words = tr("Get a model below, or open one that you have.")
        elif state.model_ref == DEFAULT_MODEL:
            words = tr(
                "Write below: {model} answers at once. It is very small: quick, often wrong.",
                model=state.model_name,
            )
        else:
            words = tr("Write below: {model} answers on this computer.", model=state.model_name)
        self.lead.setText(paragraph(words, tr("What you write stays here.")))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow page the icon gives way."""
        super().resizeEvent(event)
        self._icon.setVisible(self.width() >= _NARROW_PX)

    def minimumSizeHint(self) -> QSize:
        """Words can wrap."""
        return QSize(_ICON_PX, super().minimumSizeHint().height())
