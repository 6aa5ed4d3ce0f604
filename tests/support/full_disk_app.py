"""The app where no file can grow: ``python -m tests.support.full_disk_app`` opens it and says what it shows."""

from __future__ import annotations

import json
import resource
import signal
import sys

from PySide6.QtCore import QTimer

from app import bootstrap
from app.bridge.single_instance import SingleInstance, instance_name
from app.diagnostics import SessionRecord, log_folder
from engine.hub.model_folders import data_folder

_LOOK_MS = 1_500


def main() -> int:
    """Print one line of JSON: whether the window is shown, titles of its chats, and what it says."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    qt = bootstrap._qt()
    instance = SingleInstance(instance_name(data_folder()))
    instance.claim(())
    record = SessionRecord(log_folder())
    application = bootstrap._application(qt, instance, record, ())
    window, workspace = application.window, application.workspace

    def look() -> None:
        chats = [chat.title for chat in workspace.library.conversations()]
        print(
            json.dumps([window.isVisible(), chats, window.trouble.unsaved.text or window.toast.text]),
            flush=True,
        )
        window.close()

    QTimer.singleShot(_LOOK_MS, look)
    code = application.run()
    instance.close()
    record.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
