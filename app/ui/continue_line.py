"""A line above the composer for models that only continue texts: a chat can be one text, without labels."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.ui.boxes import Flow
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.theme.theme import Theme
from app.words import tr


class ContinueLine(QWidget):
    """Says what becomes of what is written, and offers the other way; hidden where the model has a way of chatting."""

    chosen = Signal(bool)  # the chat is to be one text, or to go in turns

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._continues = False
        self._said = PlainLabel(self, kind="small")
        self.button = push_button("", self, self._choose, kind="link")
        row = Flow(4, self)
        row.addWidget(self._said)
        row.addWidget(self.button)
        theme.changed.connect(self._level)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence."""
        return self._said.text()

    def show_chat(self, only_continues: bool, continues: bool) -> None:
        """Fit the line to a chat.

        Args:
            only_continues: The model has no way of writing a chat.
            continues: The chat is one text.
        """
        self._continues = continues
        self._said.setText(
            tr("The model goes on with your text.") if continues else tr("This model only continues texts.")
        )
        self.button.setText(tr("Take turns instead") if continues else tr("Continue a text"))
        self._level()
        self.setVisible(only_continues or continues)

    @Slot()
    def _level(self) -> None:
        """Bring the sentence to the height of the button's words."""
        self._said.setMinimumHeight(self.button.sizeHint().height())

    @Slot()
    def _choose(self) -> None:
        self.chosen.emit(not self._continues)
