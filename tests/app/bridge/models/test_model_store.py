"""Models through the workspace: a real hub client and queue against a small hub, the scripted engine behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.bridge.models.store import ModelStore
from app.bridge.workspace import Workspace
from app.chat.engine_state import EnginePhase
from app.chat.model_entries import ImportEntry, ListedModel, OfferEntry, RemovalEntry
from engine.hub import model_folders
from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from engine.messages import DEFAULT_MODEL
from tests.app.bridge.conftest import Desk
from tests.app.bridge.models.conftest import FILE, NAME, REPO
from tests.support.checkpoints import write_checkpoint
from tests.support.gguf_files import write_small_gguf
from tests.support.hub_faults import large, stall
from tests.support.hub_server import HubServer


@pytest.fixture(autouse=True)
def _no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 500 << 30)


def offer_of(desk: Desk, store: ModelStore, reference: str) -> OfferEntry:
    with desk.qtbot.waitSignal(store.offers.offered) as asked:
        store.offers.look_up(reference)
    offer = asked.args[0]
    assert isinstance(offer, OfferEntry)
    return offer


def half_here(desk: Desk, store: ModelStore) -> None:
    """Wait until the hub that stalls has given what it gives."""
    part = models_folder() / ".incoming" / NAME / "model" / f"{FILE}.part"
    desk.wait(lambda: part.is_file() and part.stat().st_size > 0 and NAME in store.downloads.entries)


def test_a_model_is_found_fetched_and_used(desk: Desk, weights: bytes) -> None:
    workspace = desk.open()
    store = workspace.model_store
    with desk.qtbot.waitSignal(store.offers.found) as searched:
        store.offers.search("qwen3-0.6b")
    text, models, problem = searched.args
    assert (text, problem) == ("qwen3-0.6b", "")
    assert [model.reference for model in models] == ["qwen3-0.6b"]  # the repository is the catalogue's own
    offer = offer_of(desk, store, "qwen3-0.6b")
    assert (offer.name, offer.repo, offer.size_bytes) == (NAME, REPO, len(weights))
    seen: list[int] = []
    store.downloads.changed.connect(lambda: seen.extend(entry.done_bytes for entry in store.downloads.entries.values()))
    with desk.qtbot.waitSignal(store.ready) as came:
        store.offers.fetch(offer)
    assert seen == sorted(seen)
    assert came.args == [NAME, str(models_folder() / NAME)]
    assert store.downloads.entries == {}
    assert (models_folder() / NAME / FILE).read_bytes() == weights
    assert NAME in [choice.title for choice in workspace.models()]
    workspace.choose_model(came.args[1])
    desk.wait(lambda: workspace.model.state.model_ref == came.args[1])
    desk.wait_for_phase(workspace, EnginePhase.READY)


def test_a_download_is_held_goes_on_after_a_restart_and_is_given_up(
    desk: Desk, weights: bytes, server: HubServer
) -> None:
    server.once(large(stall(0.5)))
    workspace = desk.open()
    store = workspace.model_store
    store.offers.fetch(offer_of(desk, store, REPO))
    half_here(desk, store)
    assert store.downloads.under_way == 1
    store.downloads.pause(NAME)
    desk.wait(lambda: store.downloads.entries[NAME].state == "paused")
    assert store.downloads.under_way == 0
    held = store.downloads.entries[NAME].done_bytes
    workspace.close()
    again = desk.open().model_store
    desk.wait(lambda: NAME in again.downloads.entries)
    assert (again.downloads.entries[NAME].state, again.downloads.entries[NAME].done_bytes) == ("paused", held)
    with desk.qtbot.waitSignal(again.ready):
        again.downloads.resume(NAME)
    assert (models_folder() / NAME / FILE).read_bytes() == weights
    assert any(range_ == f"bytes={held}-" for range_ in server.downloads())


def test_a_download_that_is_given_up_leaves_nothing(desk: Desk, weights: bytes, server: HubServer) -> None:
    server.once(large(stall(0.5)))
    store = desk.open().model_store
    store.offers.fetch(offer_of(desk, store, REPO))
    half_here(desk, store)
    store.downloads.cancel(NAME)
    desk.wait(lambda: NAME not in store.downloads.entries)
    desk.wait(lambda: not (models_folder() / ".incoming" / NAME).exists())
    assert not (models_folder() / NAME).exists()


def test_one_that_ran_when_the_window_closed_goes_on_by_itself(desk: Desk, weights: bytes, server: HubServer) -> None:
    server.once(large(stall(0.5)))
    workspace = desk.open()
    store = workspace.model_store
    store.offers.fetch(offer_of(desk, store, REPO))
    half_here(desk, store)
    workspace.close()
    again = desk.open(start=False)
    with desk.qtbot.waitSignal(again.model_store.ready):
        again.start()
    assert (models_folder() / NAME / FILE).read_bytes() == weights


def test_no_room_and_a_hub_that_has_nothing_are_said(
    desk: Desk, weights: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = desk.open().model_store
    offer = offer_of(desk, store, REPO)
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 1 << 20)
    with desk.qtbot.waitSignal(store.offers.refused) as refused:
        store.offers.fetch(offer)
    assert refused.args[0] == REPO
    assert "free some room" in refused.args[1]
    assert store.downloads.entries == {}
    with desk.qtbot.waitSignal(store.offers.refused) as unknown:
        store.offers.look_up("nobody/nothing")
    assert "hub has no nobody/nothing" in unknown.args[1]


def test_without_the_net_the_catalogue_is_still_there(desk: Desk, server: HubServer) -> None:
    server.api_status = 503
    store = desk.open().model_store
    with desk.qtbot.waitSignal(store.offers.found) as searched:
        store.offers.search("smollm2")
    _, models, problem = searched.args
    assert {model.reference for model in models} == {"smollm2-360m-instruct", "smollm2-1.7b-instruct"}
    assert "try again" in problem


def test_a_token_is_kept_in_the_keyring_and_opens_a_gated_model(desk: Desk, server: HubServer) -> None:
    server.add("meta-llama/Gated", {"config.json": b"{}", "model.safetensors": b"x" * 5000}, gated=True)
    store = desk.open().model_store
    offer = offer_of(desk, store, "meta-llama/Gated")
    assert (offer.gated, offer.has_token) == (True, False)
    assert offer.page == f"{server.address}/meta-llama/Gated"
    with desk.qtbot.waitSignal(store.access.told) as kept:
        store.access.keep("not a token")
    assert "copy it whole" in kept.args[0]
    with desk.qtbot.waitSignal(store.access.told) as kept:
        store.access.keep("hf_mine")
    assert kept.args == [""]
    assert offer_of(desk, store, "meta-llama/Gated").has_token


def test_what_would_run_is_predicted_for_the_catalogue_and_for_results(desk: Desk, server: HubServer) -> None:
    config = b'{"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}'
    server.add("some/Odd-7b", {"config.json": config, "model.safetensors": b"x" * 5000})
    store = desk.open().model_store
    store.forecasts.ask(store.offers.catalogue())
    desk.wait(lambda: len(store.forecasts.known) == len(store.offers.catalogue()))
    assert store.forecasts.known["qwen3-8b"].tokens_per_second == 5.0
    assert store.forecasts.known["llama-3.3-70b-instruct"].from_disk
    other = ListedModel("some/Odd-7b", "Odd-7b", "some")
    gone = ListedModel("some/gone", "gone", "some")
    store.forecasts.ask((other, gone), on_hub=True)
    desk.wait(lambda: {"some/Odd-7b", "some/gone"} <= store.forecasts.known.keys())
    assert store.forecasts.sizes["some/Odd-7b"] == 5000 + len(config)
    assert store.forecasts.known["some/gone"].problem


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "made", "llama", num_hidden_layers=1)


def installed(desk: Desk, workspace: Workspace, *names: str) -> None:
    desk.wait(lambda: set(names) <= {entry.name for entry in workspace.model_store.installed.entries})


def test_a_model_in_use_leaves_memory_before_it_is_removed_with_its_draft(desk: Desk, target: Path) -> None:
    import_model(models_folder(), [target], name="big", copy=True, reserve_bytes=0)
    import_model(models_folder(), [target], name="small", kind="draft", belongs_to=("big",), copy=True, reserve_bytes=0)
    workspace = desk.open()
    store = workspace.model_store
    installed(desk, workspace, "big", "small")
    big = str(models_folder() / "big")
    workspace.choose_model(big)
    desk.wait(lambda: workspace.model.state.model_ref == big)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    entry = store.entry("big")
    assert entry is not None
    assert store.in_use(entry)
    with desk.qtbot.waitSignal(store.installed.removal_planned) as planned:
        store.installed.plan_removal("big")
    removal = planned.args[0]
    assert isinstance(removal, RemovalEntry)
    assert [draft for draft, _ in removal.drafts] == ["small"]
    workspace.settings.remember_drafts(big, (str(models_folder() / "small"),))
    with desk.qtbot.waitSignal(store.installed.removed) as removed:
        store.remove("big", ("small",))
    assert removed.args == ["big", removal.freed_bytes + removal.drafts[0][1]]
    assert workspace.settings.model == DEFAULT_MODEL
    assert workspace.settings.drafts == {}
    assert big not in workspace.settings.recent_models
    desk.wait(lambda: [entry.name for entry in store.installed.entries] == [DEFAULT_MODEL])
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.model.state.model_ref == DEFAULT_MODEL


def test_folders_and_files_are_looked_at_then_linked_or_copied(desk: Desk, target: Path, tmp_path: Path) -> None:
    workspace = desk.open()
    store = workspace.model_store.installed

    def look(path: Path) -> ImportEntry:
        with desk.qtbot.waitSignal(store.looked_at) as seen:
            store.look_at([str(path)])
        entry = seen.args[0]
        assert isinstance(entry, ImportEntry)
        return entry

    seen = look(target)
    assert (seen.name, seen.format) == ("made", "safetensors")
    assert seen.size_bytes > 0
    with desk.qtbot.waitSignal(store.imported) as imported:
        store.bring_in(seen, copy=False)
    assert imported.args == ["made"]
    installed(desk, workspace, "made")
    assert workspace.model_store.entry("made").in_place  # type: ignore[union-attr]
    again = look(target)
    assert again.name == "made 2"  # the first name is taken
    with desk.qtbot.waitSignal(store.imported):
        store.bring_in(again, copy=True)
    installed(desk, workspace, "made 2")
    shutil.rmtree(target)
    store.refresh()
    desk.wait(lambda: bool(workspace.model_store.entry("made").problem))  # type: ignore[union-attr]
    write_small_gguf(tmp_path / "odd.gguf", "mamba")
    with desk.qtbot.waitSignal(store.import_refused) as refused:
        store.look_at([str(tmp_path / "odd.gguf")])
    assert "architecture mamba" in refused.args[0]


def test_a_changed_file_is_found_by_a_check(desk: Desk, target: Path) -> None:
    import_model(models_folder(), [target], name="mine", copy=True, reserve_bytes=0)
    workspace = desk.open()
    store = workspace.model_store.installed
    installed(desk, workspace, "mine")
    with desk.qtbot.waitSignal(store.verified) as checked:
        store.verify("mine")
    assert checked.args == ["mine", ()]
    (models_folder() / "mine" / "config.json").write_text("{}")
    with desk.qtbot.waitSignal(store.verified) as checked:
        store.verify("mine")
    assert checked.args == ["mine", ("config.json",)]
    assert store.reads == ""


def test_pairs_come_from_the_engine(desk: Desk) -> None:
    store = desk.open().model_store
    with desk.qtbot.waitSignal(store.pairs_changed):
        store.find_pairs()
    assert [(pair.draft, bool(pair.problem)) for pair in store.pairs] == [("small", False), ("misfit", True)]
