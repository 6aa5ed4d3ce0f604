"""Files that llama.cpp's own converter writes: layers that draft (MTP), inside and beside, and Muse-Glimmer's text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.model.token_tree import DraftShape
from tests.engine.model.test_muse_glimmer import written as write_muse
from tests.support.checkpoints import train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.llama_cpp_archive import ABSENT, llama_cpp
from tests.support.next_layers import next_layer_drafter, write_with_next_layer

# The converter's own process takes a while to begin.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PROMPT = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))


def convert(folder: Path, work: Path, *jobs: tuple[str, list[str]]) -> None:
    """Write a checkpoint as files of these names with these options of the converter, in float32."""
    archive = llama_cpp()
    if archive is None:
        pytest.skip(ABSENT)
    tokenizer = train_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["[gMASK]", "<|user|>", "<|observation|>", "<|eot|>"]})
    tokenizer.save_pretrained(folder)
    asked = [
        {"folder": str(folder), "out": str(work / name), "pre": "gpt-2", "options": ["--outtype", "f32", *options]}
        for name, options in jobs
    ]
    (work / "jobs.json").write_text(json.dumps(asked), encoding="utf-8")
    converter = Path(__file__).with_name("converter.py")
    command = [sys.executable, str(converter), str(archive), str(work / "jobs.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("variant", ["glm4-moe", "glm4-moe-lite"])
def test_a_layer_that_drafts_is_found_inside_and_beside(tmp_path: Path, variant: str) -> None:
    reference = write_with_next_layer(tmp_path / "folder", variant)
    (tmp_path / "pair").mkdir()
    convert(tmp_path / "folder", tmp_path, ("whole.gguf", []), ("pair/model.gguf", ["--no-mtp"]))
    convert(tmp_path / "folder", tmp_path, ("pair/mtp-model.gguf", ["--mtp"]))  # its process keeps such an option
    text = PROMPT.tolist()[:23]
    rows = reference.hidden(text[:-1])
    for place in (tmp_path / "whole.gguf", tmp_path / "pair" / "model.gguf"):
        draft = next_layer_drafter(place)
        draft.reset(text[:-1])
        draft.observe(text[-1:], rows)
        assert list(draft.propose(DraftShape(64)).tokens) == reference.chain(text, rows, 5)


@torch.no_grad()
def test_muse_glimmer_gives_the_logits_of_transformers(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"qk_scale_factor": 1.5, "output_multiplier": 0.7}
    model = write_muse(tmp_path / "folder", **changes)
    convert(tmp_path / "folder", tmp_path, ("model.gguf", []))
    decoder = load_decoder(tmp_path / "model.gguf")
    ours = decoder.forward(PROMPT, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
