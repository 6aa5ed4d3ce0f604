"""The real window and workspace, with a scripted engine behind and a small hub beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.ui.main_window import MainWindow
from app.ui.models.models_page import ModelsPage
from app.ui.places import MODELS
from app.ui.theme.theme import Theme
from engine.hub import model_folders
from tests.app.bridge.models.conftest import weights
from tests.engine.hub.conftest import _own_keyring, certificate, secure_server, server
from tests.support.fake_engine import SERVE

__all__ = ["_own_keyring", "certificate", "secure_server", "server", "weights"]


class Visit:
    """Windows on one folder, each with the page of models in view."""

    def __init__(self, qtbot: QtBot, theme: Theme, folder: Path) -> None:
        self.qtbot = qtbot
        self._theme = theme
        self._folder = folder
        self._open: list[Workspace] = []
        self.workspace: Workspace
        self.window: MainWindow

    def open(self) -> ModelsPage:
        client = EngineClient(SERVE)
        self.workspace = Workspace(self._folder / "data", self._folder / "config", client)
        client.setParent(self.workspace)
        self._open.append(self.workspace)
        self.window = MainWindow(self._theme, self.workspace)
        self.qtbot.addWidget(self.window)
        self.window.show()
        self.qtbot.waitExposed(self.window)
        self.workspace.start()
        self.window.places.go(MODELS)
        page = self.window.places.page(MODELS)
        assert isinstance(page, ModelsPage)
        return page

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)

    def close(self) -> None:
        for workspace in self._open:
            workspace.close()


@pytest.fixture
def visit(qtbot: QtBot, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 500 << 30)
    visit = Visit(qtbot, theme, tmp_path)
    yield visit
    visit.close()
