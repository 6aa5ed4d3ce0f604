"""Tiny checkpoints, written once per session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.support.checkpoints import write_checkpoint

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
