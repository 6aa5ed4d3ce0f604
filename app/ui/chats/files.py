"""Saving chats to files and taking them in: the dialogs, and what is said when it is done."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.workspace import Workspace
from app.ui.notices import Toast
from app.words import mark, tr

_MARKDOWN = mark("Markdown, to read (*.md)")
_JSON = mark("JSON, to import again (*.json)")
_LONGEST_NAME = 60
# File systems take 255 bytes, encrypted ones 143, and the ending and that of the unfinished file come on top.
_MOST_BYTES = 120
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file: in any case, and with any ending after a dot.
_RESERVED = re.compile(r"^(con|prn|aux|nul|(com|lpt)[0-9¹²³])(?= *(\.|$))", re.IGNORECASE)


class ChatFiles(QObject):
    """Asks for a file and hands it to the workspace, which reads or writes it beside the window."""

    said = Signal(str, bool)  # a sentence for the user, and whether it stays

    def __init__(self, workspace: Workspace, window: QWidget, toast: Toast) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._window = window
        self._toast = toast
        self._coming = 0  # files that are being imported, or wait for it
        workspace.archive.export_finished.connect(self._exported)
        workspace.archive.import_begun.connect(self._importing)
        workspace.archive.import_finished.connect(self._imported)

    def export_chat(self, conversation_id: int) -> None:
        """Save one chat."""
        conversation = self._workspace.library.conversation(conversation_id)
        path = None if conversation is None else self._ask(tr("Export chat"), file_name(conversation.title))
        if path is not None:
            self._workspace.archive.export(path, conversation_id)

    @Slot()
    def export_all(self) -> None:
        """Save all chats to one file."""
        path = self._ask(tr("Export all chats"), tr("Tenon chats"), _JSON)
        if path is not None:
            self._workspace.archive.export(path, None)

    @Slot()
    def import_chats(self) -> None:
        """Take in a file of Tenon's, or of another program."""
        kinds = tr("Chats and backups (*.json *.sqlite3);;All files (*)")
        chosen, _ = QFileDialog.getOpenFileName(self._window, tr("Import chats"), "", kinds)
        if chosen:
            self._workspace.archive.import_file(Path(chosen))

    def _ask(self, title: str, name: str, kind: str = _MARKDOWN) -> Path | None:
        ending = ".md" if kind == _MARKDOWN else ".json"
        kinds = f"{tr(_MARKDOWN)};;{tr(_JSON)}"
        chosen, wanted = QFileDialog.getSaveFileName(self._window, title, name + ending, kinds, tr(kind))
        if not chosen:
            return None
        path = Path(chosen)
        if path.suffix.lower() in (".md", ".markdown", ".json"):
            return path
        return path.with_name(path.name + (".json" if wanted == tr(_JSON) else ".md"))

    @Slot(str, str)
    def _exported(self, path: str, sentence: str) -> None:
        self.said.emit(sentence or tr("Saved as {name}.", name=Path(path).name), bool(sentence))

    @Slot(str)
    def _importing(self, name: str) -> None:
        self._coming += 1
        self._say_with_cancel(tr("{name} is being imported...", name=name))

    @Slot(int, str)
    def _imported(self, conversations: int, sentence: str) -> None:
        self._coming = max(self._coming - 1, 0)
        if self._coming:
            self._say_with_cancel(sentence)
        else:
            self.said.emit(sentence, conversations == 0)

    def _say_with_cancel(self, sentence: str) -> None:
        cancel = self._workspace.archive.cancel_import
        self._toast.say(sentence, tr("Cancel import"), cancel, lasting=True)


def file_name(title: str) -> str:
    """Return a chat's title as a file name for every system: letters with marks, digits and a few signs."""
    parts: list[str] = []
    for char in unicodedata.normalize("NFC", title):
        kind = unicodedata.category(char)
        if kind[0] == "M":
            if parts and parts[-1] != " ":
                parts[-1] += char
        elif char.isalnum() or char in "-_.,()":
            parts.append(char)
        elif kind != "Cf" and parts and parts[-1] != " ":
            parts.append(" ")
    parts = parts[:_LONGEST_NAME]
    while len("".join(parts).encode()) > _MOST_BYTES:
        parts.pop()
    name = "".join(parts).strip(" .") or tr("Chat")
    return _RESERVED.sub(r"\1_", name)
