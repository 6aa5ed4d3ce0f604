"""Everything that can be open in the window: for checks that are about all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import shiboken6
from PySide6.QtCore import QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.bridge.program_server import PhonesNow, ServerPhase, ServerState
from app.chat.model_entries import DraftOffer, FolderEntry, ImportEntry, ModelDetails, OfferEntry, RemovalEntry
from app.settings.pages import PAGES
from app.ui.chats.actions import ErasingQuestion
from app.ui.main_window import MainWindow
from app.ui.models.dialogs import (
    FoldersDialog,
    ImportDialog,
    RemovalDialog,
    ServerDialog,
    move_question,
)
from app.ui.models.get_model import GetDialog
from app.ui.models.models_page import ModelsPage
from app.ui.places import MACHINE, MODELS, SERVER, TOOLS
from app.ui.sheet import NameDialog
from engine.messages import ErrorReport, MachineReported, MakePlan, PlanMade, ReportMachine
from engine.server.phones import Phone
from engine.tools.servers import KnownTool, ToolServer, keep_server
from tests.support.machine_scene import machine, plan
from tests.support.scripted_workspace import ScriptedWorkspace, statistics
from tests.support.window_scene import ANSWER, LONG, SHORT, stock

_FORMULA = "A formula:\n\n$$\nx = \\frac{1}{2}\n$$\n\nand its end."
_GB = 1_000_000_000
Opening = Callable[[MainWindow, ScriptedWorkspace], object]


def fill_chat(window: MainWindow, workspace: ScriptedWorkspace) -> int:
    """Open a chat with every kind of block, an own message, an error with buttons and a status strip."""
    workspace.add_conversation("An older chat", 90_000, "A question?", "An answer.")
    chat = workspace.add_conversation("Everything", 0, "Question?", ANSWER, "More?", LONG, "And?", _FORMULA)
    workspace.change(chat, statistics=statistics(530))
    window.page.open(chat)
    workspace.turns.send(chat, "One more question")
    workspace.stream(chat, "It begins, and then")
    workspace.fail(chat, SHORT.message, SHORT)
    QTest.qWait(60)
    return chat


def open_short_chat(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    """Open a chat of one question, for what lies over it and hides it."""
    window.page.open(workspace.add_conversation("A chat", 0, "Question?", "An answer."))


def _settings(name: str) -> Opening:
    def show(window: MainWindow, workspace: ScriptedWorkspace) -> None:
        workspace.settings.settings_level = "advanced"
        window.settings.open_page(name)

    return show


def _command(name: str) -> Opening:
    return lambda window, workspace: window.commands[name].trigger()


def _models(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    stock(workspace)
    window.places.go(MODELS)
    page = window.places.page(MODELS)
    assert isinstance(page, ModelsPage)
    workspace.model_store.downloads.changed.emit()
    page.refresh()


def _machine(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.places.go(MACHINE)
    talk = workspace.engine
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine(gpu=True)))
    workspace.tell(PlanMade(talk.last(MakePlan).request_id, plan(gpu=True)))


def _programs(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    server, phones = workspace.program_server, workspace.phone_server
    came = (Phone("one", "iPhone, Safari", 1.76e9, 1.76e9, "192.168.1.20"), Phone("two", "Android, Firefox"))
    links = {address: f"http://{address}:8367/#{'c' * 32}" for address in ("192.168.1.5", "100.64.0.7")}
    phones.look = lambda then: then(PhonesNow(links, 8367, came))  # type: ignore[method-assign]
    phones._show(ServerState(ServerPhase.ON, "http://0.0.0.0:8367", model="smollm2"))
    window.places.go(SERVER)
    server._show(ServerState(ServerPhase.ON, "http://127.0.0.1:8366", "tenon-of-a-test", True, True, "smollm2"))


def _tools(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    tools = (KnownTool("read_file", "Read a file.", reads_only=True), KnownTool("write_file", "Write a file."))
    tools = (replace(tools[0], allowed=tools[0].digest), tools[1])
    keep_server(ToolServer("files", "command", "npx", ("-y", "files"), on=True, tools=tools), {})
    workspace.tools.set_own("folder", "/home/me/notes")
    workspace.tools.switch("folder", True)
    window.places.go(TOOLS)


def _compare(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = window.page.current
    assert chat is not None
    window.comparisons.open_on(workspace.reply(chat).id)


def _toast(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.toast.say("The chat is deleted.", "Undo", lambda: None, lasting=True, on_details=lambda: None)


def _get(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    draft = DraftOffer("llama-3.2-1b-instruct", "Llama 3.2 1B Instruct", False, 760_000_000)
    repo = "meta-llama/Llama-3.2-3B-Instruct"
    facts = (("Publisher", "meta-llama"), ("Size", "2.0 GB"), ("Type", "Q4_K_M"))
    details = ModelDetails("Llama 3.2 3B Instruct", "", facts, f"https://huggingface.co/{repo}")
    offer = OfferEntry(
        repo, "Llama-3.2-3B-Instruct", repo, "llama3.2", 6 * _GB, True, f"https://huggingface.co/{repo}", "Q4_K_M",
        ("Q4_K_M", "Q6_K"), (draft,), 64 * _GB, False,
    )  # fmt: skip
    dialog = GetDialog(window._theme, details, True, window)
    dialog.show_offer(offer)
    dialog.open()


def _import(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    mine = ImportEntry(("/home/me/models/thesis",), "thesis", "safetensors", 5 * _GB, 64 * _GB)
    ImportDialog(window._theme, mine, window).open()


def _removal(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    removal = RemovalEntry("Llama-3.1-8B", 5 * _GB, "", (("Llama-3.2-1B", 760_000_000),))
    RemovalDialog(window._theme, removal, True, window).open()


def _folders(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    folders = workspace.model_store.folders
    folders.look = lambda: None  # type: ignore[method-assign]
    folders.entries = (
        FolderEntry("/home/me/.local/share/tenon/models", own=True),
        FolderEntry("/home/me/.ollama/models", "Ollama"),
        FolderEntry("/media/disk/models", missing=True),
    )
    FoldersDialog(window._theme, workspace.model_store, window).open()


def _server(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    dialog = ServerDialog(window._theme, workspace.model_store.servers, window, "http://desk:8000", "desk")
    dialog.open()
    workspace.model_store.servers.refused.emit("desk wants a key: add the server again with one.")


def _forgetting(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    page = window.places.page(MODELS)
    assert isinstance(page, ModelsPage)
    page.keeping.ask_forgetting("desk")


def _move(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    move_question(window._theme, "/media/disk/models", 5 * _GB, window).open()


def _name(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    NameDialog(window._theme, "Name of the folder", "Rename", "Letters", lambda name: None, window).open()


def _link(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page._open_link(QUrl("https://bank.example:443@www.раypal.com:8080/login?next=%E2%80%AEmoc"))


def _erasing(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chats = workspace.library.conversations()[:1]
    ErasingQuestion(window._theme, chats, ["2026-11-21", "2026-11-20"], True, window).open()


def _unsaved(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.trouble.tell(ErrorReport("StorageError", "The disk that holds /home/me/.local/share/tenon is full."))


# Dialogs and what else lies over the window and goes away by Escape.
DIALOGS: dict[str, Opening] = {
    **{f"settings, {page.name}": _settings(page.name) for page in PAGES},
    "palette": _command("palette"),
    "shortcuts": _command("shortcuts"),
    "about": _command("about"),
    "details": lambda window, workspace: window.trouble.show_details(SHORT),
    "erase": _command("erase-everything"),
    "chat settings": _command("chat-settings"),
    "comparison": _compare,
    "name": _name,
    "open a link": _link,
    "erase a chat": _erasing,
    "get a model": _get,
    "import a model": _import,
    "remove a model": _removal,
    "folders of models": _folders,
    "move the models": _move,
    "add a server": _server,
    "forget a server": _forgetting,
}
# Lists that a button opens; the arrow keys go through them.
POPUPS: dict[str, Opening] = {
    "models": lambda window, workspace: window.page.header.model_button.click(),
    "drafts": lambda window, workspace: window.page.composer.draft_button.click(),
}
# Parts of the window itself.
PARTS: dict[str, Opening] = {
    "chat": lambda window, workspace: None,
    "empty chat": lambda window, workspace: window.shelf.new_chat(),
    "inspector": lambda window, workspace: window.inspector.toggle(),
    "find": _command("find"),
    "toast": _toast,
    "not saved": _unsaved,
    "models page": _models,
    "machine page": _machine,
    "page for other programs": _programs,
    "tools page": _tools,
}
SURFACES = {**DIALOGS, **POPUPS, **PARTS}


def surface_on_top(window: MainWindow) -> QWidget:
    """The popup or dialog above the window, or the window."""
    for above in (QApplication.activePopupWidget(), QApplication.activeModalWidget()):
        if above is not None:
            return above
    dialogs = [found for found in window.findChildren(QDialog) if found.isVisible()]
    if dialogs:
        return dialogs[-1]
    return window.palette_box if window.palette_box.isVisible() else window


@contextmanager
def opened(name: str, window: MainWindow, workspace: ScriptedWorkspace) -> Iterator[QWidget]:
    """Open one over a chat, which is filled where it is seen; close it in the end."""
    if window.page.current is None:
        (fill_chat if name in PARTS else open_short_chat)(window, workspace)
    SURFACES[name](window, workspace)
    QTest.qWait(30)
    surface = surface_on_top(window)
    yield surface
    if shiboken6.isValid(surface) and surface is not window and surface.isVisible():
        surface.close()
