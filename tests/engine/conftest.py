"""Tiny checkpoints, written once per session, and an engine to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client

torch.set_num_threads(1)  # tiny models gain nothing from a second thread, and lose to whatever else runs


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


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    """An engine that lives as long as a file's tests."""
    with engine_client() as opened:
        yield opened


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, whatever this one has."""
    monkeypatch.setattr("engine.loaded_model.find_gpu", lambda: None)
