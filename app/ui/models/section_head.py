"""The heading of a part of the page, with a few words beside it, or below where there is no room."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from app.ui.models.flow import Flow


class SectionHead(QWidget):
    """A heading and what there is to say of it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(title, self)
        self._title.setProperty("kind", "section")
        self.words = QLabel(self)
        self.words.setProperty("kind", "sub")
        self.words.setWordWrap(False)
        row = Flow(10, self)
        row.addWidget(self._title)
        row.addWidget(self.words)

    def say(self, words: str) -> None:
        """Say something beside the heading."""
        self.words.setText(words)
        self.words.setVisible(bool(words))
