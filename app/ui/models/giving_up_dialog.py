"""Before a download is given up: what has come of it is removed."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.ui import figures
from app.ui.models.model_dialog import ModelDialog
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import DownloadStatus

#: What comes again in a moment is not asked about.
WORTH_ASKING_BYTES = 50_000_000


class GivingUpDialog(ModelDialog):
    """Asks."""

    def __init__(self, theme: Theme, entry: DownloadStatus, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Give up {name}?", name=entry.name), tr("Give up"), parent)
        size = figures.size(entry.done_bytes)
        self.add_words(
            tr("{size} of it are here and would be removed. Paused, it can go on later.", size=size)
        )
        self.cancel_button.setText(tr("Keep it"))
        self.column.addStretch(1)
        self.fit()
