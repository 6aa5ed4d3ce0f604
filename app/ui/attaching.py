"""Text files beside the message that is typed: picked, dropped or pasted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog

from app.ui.composer.composer import Composer
from app.words import tr
from engine.errors import TenonError

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace


class Attaching(QObject):
    """Reads what the composer is offered, and puts it there."""

    said = Signal(str, bool)  # a sentence for the person, and whether it stays

    def __init__(self, workspace: Workspace, composer: Composer) -> None:
        super().__init__(composer)
        self._workspace = workspace
        self._composer = composer
        composer.attach_requested.connect(self._choose_files)
        composer.files_offered.connect(self.attach)

    @Slot(object)
    def attach(self, paths: list[Path]) -> None:
        """Put files beside the message that is typed; what is no text is told, and left out."""
        row = self._composer.attachments
        refusals: list[str] = []
        for path in paths:
            try:
                file = self._workspace.attach(path)
                if file not in row.attachments:
                    row.set_attachments((*row.attachments, file))
            except TenonError as error:
                if error.message not in refusals:
                    refusals.append(error.message)
        if refusals:
            self.said.emit("\n".join(refusals), True)
        self._composer.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _choose_files(self) -> None:
        chosen, _ = QFileDialog.getOpenFileNames(self._composer.window(), tr("Attach text files"))
        self.attach([Path(name) for name in chosen])
