"""Servers in the window: added, chosen, told of before a word is sent, and forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QDialog

from app.bridge.models.installed import model_to_begin_with
from app.ui.chat_page.header import engine_words
from app.ui.models.dialogs import ServerDialog
from app.ui.models.models_page import ModelsPage
from app.ui.places import MODELS
from app.ui.sheet import Sheet
from engine.hub.endpoints import Endpoint, ServedModel, endpoints, keep_endpoint
from engine.messages import DEFAULT_MODEL
from engine.server.serving import served_name
from tests.app.ui.models.conftest import Visit
from tests.support.server_of_others import Others, models, server_of_others, told

REFERENCE = "remote:desk/talker"


@pytest.fixture
def others() -> Iterator[Others]:
    with server_of_others() as running:
        running.answers["GET /v1/models"] = models("vllm", talker=4096, writer=8192)
        yield running


def dialog_of(page: ModelsPage) -> ServerDialog:
    found = [dialog for dialog in page.findChildren(ServerDialog) if dialog.isVisible()]
    assert len(found) == 1
    return found[0]


def add(visit: Visit, page: ModelsPage, others: Others, key: str = "") -> None:
    page.server_button.click()
    dialog = dialog_of(page)
    dialog.address.setText(f"{others.address}/v1")
    dialog.key.setText(key)
    dialog.name.setText("desk")
    dialog.accept_button.click()
    visit.wait(lambda: "talker" in page.remote.rows)


def test_a_server_is_added_and_one_of_its_models_answers(visit: Visit, others: Others) -> None:
    page = visit.open()
    assert page.remote.isHidden()
    said: list[str] = []
    page.said.connect(lambda sentence, stays: said.append(sentence))
    add(visit, page, others, "sk-12345678")
    assert said[0].startswith("desk is added, with 2 model")
    assert [*page.remote.rows] == ["talker", "writer"]
    assert "talker" not in page.installed.rows
    assert page.remote.rows["talker"].detail.text() == f"vLLM, {others.address}"
    assert endpoints()[0].key() == "sk-12345678"
    chat = visit.window.page
    assert "Runs on this computer" in chat.footer.text()
    page.remote.rows["talker"].use.click()
    visit.wait(lambda: visit.workspace.settings.model == REFERENCE)
    # Before anything is sent: the line at the foot, the empty chat, the model's own button.
    assert f"goes to desk, a program of this computer, {others.address}" in chat.footer.text()
    visit.wait(lambda: engine_words(visit.workspace.model.state) == "on desk")
    assert chat.composer.draft_button.isHidden()
    visit.window.shelf.new_chat()
    visit.wait(lambda: "is sent there" in chat.empty_state._lead.text())
    chat.header.model_button.click()
    popup = chat.header.model_button.popup
    popup.close()
    visit.workspace.choose_model(DEFAULT_MODEL)
    assert "Runs on this computer" in chat.footer.text()
    assert not chat.composer.draft_button.isHidden()


def test_what_is_wrong_is_said_in_the_dialog_and_nothing_is_lost(visit: Visit, others: Others) -> None:
    page = visit.open()
    page.server_button.click()
    dialog = dialog_of(page)
    assert not dialog.accept_button.isEnabled()
    dialog.address.setText("not an address")
    dialog.accept_button.click()
    visit.wait(dialog.trouble.isVisible)
    assert "no address of a server" in dialog.trouble.text()
    others.answers["GET /v1/models"] = told({"error": {"message": "no"}}, 401)
    dialog.address.setText(others.address)
    dialog.accept_button.click()
    visit.wait(lambda: "wants a key" in dialog.trouble.text())
    assert dialog.isVisible()
    assert dialog.address.text() == others.address
    assert endpoints() == ()
    dialog.reject()


def test_a_server_is_forgotten_and_the_built_in_model_takes_over(visit: Visit, others: Others) -> None:
    page = visit.open()
    add(visit, page, others)
    page.remote.rows["talker"].use.click()
    visit.wait(lambda: visit.workspace.settings.model == REFERENCE)
    visit.window.places.go(MODELS)
    [_, change, forget] = page.remote.menu_of("talker").actions()
    change.trigger()
    assert (dialog_of(page).address.text(), dialog_of(page).name.text()) == (others.address, "desk")
    dialog_of(page).reject()
    forget.trigger()
    [dialog] = [one for one in page.findChildren(Sheet) if one.isVisible()]
    assert isinstance(dialog, QDialog)
    dialog.accept()
    visit.wait(lambda: page.remote.rows == {})
    assert endpoints() == ()
    assert visit.workspace.settings.model == DEFAULT_MODEL


def test_models_that_come_and_go_are_followed(visit: Visit, others: Others) -> None:
    page = visit.open()
    add(visit, page, others)
    others.answers["GET /v1/models"] = models("vllm", talker=4096, singer=8192)
    visit.workspace.model_store.look_around()
    visit.wait(lambda: [*page.remote.rows] == ["talker", "singer"])
    del others.answers["GET /v1/models"]
    visit.workspace.model_store.servers.ask_again()
    visit.qtbot.wait(100)
    assert [*page.remote.rows] == ["talker", "singer"]  # one that does not answer keeps its list


def test_the_choice_holds_over_a_start_and_no_server_is_chosen_by_itself() -> None:
    keep_endpoint(Endpoint("desk", "https://desk", "vllm", (ServedModel("talker"),)))
    assert model_to_begin_with(REFERENCE, ()) == REFERENCE
    assert served_name(REFERENCE) == "talker"  # for other programs, which are answered by the same model
    assert model_to_begin_with("gone", ()) in ("gone", DEFAULT_MODEL)


def test_requests_name_the_servers_model(visit: Visit, others: Others) -> None:
    page = visit.open()
    add(visit, page, others)
    visit.workspace.choose_model(REFERENCE)
    chat = visit.workspace.turns.send(None, "say 3", ())
    reply = visit.workspace.library.messages(chat)[-1]
    visit.wait(lambda: not visit.workspace.library.message(chat, reply.id).state.unfinished)  # type: ignore[union-attr]
    assert visit.workspace.library.messages(chat)[-1].model == REFERENCE
    # The chat keeps its server, and says so as soon as it is shown; another chat has another model.
    visit.window.page.open(None)
    visit.workspace.choose_model(DEFAULT_MODEL)
    assert "Runs on this computer" in visit.window.page.footer.text()
    visit.window.page.open(chat)
    assert visit.workspace.settings.model == REFERENCE
    assert "goes to desk" in visit.window.page.footer.text()


@pytest.mark.parametrize(
    ("address", "words"),
    [("https://desk:8000", "goes to desk, https://desk:8000."), ("http://desk:8000", "unencrypted")],
)
def test_the_line_says_what_others_can_read(visit: Visit, address: str, words: str) -> None:
    keep_endpoint(Endpoint("desk", address, "vllm", (ServedModel("talker"),)))
    visit.open()
    visit.workspace.choose_model(REFERENCE)
    assert words in visit.window.page.footer.text()
    visit.window.resize(420, 400)
    visit.qtbot.wait(50)
    assert not visit.window.page.footer.isHidden()
