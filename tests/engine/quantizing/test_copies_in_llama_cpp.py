"""Copies as llama.cpp reads them: types by name, and probabilities of every family; see CONTRIBUTING.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.gguf.test_gguf_families import CHANGES
from tests.engine.gguf.test_llama_cpp import CHANGED, check_log_probabilities
from tests.engine.quantizing.test_copies_of_folders import copied
from tests.support.checkpoints import reference_model, save, train_tokenizer
from tests.support.llama_server import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM, reason="TENON_LLAMA_SERVER names no llama-server"),
]


@pytest.mark.parametrize("variant", sorted(CHANGES))
@torch.no_grad()
def test_log_probabilities_are_llama_cpps(variant: str, tmp_path: Path) -> None:
    scalar: dict[str, Any] = {"query_pre_attn_scalar": 32} if variant.startswith("gemma") else {}
    model = reference_model(variant, **{**CHANGES[variant], **scalar, **CHANGED.get(variant, {})})
    save(model, tmp_path / "folder")
    train_tokenizer().save_pretrained(tmp_path / "folder")
    path = tmp_path / "model.gguf"
    copied(tmp_path / "folder", path)
    check_log_probabilities(path, variant.startswith("gemma"))
