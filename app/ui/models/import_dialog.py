"""Before an import: used where the files are, or copied, and what that takes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.chat.model_entries import ImportEntry
from app.ui import figures
from app.ui.models.model_dialog import ModelDialog
from app.ui.models.radio_box import RadioBox
from app.ui.models.wording import joined
from app.ui.theme.theme import Theme
from app.words import tr


class ImportDialog(ModelDialog):
    """Asks whether to copy."""

    def __init__(self, theme: Theme, entry: ImportEntry, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Add {name}", name=entry.name), tr("Add"), parent)
        self.entry = entry
        self.add_words(joined(entry.format, figures.size(entry.size_bytes)))
        self.add_words(entry.paths[0], "small")
        self.link = RadioBox(theme, tr("Use the files where they are"), self)
        self.link.setChecked(True)
        self.column.addWidget(self.link)
        self.add_words(
            tr("Takes no room; the model is gone when the files are moved or their disk is not there."),
            "small",
        )
        size, free = figures.size(entry.size_bytes), figures.size(entry.free_bytes)
        self.copy = RadioBox(theme, tr("Copy them, {size}", size=size), self)
        self.column.addWidget(self.copy)
        self.add_words(tr("{free} are free on the disk of Tenon's models.", free=free), "small")
        self.column.addStretch(1)
        self.fit()

    @property
    def copies(self) -> bool:
        """True if the files are to be copied."""
        return self.copy.isChecked()
