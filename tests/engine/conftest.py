"""Tiny checkpoints, written once per session, and an engine to run them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from engine.decoding.worth import Worth
from engine.kernels import library
from engine.model.token_tree import Draft, DraftShape
from engine.planning import kernel_table
from engine.planning.probes import disks, host_speed
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.fast_cases import chosen
from tests.support.stand_in import use_no_gpu

torch.set_num_threads(1)  # tiny models gain nothing from a second thread, and lose to whatever else runs


@pytest.fixture(scope="session", autouse=True)
def _nothing_older_is_garbage() -> Iterator[None]:
    """Let the collector pass over what was there before.

    All modules and tests together are half a million objects, and the engine collects garbage whenever it lets go of a
    model: half of the time of its tests was spent looking through them.
    """
    gc.freeze()
    yield
    gc.unfreeze()


_SETS = [name for name, usable in library.instruction_sets().items() if usable]


@pytest.fixture(params=chosen(_SETS, ("portable", *_SETS[-1:])))
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each set of this processor's in turn, which the kernel library uses meanwhile; those between are slow."""
    before, threads = library.available(), torch.get_num_threads()
    assert library.select(request.param) == request.param
    yield request.param
    library.select(before)
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a variant's checkpoint: ``checkpoint_of("qwen3")``. Shared, so leave it as it is."""
    written: dict[str, Path] = {}

    def folder_of(variant: str) -> Path:
        if variant not in written:
            written[variant] = write_checkpoint(tmp_path_factory.mktemp("checkpoint") / variant, variant)
        return written[variant]

    return folder_of


@pytest.fixture(scope="session")
def llama_folder(checkpoint_of: Callable[[str], Path]) -> Path:
    """A random Llama with a tokenizer and a chat template. Shared, so leave it as it is."""
    return checkpoint_of("llama")


@pytest.fixture(scope="session")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft for that Llama: another random one, with fewer layers and other padding. Shared too."""
    folder = tmp_path_factory.mktemp("draft") / "small"
    return write_checkpoint(folder, "llama", seed=5, num_hidden_layers=1, vocab_size=376)


@pytest.fixture(autouse=True)
def _small_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine be measured with hardly any data, which would take three seconds in each plan."""
    for module, name, value in (
        (kernel_table, "_ROWS", 64),
        (kernel_table, "_COLUMNS", 64),
        (kernel_table, "_COPIES_BYTES", 0),
        (kernel_table, "_RUNS_S", 0.0),
        (host_speed, "_BUFFER_BYTES", 1 << 20),
        (host_speed, "_OPERATOR_RUNS", 2),
        (disks, "_FILE_BYTES", 8 << 20),
    ):
        monkeypatch.setattr(module, name, value)


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    """An engine that lives as long as a file's tests."""
    with engine_client() as opened:
        yield opened


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, whatever this one has."""
    use_no_gpu(monkeypatch)


@pytest.fixture
def always_drafted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedules go by measured times, and random drafts are worth none."""
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 15)
    shape = Worth.shape

    def choose(schedule: Worth, draft: Draft) -> Draft:
        schedule._steps = draft.steps
        return draft

    monkeypatch.setattr(Worth, "shape", lambda schedule: shape(schedule) if schedule._ranks else DraftShape(31))
    monkeypatch.setattr(Worth, "choose", choose)
