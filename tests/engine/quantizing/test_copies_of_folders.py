"""Folders of safetensors of every family, copied to GGUF: transformers' logits, and the tokens of a text."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.model_file import OpenedModel
from engine.quantizing.copy_file import plan_copy, write_copy
from engine.quantizing.folder import differences, from_folder
from tests.engine.gguf.test_gguf_families import CHANGES, PROMPT
from tests.support.checkpoints import reference_model, save, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.fast_cases import families


def copied(folder: Path, target: Path, to: str = "f32") -> OpenedModel:
    """Copy a folder without a change of its numbers."""
    opened = OpenedModel(str(folder), folder)
    original = from_folder(opened)
    write_copy(original, plan_copy(original, to, False), {}, target, lambda done, total: None, lambda: None)
    copy = OpenedModel(str(target), target)
    assert differences(opened.config, copy.config) == ""
    return copy


@pytest.mark.parametrize("variant", families(CHANGES))
@torch.no_grad()
def test_a_copy_gives_the_logits_of_transformers(variant: str, tmp_path: Path) -> None:
    model = reference_model(variant, **CHANGES[variant])
    save(model, tmp_path / "folder")
    tokenizer = train_tokenizer()
    tokenizer.save_pretrained(tmp_path / "folder")
    copy = copied(tmp_path / "folder", tmp_path / "model.gguf")
    decoder = load_decoder(tmp_path / "model.gguf")
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    text = "A model guesses, 12 times: <|im_start|>Être!"
    assert copy.tokenizer.encode(text) == tokenizer(text)["input_ids"]
    assert copy.templates
