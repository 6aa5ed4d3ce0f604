"""The pictures in assets/screenshots: ``python -m tests.support.product_pictures assets/screenshots``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QWidget

from app.chat.comparison import Trial
from app.chat.conversation_options import ConversationOptions
from app.ui.comparison.dialog import ComparisonDialog
from app.ui.main_window import MainWindow
from app.ui.settings.choice_field import ChoiceField
from app.ui.theme.theme import Theme
from engine.messages import ErrorReport, MakePlan, PlanMade, SamplingOptions
from tests.support.command_pictures import formulas
from tests.support.fake_workspace import FakeWorkspace, statistics
from tests.support.inspector_pictures import inspected
from tests.support.inspector_scene import PLACES
from tests.support.machine_pictures import measuring, shown
from tests.support.machine_scene import machine, plan
from tests.support.model_pictures import page
from tests.support.screenshots import (
    LLAMA,
    LONG,
    begin,
    empty,
    fill,
    open_window,
    save,
    streaming,
    take,
)
from tests.support.trouble_pictures import SHORT, failed
from tests.support.welcome_pictures import report, stocked, welcome

WIDE, NARROW, DENSE = QSize(1280, 820), QSize(520, 820), QSize(960, 700)
_PROSE = """Read it in pieces, so that no more than one of them is in memory at a time.

1. Name the columns that you need, and the rest is never read.
2. Set their types: numbers of 32 bits take half of the room, and names that repeat take next to none.
3. Add each piece to the totals before you read the next one.

That takes about 600 MB and a minute and a half for 6 GB. If it is still too slow, a library that reads lazily does \
the same by itself, on all cores."""
_DENSE = "2"  # device pixels per pixel
_SYSTEM = "tenon 1.0.0, Linux, 14 cores, 16.0 GB RAM, 7.6 GB free"
_CODE = '''Here is a small worker pool. Each worker takes a job, runs it, and puts the result back:

```python
from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Job(Generic[Item]):
    """One piece of work and its place in the line."""

    number: int
    item: Item


def run_all(work: Callable[[Item], Result], items: Iterable[Item], workers: int = 4) -> list[Result]:
    """Run `work` on every item with a few threads, and give the results back in the order of the items."""
    jobs: queue.SimpleQueue[Job[Item] | None] = queue.SimpleQueue()
    results: dict[int, Result] = {}

    def serve() -> None:
        while (job := jobs.get()) is not None:
            results[job.number] = work(job.item)  # a dict takes writes from several threads

    for number, item in enumerate(items):
        jobs.put(Job(number, item))
    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        jobs.put(None)  # one for each worker: it ends there
        thread.start()
    for thread in threads:
        thread.join()
    return [results[number] for number in sorted(results)]
```

The results keep the order of the items, whichever worker was faster.
'''
_ARABIC_QUESTION = "كيف أقرأ ملف CSV حجمه 6 غيغابايت على حاسوب ذاكرته 8 غيغابايت؟"
_ARABIC = """### اقرأه على دفعات

لا حاجة إلى تحميل الملف كله في الذاكرة. ثلاثة أمور تُبقي الاستهلاك منخفضًا:

- **اختر الأعمدة** باستخدام `usecols` كي لا يُقرأ الباقي.
- **حدّد الأنواع**: النوع `category` للمناطق و`float32` للمبالغ.
- **اعمل على دفعات** واحتفظ بالمجاميع فقط.

| الطريقة | الذاكرة القصوى | الزمن |
|:--|--:|--:|
| pandas دفعة واحدة | 14.1 GB | لا ينتهي |
| pandas على دفعات | 0.6 GB | 94 s |

```python
for part in pd.read_csv("sales.csv", chunksize=200_000):
    totals += part.groupby("region")["amount"].sum()
```
"""


def save_with(window: MainWindow, theme: Theme, folder: Path, name: str, *boxes: QWidget) -> None:
    """Save the window with a dialog in its middle, and popups of that where they opened. Frames are the system's."""
    QTest.qWait(300)
    picture = window.grab()
    dialog = boxes[0]
    place = QRect(QPoint(0, 0), dialog.size())
    place.moveCenter(window.rect().center())
    painter = QPainter(picture)
    painter.setPen(theme.color("btn"))
    for box in boxes:
        corner = place.topLeft() + box.mapToGlobal(QPoint(0, 0)) - dialog.mapToGlobal(QPoint(0, 0))
        part = QPixmap(box.size())
        part.fill(Qt.GlobalColor.transparent)
        box.render(part)
        painter.drawPixmap(corner, part)
        if isinstance(box, QDialog):
            painter.drawRect(QRect(corner, box.size()).adjusted(-1, -1, 0, 0))
    painter.end()
    save(picture, folder, name)


def chat(
    theme: Theme, folder: Path, name: str, turns: tuple[str, ...], top: float = 1.0, **figures: object
) -> None:
    """A finished chat, scrolled to a share of its height."""
    workspace = FakeWorkspace(LLAMA)
    fill(workspace)
    shown_chat = workspace.add_conversation(turns[0], 0, *turns[1:])
    workspace.change(shown_chat, statistics=statistics(386, mode="dovetail", **figures))
    window = open_window(theme, workspace, WIDE)
    window.page.open(shown_chat)
    QTest.qWait(200)
    bar = window.page.transcript.verticalScrollBar()
    bar.setValue(round(bar.maximum() * top))
    take(window, folder, name)
    window.close()


def settings(theme: Theme, folder: Path, name: str, level: str) -> None:
    """A page of the settings with changes that are not applied, and of the advanced one its list of modes."""
    workspace = FakeWorkspace(LLAMA)
    workspace.settings.settings_level = level
    workspace.desk.used.update(mode="dovetail", gpu_layers=10, kv_precision="16-bit")
    workspace.plans.ask_for_chosen()
    workspace.tell(PlanMade(workspace.machine_talk.last(MakePlan).request_id, plan()))
    window = open_window(theme, workspace, WIDE)
    window.page.open(fill(workspace))
    window.settings.open_page("speed")
    dialog = window.settings.dialog
    assert dialog is not None
    row = dialog.row("context")
    row.field.show_value(16_384)
    row.field.edited.emit()
    save_with(window, theme, folder, name, dialog)
    if level == "advanced":
        mode = dialog.row("mode").field
        assert isinstance(mode, ChoiceField)
        mode.open()
        assert mode.popup is not None
        save_with(window, theme, folder, f"{name}-modes", dialog, mode.popup)
        mode.popup.close()
    dialog.pending.undo()
    dialog.close()
    window.close()


def compared(theme: Theme, folder: Path, name: str) -> None:
    """The same answer, in two modes."""
    workspace = FakeWorkspace(LLAMA)
    asked = fill(workspace)
    window = open_window(theme, workspace, WIDE)
    window.page.open(asked)
    window.comparisons.open_on(workspace.reply(asked).id)
    dialog = window.findChild(ComparisonDialog)
    assert dialog is not None
    text = _PROSE
    ids = tuple(range(96))
    workspace.comparison.show(
        Trial("plain", "plain", text, ids, 16.3, 5.9, None, 1.0, True),
        Trial("auto", "dovetail", text, ids, 6.8, 14.1, 4.1, 0.78, True),
    )
    save_with(window, theme, folder, name, dialog)
    dialog.close()
    window.close()


def chat_settings(theme: Theme, folder: Path, name: str) -> None:
    """The settings of one chat."""
    workspace = FakeWorkspace(LLAMA)
    asked = fill(workspace)
    words = "You are a patient teacher. Answer in two sentences, then ask one question back."
    options = ConversationOptions(words, 400, SamplingOptions(temperature=0.7))
    workspace.set_options(asked, options)
    workspace.save_preset("Patient teacher", options)
    window = open_window(theme, workspace, WIDE)
    window.page.open(asked)
    window.commands["chat-settings"].trigger()
    save_with(window, theme, folder, name, open_dialog(window))
    open_dialog(window).close()
    window.close()


def trouble(theme: Theme, folder: Path, name: str) -> None:
    """A reply without enough memory: the notice, what happened, and another trouble in the corner."""
    window, workspace = failed(theme, WIDE)
    sentence = "The disk that holds /home/ada/tenon is full: free some space, or new messages are not saved."
    workspace.trouble.emit(ErrorReport("StorageError", sentence, "OSError: [Errno 28]"))
    take(window, folder, name)
    window.toast.dismiss()
    with mock.patch("app.bridge.diagnostics.system_line", return_value=_SYSTEM):
        window.trouble.show_details(SHORT)
    save_with(window, theme, folder, f"{name}-details", open_dialog(window))
    open_dialog(window).close()
    window.close()


def first_start(theme: Theme, folder: Path, name: str) -> None:
    """What somebody sees who starts Tenon for the first time."""
    workspace = stocked()
    window, welcome_page = welcome(theme, workspace, WIDE)
    report(workspace)
    welcome_page.refresh()
    take(window, folder, name)
    window.close()


def open_dialog(window: MainWindow) -> QDialog:
    """The dialog that is open."""
    return next(found for found in window.findChildren(QDialog) if found.isVisible())


def commands(theme: Theme, folder: Path, word: str) -> None:
    """The palette, the shortcuts and a search in the chat."""
    workspace = FakeWorkspace(LLAMA)
    window = open_window(theme, workspace, WIDE)
    window.page.open(fill(workspace))
    window.activateWindow()
    window.commands["palette"].trigger()
    QTest.keyClicks(window.palette_box.field, "mod")
    take(window, folder, f"palette-{word}")
    window.palette_box.open()
    window.show_shortcuts()
    save_with(window, theme, folder, f"shortcuts-{word}", open_dialog(window))
    open_dialog(window).close()
    window.commands["find"].trigger()
    QTest.keyClicks(window.find_in_chat.bar.field, "chunk")
    window.commands["find-next"].trigger()
    take(window, folder, f"find-{word}")
    window.close()


def models(theme: Theme, folder: Path, name: str) -> None:
    """What suits this computer, with a download under way; and the end of the page."""
    shown_page = page(theme, WIDE)
    QTest.qWait(200)
    shown_page.refresh()
    window = shown_page.window()
    assert isinstance(window, MainWindow)
    take(window, folder, name)
    if name.endswith("light"):
        bar = shown_page.area.verticalScrollBar()
        bar.setValue(bar.maximum())
        take(window, folder, f"{name}-more")
    window.close()


def measured(theme: Theme, folder: Path, name: str) -> None:
    """This machine, in the middle of its measuring."""
    workspace, window, machine_page = shown(theme, WIDE, machine(gpu=True), plan(gpu=True))
    measuring(workspace, machine_page)
    take(window, folder, name)
    window.close()


def mirrored(theme: Theme, folder: Path, name: str) -> None:
    """Arabic, in a window that runs from the right to the left."""
    QGuiApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    chat(theme, folder, name, ("ملف CSV كبير", _ARABIC_QUESTION, _ARABIC))
    QGuiApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def main() -> int:
    """Take all pictures; ``dense`` behind the folder takes the one of a screen with small pixels."""
    app, theme, folder = begin(dark=True)
    if sys.argv[2:] == ["dense"]:
        streaming(theme, folder, "main-200-dark", DENSE)
        app.quit()
        return 0
    for word in ("dark", "light"):
        theme.set_dark(word == "dark")
        streaming(theme, folder, f"main-{word}", WIDE)
        inspected(theme, folder, f"inspector-{word}", WIDE, PLACES)
        models(theme, folder, f"models-{word}")
        measured(theme, folder, f"machine-{word}")
        if word == "dark":
            streaming(theme, folder, "narrow-dark", NARROW)
            commands(theme, folder, word)
    scenes: tuple[tuple[str, Callable[[Theme, Path, str], None]], ...] = (
        ("compare-light", compared),
        ("chat-settings-light", chat_settings),
        ("trouble-light", trouble),
        ("rtl-light", mirrored),
        ("welcome-light", first_start),
    )
    for name, scene in scenes:
        scene(theme, folder, name)
    settings(theme, folder, "settings-light", "advanced")
    settings(theme, folder, "settings-simple-light", "simple")
    empty(theme, folder, "empty-light", WIDE)
    formulas(theme, folder, "maths-light", WIDE)
    chat(
        theme, folder, "code-light", ("A worker pool", "Write me a small worker pool in Python.", _CODE), 0.3
    )
    chat(theme, folder, "table-light", ("A plan for the week", "Plan my week", LONG), 1.0)
    app.quit()
    dense = [sys.executable, "-m", "tests.support.product_pictures", str(folder), "dense"]
    return subprocess.run(dense, env={**os.environ, "QT_SCALE_FACTOR": _DENSE}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
