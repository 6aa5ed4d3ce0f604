"""A failed reply: what happened, what is safe, and the button that tries again."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui.theme.icons import themed_icon, tinted_pixmap
from app.ui.theme.theme import Theme

_ICON_PX = 20


class ErrorNotice(QFrame):
    """A red block in the transcript."""

    retry_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setProperty("kind", "error")
        self._icon = QLabel(self)
        self._sentence = QLabel(self)
        self._sentence.setProperty("kind", "strong")
        self._kept = QLabel(self)
        self._kept.setProperty("kind", "sub")
        for label in (self._sentence, self._kept):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._retry = QPushButton(" Try again", self)
        self._retry.setProperty("kind", "primary")
        self._retry.setIcon(themed_icon(theme, "rotate-ccw", "onacc"))
        self._retry.setAccessibleName("Try again")
        self._retry.setIconSize(QSize(16, 16))
        self._retry.clicked.connect(self.retry_requested)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._sentence)
        words.addWidget(self._kept)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 8, 0, 0)
        buttons.addWidget(self._retry)
        buttons.addStretch()
        words.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 14, 16, 14)
        row.setSpacing(12)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.restyle()

    @property
    def retry_button(self) -> QPushButton:
        """The button that tries again."""
        return self._retry

    def set_error(self, sentence: str, has_text: bool, can_retry: bool) -> None:
        """Say what happened.

        Args:
            sentence: One sentence from the engine or the bridge.
            has_text: Whether part of the reply was written.
            can_retry: Whether this is the last reply, the only one that can be tried again.
        """
        self._sentence.setText(sentence)
        self._kept.setText("What was written so far is kept." if has_text else "Your message is kept.")
        self._retry.setVisible(can_retry)
        self.setAccessibleName(f"Error: {sentence}")

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        return max(layout.heightForWidth(width), layout.minimumSize().height())

    def restyle(self) -> None:
        """Take the theme's colours again."""
        self._icon.setPixmap(
            tinted_pixmap("circle-alert", self.theme.palette.red, _ICON_PX, self.devicePixelRatioF())
        )
