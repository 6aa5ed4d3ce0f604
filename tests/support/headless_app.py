"""The app without its window: ``python -m tests.support.headless_app DATA CONFIG PROMPT`` runs until it is killed.

Prints the engine's process id, then a line for each piece of text.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.conversation import Message
from tests.support.fake_engine import SERVE


class Printer(QObject):
    """Says on standard output what happens."""

    def __init__(self) -> None:
        super().__init__()
        self._said = ""

    @Slot(object)
    def text(self, reply: Message) -> None:
        print(reply.content.removeprefix(self._said), flush=True)
        self._said = reply.content


def main() -> None:
    """Send one prompt and stay."""
    application = QCoreApplication(sys.argv)
    client = EngineClient(SERVE)
    workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]), client)
    printer = Printer()
    workspace.replies.text_changed.connect(printer.text)
    workspace.start()
    print(client.process_id, flush=True)
    workspace.turns.send(None, sys.argv[3])
    application.exec()


if __name__ == "__main__":
    main()
