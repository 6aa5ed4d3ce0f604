from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import WeightsCorrupt
from engine.weights.draft_kind import _OLDER, check_pickle, draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint

LLAMA = {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1}
HEADS = {
    "eagle": ["fc.weight", "layers.0.self_attn.q_proj.weight", "embed_tokens.weight"],
    "eagle3": ["fc.weight", "midlayer.self_attn.q_proj.weight", "norm.weight", "d2t"],
    "dovetail": ["model.W_1", "model.W_z", "model.layers.0.mlp.up_proj.weight"],
}


def _write(folder: Path, names: list[str], pytorch: bool, config: dict[str, object]) -> Path:
    tensors = {name: torch.zeros(2) for name in names}
    if pytorch:
        torch.save(tensors, folder / "pytorch_model.bin")
    else:
        save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize("pytorch", [False, True])
@pytest.mark.parametrize("layout", sorted(HEADS))
def test_heads_are_known_by_their_tensors(layout: str, pytorch: bool, tmp_path: Path) -> None:
    assert draft_kind(_write(tmp_path, HEADS[layout], pytorch, LLAMA)) == "head"


def test_speculators_heads_say_so_themselves(tmp_path: Path) -> None:
    folder = _write(tmp_path, ["layers.0.mlp.up_proj.weight"], False, {"speculators_model_type": "eagle3"})
    assert draft_kind(folder) == "head"


@pytest.mark.parametrize("pytorch", [False, True])
def test_a_whole_model_is_none(pytorch: bool, tmp_path: Path) -> None:
    names = ["model.embed_tokens.weight", "model.norm.weight", "model.layers.0.mlp.up_proj.weight"]
    assert draft_kind(_write(tmp_path, names, pytorch, LLAMA)) == "model"


def test_what_cannot_be_read_is_left_to_the_model_s_reader(tmp_path: Path, llama_folder: Path) -> None:
    assert draft_kind(llama_folder) == "model"
    assert draft_kind(tmp_path) == "model"
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    (tmp_path / "pytorch_model.bin").write_bytes(b"nonsense")
    assert draft_kind(tmp_path) == "model"


@pytest.mark.parametrize("shape", ["bare", "older", "zip", "large zip"])
def test_a_pickle_that_only_opens_lists_is_refused_at_once(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "pytorch_model.bin"
    if "zip" in shape:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/data.pkl", (b"(" if shape == "zip" else b"]") * 3_000_000)
    else:
        path.write_bytes((_OLDER if shape == "older" else b"") + b"(" * 3_000_000)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match=r"list|neither|large"):
        check_pickle(path)
    assert draft_kind(tmp_path) == "model"
    with pytest.raises(WeightsCorrupt, match="damaged or holds more than weights"):
        HeadCheckpoint(tmp_path)


@pytest.mark.parametrize("zipped", [True, False])
def test_what_torch_writes_is_let_through(tmp_path: Path, zipped: bool) -> None:
    torch.save({"fc.weight": torch.zeros(2)}, tmp_path / "a.bin", _use_new_zipfile_serialization=zipped)
    check_pickle(tmp_path / "a.bin")
