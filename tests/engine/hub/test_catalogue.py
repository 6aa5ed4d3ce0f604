from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import ModelNotFound
from engine.families import SUPPORTED
from engine.hub.catalogue import (
    CatalogueModel,
    catalogue,
    catalogue_model,
    catalogue_model_of,
    require_catalogue_model,
    search_catalogue,
    targets_of_head,
)
from engine.hub.offer import config_of
from engine.model.config import read_config
from engine.model.footprint import expert_bytes, weight_bytes
from engine.model.weight_format import weight_format
from engine.text.pictures import ANCHORS
from engine.vision import SIGHTS
from engine.weights.checkpoint import CheckpointOutline

REPO = re.compile(r"[\w.-]+/[\w.-]+")


def test_every_size_of_machine_finds_a_model() -> None:
    parameters = [model.parameters for model in catalogue()]
    assert min(parameters) < 0.5e9
    assert max(parameters) > 60e9
    for low, high in ((0.5e9, 2e9), (2e9, 5e9), (5e9, 10e9), (10e9, 20e9), (20e9, 40e9)):
        assert any(low <= count < high for count in parameters), (low, high)


@pytest.mark.parametrize("model", catalogue(), ids=lambda model: model.name)
def test_an_entry_is_whole(model: CatalogueModel) -> None:
    assert model.name == model.name.lower()
    assert model.config["architectures"][0] in SUPPORTED
    assert model.config["num_attention_heads"] % model.config["num_key_value_heads"] == 0
    assert model.context_length >= 4096
    assert all(REPO.fullmatch(repo) for repo in (model.safetensors_repo, model.gguf_repo, *model.heads))
    assert model.about.endswith(".")
    assert model.licence
    terms = ("meta-llama/", "google/gemma-2-", "google/gemma-3-")
    assert model.gated == model.safetensors_repo.startswith(terms)


@pytest.mark.parametrize("model", catalogue(), ids=lambda model: model.name)
def test_the_shape_gives_the_size_that_its_name_says(model: CatalogueModel) -> None:
    stated = re.search(r"(\d+(?:\.\d+)?)\s?([MB])\b", model.title)
    if stated is None:  # Phi-3 mini does not say it
        assert model.parameters == pytest.approx(3.8e9, rel=0.02)
        return
    count = float(stated[1]) * {"M": 1e6, "B": 1e9}[stated[2]]
    # An E model's name counts what works on a token, of its tables a row.
    width = model.config.get("hidden_size_per_layer_input", 0)
    tables = model.config["num_hidden_layers"] * width * model.config["vocab_size"]
    assert model.parameters - tables == pytest.approx(count, rel=0.31)
    if "quantization_config" not in model.config:
        assert model.typical_bytes(quantized=False) == 2 * model.parameters
    # A layer that drafts, in the file or beside it, has at most a tenth of the model's bytes.
    assert model.typical_bytes() == pytest.approx(replace(model, gguf_bytes=0).typical_bytes(), rel=0.16)


@pytest.mark.parametrize("model", catalogue(), ids=lambda model: model.name)
def test_the_shape_is_one_that_the_engine_reads_and_has_its_weights(model: CatalogueModel, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config_of(model)))
    config = read_config(CheckpointOutline(tmp_path))
    assert config.layers == model.config["num_hidden_layers"]
    assert config.head_dim == model.config.get("head_dim", config.head_dim)
    beside = config.layers * config.input_width * config.input_vocabulary  # in its file alone
    held = weight_bytes(config, weight_format("fp32")) / 4
    assert model.parameters == pytest.approx(held + beside, rel=0.001)
    assert model.context_length == config.context_length
    experts = expert_bytes(config, weight_format("fp32")) * config.layers / 4
    assert model.expert_parameters == pytest.approx(experts, rel=0.001)
    assert (model.active_parameters is None) == (config.mixture is None)


def test_drafts_are_smaller_and_of_the_same_vocabulary() -> None:
    for model in catalogue():
        for name in model.drafts:
            draft = require_catalogue_model(name)
            assert draft.parameters < model.parameters / 2
            # Matrices may be padded differently; the tokens are compared when both are there.
            assert abs(draft.config["vocab_size"] - model.config["vocab_size"]) <= 128, model.name


def test_names_and_repositories_are_unique_and_found() -> None:
    assert len({model.name for model in catalogue()}) == len(catalogue())
    qwen = require_catalogue_model("QWEN3-8b")
    assert catalogue_model_of(qwen.gguf_repo) == catalogue_model_of(qwen.safetensors_repo) == qwen
    assert targets_of_head(qwen.heads[0]) == (qwen,)
    assert catalogue_model("gpt-5") is None
    assert catalogue_model_of("a/b") is None
    with pytest.raises(ModelNotFound, match="owner/name"):
        require_catalogue_model("gpt-5")
    assert {model.name for model in search_catalogue("qwen3 14b")} == {"qwen3-14b"}


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("gpt-oss-20b", 3.6),
        ("gpt-oss-120b", 5.1),
        ("gemma-4-26b-a4b-it", 3.8),
        ("qwen3-30b-a3b", 3.0),
        ("qwen3.6-35b-a3b", 3.0),
        ("qwen3-8b", None),
    ],
)
def test_a_mixture_has_as_many_active_weights_as_its_makers_say(name: str, billions: float | None) -> None:
    active = require_catalogue_model(name).active_parameters
    if billions is None:
        assert active is None
    else:
        assert active == pytest.approx(billions * 1e9, rel=0.02)


def test_older_models_come_last_and_gpt_oss_is_as_large_as_it_is_published() -> None:
    older = [model.older for model in catalogue()]
    assert older == sorted(older)
    assert require_catalogue_model("llama-3.1-8b-instruct").older
    assert not require_catalogue_model("qwen3.5-9b").older
    lfm3 = require_catalogue_model("lfm3-1.7b")  # nobody quantizes it yet
    assert lfm3.typical_bytes() == lfm3.typical_bytes(quantized=False)
    gpt_oss = require_catalogue_model("gpt-oss-20b")
    assert gpt_oss.typical_bytes() == pytest.approx(12.11e9, rel=0.01)  # ggml-org's MXFP4
    assert gpt_oss.typical_bytes(quantized=False) == pytest.approx(13.76e9, rel=0.01)
    assert gpt_oss.typical_bytes() == pytest.approx(12.1e9, rel=0.01)  # ggml-org's file
    assert gpt_oss.parameters == pytest.approx(20.9e9, rel=0.01)


def test_models_that_see_have_an_encoder_that_is_tested() -> None:
    """Their families' kinds, with random weights, are those of tests/support/seeing.py."""
    seeing = {model.name: SUPPORTED[model.config["architectures"][0]].sights for model in catalogue() if model.sees}
    assert {"qwen3.5-2b", "gemma-3-4b-it"} <= {*seeing}
    assert "bonsai-2-27b" not in seeing
    assert {sight for sights in seeing.values() for sight in sights} <= {*ANCHORS} == {*SIGHTS}
