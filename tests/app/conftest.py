"""The window's tests speak English as the window does, plurals with it, and write figures as in the United States."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.hub import bundled
from engine.messages import DEFAULT_MODEL
from tests.engine.hub.conftest import MemoryKeyring
from tests.support.forked_engines import fork_engines
from tests.support.scripted_workspace import ScriptedWorkspace

# A wait that ends says that something hangs, and not that the machine was busy.
for _wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals):
    _wait.__kwdefaults__["timeout"] = 100_000


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Each test writes figures as in English, whatever the one before it and the system do."""
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    yield
    QLocale.setDefault(before)


@pytest.fixture(scope="session", autouse=True)
def _forked_engines() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        fork_engines(monkeypatch)
        yield


@pytest.fixture(scope="session")
def _assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the default model and its drafts, of no content, and nothing else."""
    folder = tmp_path_factory.mktemp("assets")
    for name, file in (
        (DEFAULT_MODEL, "SmolLM2-135M-Instruct.Q4_1.gguf"),
        (f"{DEFAULT_MODEL}-draft", "config.json"),
        (f"{DEFAULT_MODEL}-medusa", "config.json"),
        (f"{DEFAULT_MODEL}-prompt-tokens", "adapter_config.json"),
    ):
        (folder / "models" / name).mkdir(parents=True)
        (folder / "models" / name / file).touch()
    return folder


@pytest.fixture(autouse=True)
def _bundled_models(_assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window offers the bundled model whether it was fetched or not; an engine in a process has the real one."""
    monkeypatch.setattr(bundled, "assets_folder", lambda: _assets)


@pytest.fixture(scope="session", autouse=True)
def _modules_are_no_garbage() -> Iterator[None]:
    """Let the collector pass over what is there before the first test: modules and tests, half a million objects."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _the_cursor_does_not_blink(qapp: QApplication) -> None:
    """Two pictures of a field are then alike however long the machine took between them."""
    qapp.setCursorFlashTime(0)


@pytest.fixture(autouse=True)
def _windows_end_with_their_test() -> Iterator[None]:
    """Delete the windows of a test before the next one begins, and collect garbage only then.

    As in the app (`app.bridge.workspace`): a collection in the midst of Qt's work, or in another thread, may destroy
    the widgets of an earlier test that Qt is just going through. What is left are modules and caches, and the next
    collection passes over them: it would take as long as the test.
    """
    gc.disable()
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def workspace(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedWorkspace]:
    """A window's workspace with an engine that the test speaks for, on a computer without graphics cards."""
    monkeypatch.setattr("engine.gpu_addon.addon.read_graphics_cards", lambda: ())
    workspace = ScriptedWorkspace()
    yield workspace
    workspace.close()


@pytest.fixture
def memory_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("engine.hub.connection.get_token", lambda: None)
    before, memory = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)
