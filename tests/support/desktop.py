"""The whole window on a real workspace, with the scripted engine in a process of its own."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.reply import ErrorNotice, ReplyView
from tests.support.fake_engine import SERVE


class Desktop:
    """A window, and what a person does in it."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.client = EngineClient(SERVE)
        self.workspace = Workspace(folder / "data", folder / "config", self.client)
        self.theme = Theme(dark=False)
        self.theme.apply()
        self.window = MainWindow(self.theme, self.workspace)
        qtbot.addWidget(self.window)
        self.window.show()
        self.workspace.start()

    def send(self, text: str) -> None:
        """Type and send."""
        composer = self.window.page.composer
        self.qtbot.waitUntil(lambda: composer.send_button.isEnabled() or not composer.text)
        composer.set_text(text)
        composer.send_button.click()

    def reply(self) -> ReplyView:
        """The last reply as it is shown."""
        view = self.window.page.transcript.views[-1]
        assert isinstance(view, ReplyView)
        return view

    def wait(self, state: MessageState) -> ReplyView:
        """Wait for a state of the last reply."""
        self.qtbot.waitUntil(lambda: self.reply().message.state is state)
        return self.reply()

    def notice(self) -> ErrorNotice:
        """The notice in red beside the last reply."""
        error = self.reply().error
        assert error.isVisible()
        return error

    def still_works(self) -> None:
        """Another message is answered."""
        self.send("say 2")
        self.qtbot.waitUntil(lambda: self.reply().text == "w0 w1 ")
        self.wait(MessageState.COMPLETE)
