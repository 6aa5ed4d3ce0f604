"""The page of the server: a switch, what is to be copied, and what goes on, with real clients and a scripted engine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.bridge.program_server import ServerPhase
from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.ui.phone_panel import PhonePanel
from app.ui.server_page import ServerPage
from app.ui.theme.theme import Theme
from tests.app.bridge.conftest import Desk, desk
from tests.engine.hub.conftest import _own_keyring

__all__ = ["_own_keyring", "desk"]


@pytest.fixture
def opened(desk: Desk) -> Workspace:
    workspace = desk.open()
    while True:
        with socket.socket() as free, socket.socket() as next_to_it, suppress(OSError, OverflowError):
            free.bind(("127.0.0.1", 0))
            next_to_it.bind(("0.0.0.0", free.getsockname()[1] + 1))
            workspace.settings.server_port = free.getsockname()[1]
            break
    desk.wait_for_phase(workspace, EnginePhase.READY)
    return workspace


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, opened: Workspace) -> ServerPage:
    page = ServerPage(theme, opened)
    qtbot.addWidget(page)
    page.resize(700, 800)
    page.show()
    return page


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Clients, which must not keep the window's thread."""
    with ThreadPoolExecutor(24) as threads:
        yield threads


def press(qtbot: QtBot, page: ServerPage, name: str) -> str:
    """Press one of the buttons that copy; what it copied."""
    qtbot.mouseClick(page.copy_buttons[name], Qt.MouseButton.LeftButton)
    return QGuiApplication.clipboard().text()


def switch(qtbot: QtBot, page: ServerPage, phase: ServerPhase) -> None:
    qtbot.mouseClick(page.switch_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page._server.state.phase is phase)


def client(qtbot: QtBot, page: ServerPage) -> openai.OpenAI:
    """A client with what the page's buttons copy."""
    return openai.OpenAI(
        base_url=press(qtbot, page, "address"), api_key=press(qtbot, page, "key"), max_retries=0,
        http_client=httpx2.Client(trust_env=False, timeout=60),
    )  # fmt: skip


def ask(script: str) -> dict[str, Any]:
    return {"model": "smollm2", "messages": [{"role": "user", "content": script}]}


def words(page: ServerPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def test_a_client_is_answered_with_what_the_page_copies(
    qtbot: QtBot, page: ServerPage, opened: Workspace, threads: ThreadPoolExecutor
) -> None:
    assert "The server is off." in words(page)
    switch(qtbot, page, ServerPhase.ON)
    key = press(qtbot, page, "key")
    assert key in words(page)
    assert "Programs are answered with smollm2." in words(page)
    with client(qtbot, page) as asked:
        answer = threads.submit(asked.chat.completions.create, **ask("say 40"))
        rates = set()

        def answered() -> bool:
            done = answer.done()
            page._count()
            rates.add(page.figures["rate"].text())  # of the last seconds alone
            return done

        qtbot.waitUntil(answered)
        assert answer.result().choices[0].message.content
        assert page.figures["clients"].text() == "1"
        assert page.figures["running"].text() == "0"
        assert any("tok/s" in rate for rate in rates)
    for program in ("Claude Code", "Continue", "Aider", "curl"):
        copied = press(qtbot, page, program)
        assert key in copied
        assert str(opened.settings.server_port) in copied
    switch(qtbot, page, ServerPhase.OFF)
    assert opened.settings.server_on is False
    switch(qtbot, page, ServerPhase.ON)
    assert press(qtbot, page, "key") == key
    assert key not in words(page), "it was shown once"


def test_the_engine_is_the_windows_own_and_its_message_goes_before_those_that_wait(
    qtbot: QtBot, page: ServerPage, desk: Desk, opened: Workspace, threads: ThreadPoolExecutor
) -> None:
    process = desk.client.process_id
    switch(qtbot, page, ServerPhase.ON)
    with client(qtbot, page) as asked:
        answers = [threads.submit(asked.chat.completions.create, **ask("slow 10")) for _ in range(4)]
        qtbot.waitUntil(lambda: page._server.figures().running == 4)
        chat = opened.turns.send(None, "say 2")
        desk.wait_for_state(opened, chat, MessageState.COMPLETE)
        qtbot.waitUntil(lambda: all(each.done() for each in answers))
        assert {each.result().choices[0].finish_reason for each in answers} == {"stop"}
    assert desk.client.process_id == process


def test_another_key_closes_the_door_to_those_with_the_one_before(
    qtbot: QtBot, page: ServerPage, threads: ThreadPoolExecutor
) -> None:
    switch(qtbot, page, ServerPhase.ON)
    key = press(qtbot, page, "key")
    with client(qtbot, page) as asked:
        qtbot.mouseClick(page.new_key_button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: page._server.state.phase is ServerPhase.ON)
        assert press(qtbot, page, "key") != key
        refused = threads.submit(asked.models.list)
        qtbot.waitUntil(refused.done)
        assert isinstance(refused.exception(), openai.AuthenticationError)


def test_a_port_in_use_is_one_sentence_and_another_port_mends_it(
    qtbot: QtBot, page: ServerPage, opened: Workspace
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        opened.settings.server_port = taken.getsockname()[1]
        switch(qtbot, page, ServerPhase.FAILED)
        assert f"Port {opened.settings.server_port} cannot be used" in words(page)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            other = free.getsockname()[1]
        page.port.setText(str(other))
        page.port.editingFinished.emit()
        switch(qtbot, page, ServerPhase.ON)
    assert page._server.state.address == f"http://127.0.0.1:{other}"


def test_an_engine_that_dies_is_an_error_for_its_clients_and_the_next_one_answers(
    qtbot: QtBot, page: ServerPage, desk: Desk, threads: ThreadPoolExecutor
) -> None:
    switch(qtbot, page, ServerPhase.ON)
    with client(qtbot, page) as asked:
        lost = threads.submit(asked.chat.completions.create, **ask("die"))
        qtbot.waitUntil(lost.done)
        assert "ask again" in str(lost.exception())
        again = threads.submit(asked.chat.completions.create, **ask("say 3"))
        qtbot.waitUntil(again.done)
        assert again.result().choices[0].message.content


def test_a_client_that_hangs_up_and_a_server_that_is_switched_off_free_the_engine(
    qtbot: QtBot, page: ServerPage, desk: Desk, opened: Workspace, threads: ThreadPoolExecutor
) -> None:
    switch(qtbot, page, ServerPhase.ON)
    with client(qtbot, page) as asked:
        stream = threads.submit(lambda: next(iter(asked.chat.completions.create(**ask("slow 100000"), stream=True))))
        qtbot.waitUntil(stream.done)
        whole = threads.submit(asked.chat.completions.create, **ask("slow 100000"))
        qtbot.waitUntil(lambda: page._server.figures().running > 0)
        switch(qtbot, page, ServerPhase.OFF)
        qtbot.waitUntil(whole.done)
        assert isinstance(whole.exception(), openai.APIError)
    desk.answer(opened, "say 2")
    qtbot.waitUntil(lambda: "tenon-server" not in {each.name for each in threading.enumerate()})


def test_it_is_on_again_at_the_next_start(qtbot: QtBot, desk: Desk, opened: Workspace) -> None:
    opened.program_server.switch(True)
    qtbot.waitUntil(lambda: opened.program_server.state.phase is ServerPhase.ON)
    key = opened.program_server.state.key
    opened.close()
    again = desk.open()
    qtbot.waitUntil(lambda: again.program_server.state.phase is ServerPhase.ON)
    assert again.program_server.state.key == key


def test_a_port_that_is_none_is_told_and_the_one_in_use_comes_back(
    page: ServerPage, opened: Workspace, qtbot: QtBot
) -> None:
    used = opened.settings.server_port
    told: list[tuple[str, bool]] = []
    page.said.connect(lambda *said: told.append(said))
    for text in ("99999", "0", "", "mine", "-5"):
        page.port.setText(text)
        qtbot.keyClick(page.port, Qt.Key.Key_Return)
        assert page.port.text() == str(used)
    assert [sentence for sentence, _ in told] == ["Choose a port from 1 to 65535."] * 5
    assert opened.settings.server_port == used


# --- phones -------------------------------------------------------------------------------------------------------


@pytest.fixture
def phones(page: ServerPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PhonePanel:
    """The part for phones, switched on."""
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path / "phones"))
    monkeypatch.setattr("engine.server.phones.local_addresses", lambda: ["127.0.0.1", "127.0.0.2"])
    panel = page.phones
    assert not panel._open.isVisible()
    qtbot.mouseClick(panel.switch_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.code.isVisible() and bool(panel.link))
    return panel


def phone_client(link: str, threads: ThreadPoolExecutor, qtbot: QtBot) -> httpx2.Client:
    """A phone that comes in with a link."""
    address, _, code = link.partition("/#")
    client = httpx2.Client(base_url=address, trust_env=False, timeout=60, headers={"Authorization": f"Bearer {code}"})
    asked = threads.submit(client.post, "/enter", headers={"User-Agent": "Android Firefox"})
    qtbot.waitUntil(asked.done)
    client.headers["Authorization"] = f"Bearer {asked.result().json()['key']}"
    return client


def test_phones_come_in_with_the_code_that_is_shown_and_are_removed_one_by_one_or_all(
    qtbot: QtBot, page: ServerPage, opened: Workspace, phones: PhonePanel, threads: ThreadPoolExecutor
) -> None:
    assert "The server is off." in words(page), "programs are a matter of their own"
    assert "is not encrypted" in words(page)
    first = phones.link
    assert first.startswith(f"http://127.0.0.1:{opened.settings.server_port + 1}/#")
    shown = phones.code._image
    phones.addresses.setCurrentIndex(1)
    assert phones.link == first.replace("127.0.0.1", "127.0.0.2")
    assert phones.code._image != shown
    qtbot.mouseClick(phones.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == phones.link
    phones.addresses.setCurrentIndex(0)
    one, other = phone_client(first, threads, qtbot), None
    qtbot.waitUntil(lambda: phones.link != first and "Android, Firefox" in words(page))
    other = phone_client(phones.link, threads, qtbot)
    qtbot.waitUntil(lambda: words(page).count("Android, Firefox") == 2)
    asked = threads.submit(one.post, "/v1/chat/completions", json=ask("say 4"))
    qtbot.waitUntil(asked.done)
    assert asked.result().json()["choices"][0]["message"]["content"]
    button = next(one for one in phones.findChildren(QPushButton) if one.accessibleName() == "Remove Android, Firefox")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: words(page).count("Android, Firefox") == 1)
    for client, status in ((one, 401), (other, 200)):
        asked = threads.submit(client.get, "/v1/models")
        qtbot.waitUntil(asked.done)
        assert asked.result().status_code == status
    before = phones.link
    qtbot.mouseClick(phones.end_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Android" not in words(page) and phones.link not in (before, ""))
    asked = threads.submit(other.get, "/v1/models")
    qtbot.waitUntil(asked.done)
    assert asked.result().status_code == 401
    page.port.setText(str(opened.settings.server_port + 2))
    page.port.editingFinished.emit()
    qtbot.waitUntil(lambda: phones.link.startswith(f"http://127.0.0.1:{opened.settings.server_port + 1}/"))
    qtbot.mouseClick(phones.switch_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "tenon-server" not in {each.name for each in threading.enumerate()})
    assert not phones._open.isVisible()
    one.close()
    other.close()


def test_programs_and_phones_are_answered_at_the_same_time_each_by_its_own_numbers(
    qtbot: QtBot, page: ServerPage, opened: Workspace, phones: PhonePanel, threads: ThreadPoolExecutor
) -> None:
    switch(qtbot, page, ServerPhase.ON)
    with client(qtbot, page) as program, closing(phone_client(phones.link, threads, qtbot)) as phone:
        answers = [threads.submit(program.chat.completions.create, **ask("slow 8")) for _ in range(3)]
        others = [threads.submit(phone.post, "/v1/chat/completions", json=ask("slow 5")) for _ in range(3)]
        qtbot.waitUntil(lambda: all(each.done() for each in (*answers, *others)))
        assert {each.result().choices[0].message.content.count("w") for each in answers} == {8}
        assert {each.result().json()["choices"][0]["message"]["content"].count("w") for each in others} == {5}
        switch(qtbot, page, ServerPhase.OFF)
        asked = threads.submit(phone.get, "/v1/models")
        qtbot.waitUntil(asked.done)
        assert asked.result().status_code == 200


def guess_while_the_window_answers(
    qtbot: QtBot, desk: Desk, opened: Workspace, phones: PhonePanel, threads: ThreadPoolExecutor, count: int
) -> None:
    address = phones.link.partition("/#")[0]

    def guess() -> set[int]:
        with httpx2.Client(base_url=address, trust_env=False, timeout=60) as client:
            wrong = ({"Authorization": f"Bearer guess-{number}"} for number in range(count // 8))
            return {client.post("/enter", headers=headers).status_code for headers in wrong}

    guessing = [threads.submit(guess) for _ in range(8)]
    chats = 0
    while chats < 2 or not all(one.done() for one in guessing):
        desk.wait_for_state(opened, opened.turns.send(None, "say 2"), MessageState.COMPLETE)
        chats += 1
    assert set.union(*(one.result() for one in guessing)) <= {401, 429}
    assert opened.phone_server.phones.listed() == ()


def test_guesses_do_not_keep_the_window_from_answering(
    qtbot: QtBot, desk: Desk, opened: Workspace, phones: PhonePanel, threads: ThreadPoolExecutor
) -> None:
    guess_while_the_window_answers(qtbot, desk, opened, phones, threads, 400)


@pytest.mark.slow
def test_ten_thousand_guesses_do_not_keep_the_window_from_answering(
    qtbot: QtBot, desk: Desk, opened: Workspace, phones: PhonePanel, threads: ThreadPoolExecutor
) -> None:
    guess_while_the_window_answers(qtbot, desk, opened, phones, threads, 10_000)
