"""What the models page does not show: a download that goes on at the next start, and what forecasts are asked of."""

from __future__ import annotations

import pytest

from app.bridge.models.store import ModelStore
from app.chat.model_entries import ListedModel, OfferEntry
from engine.hub import model_folders
from engine.hub.model_folders import models_folder
from tests.app.bridge.conftest import Desk
from tests.app.bridge.models.conftest import FILE, NAME, REPO
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


def test_drafts_of_what_is_installed_are_found_before_any_page_is_opened(desk: Desk, weights: bytes) -> None:
    store = desk.open().model_store
    store.offers.fetch(offer_of(desk, store, REPO))
    desk.wait(lambda: bool(store.pairs))
    assert not store.forecasts.known  # which the page Models would have asked for
