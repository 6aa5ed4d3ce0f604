"""Pictures of the window in another language: ``python -m tests.support.language_pictures FOLDER de|zh [rtl]``."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QLocale, QSize, Qt
from PySide6.QtTest import QTest

from app.ui.language import speak
from app.ui.places import MACHINE, MODELS
from app.ui.theme.theme import Theme
from engine.messages import MachineReported, MakePlan, PlanMade, ReportMachine
from tests.support.chat_pictures import chat_settings, compared
from tests.support.command_pictures import commands
from tests.support.inspector_scene import PLACES, play, report
from tests.support.machine_scene import machine, plan
from tests.support.model_pictures import stock
from tests.support.screenshots import FOLLOW_UP, LLAMA, TAIL, begin, fill, open_window, settings, take
from tests.support.scripted_workspace import ScriptedWorkspace, statistics

WIDE, SMALL = QSize(1280, 820), QSize(380, 560)
HEBREW = "שלום, איך אפשר לקרוא קובץ CSV של 6 GB במחשב נייד?"
ARABIC = "نعم. احفظ المجاميع وعدد الصفوف بعد كل جزء، ثم تابع من هناك.\n\n- أولاً\n- ثانياً"


def chat(theme: Theme, folder: Path, name: str, size: QSize, inspected: bool) -> None:
    """A reply under way, with the inspector where there is room for it."""
    workspace = ScriptedWorkspace(LLAMA)
    workspace.load(report(PLACES))
    shown = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(shown)
    workspace.turns.send(shown, FOLLOW_UP)
    workspace.stream(shown, TAIL)
    workspace.change(shown, statistics=statistics(74, mode="dovetail"))
    if inspected:
        window.inspector.show()
        play(workspace, workspace.reply(shown).id)
    take(window, folder, f"chat-{name}")
    window.page.open(None)
    take(window, folder, f"empty-{name}")
    window.page.open(workspace.add_conversation("שיחה", 0, HEBREW, ARABIC))
    take(window, folder, f"hebrew-{name}")
    window.shell.show_sidebar()
    take(window, folder, f"sidebar-{name}")
    window.close()


def pages(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The models, and this machine."""
    workspace = ScriptedWorkspace(replace(LLAMA, gpu="GPU"))
    workspace.settings.sidebar_shown = size == WIDE
    fill(workspace)
    stock(workspace)
    window = open_window(theme, workspace, size)
    window.places.go(MODELS)
    workspace.model_store.downloads.changed.emit()
    take(window, folder, f"models-{name}")
    window.places.go(MACHINE)
    talk = workspace.engine
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine(gpu=True)))
    workspace.tell(PlanMade(talk.last(MakePlan).request_id, plan()))
    QTest.qWait(100)
    take(window, folder, f"machine-{name}")
    window.close()


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    QLocale.setDefault(QLocale(sys.argv[2]))
    speak(app, sys.argv[2])
    if "rtl" in sys.argv[3:]:
        app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    for name, size in (("wide", WIDE), ("small", SMALL)):
        chat(theme, folder, name, size, inspected=size == WIDE)
        pages(theme, folder, name, size)
        settings(theme, folder, f"settings-{name}", size)
        chat_settings(theme, folder, f"chat-settings-{name}", size)
        compared(theme, folder, f"compared-{name}", size)
        commands(theme, folder, name, size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
