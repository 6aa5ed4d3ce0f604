"""The choice of thinking, as far as the chat template of a model knows one."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.ui.chat_settings.mode_field import LETTERS
from app.ui.form_fields import ListBox
from app.ui.theme.theme import Theme
from app.words import mark, tr
from engine.messages import Thinking, ThinkingControl

_CHOICES: dict[ThinkingControl, tuple[tuple[str, Thinking], ...]] = {
    "switch": ((mark("On"), Thinking(on=True)), (mark("Off"), Thinking(on=False))),
    "effort": (
        (mark("Low"), Thinking(effort="low")),
        (mark("Medium"), Thinking(effort="medium")),
        (mark("High"), Thinking(effort="high")),
    ),
}


class ThinkingField(ListBox):
    """Thinking on or off, or how much; at first as the model does it by itself."""

    def __init__(self, theme: Theme, control: ThinkingControl, parent: QWidget) -> None:
        super().__init__(theme, parent, LETTERS)
        self.setAccessibleName(tr("Thinking"))
        self.addItem(tr("Model's default"), Thinking())
        for title, thinking in _CHOICES[control]:
            self.addItem(tr(title), thinking)

    def show_thinking(self, thinking: Thinking) -> None:
        """Show a choice; one that the model does not know is as the model does."""
        found = (at for at in range(self.count()) if self.itemData(at) == thinking)
        self.setCurrentIndex(next(found, 0))

    def thinking(self) -> Thinking:
        """Choice that is set."""
        chosen: Thinking = self.currentData()
        return chosen
