"""Search, order and details on the page of models, and one name for a model in every place, on a made-up laptop."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.chat.conversation import ReplyDetails
from app.chat.engine_state import EnginePhase
from app.chat.model_entries import InstalledEntry
from app.chat.modes import draft_words
from app.ui.inspector.sections import reply_facts
from app.ui.main_window import MainWindow
from app.ui.models.get_model import DetailsDialog, GetDialog
from app.ui.models.models_page import ModelsPage
from app.ui.places import MACHINE, MODELS
from app.ui.theme.theme import Theme
from engine.cli import main
from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from tests.support.gguf_files import write_small_gguf
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.window_scene import stock

LLAMA = "/models/Llama-3.1-8B-Instruct-Q4_K_M"


class Scene:
    """The page of models of a laptop with two models of its own."""

    def __init__(self, qtbot: QtBot, theme: Theme) -> None:
        self.qtbot = qtbot
        self.workspace = ScriptedWorkspace()
        stock(self.workspace)
        self.workspace.model_store.offers.search = lambda text: None  # type: ignore[method-assign]
        self.window = MainWindow(theme, self.workspace)
        qtbot.addWidget(self.window)
        self.window.resize(1280, 820)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.places.go(MODELS)
        page = self.window.places.page(MODELS)
        assert isinstance(page, ModelsPage)
        self.page = page
        page.refresh()

    def listed(self) -> list[str]:
        """Titles in the table."""
        return [row.name.text() for row in self.page.table.rows]

    def sort(self, order: str) -> None:
        """Choose an order."""
        box = self.page.order
        box.setCurrentIndex(box.findData(order))
        box.activated.emit(box.currentIndex())

    def dialog(self) -> DetailsDialog:
        """The dialog that is open."""
        return next(one for one in self.page.findChildren(DetailsDialog) if one.isVisible())


@pytest.fixture
def scene(qtbot: QtBot, theme: Theme) -> Scene:
    return Scene(qtbot, theme)


def test_a_layer_that_comes_with_a_model_is_said_before_it_is_here(scene: Scene) -> None:
    scene.page.draft_filter.click()
    scene.page.refresh()
    drafts = {row.name.text(): row.draft.text() for row in scene.page.table.rows}
    assert drafts["Qwen3.5 9B"] == "Its own"
    assert "Qwen3.5 2B" not in drafts
    facts = dict(scene.page.shelf.details(scene.page.shelf.model("qwen3.5-9b")).facts)
    assert facts["Drafts that fit it"] == "The model's own layer (MTP), Qwen3.5-9B-DFlash"


def test_lists_are_sorted_by_name_size_speed_and_fit(scene: Scene) -> None:
    scene.page.more_button.click()
    catalogue = scene.listed()
    for order in ("name", "size", "speed", "fit"):
        scene.sort(order)
        rows = [row.content for row in scene.page.table.rows]
        assert sorted(scene.listed()) == sorted(catalogue)
        contents = [row for row in rows if row is not None]
        speeds = [(row.prediction.tokens_per_second or 0.0) if row.prediction else -1.0 for row in contents]
        if order == "name":
            assert scene.listed() == sorted(catalogue, key=str.casefold)
        elif order == "size":
            sizes = [row.size_bytes or 0 for row in contents]
            assert sizes == sorted(sizes)
        elif order == "speed":
            assert speeds == sorted(speeds, reverse=True)
        else:
            fits = list(dict.fromkeys(row.fit.text for row in scene.page.table.rows))
            assert fits == ["Fits easily", "Fits", "From disk", "Cannot run"]
    scene.sort("name")
    names = [row.content.entry.title for row in scene.page.installed.rows.values() if row.content]
    column = sorted(scene.page.installed.rows.values(), key=lambda row: row.y())
    assert [row.name.text() for row in column] == sorted(names, key=str.casefold)
    scene.sort("usual")
    assert scene.listed() == catalogue


def test_what_is_searched_for_comes_first(scene: Scene) -> None:
    page = scene.page
    assert page.search.mapTo(page, QPoint()).y() < page.cards.mapTo(page, QPoint()).y()
    page.search.setText("llama 8b")
    assert not page.cards.isVisible()
    assert not page.machine_head.isVisible()
    here = [row.name.text() for row in page.installed.rows.values() if row.isVisible()]
    assert here == ["Llama 3.1 8B Instruct"]
    assert scene.listed() == ["Llama 3.1 8B Instruct"]
    scene.qtbot.waitUntil(lambda: 0 < page.table.y() < page.downloads.y())
    page.search.setText("no such model at all")
    assert not page.installed.isVisible()
    page.search.clear()
    assert page.cards.isVisible()
    assert len(page.installed.rows) == 4


def test_a_model_is_known_before_it_is_fetched(scene: Scene) -> None:
    asked: list[str] = []
    offers = scene.workspace.model_store.offers
    offers.look_up = lambda reference, quantization="": asked.append(reference)  # type: ignore[method-assign]
    scene.page.more_button.click()
    row = next(row for row in scene.page.table.rows if row.name.text() == "Qwen3 14B")
    row.info.click()
    dialog = scene.dialog()
    assert isinstance(dialog, GetDialog)
    told = {name: label.text() for name, label in dialog.facts.items()}
    assert told == {
        "Publisher": "Qwen",
        "Licence": "Apache 2.0",
        "Parameters": "15 billion",
        "Size": "9.0 GB",
        "Type": "Q4_K_M",
        "Context": "40,960 tokens",
        "Memory here": told["Memory here"],
        "Speed here": "2.5 s/token, LLMCad, predicted from measurements made here",
        "Drafts that fit it": told["Drafts that fit it"],
    }
    assert told["Memory here"].endswith(" of 13.6 GB")
    assert "Qwen3 0.6B" in told["Drafts that fit it"]
    assert dialog.page_button.toolTip() == "https://huggingface.co/Qwen/Qwen3-14B-GGUF"
    assert asked == []  # nobody is asked by looking
    dialog.accept_button.click()
    assert asked == ["qwen3-14b"]
    assert dialog.accept_button.text() == "Asking..."
    offers.refused.emit("qwen3-14b", "No net.")
    assert dialog.trouble.text() == "No net."
    assert dialog.accept_button.text() == "Try again"
    dialog.reject()
    offers.refused.emit("qwen3-14b", "No net.")
    assert offers.missed == {}


def test_rows_cards_and_installed_models_open_their_details(scene: Scene) -> None:
    page, opened = scene.page, []
    row = page.table.rows[0]
    card = next(iter(page.cards.cards.values()))
    scene.qtbot.mouseClick(row.name, Qt.MouseButton.LeftButton)
    opened.append(scene.dialog())
    opened[-1].reject()
    scene.qtbot.mouseClick(card._about, Qt.MouseButton.LeftButton)
    opened.append(scene.dialog())
    opened[-1].reject()
    menu = page.installed.menu_of("Llama-3.1-8B-Instruct-Q4_K_M")
    menu.actions()[0].trigger()
    opened.append(scene.dialog())
    card_content = card.content
    assert [dialog.windowTitle() for dialog in opened] == [
        row.name.text(),
        card_content.model.title,
        "Llama 3.1 8B Instruct",
    ]
    assert opened[-1].facts["Place"].text() == LLAMA
    assert not opened[-1].cancel_button.isVisible()


def test_a_model_has_one_name_in_every_place(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is called by its ids, its repository and its path; people read one title and one type."""
    window, workspace, page = scene.window, scene.workspace, scene.page
    store, title, kind = workspace.model_store, "Qwen3 8B", "Q4_K_M"
    ref = "/home/me/qwen3-8b-q4_k_m.gguf"
    entry = InstalledEntry("qwen3-8b-q4_k_m", ref, type=kind, repo="Qwen/Qwen3-8B-GGUF", in_place=True)
    store.installed.entries = (*store.installed.entries, entry)
    workspace.choose_model(ref)
    # The head of the chat, before and after the load, and the menu behind it
    button = window.page.header.model_button
    for phase in (EnginePhase.IDLE, EnginePhase.READY):
        workspace.set_engine(replace(workspace.model.state, phase=phase, weights=kind))
        assert button.accessibleName() == f"Model: {title}, {kind}"
    assert next(one for one in workspace.models() if one.key == ref).title == title
    assert next(one for one in workspace.models() if one.key == ref).detail.startswith(f"{kind}, ")
    # Drafts: button, menu
    workspace.settings.remember_drafts(ref, (ref,))
    assert draft_words((ref,)) == title
    drafts = {one.key: one for one in workspace.drafts.choices((ref,))}
    assert ref not in drafts  # no model guesses for itself
    workspace.settings.model = "smollm2"
    choice = {one.key: one for one in workspace.drafts.choices((ref,))}[ref]
    assert (choice.title, f" {kind}, " in f" {choice.detail}") == (title, True)
    workspace.settings.model = ref
    # Models page: installed rows, table, cards, downloads
    page.refresh()
    row = page.installed.rows[entry.name]
    assert (row.name.text(), row.detail.text().split(", ")[0]) == (title, kind)
    page.search.setText("qwen3 8b")
    listed = next(row for row in page.table.rows if row.content and row.content.model.reference == "qwen3-8b")
    assert (listed.name.text(), listed.type.text()) == (title, kind)
    page.search.clear()
    download = page.downloads.rows["Qwen3-8B-Q4_K_M"]
    assert (download.name.text(), download.words.text().split(", ")[0]) == (title, kind)
    store.downloads.changed.emit()
    assert window.sidebar.nav.download.accessibleName().startswith(f"Downloading {title}, ")
    assert kind in window.sidebar.nav.download.toolTip()
    cards = {card.content.model.reference: card for card in page.cards.cards.values() if card.content}
    assert all(card._subtitle.text().startswith("Q4_K_M, ") for card in cards.values())
    # This machine
    window.places.go(MACHINE)
    assert window.places.page(MACHINE)._model_title(ref) == f"{title}, {kind}"  # type: ignore[attr-defined]
    # The inspector of a reply
    chat = workspace.add_conversation("A chat", 0, "Question?", "An answer.")
    message = workspace.change(chat, details=ReplyDetails("plain", "It was chosen.", ref, None, kind))
    assert ("Model", f"{title}, {kind}") in reply_facts(message)
    # The terminal
    file = models_folder().parent / "qwen3-8b-q4_k_m.gguf"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_small_gguf(file)
    import_model(models_folder(), [file])
    assert main(["models", "list"]) == 0
    assert f"{title}, {kind}" in capsys.readouterr().out
    # News
    store.downloads.entries = {}
    said: list[str] = []
    window.toast.say = lambda sentence, *more, **others: said.append(sentence)  # type: ignore[method-assign]
    store.ready.emit(entry.name, ref)
    store.downloads.failed.emit("Qwen3-8B-Q4_K_M", "No net.")
    assert said == [f"{title} is ready.", f"{title} is not here yet. No net."]
