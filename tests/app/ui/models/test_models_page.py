"""The page of models, through its own buttons: the real queue and hub client, a small hub, a scripted engine."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.models.offers import listed
from app.bridge.workspace import Workspace
from app.chat.engine_state import EnginePhase
from app.chat.model_entries import ListedModel, OfferEntry
from app.ui.models.cards import CardContent, ModelCard
from app.ui.models.dialogs import ImportDialog, RemovalDialog
from app.ui.models.get_model import GetDialog
from app.ui.models.installed import InstalledRow
from app.ui.models.model_table import ModelTable, RowContent
from app.ui.models.models_page import ModelsPage
from app.ui.parts import STRETCH, PlainLabel, filled
from app.ui.places import CHAT, MODELS
from app.ui.sheet import Sheet
from app.ui.theme.theme import Theme
from engine.hub import model_folders
from engine.hub.catalogue import require_catalogue_model
from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from engine.hub.record import write_record
from engine.messages import DEFAULT_MODEL, DownloadStatus, ModelOutline, Prediction
from tests.app.bridge.models.conftest import FILE, NAME, REPO, TITLE
from tests.app.ui.models.conftest import Visit
from tests.support.checkpoints import write_checkpoint
from tests.support.gguf_files import write_small_gguf
from tests.support.hub_faults import large, stall
from tests.support.hub_server import HubServer

LEFT = Qt.MouseButton.LeftButton


def search(visit: Visit, page: ModelsPage, text: str) -> None:
    """Type into the field and wait for the hub."""
    with visit.qtbot.waitSignal(visit.workspace.model_store.offers.found):
        page.search.setText(text)


def get(visit: Visit, page: ModelsPage, reference: str) -> GetDialog:
    """Press the Get of a row and wait for what is asked."""
    page.refresh()
    row = next(row for row in page.table.rows if row.content and row.content.model.reference == reference)
    visit.qtbot.mouseClick(row.button, LEFT)
    visit.wait(lambda: page.getting.dialog is not None)
    return page.getting.dialog


@pytest.fixture
def qwen() -> ListedModel:
    return listed(require_catalogue_model("qwen3-30b-a3b"))


def half_here(visit: Visit, page: ModelsPage) -> None:
    part = models_folder() / ".incoming" / NAME / "model" / f"{FILE}.part"
    visit.wait(lambda: part.is_file() and part.stat().st_size > 0 and NAME in page.downloads.rows)


def dialog_of(visit: Visit, page: ModelsPage, kind: type[Sheet]) -> Sheet:
    """The dialog that is open."""
    visit.wait(lambda: any(dialog.isVisible() for dialog in page.findChildren(kind)))
    return next(dialog for dialog in page.findChildren(kind) if dialog.isVisible())


def installed_row(visit: Visit, page: ModelsPage, name: str) -> InstalledRow:
    visit.wait(lambda: name in page.installed.rows)
    return page.installed.rows[name]


def choose(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text() == text).trigger()


def test_a_model_is_found_fetched_and_talked_to(visit: Visit, weights: bytes) -> None:
    page = visit.open()
    search(visit, page, "qwen3-0.6b")
    dialog = get(visit, page, "qwen3-0.6b")
    assert dialog.accept_button.text().startswith("Download ")
    assert dialog.quantizations.isHidden()  # there is one alone
    visit.qtbot.mouseClick(dialog.accept_button, LEFT)
    toast = visit.window.toast
    visit.wait(lambda: toast.text == f"{TITLE} is ready.")
    assert toast.action_button.text() == "Chat with it"
    visit.wait(lambda: not page.downloads.rows)
    assert (models_folder() / NAME / FILE).read_bytes() == weights
    row = installed_row(visit, page, NAME)
    assert not row.state.isVisible()
    visit.qtbot.mouseClick(toast.action_button, LEFT)
    assert visit.window.places.current == CHAT
    ref = str(models_folder() / NAME)
    visit.wait(lambda: visit.workspace.model.state.model_ref == ref)
    visit.wait(lambda: visit.workspace.model.state.phase is EnginePhase.READY)
    visit.window.places.go(MODELS)
    page.refresh()
    assert row.state.text == "In use"
    shown = next(row for row in page.table.rows if row.content and row.content.model.reference == "qwen3-0.6b")
    assert shown.state.text() == "Installed"
    assert shown.button.isHidden()


def test_base_models_are_marked_on_the_page_and_in_the_menu(visit: Visit) -> None:
    name = "Writer-1B-Base"
    (models_folder() / name).mkdir(parents=True)
    write_small_gguf(models_folder() / name / f"{name}.gguf")
    page = visit.open()
    button = visit.window.page.header.model_button
    visit.wait(lambda: name in [choice.title for choice in visit.workspace.models()])
    button.click()
    assert button.popup is not None
    popup = button.popup
    said = "Base model: it was not made for chats, and only continues texts"
    visit.wait(lambda: [one.detail for one in popup.choices if one.title == name] == [f"F32, {said}"])
    assert popup.choices[0].detail == "Q4_1, Built in: very small, quick, often wrong"
    popup.close()
    row = installed_row(visit, page, name)
    visit.wait(lambda: row.kind.text == "Base model")
    assert row.kind.toolTip() == said
    assert page.installed.rows[DEFAULT_MODEL].kind.text == ""


def test_a_download_is_held_and_goes_on_in_another_window(visit: Visit, weights: bytes, server: HubServer) -> None:
    server.once(large(stall(0.5)))
    page = visit.open()
    search(visit, page, "qwen3-0.6b")
    get(visit, page, "qwen3-0.6b").accept_button.click()
    half_here(visit, page)
    row = page.downloads.rows[NAME]
    nav = visit.window.sidebar.nav
    assert nav.rows[MODELS].hint.text() == "1"
    assert nav.download.isVisible()
    assert nav.download.accessibleName() == f"Downloading {TITLE}, {nav.download.share}"
    visit.window.places.go(CHAT)
    visit.qtbot.mouseClick(nav.download, LEFT)
    assert visit.window.places.current == MODELS
    assert row.hold.accessibleName() == f"Pause {TITLE}"
    row.hold.click()
    visit.wait(lambda: row.hold.accessibleName() == f"Go on with {TITLE}")
    assert row.words.text().endswith("paused")
    assert nav.rows[MODELS].hint.text() == ""
    assert nav.download.isHidden()
    visit.window.close()
    page = visit.open()
    visit.wait(lambda: NAME in page.downloads.rows)
    row = page.downloads.rows[NAME]
    assert 0 < row.bar.value() < row.bar.maximum()
    row.hold.click()
    visit.wait(lambda: visit.window.toast.text == f"{TITLE} is ready.")
    assert (models_folder() / NAME / FILE).read_bytes() == weights
    assert any(asked and asked != "bytes=0-" for asked in server.downloads())  # from where it was held


def test_a_download_is_given_up(visit: Visit, weights: bytes, server: HubServer) -> None:
    server.once(large(stall(0.5)))
    page = visit.open()
    search(visit, page, "qwen3-0.6b")
    get(visit, page, "qwen3-0.6b").accept_button.click()
    half_here(visit, page)
    page.downloads.rows[NAME].cancel.click()
    visit.wait(lambda: not page.downloads.rows)
    visit.wait(lambda: not (models_folder() / ".incoming" / NAME).exists())
    assert not page.downloads.isVisible()
    assert not page.download_head.isVisible()


def test_what_has_come_is_not_thrown_away_by_a_slip(visit: Visit) -> None:
    page = visit.open()
    store = visit.workspace.model_store.downloads
    given_up: list[str] = []
    store.cancel = given_up.append  # type: ignore[method-assign,assignment]
    store.entries = {"big": DownloadStatus("big", "a/big", "paused", 2_000_000_000, 5_000_000_000)}
    page.refresh()
    page.downloads.rows["big"].cancel.click()
    dialog = dialog_of(visit, page, Sheet)
    dialog.cancel_button.click()
    assert given_up == []
    page.downloads.rows["big"].cancel.click()
    dialog_of(visit, page, Sheet).accept_button.click()
    assert given_up == ["big"]


def test_models_are_added_from_the_page_and_searched_from_anywhere(
    visit: Visit, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit.open()
    window = visit.window
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(mine))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(mine)], ""))
    for button in (page.folder_button, page.file_button):
        button.click()
        dialog_of(visit, page, ImportDialog).reject()
        visit.wait(lambda: not any(dialog.isVisible() for dialog in page.findChildren(ImportDialog)))
    window.places.go(CHAT)
    window.commands["search-models"].trigger()
    assert window.places.current == MODELS
    assert window.focusWidget() is page.search


def test_a_file_that_is_opened_is_chatted_with_and_listed_at_once(visit: Visit, weights: bytes, tmp_path: Path) -> None:
    page = visit.open()
    file = tmp_path / "made.gguf"
    for _ in range(2):  # again it is no second model
        visit.window.places.go(MODELS)
        visit.window.opener.open_models([file])
        visit.wait(lambda: visit.window.places.current == CHAT)
        assert visit.workspace.settings.model == str(file)
    row = installed_row(visit, page, "made")
    assert (row.content.entry.ref, row.content.entry.in_place) == (str(file), True)
    assert [action.text() for action in page.installed.menu_of("made").actions() if action.text()] == [
        "About made",
        "Show its folder",
        "Remove...",
    ]
    assert len(visit.workspace.model_store.installed.entries) == 2
    visit.window.opener.open_models([models_folder()])
    visit.wait(lambda: "holds no weights that Tenon reads" in visit.window.toast.text)


def test_a_full_disk_is_said_with_what_to_do(visit: Visit, weights: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    page = visit.open()
    search(visit, page, "qwen3-0.6b")
    dialog = get(visit, page, "qwen3-0.6b")
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 1 << 20)
    dialog.accept_button.click()
    visit.wait(lambda: "Qwen3 0.6B" in page.downloads.rows)
    row = page.downloads.rows["Qwen3 0.6B"]
    assert "free some room" in row.words.text()
    assert row.hold.text().strip() == "Try again"
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 1 << 40)
    row.hold.click()
    visit.wait(lambda: visit.window.toast.text == f"{TITLE} is ready.")
    visit.wait(lambda: not page.downloads.rows)


def test_a_download_that_fails_is_tried_again(visit: Visit, weights: bytes, server: HubServer) -> None:
    whole = server.repos[REPO].files.pop(FILE)
    server.repos[REPO].files[FILE] = whole[:-1] + b"!"  # what the hub says of the file
    page = visit.open()
    search(visit, page, "qwen3-0.6b")
    dialog = get(visit, page, "qwen3-0.6b")
    server.repos[REPO].files[FILE] = whole  # what it gives
    dialog.accept_button.click()
    toast = visit.window.toast
    visit.wait(lambda: "arrived damaged twice" in toast.text and NAME in page.downloads.rows)
    row = page.downloads.rows[NAME]
    visit.wait(lambda: row.hold.accessibleName() == f"Try {TITLE} again")
    assert "arrived damaged twice" in row.words.text()
    assert toast.action_button.text() == "Try again"
    server.repos[REPO].files[FILE] = whole[:-1] + b"!"
    toast.action_button.click()
    visit.wait(lambda: toast.text == f"{TITLE} is ready.")


def test_a_gated_model_is_explained_and_opened_by_a_token(
    visit: Visit, secure_server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = ("text-generation", "safetensors", "license:llama3.2")
    files = {"config.json": b'{"architectures": ["LlamaForCausalLM"]}', "model.safetensors": b"x" * 5000}
    secure_server.add("some/Gated-1b-instruct", files, gated=True, tags=tags)
    secure_server.tokens.add("hf_mine")
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    page = visit.open()
    search(visit, page, "gated")
    row = page.table.rows[0]
    assert row.lock.isVisible()
    dialog = get(visit, page, "some/Gated-1b-instruct")
    dialog.page_button.click()
    assert opened == [f"{secure_server.address}/some/Gated-1b-instruct"]
    dialog.token.setText("mine alone")
    dialog.accept_button.click()
    visit.wait(lambda: "copy it whole" in dialog.trouble.text())
    dialog.token.setText("hf_mine")
    dialog.accept_button.click()
    visit.wait(lambda: (models_folder() / "Gated-1b-instruct").is_dir())


def test_without_the_net_one_sentence_and_what_is_here(visit: Visit, server: HubServer) -> None:
    server.api_status = 503
    page = visit.open()
    search(visit, page, "smollm2")
    assert page.offline.isVisible()
    assert "The catalogue and your own models are still here." in page.offline.text()
    assert [row.content.model.title for row in page.table.rows if row.content] == [
        "SmolLM2 360M Instruct",
        "SmolLM2 1.7B Instruct",
    ]
    assert DEFAULT_MODEL in page.installed.rows
    get_button = page.table.rows[0].button
    get_button.click()
    visit.wait(lambda: "try again" in visit.window.toast.text)
    page.search.clear()
    assert not page.offline.isVisible()


def test_the_page_says_that_it_looks_until_there_are_cards(visit: Visit) -> None:
    page = visit.open()
    visit.wait(lambda: len(page.cards.cards) == 3)
    forecasts = visit.workspace.model_store.forecasts
    reference = next(iter(page.cards.cards))
    del forecasts.known[reference]
    forecasts._waiting.append(ModelOutline(reference, "a folder"))
    page.refresh()
    assert not page.cards.cards
    assert page.machine_head.words.text() == "Checking what runs here..."


def test_cards_recommend_and_fetch_a_pair_with_one_click(visit: Visit, server: HubServer, tmp_path: Path) -> None:
    page = visit.open()
    visit.wait(lambda: len(page.cards.cards) == 3)
    badges = [card._badge.text for card in page.cards.cards.values()]
    assert badges == ["Most capable", "Take this one", "Fastest"]
    primary = [card for card in page.cards.cards.values() if card.button.property("kind") == "primary"]
    assert len(primary) == 1
    assert page.machine_head.words.text().startswith("About ")
    path = tmp_path / "made.gguf"
    write_small_gguf(path, values=8_192)
    for repo, file in (("Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M.gguf"), (REPO, FILE)):
        server.add(repo, {file: path.read_bytes()}, tags=("gguf",))
    store = visit.workspace.model_store
    model = next(model for model in store.offers.catalogue() if model.reference == "qwen3-8b")
    page.getting.get(model, with_draft=True, ask=False)
    visit.wait(lambda: {"Qwen3-8B-Q4_K_M", NAME} <= page.installed.rows.keys())
    target, draft = str(models_folder() / "Qwen3-8B-Q4_K_M"), str(models_folder() / NAME)
    visit.wait(lambda: visit.workspace.settings.drafts_of(target) == (draft,))


def test_a_large_download_asks_first_and_says_what_stays_free(visit: Visit, qwen: ListedModel) -> None:
    page = visit.open()
    getting, offers = page.getting, visit.workspace.model_store.offers
    fetched: list[OfferEntry] = []
    offers.look_up = lambda reference, quantization="": None  # type: ignore[method-assign]
    offers.fetch = lambda offer, drafts, draft_for="": fetched.append(offer)  # type: ignore[method-assign]
    offer = OfferEntry(
        qwen.reference,
        "Q",
        "Qwen/Q",
        "apache-2.0",
        4_900_000_000,
        False,
        "",
        "Q4_K_M",
        ("Q4_K_M",),
        (),
        40 * 10**9,
        False,
    )
    getting.get(qwen, with_draft=False, ask=False)
    offers.offered.emit(offer)
    assert (fetched, getting.dialog) == ([offer], None)
    large = replace(offer, size_bytes=18_700_000_000)
    getting.get(qwen, with_draft=False, ask=False)
    offers.offered.emit(large)
    dialog = getting.dialog
    assert fetched == [offer]
    assert dialog.accept_button.text() == "Download 18.7 GB"
    assert not dialog.token.isVisible()  # there are no terms to accept
    words = [label.text() for label in dialog.findChildren(PlainLabel)]
    assert "40.0 GB are free on the disk; 21.3 GB stay free." in words
    assert qwen.about in words
    assert any("3 of 31 billion active" in line for line in words)
    visit.qtbot.mouseClick(dialog.accept_button, LEFT)
    assert fetched == [offer, large]


def test_a_card_says_that_a_model_is_a_mixture(theme: Theme, qtbot: QtBot, qwen: ListedModel) -> None:
    card = ModelCard(theme, CardContent(qwen, Prediction("plain", 14.0), "Balanced"))
    qtbot.addWidget(card)
    assert card._mixture.text == "3 of 31 billion active"
    card.show_content(CardContent(replace(qwen, active_parameters=None), Prediction("plain", 14.0), "Balanced"))
    assert card._mixture.isHidden()


def test_a_card_says_what_is_on_the_gpu(theme: Theme, qtbot: QtBot, qwen: ListedModel) -> None:
    prediction = Prediction("plain", 14.0, memory_bytes=15 * 10**9, room_bytes=24 * 10**9)
    card = ModelCard(theme, CardContent(qwen, prediction, "Balanced"))
    qtbot.addWidget(card)
    assert card._gpu.isHidden()
    card.show_content(CardContent(qwen, replace(prediction, gpu_bytes=3_580_000_000), "Balanced"))
    assert (card._memory.text(), card._gpu.text) == ("15.0 of 24.0 GB", "3.6 GB on the GPU")
    growing = replace(prediction, gpu_bytes=10**9, text_bytes=2 * 10**9, gpu_text_bytes=10**9)
    card.show_content(CardContent(qwen, growing, "Balanced"))
    assert (card._memory.text(), card._gpu.text) == ("15.0–17.0 of 24.0 GB", "1.0–2.0 GB on the GPU")


def test_rules_part_the_rows_of_the_table(theme: Theme, qtbot: QtBot, qwen: ListedModel) -> None:
    table, area = ModelTable(theme), QScrollArea(widgetResizable=True)
    qtbot.addWidget(area)
    content = QWidget()
    filled(QVBoxLayout(content), table, STRETCH)
    area.setWidget(content)
    area.resize(940, 500)
    problem = "Its files need 71.5 GB of disk, and 67.8 GB are free: make room, or choose a smaller model."
    table.show_rows([RowContent(model) for model in (qwen, replace(qwen, problem=problem), qwen)])
    area.show()
    first, second, third = table.rows
    qtbot.waitUntil(lambda: second.problem.height() >= 2 * second.problem.fontMetrics().height())
    image = table.grab().toImage()
    line = theme.palette.line.lower()
    rules = [y for y in range(2, table.height() - 2) if image.pixelColor(5, y).name() == line]
    end = second.problem.mapTo(table, second.problem.rect().bottomLeft()).y()
    begin = third.name.mapTo(table, QPoint()).y()
    assert len(rules) == 3
    assert first.name.mapTo(table, QPoint()).y() < rules[1]
    assert end < rules[2] < begin


def test_a_notice_covers_no_button_at_the_end_of_the_page(visit: Visit) -> None:
    page = visit.open()
    page.more_button.click()
    bar = page.area.verticalScrollBar()
    visit.wait(lambda: bar.maximum() > 0)
    visit.window.toast.say("A sentence.", "A button", lambda: None)
    bar.setValue(bar.maximum())
    last = page.table.rows[-1].button
    end = last.mapTo(visit.window, last.rect().bottomLeft()).y()
    assert end < visit.window.toast.mapTo(visit.window, QPoint()).y()


def test_a_draft_is_fetched_for_a_model_that_is_here(visit: Visit, weights: bytes, tmp_path: Path) -> None:
    record = import_model(models_folder(), [tmp_path / "made.gguf"], name="Qwen3-8B")
    write_record(models_folder() / "Qwen3-8B", replace(record, catalogue_name="qwen3-8b"))
    page = visit.open()
    installed_row(visit, page, "Qwen3-8B")
    choose(page.installed.menu_of("Qwen3-8B"), "Get its draft Qwen3 0.6B")
    target, draft = record.location, str(models_folder() / NAME)
    assert target is not None
    visit.wait(lambda: visit.workspace.settings.drafts_of(target) == (draft,))
    visit.wait(lambda: page.installed.rows["Qwen3-8B"].content.draft is None)  # type: ignore[union-attr]


def stock(workspace_model: Path) -> None:
    """A model and a draft of its own."""
    folder = models_folder()
    import_model(folder, [workspace_model], name="big", copy=True, reserve_bytes=0)
    import_model(
        folder,
        [workspace_model],
        name="misfit",
        kind="draft",
        belongs_to=("big",),
        copy=True,
        reserve_bytes=0,
    )


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "mine", "llama", num_hidden_layers=1)


def test_the_model_in_use_is_removed_with_its_draft(visit: Visit, mine: Path) -> None:
    stock(mine)
    page = visit.open()
    row = installed_row(visit, page, "big")
    row.use.click()
    workspace: Workspace = visit.workspace
    visit.wait(lambda: workspace.model.state.model_name == "big")
    visit.wait(lambda: workspace.model.state.phase is EnginePhase.READY)
    assert visit.window.places.current == CHAT
    visit.window.places.go(MODELS)
    visit.wait(lambda: row.state.text == "In use")
    big = str(models_folder() / "big")
    workspace.settings.remember_drafts(big, (str(models_folder() / "misfit"),))
    choose(page.installed.menu_of("big"), "Remove...")
    dialog = dialog_of(visit, page, RemovalDialog)
    assert isinstance(dialog, RemovalDialog)
    assert list(dialog.boxes) == ["misfit"]
    assert dialog.accept_button.text().startswith("Remove")
    dialog.accept_button.click()
    visit.wait(lambda: list(page.installed.rows) == [DEFAULT_MODEL])
    assert not (models_folder() / "big").exists()
    assert workspace.settings.model == DEFAULT_MODEL
    assert workspace.settings.drafts == {}
    assert big not in workspace.settings.recent_models
    visit.wait(lambda: workspace.model.state.phase is EnginePhase.READY)
    assert workspace.model.state.model_ref == DEFAULT_MODEL


def test_a_draft_that_fits_nothing_says_why_in_grey(visit: Visit, mine: Path) -> None:
    stock(mine)
    page = visit.open()
    row = installed_row(visit, page, "misfit")
    visit.wait(lambda: bool(row.misfits.text()))
    assert row.misfits.text() == "Not for big: The draft was made for another vocabulary."
    assert not row.misfits.isEnabled()
    assert row.kind.text == "Draft"
    assert not row.use.isVisible()  # it answers nothing


def test_a_folder_is_linked_and_a_file_is_copied(
    visit: Visit, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit.open()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(mine))
    page.folder_button.click()
    dialog = dialog_of(visit, page, ImportDialog)
    assert isinstance(dialog, ImportDialog)
    assert not dialog.copies
    dialog.accept_button.click()
    row = installed_row(visit, page, "mine")
    visit.wait(lambda: "used in place" in row.detail.text())
    visit.wait(lambda: visit.window.toast.text == "mine is added.")
    file = tmp_path / "small-Q8_0.gguf"
    write_small_gguf(file)
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(file)], ""))
    page.file_button.click()
    dialog = dialog_of(visit, page, ImportDialog)
    assert isinstance(dialog, ImportDialog)
    dialog.copy.click()
    dialog.accept_button.click()
    installed_row(visit, page, "small-Q8_0")
    visit.wait(lambda: (models_folder() / "small-Q8_0" / file.name).is_file())
    names = ["SmolLM2 135M", "mine", "small"]
    visit.wait(lambda: [choice.title for choice in visit.workspace.models()] == names)
    shutil.rmtree(mine)
    visit.workspace.model_store.installed.refresh()
    visit.wait(lambda: "not there any more" in row.problem.text())


def test_what_cannot_run_is_told_before_it_is_added(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_small_gguf(tmp_path / "odd.gguf", "mamba")
    page = visit.open()
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(tmp_path / "odd.gguf")], ""))
    page.file_button.click()
    visit.wait(lambda: "architecture mamba" in visit.window.toast.text)
    assert list(page.installed.rows) == [DEFAULT_MODEL]


def test_files_are_checked(visit: Visit, mine: Path) -> None:
    stock(mine)
    page = visit.open()
    installed_row(visit, page, "big")
    choose(page.installed.menu_of("big"), "Check its files")
    visit.wait(lambda: visit.window.toast.text == "big: all files are what they were.")
    visit.wait(lambda: not page.installed.rows["big"].bar.isVisible())
    (models_folder() / "big" / "config.json").write_text("{}")
    choose(page.installed.menu_of("big"), "Check its files")
    visit.workspace.model_store.installed.verify("misfit")
    assert visit.window.toast.text.startswith("big is still being read")
    visit.wait(lambda: visit.window.toast.text.startswith("big is damaged: config.json."))


def test_filters_and_a_narrow_page(visit: Visit) -> None:
    page = visit.open()
    assert visit.window.focusWidget() is page.area
    known = visit.workspace.model_store.forecasts.known
    visit.wait(lambda: len(known) == len(visit.workspace.model_store.offers.catalogue()))
    page.refresh()
    assert len(page.table.rows) == 8
    assert not any(row.content.model.older for row in page.table.rows if row.content)
    page.more_button.click()
    assert any(row.content.model.older for row in page.table.rows if row.content)
    everything = len(page.table.rows)
    assert everything == len(known)
    page.memory_filter.click()
    page.refresh()
    shown = [row.content.model.reference for row in page.table.rows if row.content]
    assert not {"llama-3.3-70b-instruct", "gpt-oss-120b", "qwen3-coder-next"} & {*shown}
    assert len(shown) == everything - 3
    page.draft_filter.click()
    page.refresh()
    assert all(row.content.model.has_draft for row in page.table.rows if row.content)
    visit.window.resize(1280, 820)
    visit.wait(lambda: page.cards.columns == 3)
    assert page.table.rows[0].owner.isVisible()
    visit.window.resize(380, 560)
    visit.wait(lambda: page.cards.columns == 1)
    visit.wait(lambda: not page.table.rows[0].size.isVisible())
    row = page.table.rows[0]
    assert "tok/s" in row.detail.text()
    visit.wait(lambda: page.table.width() <= page.width())


def test_a_name_keeps_its_room_however_long_the_other_columns_are(qtbot: QtBot, theme: Theme) -> None:
    table = ModelTable(theme)
    qtbot.addWidget(table)
    table.resize(960, 200)
    model = ListedModel("m", "Qwen3.5 0.8B", "Qwen", licence="apache-2.0", type="Q4_K_M")
    prediction = Prediction("lookup", 14.0, memory_bytes=10**9, room_bytes=24 * 10**9)
    for state in ("", "Wird heruntergeladen: 45 % von 17,8 GB, noch 12 Minuten"):
        table.show_rows([RowContent(model, prediction, 10**9, state)])
        table.show()
        name = table.rows[0].name
        qtbot.waitUntil(lambda: name.width() >= name.sizeHint().width())  # noqa: B023
        assert table.rows[0].draft.isVisible() == (not state)
