"""Files that llama.cpp's own converter writes: hybrids, layers that draft (MTP), in the file and beside it, Muse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.model.token_tree import DraftShape
from tests.engine.gguf.test_gguf_families import CHANGES
from tests.engine.model.test_muse_glimmer import written as write_muse
from tests.support.checkpoints import reference_model, save, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.llama_cpp_archive import ABSENT, llama_cpp
from tests.support.next_layers import HYBRIDS as WITH_STATES
from tests.support.next_layers import next_layer_drafter, write_with_next_layer

# The converter's own process takes a while to begin.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PROMPT = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))


#: Variants of hybrids, with the changes without which llama.cpp does not support them.
HYBRIDS: dict[str, dict[str, Any]] = {
    "qwen35": {"tie_word_embeddings": False},
    "qwen35-moe": {},
    "qwen3-next": {},
    "granite-hybrid": {},
    "granite-hybrid-moe": {},
    "granite-hybrid-attention": {"num_experts_per_tok": 0},
    "nemotron-h": {},
    **{variant: CHANGES[variant] for variant in ("nemotron-h-moe", "nemotron-h-latent")},
}
#: Names of kinds of layers in published files of Granite, and letters in those of Nemotron-H.
KINDS = {"linear_attention": "mamba", "full_attention": "attention"}
LETTERS = {"linear_attention": "M", "full_attention": "*", "mlp": "-"}


def as_published(folder: Path, variant: str) -> None:
    """Rewrite config.json with the keys of the makers' own files, which the converter reads."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if variant.startswith("granite"):
        config["layer_types"] = [KINDS[kind] for kind in config["layer_types"]]
    if variant == "nemotron-h":
        config["hybrid_override_pattern"] = "".join(LETTERS[kind] for kind in config.pop("layers_block_type"))
        config = {key: value for key, value in config.items() if "expert" not in key and "moe" not in key}
        config["num_hidden_layers"] = len(config["hybrid_override_pattern"])
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def job(folder: Path, out: Path, *options: str, raw: bool = False) -> dict[str, Any]:
    """Return the job that converts a checkpoint to a file in float32; for ``raw`` see `converter.py`."""
    tokenizer = train_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["[gMASK]", "<|user|>", "<|observation|>", "<|eot|>"]})
    tokenizer.save_pretrained(folder)
    asked = ["--outtype", "f32", *options]
    return {"folder": str(folder), "out": str(out), "pre": "gpt-2", "options": asked, "raw": raw}


def convert(work: Path, *jobs: dict[str, Any]) -> None:
    archive = llama_cpp()
    if archive is None:
        pytest.skip(ABSENT)
    (work / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    converter = Path(__file__).with_name("converter.py")
    command = [sys.executable, str(converter), str(archive), str(work / "jobs.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("variant", ["glm4-moe", "glm4-moe-lite", *WITH_STATES])
def test_a_layer_that_drafts_is_found_inside_and_beside(tmp_path: Path, variant: str) -> None:
    form = "qwen" if variant in WITH_STATES else "deepseek"
    reference = write_with_next_layer(tmp_path / "folder", variant, form)
    (tmp_path / "pair").mkdir()
    folder, pair = tmp_path / "folder", tmp_path / "pair"
    convert(tmp_path, job(folder, tmp_path / "whole.gguf"), job(folder, pair / "model.gguf", "--no-mtp"))
    convert(tmp_path, job(folder, pair / "mtp-model.gguf", "--mtp"))  # its process keeps such an option
    text = PROMPT.tolist()[:23]
    rows = reference.hidden(text[:-1])
    for place in (tmp_path / "whole.gguf", tmp_path / "pair" / "model.gguf"):
        draft = next_layer_drafter(place)
        draft.reset(text[:-1])
        draft.observe(text[-1:], rows)
        assert list(draft.propose(DraftShape(64)).tokens) == reference.chain(text, rows, 5)


@pytest.fixture(scope="module")
def hybrids(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the files, and the models of transformers that they were written from."""
    place, models, jobs = tmp_path_factory.mktemp("hybrids"), dict[str, Any](), []
    for variant, changes in HYBRIDS.items():
        models[variant] = reference_model(variant, **changes)
        save(models[variant], place / variant)
        as_published(place / variant, variant)
        # Qwen's are published with a layer that drafts, which this model does not have.
        options = ["--no-mtp"] if variant.startswith("qwen") else []
        jobs.append(job(place / variant, place / f"{variant}.gguf", *options, raw=variant == "nemotron-h"))
    convert(place, *sorted(jobs, key=lambda one: len(one["options"])))  # its process keeps such an option
    return place, models


@pytest.mark.parametrize("variant", HYBRIDS)
@torch.no_grad()
def test_a_hybrid_gives_the_logits_of_transformers(hybrids: tuple[Path, dict[str, Any]], variant: str) -> None:
    place, models = hybrids
    decoder = load_decoder(place / f"{variant}.gguf")
    ours = decoder.forward(PROMPT, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, models[variant](PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_muse_glimmer_gives_the_logits_of_transformers(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"qk_scale_factor": 1.5, "output_multiplier": 0.7}
    model = write_muse(tmp_path / "folder", **changes)
    convert(tmp_path, job(tmp_path / "folder", tmp_path / "model.gguf"))
    decoder = load_decoder(tmp_path / "model.gguf")
    ours = decoder.forward(PROMPT, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
