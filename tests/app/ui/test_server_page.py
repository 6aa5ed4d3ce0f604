"""The page of the server: a switch, what is to be copied, and what goes on, with real clients and a scripted engine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.bridge.program_server import ServerPhase
from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.ui.server_page import ServerPage
from app.ui.theme.theme import Theme
from tests.app.bridge.conftest import Desk, desk
from tests.engine.hub.conftest import _own_keyring

__all__ = ["_own_keyring", "desk"]


@pytest.fixture
def opened(desk: Desk) -> Workspace:
    workspace = desk.open()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        workspace.settings.server_port = free.getsockname()[1]
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
