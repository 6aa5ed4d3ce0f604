"""Weights that are NaN, infinite or huge: one sentence in every mode, and a draft with them is left."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file

from engine.errors import TensorMismatch, WeightsNotFinite
from engine.gguf.header import read_header
from engine.messages import Notice, OutputForm
from tests.support.checkpoints import reference_model
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import covering
from tests.support.gguf_files import edit_gguf, write_gguf
from tests.support.heads import make_head
from tests.support.packed_models import load

pytestmark = pytest.mark.usefixtures("no_gpu", "always_drafted")
PROMPT = "one two three four one two three four one two " * 3
NORM, MATRIX = "model.norm.weight", "model.layers.1.mlp.down_proj.weight"
HUGE = 3e38
SAMPLERS: tuple[dict[str, Any], ...] = (
    {"temperature": 0.0},
    {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "seed": 1},
    {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "seed": 1},
    {"temperature": 1.0, "repetition_penalty": 1.3, "seed": 1},
)


def damaged(folder: Path, copy: Path, name: str, value: float, places: Any = (0,)) -> Path:
    """A copy in which numbers of a tensor have a value."""
    shutil.copytree(folder, copy)
    (file,) = copy.glob("*.safetensors")
    tensors = load_file(file)
    tensors[name].view(-1)[list(places)] = value
    save_file(tensors, file)
    return copy


@pytest.fixture
def huge(llama_folder: Path, tmp_path: Path) -> Path:
    """A model whose weights are finite, but not what it computes with them."""
    return damaged(llama_folder, tmp_path / "huge", NORM, HUGE, range(64))


@pytest.mark.parametrize(
    ("weights", "name", "value"),
    covering(["fp32", "bf16", "q8_0", "q4_k_m"], [NORM, MATRIX], [math.nan, math.inf, -math.inf]),
)
def test_a_weight_that_is_no_number_is_found_at_the_load(
    weights: str, name: str, value: float, client: EngineClient, llama_folder: Path, tmp_path: Path
) -> None:
    model = damaged(llama_folder, tmp_path / "model", name, value)
    failed = client.failure(PROMPT, model, weights=weights, max_tokens=4)
    assert failed.error.kind == "WeightsNotFinite"
    assert f"The weights in model.safetensors are damaged: {name} holds numbers" in failed.error.message
    assert client.answer(PROMPT, llama_folder, weights=weights, max_tokens=4).token_ids


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        ("granite-hybrid", "model.layers.0.mamba.D"),
        ("lfm3", "model.layers.0.conv.conv.weight"),
        ("nemotron-h", "backbone.layers.0.mixer.dt_bias"),
        ("qwen35", "model.layers.0.linear_attn.A_log"),
    ],
)
@pytest.mark.parametrize("weights", ["fp32", "q8_0"])
def test_a_number_of_a_layer_with_states_is_found(
    weights: str, variant: str, name: str, client: EngineClient, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    model = damaged(checkpoint_of(variant), tmp_path / "model", name, math.nan)
    failed = client.failure(PROMPT, model, weights=weights, max_tokens=4)
    assert f"The weights in model.safetensors are damaged: {name} holds numbers" in failed.error.message


@pytest.mark.parametrize("variant", ["granite-hybrid", "nemotron-h", "qwen35"])
def test_a_gguf_file_without_a_tensor_of_such_a_layer_is_refused(variant: str, tmp_path: Path) -> None:
    write_gguf(reference_model(variant), tmp_path / "model.gguf")
    metadata = dict(read_header(tmp_path / "model.gguf").metadata)
    for name in ("ssm_a", "ssm_conv1d.weight", "ssm_out.weight"):
        place = edit_gguf(tmp_path / "model.gguf", tmp_path / f"{name}.gguf", metadata, left_out=(f"blk.0.{name}",))
        with pytest.raises(TensorMismatch, match="do not match the GGUF file's metadata"):
            load(place, "auto")


@pytest.mark.parametrize("kind", [Kind.Q8_0, Kind.Q4_K, Kind.MXFP4, Kind.F16])
def test_a_scale_of_a_gguf_file_is_found(kind: Kind, tmp_path: Path) -> None:
    model = reference_model("llama", hidden_size=256, intermediate_size=256)
    path = tmp_path / "model.gguf"
    write_gguf(model, path, kind)
    with path.open("r+b") as file:
        file.seek(read_header(path).tensors["blk.1.ffn_down.weight"].start)
        file.write(b"\xff" if kind == Kind.MXFP4 else torch.tensor([math.nan]).half().numpy().tobytes())
    with pytest.raises(WeightsNotFinite, match=r"in model.gguf are damaged: blk.1.ffn_down.weight holds"):
        load(path, "auto")


@pytest.mark.parametrize(("weights", "sampling"), covering(["fp32", "q8_0"], SAMPLERS, together=1), ids=str)
def test_logits_that_are_no_numbers_end_a_reply_with_a_sentence(
    weights: str, sampling: dict[str, Any], client: EngineClient, huge: Path, draft: Path
) -> None:
    ways: tuple[dict[str, Any], ...] = (
        {"mode": "plain"},
        {"mode": "lookup"},
        {"mode": "dovetail", "draft": draft},
        {"mode": "dovetail", "draft": draft, "verify": "typical"},
        {"mode": "minions", "draft": draft},
        {"mode": "plain", "logprobs": 3},
        {"mode": "plain", "form": OutputForm("regex", "[a-z ]+")},
    )
    for way in ways:
        failed = client.failure(PROMPT, huge, weights=weights, max_tokens=8, **sampling, **way)
        assert failed.error.kind == "WeightsNotFinite", way
        assert failed.error.message.startswith("The model computes numbers that are infinite or none")


@pytest.mark.parametrize(
    ("verify", "kind", "value"),
    covering(
        ["sample-and-match", "typical"],
        ["model", "eagle", "eagle3", "medusa"],
        [math.nan, HUGE],
        together=1,
    ),
)
def test_a_damaged_draft_is_left_and_the_reply_goes_on(
    verify: str,
    kind: str,
    value: float,
    client: EngineClient,
    llama_folder: Path,
    draft: Path,
    tmp_path: Path,
) -> None:
    folder = draft if kind == "model" else make_head(kind).write(tmp_path / kind, safetensors=True)
    (file,) = folder.glob("*.safetensors")
    name = next(name for name, one in load_file(file).items() if one.is_floating_point() and one.dim() == 2)
    broken = damaged(folder, tmp_path / "broken", name, value if math.isnan(value) else 6e4, range(64))
    for sampling in SAMPLERS[:2]:
        values = {"weights": "fp32", "max_tokens": 12, "verify": verify, **sampling}
        plain = client.answer(PROMPT, llama_folder, mode="plain", **values)
        before = len(client.seen(Notice))
        mode = "ghidorah" if kind == "medusa" else "dovetail"
        found = client.answer(PROMPT, llama_folder, mode=mode, draft=broken, **values)
        if verify == "sample-and-match" or not sampling["temperature"]:
            assert found.token_ids == plain.token_ids
        said = [notice.text for notice in client.seen(Notice)[before:] if "weights are damaged" in notice.text]
        if math.isnan(value):
            assert len(said) == 1
            assert found.timings.draft_n == 0
