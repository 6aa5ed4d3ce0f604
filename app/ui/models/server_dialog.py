"""Asks for a server's address and key, and waits for the server's own answer before it closes."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from app.bridge.models.servers import Servers
from app.chat.model_entries import ServerEntry
from app.ui.inert_text import PlainLabel
from app.ui.models.model_dialog import ModelDialog
from app.ui.theme.theme import Theme
from app.words import tr

_LONGEST = {"address": 300, "key": 1000, "name": 40}


class ForgettingDialog(ModelDialog):
    """Asks."""

    def __init__(self, theme: Theme, server: str, in_use: bool, parent: QWidget) -> None:
        super().__init__(theme, tr("Forget {server}?", server=server), tr("Forget"), parent)
        self.add_words(tr("Its models leave the list, and its key the keyring. Chats stay."))
        if in_use:
            self.add_words(tr("It is in use: the built-in model answers from then on."))
        self.column.addStretch(1)
        self.fit()


class ServerDialog(ModelDialog):
    """Three fields. It stays open with a sentence where the server cannot be added.

    Args:
        servers: Ask and keep it.
        address: In the field at first.
        name: The same.
    """

    added = Signal(object)  # ServerEntry

    def __init__(
        self, theme: Theme, servers: Servers, parent: QWidget, address: str = "", name: str = ""
    ) -> None:
        super().__init__(theme, tr("Add a server"), tr("Add"), parent)
        self._servers = servers
        self._asks = False
        self.add_words(
            tr(
                "vLLM, SGLang, llama.cpp, Ollama, LM Studio, another Tenon, or any other that speaks OpenAI's "
                "protocol. What you write to one of its models is sent to it."
            )
        )
        self.address = self._field("address", tr("Address"), address, "http://desk:8000")
        self.key = self._field("key", tr("Key"), "", tr("none, or the one that is kept"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.name = self._field("name", tr("Name"), name, tr("the host's"))
        self.add_words(tr("The key is kept in the system's keyring and sent to this address alone."), "small")
        self.trouble = self.add_words("", "bad")
        self.trouble.hide()
        self.column.addStretch(1)
        self.address.textChanged.connect(self._allow)
        servers.added.connect(self._close)
        servers.refused.connect(self._say_trouble)
        self._allow()
        self.fit()

    @Slot()
    def accept(self) -> None:
        """Ask the server; the dialog closes when it has answered."""
        self._asks = True
        self.trouble.hide()
        self.accept_button.setText(tr("Asking..."))
        self._allow()
        self._servers.add(self.address.text(), self.key.text(), self.name.text())

    def _field(self, name: str, title: str, text: str, placeholder: str) -> QLineEdit:
        label = PlainLabel(title, self, kind="label")
        field = QLineEdit(text, self)
        field.setAccessibleName(title)
        field.setMaxLength(_LONGEST[name])
        field.setPlaceholderText(placeholder)
        label.setBuddy(field)
        self.column.addWidget(label)
        self.column.addWidget(field)
        return field

    @Slot()
    def _allow(self) -> None:
        self.accept_button.setEnabled(bool(self.address.text().strip()) and not self._asks)

    @Slot(object)
    def _close(self, entry: ServerEntry) -> None:
        if self._asks:
            super().accept()
            self.added.emit(entry)

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self._asks = False
        self.accept_button.setText(tr("Add"))
        self._allow()
        self.trouble.setText(sentence)
        self.trouble.show()
        self.fit()
