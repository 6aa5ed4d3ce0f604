"""Tenon's models go to another folder, chats with them go on, and folders of others are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chat.engine_state import EnginePhase
from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from tests.app.bridge.conftest import Desk
from tests.support.gguf_files import write_small_gguf


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A model of Tenon's own; its place before."""
    write_small_gguf(tmp_path / "mine.gguf")
    import_model(models_folder(), [tmp_path / "mine.gguf"], copy=True, reserve_bytes=0)
    return models_folder() / "mine"


def test_the_models_move_and_what_names_them_follows(desk: Desk, mine: Path, tmp_path: Path) -> None:
    workspace = desk.open()
    store = workspace.model_store
    workspace.choose_model(str(mine))
    desk.wait_for_phase(workspace, EnginePhase.READY)
    chat = desk.answer(workspace, "say 2")
    target = tmp_path / "large disk"
    with desk.qtbot.waitSignal(store.folders.checked):
        store.folders.check(str(target))
    with desk.qtbot.waitSignal(store.folders.moved):
        store.move(str(target))
    now = str(target / "mine")
    assert workspace.settings.model == now
    desk.wait(lambda: now in [entry.ref for entry in store.installed.entries])
    desk.wait(lambda: workspace.model.state.model_ref == now)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert not mine.exists()
    assert [entry.path for entry in store.folders.entries if entry.own] == [str(target)] or store.folders.look() is None
    workspace.choose_model("smollm2")
    workspace.open_chat.show(chat)  # it was kept with the model's former place
    assert workspace.settings.model == now
    workspace.close()
    again = desk.open()
    assert again.settings.model == now
    desk.wait(lambda: now in [choice.key for choice in again.models()])


def test_nothing_is_moved_while_something_comes_or_where_it_cannot_go(
    desk: Desk, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = desk.open().model_store
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    with desk.qtbot.waitSignal(store.folders.refused) as refused:
        store.folders.check(str(tmp_path / "full"))
    assert "is not empty" in refused.args[0]
    monkeypatch.setattr(type(store.downloads), "under_way", property(lambda downloads: 1))
    with desk.qtbot.waitSignal(store.folders.refused) as refused:
        store.move(str(tmp_path / "target"))
    assert refused.args == ["Downloads are under way: pause them, or wait for them."]
    assert mine.is_dir()


def test_an_added_folder_is_listed_and_never_removed_from(desk: Desk, tmp_path: Path) -> None:
    store = desk.open().model_store
    file = tmp_path / "others" / "Small-Q8_0.gguf"
    file.parent.mkdir()
    write_small_gguf(file)
    store.folders.add(str(file.parent))
    desk.wait(lambda: any(entry.ref == str(file) for entry in store.installed.entries))
    entry = store.entry("Small-Q8_0")
    assert (entry.source, entry.type, entry.recorded) == (str(file.parent), "F32", False)  # whatever its name says
    with desk.qtbot.waitSignal(store.installed.problem):
        store.installed.plan_removal("Small-Q8_0")
    store.folders.forget(str(file.parent))
    desk.wait(lambda: store.entry("Small-Q8_0") is None)
    assert file.is_file()
