"""The real window and engine: ``python -m tests.support.killed_window PROMPT`` sends, types on and waits to be killed.

Prints one JSON line for each piece of the reply at the moment when the engine's pipe brings it, and for each key typed:
``[monotonic seconds, "reply" or "typed", text]``. ``typed`` is the composer's whole text.
"""

from __future__ import annotations

import json
import os
import sys
import time

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtTest import QTest

from app import bootstrap
from app.bridge.single_instance import SingleInstance, instance_name
from app.diagnostics.log_files import log_folder
from app.diagnostics.session_record import SessionRecord
from app.storage.location import data_folder
from engine.messages import TokensAdded
from tests.support.toy import TOY

_KEY_MS = 70  # a fast typist


class Hand(QObject):
    """Sends the prompt, then types while the reply comes."""

    def __init__(self, application: bootstrap.Application, prompt: str) -> None:
        super().__init__()
        self._prompt = application.window.page.composer.prompt
        self._first = prompt
        self._keys = 0
        self._timer = QTimer(self, interval=_KEY_MS)
        self._timer.timeout.connect(self._type)

    @Slot()
    def begin(self) -> None:
        """Send the prompt."""
        self._prompt.setPlainText(self._first)
        QTest.keyClick(self._prompt, Qt.Key.Key_Return)
        self._timer.start()

    @Slot()
    def _type(self) -> None:
        QTest.keyClick(self._prompt, "abcdefghij"[self._keys % 10])
        self._keys += 1
        _tell("typed", self._prompt.toPlainText())


def _tell(kind: str, text: str) -> None:
    os.write(1, (json.dumps([time.monotonic(), kind, text]) + "\n").encode())


def _arrived(_number: int, event: object) -> None:
    if isinstance(event, TokensAdded):
        _tell("reply", event.text)


def main() -> int:
    """Run until killed."""
    qt = bootstrap._qt()
    instance = SingleInstance(instance_name(data_folder()))
    instance.claim(())
    application = bootstrap.Application(qt, instance, SessionRecord(log_folder()), ())
    workspace = application.workspace
    workspace.choose_model(str(TOY))
    # In the thread that reads the pipe: before the window knows of it.
    workspace._client._event.connect(_arrived, Qt.ConnectionType.DirectConnection)
    hand = Hand(application, sys.argv[1])
    application.first_paint.happened.connect(hand.begin)
    return application.run()


if __name__ == "__main__":
    sys.exit(main())
