"""Smaller copies from the page of models: offered where they pay, made in a real process, cancelled, shown."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from app.chat.model_entries import CopyStatus, InstalledEntry, copy_offer, copy_reference, may_copy
from app.ui.models.installed import InstalledRow
from app.ui.models.models_page import ModelsPage
from engine.hub.installed import installed_model
from engine.hub.local_import import import_model
from engine.hub.model_folders import INCOMING, models_folder
from engine.messages import Prediction
from tests.app.ui.models.conftest import Visit
from tests.support.checkpoints import write_checkpoint

SIZES = {"hidden_size": 256, "intermediate_size": 512, "head_dim": 64}


@pytest.fixture
def large(tmp_path: Path) -> str:
    """Install a model in bfloat16, and return its name."""
    folder = write_checkpoint(tmp_path / "Large", "llama", dtype=torch.bfloat16, **SIZES)
    import_model(models_folder(), [folder], name="Large", copy=True, reserve_bytes=0)
    return "Large"


def offered(visit: Visit, page: ModelsPage, name: str, tokens_per_second: float = 2.0) -> InstalledRow:
    """Return a model's row once a copy is predicted to be twice as fast."""
    visit.wait(lambda: name in page.installed.rows)
    store, entry = visit.workspace.model_store, visit.workspace.model_store.entry(name)
    page.shelf._plan_of = lambda entry: None  # type: ignore[method-assign]  # the engine here is scripted
    store.forecasts.known[entry.ref] = Prediction(mode="plain", tokens_per_second=tokens_per_second)
    store.forecasts.known[copy_reference(entry.ref)] = Prediction(
        mode="plain", tokens_per_second=2.1 * tokens_per_second, copy_bytes=4_900_000_000
    )
    page.refresh()
    return page.installed.rows[name]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_copy_is_made_and_shown_with_its_loss(visit: Visit, large: str) -> None:
    page = visit.open()
    row = offered(visit, page, large)
    assert row.copy.isVisibleTo(row)
    assert (row.copy.text(), row.copy_words.text()) == ("Make a smaller copy", "4.9 GB, predicted 2.1 times as fast")
    with visit.qtbot.waitSignal(visit.workspace.model_store.copies.made, timeout=600_000):
        row.copy.click()
        visit.wait(lambda: row.cancel.isVisibleTo(row))
        assert not row.copy.isVisibleTo(row)
    visit.wait(lambda: "Large-Q4_K_M" in page.installed.rows)
    made = page.installed.rows["Large-Q4_K_M"]
    visit.wait(lambda: "KL " in made.detail.text())
    assert "tokens of its own replies" in made.detail.text()
    assert not row.cancel.isVisibleTo(row)
    assert not row.copy.isVisibleTo(row)
    record = installed_model("Large-Q4_K_M").record
    assert record is not None
    assert record.loss is not None


@pytest.mark.timeout(400)
def test_a_copy_that_is_cancelled_leaves_nothing(visit: Visit, large: str) -> None:
    page = visit.open()
    row = offered(visit, page, large)
    row.copy.click()
    visit.wait(lambda: row.cancel.isVisibleTo(row))
    row.cancel.click()
    visit.qtbot.waitUntil(lambda: not visit.workspace.model_store.copies.entries, timeout=300_000)
    assert offered(visit, page, large).copy.isVisibleTo(row)
    assert not any((models_folder() / INCOMING).glob("copy-*/"))
    assert "Large-Q4_K_M" not in page.installed.rows


@pytest.mark.timeout(400)
def test_a_process_ends_with_the_window(visit: Visit, large: str) -> None:
    page = visit.open()
    copies = visit.workspace.model_store.copies
    offered(visit, page, large).copy.click()
    visit.wait(lambda: copies._process is not None and copies._process.is_alive())
    process = copies._process
    copies.close()
    visit.wait(lambda: process.exitcode is not None)  # else Python waits at its end until the copy is made


@pytest.mark.timeout(400)
def test_a_copy_that_waits_is_given_up_at_once(visit: Visit, large: str) -> None:
    page = visit.open()
    visit.wait(lambda: large in page.installed.rows)
    copies, entry = visit.workspace.model_store.copies, InstalledEntry("Next", "/nowhere", type="BF16")
    first = visit.workspace.model_store.entry(large)
    assert first is not None
    copies.make(first)
    copies.make(entry)
    copies.cancel("Next")
    assert list(copies.entries) == [large]
    copies.make(entry)  # the one that was given up does not end this one
    copies.cancel(large)
    with visit.qtbot.waitSignal(copies.refused, timeout=300_000):
        pass
    assert not copies.entries


def test_a_model_that_is_fast_has_it_in_its_menu(visit: Visit, large: str) -> None:
    page = visit.open()
    row = offered(visit, page, large, tokens_per_second=30.0)
    assert not row.copy.isVisibleTo(row)
    titles = [action.text() for action in page.installed.menu_of(large).actions()]
    assert "Make a smaller copy: 4.9 GB, predicted 2.1 times as fast" in titles


def test_how_far_it_is(visit: Visit, large: str) -> None:
    page = visit.open()
    row = offered(visit, page, large)
    visit.workspace.model_store.copies.entries[large] = CopyStatus("writing", 0.42)
    page.refresh()
    assert row.copy_words.text() == "Smaller copy: writes the file, 42 %"
    assert row.copy_bar.isVisibleTo(row)


@pytest.mark.parametrize(
    ("own", "copy", "pays"),
    [
        (Prediction(problem="too large"), Prediction(tokens_per_second=3.0, copy_bytes=9), True),
        (Prediction(tokens_per_second=9.0, from_disk=True), Prediction(tokens_per_second=30.0, copy_bytes=9), True),
        (Prediction(tokens_per_second=9.0), Prediction(tokens_per_second=30.0, copy_bytes=9), False),
        (Prediction(tokens_per_second=9.0), Prediction(tokens_per_second=9.5, copy_bytes=9), None),
        (Prediction(tokens_per_second=1.0), Prediction(problem="it is quantized already"), None),
        (None, Prediction(tokens_per_second=30.0, copy_bytes=9), None),
    ],
)
def test_when_it_pays(own: Prediction | None, copy: Prediction, pays: bool | None) -> None:
    offer = copy_offer(own, copy)
    assert (None if offer is None else offer.pays) == pays


def test_only_plain_weights_are_copied() -> None:
    plain = InstalledEntry("a", "/a", type="BF16")
    assert may_copy(plain)
    for changes in ({"type": "Q4_K_M"}, {"kind": "draft"}, {"server": "desk"}, {"bundled": True}, {"problem": "gone"}):
        assert not may_copy(InstalledEntry("a", "/a", **{"type": "BF16", **changes}))  # type: ignore[arg-type]
