"""One title for a model, whatever it is called by, and what the head of its file tells before a load."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.gguf.header import read_header
from engine.hub import model_head
from engine.hub.catalogue import catalogue
from engine.hub.model_head import ModelHead, read_head, read_heads
from engine.hub.titles import title_of_model, type_of_model
from tests.support.checkpoints import write_checkpoint
from tests.support.gguf_files import edit_gguf, write_small_gguf


@pytest.mark.parametrize(
    ("reference", "title", "quantization"),
    [
        ("smollm2", "SmolLM2 135M", "Q4_1"),
        ("/apps/SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2 135M", "Q4_1"),
        ("smollm2-draft", "Draft head of SmolLM2", ""),
        ("qwen3-8b", "Qwen3 8B", ""),
        ("Qwen/Qwen3-8B", "Qwen3 8B", ""),
        ("Qwen/Qwen3-8B-GGUF", "Qwen3 8B", ""),
        ("/models/Qwen3-8B-Q4_K_M", "Qwen3 8B", "Q4_K_M"),
        ("/home/me/qwen3-8b-q8_0.gguf", "Qwen3 8B", "Q8_0"),
        ("/home/me/Qwen3-8B-UD-Q4_K_XL.gguf", "Qwen3 8B", "Q4_K_XL"),
        ("/home/me/Qwen3-8B-BF16-00001-of-00002.gguf", "Qwen3 8B", "BF16"),
        ("someone--Qwen3-8B-Q6_K", "Qwen3 8B", "Q6_K"),
        ("remote:desk/Qwen/Qwen3-8B", "Qwen3 8B", ""),
        ("huggingface:Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q5_0.gguf", "Qwen3 8B", "Q5_0"),
        ("Meta-Llama-3.1-8B-Instruct-Q4_K_M", "Llama 3.1 8B Instruct", "Q4_K_M"),
        ("gpt-oss-20b-mxfp4", "gpt-oss 20B", "MXFP4"),
        ("ollama:small:1b", "small:1b", ""),
        ("/home/me/My own model.gguf", "My own model", ""),
        ("/home/me/my-own-model-IQ3_M.gguf", "my-own-model", "IQ3_M"),
        ("Q4_K_M.gguf", "Q4_K_M", "Q4_K_M"),
    ],
)
def test_a_reference_has_one_title(reference: str, title: str, quantization: str) -> None:
    assert (title_of_model(reference), type_of_model(reference)) == (title, quantization)


def test_each_model_of_the_catalogue_has_one_title_by_all_its_names() -> None:
    for model in catalogue():
        names = (model.name, model.safetensors_repo, model.gguf_repo)
        assert {title_of_model(name) for name in names} == {model.title}


def test_the_head_of_a_file_tells_type_context_and_what_it_was_made_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "writer.gguf"
    write_small_gguf(plain)
    metadata = {**read_header(plain).metadata, "qwen3.context_length": 4096}
    template = {"tokenizer.chat_template": "{{ messages }}"}
    cases = {
        "renamed": (metadata | template, False),
        "no-template": (metadata, True),
        "Tiny-1B-Base": (metadata | template, True),
        "tiny-4b-pt": (metadata | template, True),
        "Tiny-1B-Base-Instruct": (metadata | template, False),
        "named-inside": (metadata | template | {"general.name": "Tiny 1B Base"}, True),
    }
    for name, (said, _) in cases.items():
        edit_gguf(plain, tmp_path / f"{name}.gguf", said)
    places = [tmp_path / f"{name}.gguf" for name in cases]
    found = read_heads(places)
    assert [found[place].only_continues for place in places] == [base for _, base in cases.values()]
    assert {head.type for head in found.values()} == {read_head(plain).type} != {""}
    assert {head.context for head in found.values()} == {4096}
    monkeypatch.setattr(model_head, "read_head", lambda place: pytest.fail("it was read already"))
    assert read_heads(places) == found


def test_a_folder_and_what_cannot_be_read_have_a_head_too(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", "llama", num_hidden_layers=1)
    head = read_head(folder)
    assert head.type == "safetensors"
    assert head.context
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    assert read_heads([tmp_path / "broken.gguf", tmp_path / "gone"]) == {
        tmp_path / "broken.gguf": ModelHead(),
        tmp_path / "gone": ModelHead(),
    }
