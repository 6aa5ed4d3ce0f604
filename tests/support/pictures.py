"""Pictures of every state of the window, made up: ``python -m tests.support.pictures FOLDER [--stages chat ...]``.

Each stage of the table `STAGES` is taken in each look (light, dark, text at 150 %) and each size, and its files are
named ``STAGE-PICTURE-LOOK-SIZE.png``. ``--language de`` and ``--mirrored`` show other words and the other direction.
The README's pictures are of a real run: `tests.support.product_pictures`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QLocale, QSize, Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.bootstrap import speak
from app.chat.comparison import Contender, Trial
from app.chat.conversation import ConversationOptions, MessageState, Stretches
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.machine import Measuring, Stage
from app.chat.model_entries import DraftOffer, ImportEntry, Missed, OfferEntry, RemovalEntry
from app.ui.help import HelpPage
from app.ui.machine.page import MachinePage
from app.ui.main_window import MainWindow
from app.ui.models.dialogs import ImportDialog, RemovalDialog
from app.ui.models.get_model import GetDialog
from app.ui.models.models_page import ModelsPage
from app.ui.places import HELP, MACHINE, MODELS
from app.ui.sheet import Sheet
from app.ui.theme.theme import Theme
from app.ui.transcript.bubble import OwnMessage
from engine.messages import (
    BenchmarkRow,
    CheckDrafts,
    DownloadStatus,
    DraftChecked,
    ErrorReport,
    Failed,
    MachineReported,
    MakePlan,
    MeasuringProgress,
    PlanMade,
    ReportMachine,
    SamplingOptions,
)
from tests.support.indexed_picture import indexed
from tests.support.inspector_scene import PLACES, STREAMED, play, report
from tests.support.machine_scene import machine, plan
from tests.support.scripted_workspace import DAY_S, ScriptedWorkspace, statistics
from tests.support.window_scene import ANSWER, FOLLOW_UP, LLAMA, LONG, SHORT, TAIL, fill, stock, stocked

SIZES = {"wide": QSize(1280, 820), "small": QSize(380, 560)}
LOOKS = {"light": (False, 1.0), "dark": (True, 1.0), "150": (False, 1.5)}
_windows: list[MainWindow] = []  # what is collected while others are open takes its filters along
_GB = 1_000_000_000
FORMULAS = r"""### The quadratic formula

For $ax^2 + bx + c = 0$ with $a \ne 0$, the roots are

$$
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
$$

where $b^2 - 4ac$ is the *discriminant*, $\Delta$. If \(\Delta > 0\) there are **two** real roots $x_1 \neq x_2$; the
$n$th power, $\frac{1}{2}$ of it, or $\sum_{i=1}^{n} i$ inline. It costs $5 and $10, and `$x$` is code.

1. A matrix: $A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$ and so on, with $y$, $p$ and $q_j$
   \[ \int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2} \]

| Name | Formula |
|---|---|
| Entropy | $S = k_B \ln W$ |

This cannot be read: $\frac{a$ and $\unheardof{x}$.
"""
HEBREW = "שלום, איך אפשר לקרוא קובץ CSV של 6 GB במחשב נייד?"
ARABIC = "نعم. احفظ المجاميع وعدد الصفوف بعد كل جزء، ثم تابع من هناك.\n\n- أولاً\n- ثانياً"
MEASURED = (
    BenchmarkRow("dovetail", 14.2, 14.5),
    BenchmarkRow("lookup", 8.1, 8.9),
    BenchmarkRow("plain", 5.9, 5.9),
)


@dataclass(frozen=True)
class Camera:
    """Takes the pictures of a stage in one look and size."""

    theme: Theme
    folder: Path
    stage: str
    suffix: str
    size: QSize

    @contextmanager
    def window(self, workspace: ScriptedWorkspace, chat: int | None = None) -> Iterator[MainWindow]:
        """A window, with a chat where one is named."""
        window = MainWindow(self.theme, workspace)
        _windows.append(window)
        window.resize(self.size)
        window.show()
        if chat is not None:
            window.page.open(chat)
        yield window
        window.close()

    def take(self, shown: QWidget, name: str) -> None:
        """Save a picture of a window, a dialog or a menu, packed as tightly as PNG can."""
        take(shown, self.folder, f"{self.stage}-{name}-{self.suffix}")

    def take_dialog(self, window: MainWindow, name: str) -> None:
        """Save a picture of the open dialog and close it."""
        QTest.qWait(50)
        dialog = next(found for found in window.findChildren(QDialog) if found.isVisible())
        self.take(dialog, name)
        dialog.close()
        QTest.qWait(50)


def take(shown: QWidget, folder: Path, name: str) -> None:
    """Save a picture of a widget once it has settled."""
    QTest.qWait(400)
    indexed(shown.grab().toImage()).save(str(folder / f"{name}.png"), "PNG", 0)  # type: ignore[call-overload]


def asking(workspace: ScriptedWorkspace, chat: int, said: str = TAIL) -> None:
    """A second question, and what its reply says so far."""
    workspace.turns.send(chat, FOLLOW_UP)
    workspace.stream(chat, said)


def streaming(camera: Camera) -> None:
    """A finished reply and one under way, with marked drafts, and what a draft expects next."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    with camera.window(workspace, chat) as window:
        asking(workspace, chat)
        workspace.change(chat, statistics=statistics(74, mode="dovetail"))
        camera.take(window, "main")
    workspace = ScriptedWorkspace(LLAMA)
    workspace.settings.drafted_shown = True
    chat = fill(workspace)
    workspace.change(chat, drafted=Stretches.of((at, at + 9 + at % 17) for at in range(4, len(ANSWER), 31)))
    with camera.window(workspace, chat) as window:
        camera.take(window, "drafted")
        half = len(TAIL) // 2 + 3
        asking(workspace, chat, TAIL[:half])
        workspace.guess(chat, TAIL[half:] + " behind. A guess may be wrong from here on")
        read = {"disk_bytes_per_second": 1.24e9, "resident_bytes": 2_100_000_000}
        workspace.change(chat, statistics=statistics(74, mode="llmcad", tokens_per_second=0.412, **read))
        camera.take(window, "guess")


def states(camera: Camera) -> None:
    """A blank chat, every kind of block, a queue, a load, versions, an edit, an ended engine, another model."""
    workspace = ScriptedWorkspace(EngineState(EnginePhase.STARTING, "smollm2", "SmolLM2 135M"))
    fill(workspace)
    with camera.window(workspace) as window:
        camera.take(window, "empty")
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    other = workspace.add_conversation("A plan for the week", 0, "Plan my week", LONG, "And then?", LONG)
    notice = "The 4 oldest messages were left out, because the chat outgrew the context."
    plain = statistics(530, acceptance_rate=None, mean_acceptance_length=None, mode="plain")
    workspace.change(other, statistics=plain, notices=(notice,))
    with camera.window(workspace, chat) as window:
        window.page.open(other)
        QTest.qWait(100)
        bar = window.page.transcript.verticalScrollBar()
        bar.setValue(bar.maximum() - 330)
        camera.take(window, "long")
        asking(workspace, chat)
        window.page.open(other)
        workspace.turns.send(other, "And make the second paragraph shorter.")
        camera.take(window, "queued")
        workspace.finish(chat)
        workspace.change(other, state=MessageState.WAITING)
        loading = EngineState(EnginePhase.LOADING, "/models/llama", LLAMA.model_name, fraction=0.38)
        workspace.set_engine(loading)
        camera.take(window, "loading")
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    with camera.window(workspace, chat) as window:
        workspace.turns.regenerate(chat, workspace.reply(chat).id)
        workspace.stream(chat, "Another, shorter answer.\n\n- Choose columns.\n- Work in chunks.")
        workspace.finish(chat)
        asking(workspace, chat)
        workspace.change(chat, state=MessageState.STOPPED, statistics=statistics(30))
        message = window.page.transcript.views[-2]
        assert isinstance(message, OwnMessage)
        message.buttons.set_seen(True)
        camera.take(window, "versions")
        message.edit()
        camera.take(window, "edit")
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    workspace.change(chat, model="smollm2")
    with camera.window(workspace, chat) as window:
        asking(workspace, chat)
        workspace.change(chat, model="/models/Llama 3.1 8B Instruct")
        workspace.finish(chat)
        window.page.open(None)
        window.page.open(chat)
        camera.take(window, "switched")
    workspace = ScriptedWorkspace(EngineState(EnginePhase.IDLE, "/m", LLAMA.model_name, resting=True))
    with camera.window(workspace) as window:
        camera.take(window, "resting")


def trouble(camera: Camera) -> None:
    """A reply that failed for want of memory, its details, another trouble, and About."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    with camera.window(workspace, chat) as window:
        asking(workspace, chat)
        workspace.set_engine(LLAMA.stopped(SHORT.message))
        workspace.fail(chat, SHORT.message, SHORT)
        camera.take(window, "notice")
        window.trouble.show_details(SHORT)
        camera.take_dialog(window, "details")
        sentence = "The disk that holds /home/ada/tenon is full: free some space, or new messages are not saved."
        workspace.trouble.emit(ErrorReport("StorageError", sentence, "OSError: [Errno 28]"))
        camera.take(window, "toast")
        window.commands["about"].trigger()
        camera.take_dialog(window, "about")
        window.shelf.delete(workspace.library.conversations()[1].id)
        camera.take(window, "deleted")


def menus(camera: Camera) -> None:
    """The menus of models, drafts and memory, and the one behind the three dots."""
    workspace = ScriptedWorkspace(replace(LLAMA, gpu=""))
    other = "/models/Qwen2.5 0.5B Instruct"
    workspace.settings.recent_models = ("/models/llama", other)
    with camera.window(workspace, fill(workspace)) as window:
        window.page.header.model_button.click()
        popup = window.page.header.model_button.popup
        assert popup is not None
        camera.take(popup, "model")
        popup.close()
        workspace.settings.remember_drafts("/models/other", (other,))
        workspace.settings.remember_drafts("smollm2", ("/models/Llama 3.2 1B Instruct",))
        window.page.composer.draft_button.click()
        popup = window.page.composer.draft_button.popup
        assert popup is not None
        problem = (
            "The draft was made for another vocabulary: token 139 is 'Ġthe' in the model and 'ĠThe' in the draft; "
            "choose a draft of the same family."
        )
        workspace.tell(DraftChecked(workspace.engine.last(CheckDrafts).request_id, other, problem))
        camera.take(popup, "draft")
        popup.choose("memory")
        camera.take(popup, "memory")
        popup.close()
        window.page.header.menu_button.click()
        camera.take(window.menu, "app")
        window.menu.close()


def settings(camera: Camera) -> None:
    """A page of the settings with changes that are not applied yet, and a search; those of one chat."""
    workspace = ScriptedWorkspace(replace(LLAMA, gpu="GPU"))
    workspace.settings.ram_budget_bytes = 6_500_000_000
    workspace.settings.settings_level = "advanced"
    chat = fill(workspace)
    teacher = "You are a patient teacher. Answer in two sentences, then ask one question back."
    options = ConversationOptions(teacher, 400, SamplingOptions(temperature=0.7))
    workspace.shelf.set_options(chat, options)
    workspace.shelf.save_preset("Patient teacher", options)
    workspace.settings.new_chat_preset = "Patient teacher"
    with camera.window(workspace, chat) as window:
        camera.take(window, "window")
        window.commands["chat-settings"].trigger()
        camera.take_dialog(window, "chat")
        window.settings.open_page("speed")
        dialog = window.settings.dialog
        assert dialog is not None
        dialog.row("gpu_layers").field.show_value(12)
        dialog.row("gpu_layers").field.edited.emit()
        camera.take(dialog, "speed")
        dialog.head.search.setText("draft")
        camera.take(dialog, "search")
        dialog.pending.undo()
        dialog.close()


def chats(camera: Camera) -> None:
    """Folders, pinned chats, the archive, a title that is edited, other scripts, and the question before erasing."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    ids = [one.id for one in workspace.library.conversations()]
    for number, folder in (
        (1, "Letters & contracts"),
        (2, "Letters & contracts"),
        (3, "Garden"),
        (4, "Garden"),
    ):
        workspace.shelf.move_to_folder(ids[number], folder)
    for number in (2, 5):
        workspace.shelf.pin(ids[number])
    workspace.settings.folded_groups = ("folder/Garden", "archive")
    titles = ("A very long title of an archived chat that does not fit", "Old recipes")
    for number, title in enumerate(titles):
        workspace.shelf.archive(workspace.add_conversation(title, (9 + number) * DAY_S, "a", "b"))
    with camera.window(workspace, chat) as window:
        window.shell.show_sidebar()
        camera.take(window, "folders")
        menu = window.sidebar.list.menu(ids[1])
        menu.popup(window.mapToGlobal(window.rect().center()))
        camera.take(menu, "menu")
        menu.close()
        window.sidebar.list.rename(ids[1])
        camera.take(window, "rename")
        window.page.open(workspace.add_conversation("שיחה", 0, HEBREW, ARABIC))
        camera.take(window, "hebrew")
        window.commands["erase-everything"].trigger()
        camera.take_dialog(window, "erase")


def compared(camera: Camera) -> None:
    """Two modes that say the same, and two that do not."""
    workspace = ScriptedWorkspace(LLAMA)
    chat = fill(workspace)
    with camera.window(workspace, chat) as window:
        plain = Contender("smollm2", "SmolLM2 135M", "plain")
        first = Trial(plain, "plain", ANSWER[:420], tuple(range(96)), 9.1, 11.2, 430.0, 512_000_000, ended=True)
        second = replace(first, asked=replace(plain, way="auto"), ran="lookup", seconds=4.2, tokens_per_second=26.8)
        other = replace(second, text=ANSWER[:180] + "none of them is new.", token_ids=(*range(41), 9, 9))
        for word, trials in (("same", (first, second)), ("differs", (first, other))):
            window.comparisons.open_on(workspace.reply(chat).id)
            workspace.comparison.trials = trials
            workspace.comparison.changed.emit()
            camera.take_dialog(window, word)


def commands(camera: Camera) -> None:
    """The palette while something is typed, the table of shortcuts, a search in the chat, and formulas."""
    workspace = ScriptedWorkspace(LLAMA)
    with camera.window(workspace, fill(workspace)) as window:
        window.activateWindow()
        window.commands["palette"].trigger()
        QTest.keyClicks(window.palette_box.field, "cop")
        camera.take(window, "palette")
        window.palette_box.hide()
        window.show_shortcuts()
        camera.take_dialog(window, "shortcuts")
        window.commands["find"].trigger()
        QTest.keyClicks(window.find_in_chat.bar.field, "chunk")
        window.commands["find-next"].trigger()
        camera.take(window, "find")
        window.page.open(workspace.add_conversation("Quadratic equations", 0, "Solve it", FORMULAS))
        QTest.qWait(200)
        window.page.transcript.verticalScrollBar().setValue(0)
        camera.take(window, "formulas")


def inspector(camera: Camera) -> None:
    """A reply under way with the inspector beside it, or above; in memory and read from the disk."""
    for name, places in (("memory", PLACES), ("disk", STREAMED)):
        workspace = ScriptedWorkspace(LLAMA)
        workspace.load(report(places))
        chat = fill(workspace)
        with camera.window(workspace, chat) as window:
            asking(workspace, chat)
            workspace.change(chat, statistics=statistics(74, mode="dovetail"))
            window.inspector.show()
            play(workspace, workspace.reply(chat).id)
            camera.take(window, name)


def looked_at(workspace: ScriptedWorkspace, measured: bool = True, problem: str = "") -> None:
    """The engine answers what the computer is, and the plan for it or why there is none."""
    talk = workspace.engine
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine(measured, gpu=measured)))
    asked = talk.last(MakePlan).request_id
    if problem:
        workspace.tell(Failed(asked, ErrorReport("ModelNotFound", problem)))
    else:
        workspace.tell(PlanMade(asked, plan(measured, gpu=measured)))


def machines(camera: Camera) -> None:
    """The page about this machine: measured, measuring its modes and its speeds, assumed, and without a model."""
    cases = (
        ("measured", True, ""),
        ("assumed", False, ""),
        ("problem", True, "There is no model in that folder."),
    )
    for name, measured, problem in cases:
        workspace = ScriptedWorkspace(replace(LLAMA, model_ref="smollm2", model_name="Llama 3.1 8B"))
        fill(workspace)
        with camera.window(workspace) as window:
            window.places.go(MACHINE)
            page = window.places.page(MACHINE)
            assert isinstance(page, MachinePage)
            looked_at(workspace, measured, problem)
            bar = page.area.verticalScrollBar()
            QTest.qWait(300)
            for part in range(4 if name == "measured" and bar.maximum() else 1):
                bar.setValue(bar.maximum() * part // 3)
                camera.take(window, f"{name}-{part}")
            bar.setValue(0)
            workspace.machine._last = page.options(), MEASURED
            every = ("dovetail", "lookup", "plain", "layer-offload")
            stage = Measuring(Stage.MODES, "", 0.86, every, "layer-offload", 4, 12.0)
            workspace.machine._show(stage if measured else Measuring(Stage.SPEEDS, "memory", 0.4))
            camera.take(window, f"{name}-measuring")


def models(camera: Camera) -> None:
    """The page of models from its beginning to its end, and its dialogs."""
    workspace = ScriptedWorkspace(LLAMA)
    fill(workspace)
    stock(workspace)
    with camera.window(workspace) as window:
        window.places.go(MODELS)
        page = window.places.page(MODELS)
        assert isinstance(page, ModelsPage)
        workspace.model_store.downloads.changed.emit()
        QTest.qWait(100)
        page.refresh()
        for name, scroll in (("top", 0), ("middle", 1100), ("end", 10_000)):
            page.area.verticalScrollBar().setValue(scroll)
            camera.take(window, name)
        repo = "meta-llama/Llama-3.2-3B-Instruct"
        offer = OfferEntry(
            repo, "Llama-3.2-3B-Instruct", repo, "llama3.2", int(6.4 * _GB), True, f"https://huggingface.co/{repo}",
            "Q4_K_M", ("Q4_K_M", "Q6_K", "Q8_0"),
            (DraftOffer("llama-3.2-1b-instruct", "Llama 3.2 1B Instruct", False, 760_000_000),), 64 * _GB, False,
        )  # fmt: skip
        details = page.shelf.details(page.shelf.model("llama-3.2-3b-instruct"))
        get = GetDialog(camera.theme, details, True, page)
        get.show_offer(offer)
        mine = ImportEntry(("/home/me/models/thesis",), "thesis", "safetensors", 5 * _GB, 64 * _GB)
        removal = RemovalEntry("Llama-3.1-8B", 5 * _GB, "", (("Llama-3.2-1B", 760_000_000),))
        dialogs: tuple[tuple[str, Sheet], ...] = (
            ("details", GetDialog(camera.theme, details, True, page)),
            ("get", get),
            ("import", ImportDialog(camera.theme, mine, page)),
            ("removal", RemovalDialog(camera.theme, removal, True, page)),
        )
        for name, dialog in dialogs:
            dialog.open()
            camera.take(dialog, name)
            dialog.close()


def welcome(camera: Camera) -> None:
    """The first start: nothing known, measuring, all known, a download, and what cannot be had."""
    workspace = stocked()
    predicted = dict(workspace.model_store.forecasts.known)
    workspace.model_store.forecasts.known.clear()
    with camera.window(workspace) as window:
        window.first_run.begin()
        panel = window.first_run.panel
        assert panel is not None
        camera.take(window, "first")
        workspace.machine.look()
        asked = workspace.engine.last(ReportMachine).request_id
        workspace.tell(MachineReported(asked, machine(False, gpu=True)))
        workspace.machine.measure_speeds()
        asked = workspace.engine.last(ReportMachine).request_id
        workspace.tell(MeasuringProgress(asked, "memory", 0.4))
        guesses = {name: replace(one, basis="guess") for name, one in predicted.items()}
        workspace.model_store.forecasts.known.update(guesses)
        panel.refresh()
        camera.take(window, "measuring")
        workspace.tell(MachineReported(asked, machine(gpu=True)))
        workspace.model_store.forecasts.known.update(predicted)
        panel.refresh()
        for name, scroll in (("known", 0), ("below", 600)):
            panel.verticalScrollBar().setValue(scroll)
            camera.take(window, name)
        best, wanted = (card.content for card in list(panel.cards.cards.values())[:2])
        assert best is not None
        assert wanted is not None
        status = DownloadStatus("x", best.model.repos[0], "receiving", 2 * _GB, 5 * _GB, 18e6, 194.0)
        workspace.model_store.downloads.entries = {"x": status}
        sentence = (
            "huggingface.co cannot be reached: check its address and the network, and the proxy or mirror if you "
            "use one."
        )
        workspace.model_store.offers.miss(Missed(wanted.model, False, "", sentence))
        panel.refresh()
        camera.take(window, "downloading")


def helped(camera: Camera) -> None:
    """Contents of the help, a search, articles, the palette, and the line under a chat."""
    workspace = ScriptedWorkspace()
    fill(workspace)
    stock(workspace)
    with camera.window(workspace) as window:
        window.help.open()
        page = window.places.page(HELP)
        assert isinstance(page, HelpPage)
        looked_at(workspace)
        camera.take(window, "contents")
        QTest.keyClicks(page.search, "draft model")
        camera.take(window, "found")
        for article in ("size", "modes", "computer", "sampling"):
            page.show_article(article)
            camera.take(window, article)
        window.shelf.new_chat()
        window.page.ask("How big a model can I run?")
        camera.take(window, "line")


STAGES: dict[str, Callable[[Camera], None]] = {
    "streaming": streaming,
    "states": states,
    "trouble": trouble,
    "menus": menus,
    "settings": settings,
    "chats": chats,
    "compared": compared,
    "commands": commands,
    "inspector": inspector,
    "machine": machines,
    "models": models,
    "welcome": welcome,
    "help": helped,
}


def begin(language: str = "en", mirrored: bool = False) -> tuple[QApplication, Theme]:
    """The application, and its theme with the mockups' fonts where they are there."""
    app = QApplication([])
    speak(app, language)
    QLocale.setDefault(QLocale("en_US" if language == "en" else language))
    if mirrored:
        app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    families = QFontDatabase.families()
    inter, mono = ("Inter" if "Inter" in families else ""), "JetBrains Mono"
    theme = Theme(dark=False, family=inter, code_family=mono if mono in families else "")
    theme.apply()
    return app, theme


def main() -> None:
    """Take the pictures that the command line names."""
    parser = argparse.ArgumentParser(description="Take pictures of the window.")
    parser.add_argument("folder", type=Path, help="of the pictures")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--looks", nargs="+", choices=LOOKS, default=list(LOOKS))
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--language", default="en")
    parser.add_argument("--mirrored", action="store_true", help="lines begin at the right")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    app, theme = begin(options.language, options.mirrored)
    for look in options.looks:
        dark, scale = LOOKS[look]
        theme.set_dark(dark)
        theme.set_scale(scale)
        for size in options.sizes:
            for stage in options.stages:
                STAGES[stage](Camera(theme, options.folder, stage, f"{look}-{size}", SIZES[size]))
    app.quit()


if __name__ == "__main__":
    main()
