"""The toy models: loading, chat template, size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.guide import recipe

FOLDERS = [recipe.ASSETS / recipe.TARGET_FOLDER, recipe.ASSETS / recipe.DRAFT_FOLDER]


def tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def test_both_share_one_tokenizer() -> None:
    texts = {(folder / "tokenizer.json").read_text(encoding="utf-8") for folder in FOLDERS}
    assert len(texts) == 1


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_template_renders_a_chat(folder: Path) -> None:
    chat = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": " Hello "},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Bye"},
    ]
    text = tokenizer(folder).apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert text == (
        "<|system|>Be short.<|end|><|user|>Hello<|end|><|assistant|>Hi.<|end|><|user|>Bye<|end|><|assistant|>"
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_transformers_loads_it_and_it_answers(folder: Path) -> None:
    from transformers import AutoModelForCausalLM

    reader = tokenizer(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    ids = reader.apply_chat_template(
        [{"role": "user", "content": "Hello"}], add_generation_prompt=True, return_tensors="pt"
    )
    ids = ids if not hasattr(ids, "input_ids") else ids.input_ids
    out = model.generate(ids, max_new_tokens=60)
    assert out[0, -1] == model.config.eos_token_id
    text = reader.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
    assert text.endswith(".")
    if folder.name == recipe.TARGET_FOLDER:
        assert "I am the Tenon guide" in text


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_files_are_small_and_readable(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 30 * 2**20
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in files)
    assert json.loads((folder / "generation_config.json").read_text())["do_sample"] is False
    assert (folder / "README.md").is_file()
