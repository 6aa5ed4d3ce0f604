"""Pictures of the window with made-up chats: ``python -m tests.support.screenshots FOLDER``."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from app.chat.conversation import Stretches

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QLocale, QSize
from PySide6.QtGui import QFontDatabase, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase, EngineState
from app.ui.language import speak
from app.ui.main_window import MainWindow
from app.ui.model_button import DRAFTS
from app.ui.theme.theme import Theme
from app.ui.transcript.bubble import OwnMessage
from engine.messages import CheckDrafts, DraftChecked, ErrorReport
from tests.support.indexed_picture import indexed
from tests.support.scripted_workspace import DAY_S, ScriptedWorkspace, statistics

LLAMA = EngineState(
    EnginePhase.READY, "/models/llama", "Llama 3.1 8B Instruct", "q4_k_m", draft_name="Llama 3.2 1B"
)
QUESTION = "How do I read a 6 GB CSV on a laptop with 8 GB of RAM?"
ANSWER = """### Read it in pieces

A 6 GB file does not have to fit in 8 GB of RAM. Three things keep memory low:

- **Choose columns** with `usecols`, so the rest is never read.
- **Set types**: `category` for regions, `float32` for amounts.
- **Work in chunks** and keep only the running totals.

| Approach | Peak memory | Time |
|:--|--:|--:|
| pandas, all at once | 14.1 GB | does not finish |
| pandas, in chunks | 0.6 GB | 94 s |
| Polars, lazy | 1.2 GB | 21 s |

```python
import pandas as pd
totals = {}
for part in pd.read_csv("sales.csv", chunksize=200_000):
    for region, amount in part.groupby("region")["amount"].sum().items():
        totals[region] = totals.get(region, 0) + amount
```
"""
FOLLOW_UP = "Can it pick up where it left off if the laptop sleeps?"
TAIL = (
    "Yes. Save the totals and the number of rows done after each chunk, then skip that many rows on the next "
    "start. Write to a temporary file first and rename it, so a power cut never leaves half a checkpoint"
)
_windows: list[MainWindow] = []
THOUGHT = "<think>\nThe person wants a plan, not code. Keep it short.\n</think>\n\n"
LONG = (
    THOUGHT
    + """# A plan for the week

Start with what cannot move, then fill the rest. [Time blocking](https://example.org/blocks) helps.

1. Put the **fixed** dates in first.
2. Give each large task one morning:
   - writing on Monday and Tuesday
   - reading on Wednesday
3. Leave *one* afternoon empty.

> A plan that has no empty hour is a wish.

## What it costs

| Day | Morning | Afternoon | Evening | Hours |
|---|---|---|---|--:|
| Monday | Write the first chapter, about 1,200 words | Answer mail | Walk | 8 |
| Tuesday | Write on | Call the printer about `300 gsm` paper | Cook | 7.5 |

---

```sh
cal -3 && printf 'a line that is much too long for the reading column, so that it has to scroll sideways: %s' "$HOME"
```
"""
)


def fill(workspace: ScriptedWorkspace) -> int:
    """The chats of the pictures; returns the one to open."""
    for title, age in (
        ("Unit tests for the parser", 5.2), ("Notes from the parents’ evening", 5.1),
        ("Garden plan, north balcony", 5.0), ("Regex for invoice numbers", 1.02),
        ("Translate the lease to English", 1.01), ("Bicycle gear ratios", 1.0),
        ("Why is the sky darker up high?", 0.0002), ("Cover letter, second draft", 0.0001),
    ):  # fmt: skip
        workspace.add_conversation(title, age * DAY_S, "A question", "An answer")
    for title in ("House rules for the thesis", "Weekly shopping and meals"):
        workspace.shelf.pin(workspace.add_conversation(title, 8 * DAY_S, "A question", "An answer"))
    chat = workspace.add_conversation("Large CSV on a small laptop", 0, QUESTION, ANSWER)
    done = statistics(412, mode="dovetail", tokens_per_second=13.8, time_to_first_token_ms=1100.0)
    workspace.change(chat, statistics=done)
    return chat


def open_window(theme: Theme, workspace: ScriptedWorkspace, size: QSize) -> MainWindow:
    """A window of a size. It is kept, because what is collected while others are open takes its filters along."""
    window = MainWindow(theme, workspace)
    _windows.append(window)
    window.resize(size)
    window.show()
    return window


def save(picture: QPixmap, folder: Path, name: str) -> None:
    """Write a picture, packed as tightly as PNG can."""
    indexed(picture.toImage()).save(str(folder / f"{name}.png"), "PNG", 0)  # type: ignore[call-overload]


def take(window: MainWindow, folder: Path, name: str) -> None:
    """Save a picture of the window."""
    QTest.qWait(400)
    save(window.grab(), folder, name)


def streaming(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """A finished reply and one under way."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    workspace.change(chat, statistics=statistics(74, mode="dovetail"))
    take(window, folder, name)
    window.close()


def begin(dark: bool) -> tuple[QApplication, Theme, Path]:
    """The application, its theme with the mockups' fonts where they are there, and the folder for the pictures."""
    parser = argparse.ArgumentParser(description="Take pictures of the window.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"), help="of the pictures")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    speak(app, "en")
    QLocale.setDefault(QLocale("en_US"))
    families = QFontDatabase.families()
    theme = Theme(
        dark=dark,
        family="Inter" if "Inter" in families else "",
        code_family="JetBrains Mono" if "JetBrains Mono" in families else "",
    )
    theme.apply()
    return app, theme, folder


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    wide, narrow = QSize(1280, 820), QSize(520, 820)
    for dark in (False, True):
        theme.set_dark(dark)
        word = "dark" if dark else "light"
        streaming(theme, folder, f"main-{word}", wide)
        empty(theme, folder, f"empty-{word}", wide)
        long_answer(theme, folder, f"long-{word}", wide)
        drafted(theme, folder, f"drafted-{word}", wide)
        guessing(theme, folder, f"guess-{word}", wide)
        trouble(theme, folder, f"error-{word}", wide)
        queued(theme, folder, f"queued-{word}", wide)
        versions(theme, folder, f"versions-{word}", wide)
    streaming(theme, folder, "narrow-dark", narrow)
    guessing(theme, folder, "guess-narrow-dark", narrow)
    settings(theme, folder, "settings-narrow-dark", narrow)
    empty(theme, folder, "narrow-empty-dark", narrow)
    theme.set_dark(False)
    menus(theme, folder, wide)
    app_menu(theme, folder, "menu-app-light", wide)
    settings(theme, folder, "settings-light", wide)
    sidebar_overlay(theme, folder, narrow)
    theme.set_scale(1.5)
    streaming(theme, folder, "scale-150-light", wide)
    app.quit()
    return 0


def empty(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """A blank chat while the engine starts."""
    workspace = ScriptedWorkspace(EngineState(EnginePhase.STARTING, "smollm2", "SmolLM2 135M"))
    fill(workspace)
    window = open_window(theme, workspace, size)
    take(window, folder, name)
    window.close()


def long_answer(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Every kind of block, a line about the context, and the button that jumps to the end."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    other = workspace.add_conversation("A plan for the week", 0, "Plan my week", LONG, "And then?", LONG)
    workspace.change(
        other,
        statistics=statistics(530, acceptance_rate=None, mean_acceptance_length=None, mode="plain"),
        notices=("The 4 oldest messages were left out, because the chat outgrew the context.",),
    )
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    window.page.open(other)
    QTest.qWait(100)
    bar = window.page.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() - 330)
    take(window, folder, name)
    window.close()


def drafted(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Text from accepted drafts is coloured."""
    workspace = ScriptedWorkspace(LLAMA)
    workspace.settings.drafted_shown = True
    chat = fill(workspace)
    workspace.change(chat, drafted=Stretches.of((at, at + 9 + at % 17) for at in range(4, len(ANSWER), 31)))
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    take(window, folder, name)
    window.close()


def guessing(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """A model larger than memory: its weights come from the disk, and a draft's guess stands behind the text."""
    workspace = ScriptedWorkspace(replace(LLAMA, weights="q4_k_m", draft_name="Llama 3.2 1B Instruct"))
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL[: len(TAIL) // 2 + 3])
    workspace.guess(chat, TAIL[len(TAIL) // 2 + 3 :] + " behind. A guess may be wrong from here on")
    workspace.change(
        chat,
        statistics=statistics(
            74,
            mode="llmcad",
            tokens_per_second=0.412,
            disk_bytes_per_second=1.24e9,
            resident_bytes=2_100_000_000,
        ),
    )
    take(window, folder, name)
    window.close()


def trouble(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The engine's process ended in mid-reply; a chat was just deleted."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    sentence = "The engine stopped: it was ended from outside. It starts again with your next message."
    workspace.set_engine(
        EngineState(EnginePhase.STOPPED, "/models/llama", LLAMA.model_name, sentence=sentence)
    )
    workspace.fail(chat, sentence, ErrorReport("EngineStopped", sentence))
    window.shelf.delete(workspace.library.conversations()[1].id)
    take(window, folder, name)
    window.close()


def versions(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """A second answer beside the first, a stopped one, and a message that is being edited."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    workspace.shelf.pin(workspace.library.conversations()[3].id)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.regenerate(chat, workspace.reply(chat).id)
    workspace.stream(chat, "Another, shorter answer.\n\n- Choose columns.\n- Work in chunks.")
    workspace.finish(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    workspace.change(chat, state=MessageState.STOPPED, statistics=statistics(30))
    message = window.page.transcript.views[-2]
    assert isinstance(message, OwnMessage)
    message.buttons.set_seen(True)
    take(window, folder, name)
    message.edit()
    take(window, folder, name.replace("versions", "edit"))
    window.close()


def queued(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """A reply runs in one chat, a message waits in another."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, TAIL)
    other = workspace.library.conversations()[1].id
    window.page.open(other)
    workspace.turns.send(other, "And make the second paragraph shorter.")
    take(window, folder, name)
    workspace.finish(chat)
    workspace.change(other, state=MessageState.WAITING)
    workspace.set_engine(EngineState(EnginePhase.LOADING, "/models/llama", LLAMA.model_name, fraction=0.38))
    take(window, folder, name.replace("queued", "loading"))
    window.close()


def menus(theme: Theme, folder: Path, size: QSize) -> None:
    """The menus, each as its own picture."""
    workspace = ScriptedWorkspace(replace(LLAMA, gpu=""))
    workspace.settings.recent_models = ("/models/llama", "/models/Qwen2.5 0.5B Instruct")
    fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.composer.mode_button.click()
    popup = window.page.composer.mode_button.popup
    assert popup is not None
    QTest.qWait(100)
    popup.grab().save(str(folder / "menu-mode-light.png"))
    popup.close()
    window.page.header.model_button.click()
    popup = window.page.header.model_button.popup
    assert popup is not None
    QTest.qWait(100)
    popup.grab().save(str(folder / "menu-model-light.png"))
    other = "/models/Qwen2.5 0.5B Instruct"
    workspace.settings.remember_drafts("/models/other", (other,))
    workspace.settings.remember_drafts("smollm2", ("/models/Llama 3.2 1B Instruct",))
    popup.choose(DRAFTS)
    problem = (
        "The draft was made for another vocabulary: token 139 is 'Ġthe' in the model and 'ĠThe' in the draft; "
        "choose a draft of the same family."
    )
    workspace.tell(DraftChecked(workspace.engine.last(CheckDrafts).request_id, other, problem))
    QTest.qWait(100)
    popup.grab().save(str(folder / "menu-draft-light.png"))
    popup.close()
    window.close()


def app_menu(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The menu behind the three dots, and the window it belongs to."""
    workspace = ScriptedWorkspace(LLAMA)
    window = open_window(theme, workspace, size)
    window.page.open(fill(workspace))
    take(window, folder, f"{name}-window")
    window.page.header.menu_button.click()
    QTest.qWait(100)
    window.menu.grab().save(str(folder / f"{name}.png"))
    window.menu.close()
    window.close()


def settings(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """A page of the settings with changes that are not applied yet, and a search."""
    workspace = ScriptedWorkspace(replace(LLAMA, gpu="GPU"))
    workspace.settings.ram_budget_bytes = 6_500_000_000
    workspace.settings.settings_level = "advanced"
    window = open_window(theme, workspace, size)
    window.settings.open_page("speed")
    dialog = window.settings.dialog
    assert dialog is not None
    dialog.row("gpu_layers").field.show_value(12)
    dialog.row("gpu_layers").field.edited.emit()
    QTest.qWait(200)
    dialog.grab().save(str(folder / f"{name}.png"))
    dialog.head.search.setText("draft")
    QTest.qWait(100)
    dialog.grab().save(str(folder / f"{name}-search.png"))
    dialog.pending.undo()
    dialog.close()
    window.close()


def sidebar_overlay(theme: Theme, folder: Path, size: QSize) -> None:
    """The chats over the page of a narrow window, one title being edited."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(chat)
    window.shell.show_sidebar()
    window.sidebar.list.rename(workspace.library.conversations()[2].id)
    take(window, folder, "narrow-sidebar-light")
    window.close()


if __name__ == "__main__":
    sys.exit(main())
