"""The app without its window: ``python -m tests.support.headless_app DATA CONFIG PROMPT`` runs until it is killed.

Prints the engine's process id, then a line for each piece of text.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from tests.support.fake_engine import SERVE


class Printer(QObject):
    """Says on standard output what happens."""

    @Slot(int, int, str)
    def text(self, _conversation_id: int, _message_id: int, text: str) -> None:
        print(text, flush=True)


def main() -> None:
    """Send one prompt and stay."""
    application = QCoreApplication(sys.argv)
    client = EngineClient(SERVE, in_process=False)
    workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]), client)
    printer = Printer()
    workspace.reply_text_added.connect(printer.text)
    workspace.start()
    print(client.process_id, flush=True)
    workspace.send(None, sys.argv[3])
    application.exec()


if __name__ == "__main__":
    main()
