"""Before a model is removed: what that frees, what stays, and which drafts would be left without it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.chat.model_entries import RemovalEntry
from app.ui import figures
from app.ui.models.model_dialog import ModelDialog
from app.ui.theme.theme import Theme
from app.ui.tick_box import TickBox
from app.words import tr


class RemovalDialog(ModelDialog):
    """Asks; the button says what is freed."""

    def __init__(
        self, theme: Theme, removal: RemovalEntry, in_use: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, tr("Remove {name}?", name=removal.name), "", parent)
        self.removal = removal
        if in_use:
            self.add_words(
                tr("It is in use: it leaves memory first, and the built-in model answers from then on.")
            )
        if removal.kept_location:
            self.add_words(tr("Its files stay in {place}.", place=removal.kept_location))
        self.boxes: dict[str, TickBox] = {}
        for draft, freed_bytes in removal.drafts:
            words = tr("Its draft {name} too, {size}", name=draft, size=figures.size(freed_bytes))
            box = self.boxes[draft] = TickBox(theme, words, self)
            box.setChecked(True)
            box.toggled.connect(self._say_size)
            self.column.addWidget(box)
        self.add_words(tr("Chats with it stay as they are."))
        self.column.addStretch(1)
        self._say_size()
        self.fit()

    @property
    def drafts(self) -> tuple[str, ...]:
        """Drafts to be removed along."""
        return tuple(draft for draft, box in self.boxes.items() if box.isChecked())

    def _say_size(self) -> None:
        freed = self.removal.freed_bytes + sum(
            freed_bytes for draft, freed_bytes in self.removal.drafts if draft in self.drafts
        )
        words = tr("Remove, frees {size}", size=figures.size(freed)) if freed > 1_000_000 else tr("Remove")
        self.accept_button.setText(words)
