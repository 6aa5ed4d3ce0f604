"""An inflated feature draft guesses what the draft guessed: both run on a reference of a few lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from engine.decoding.sequence import TokenSequence
from engine.decoding.target import Target
from engine.drafting.medusa_heads import read_medusa
from engine.drafting.prompt_tokens import check_prompt_tokens, load_prompt_tokens, read_prompt_tokens
from engine.errors import ConfigInvalid, InvalidOption, TensorMismatch, UnsupportedModel, WeightsMissing
from engine.gguf.stored_tensor import BF16
from engine.model.config import read_config
from engine.model.token_tree import Draft
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.benchmarks.inflate import main
from tests.benchmarks.inflate_draft import inflate_draft
from tests.benchmarks.inflate_model import inflate_model
from tests.benchmarks.inflate_shape import InflatedShape
from tests.support.decoders import load_decoder
from tests.support.heads import MEDUSA_LAYOUTS, Head, make_head, medusa_logits
from tests.support.prompt_tokens import write_prompt_tokens

#: The sizes of the tiny Llama that the drafts are for.
HIDDEN, HEADS, KV_HEADS, WIDE, VOCABULARY, EPSILON = 64, 4, 2, 96, 384, 1e-6
SHAPE = InflatedShape(256, 6, 16, 4, 288)
KINDS = ("dovetail", "dovetail-of-three", "eagle", "eagle-with-bias")


def config(blocks: int, bias: bool) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "intermediate_size": WIDE,
        "num_hidden_layers": blocks,
        "vocab_size": VOCABULARY,
        "rms_norm_eps": EPSILON,
        "bias": bias,
    }


def write_draft(folder: Path, kind: str) -> Path:
    blocks = 3 if kind.endswith("three") else 1
    width, keys = HIDDEN, HIDDEN // HEADS * KV_HEADS
    shapes: dict[str, tuple[int, ...]] = {}
    if kind.startswith("dovetail"):
        shapes |= {"W_1": (width, width), "W_2": (width, width), "W_z": (2 * width, width)}
        shapes["input_layernorm.weight"] = (width,)
    else:
        shapes["fc.weight"] = (width, 2 * width)
        if kind.endswith("bias"):
            shapes["fc.bias"] = (width,)
    for index in range(blocks):
        block = {
            "self_attn.q_proj": (width, width),
            "self_attn.k_proj": (keys, width),
            "self_attn.v_proj": (keys, width),
            "self_attn.o_proj": (width, width),
            "mlp.gate_proj": (WIDE, width),
            "mlp.up_proj": (WIDE, width),
            "mlp.down_proj": (width, WIDE),
            "post_attention_layernorm": (width,),
            **({"input_layernorm": (width,)} if index else {}),
        }
        shapes |= {f"layers.{index}.{name}.weight": shape for name, shape in block.items()}
    generator = torch.Generator().manual_seed(3)
    state = {
        f"model.{name}": torch.randn(shape, generator=generator) * 1.5 * shape[-1] ** -0.5
        if len(shape) == 2
        else 1 + 0.2 * torch.randn(shape, generator=generator)
        for name, shape in shapes.items()
    }
    folder.mkdir(parents=True)
    save_file(state, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config(blocks, kind.endswith("bias"))))
    return folder


def guesses(folder: Path, features: Tensor, embeddings: Tensor) -> Tensor:
    """The draft's features (n, h) for a chain."""
    sizes = json.loads((folder / "config.json").read_text())
    weights = {
        name.removeprefix("model."): value for name, value in load_file(folder / "model.safetensors").items()
    }
    heads, kv_heads, epsilon = (
        sizes["num_attention_heads"],
        sizes["num_key_value_heads"],
        sizes["rms_norm_eps"],
    )
    count, head_dim = len(features), sizes["hidden_size"] // heads

    def norm(rows: Tensor, name: str) -> Tensor:
        return functional.rms_norm(rows, rows.shape[-1:], weights[f"{name}.weight"], epsilon)

    def rotate(states: Tensor) -> Tensor:
        angles = torch.outer(
            torch.arange(count).float(), 10000.0 ** -(torch.arange(0, head_dim, 2) / head_dim)
        )
        cosine, sine = angles.cos().repeat(1, 2)[:, None], angles.sin().repeat(1, 2)[:, None]
        first, second = states.chunk(2, -1)
        return states * cosine + torch.cat((-second, first), -1) * sine

    if "W_1" in weights:
        feature = features @ weights["W_1"]
        token = functional.silu(norm(embeddings, "input_layernorm") @ weights["W_2"])
        gate = torch.sigmoid(torch.cat((feature, token), -1) @ weights["W_z"])
        stream = gate * feature + (1 - gate) * token
    else:
        both = torch.cat((embeddings, features), -1)
        stream = functional.linear(both, weights["fc.weight"], weights.get("fc.bias"))
    for index in range(sizes["num_hidden_layers"]):
        layer = f"layers.{index}"
        rows = norm(stream, f"{layer}.input_layernorm") if index else stream
        query, key, value = (
            (rows @ weights[f"{layer}.self_attn.{name}_proj.weight"].T).view(count, -1, head_dim)
            for name in "qkv"
        )
        key, value = (each.repeat_interleave(heads // kv_heads, 1) for each in (rotate(key), value))
        mixed = functional.scaled_dot_product_attention(
            *(each.transpose(0, 1) for each in (rotate(query), key, value)), is_causal=True
        )
        stream = stream + mixed.transpose(0, 1).flatten(1) @ weights[f"{layer}.self_attn.o_proj.weight"].T
        rows = norm(stream, f"{layer}.post_attention_layernorm")
        gate = functional.silu(rows @ weights[f"{layer}.mlp.gate_proj.weight"].T)
        up = rows @ weights[f"{layer}.mlp.up_proj.weight"].T
        stream = stream + (gate * up) @ weights[f"{layer}.mlp.down_proj.weight"].T
    return stream


@pytest.fixture(scope="module")
def target(checkpoint_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("target") / "large"
    inflate_model(checkpoint_of("llama"), out, SHAPE)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_guesses_stay_and_new_channels_are_zero(kind: str, target: Path, tmp_path: Path) -> None:
    folder = write_draft(tmp_path / "small", kind)
    inflate_draft(folder, target, tmp_path / "large", torch.float32)
    features, embeddings = torch.randn((2, 12, HIDDEN), generator=torch.Generator().manual_seed(1)).unbind()
    wider = (0, SHAPE.hidden_size - HIDDEN)
    narrow = guesses(folder, features, embeddings)
    wide = guesses(tmp_path / "large", functional.pad(features, wider), functional.pad(embeddings, wider))
    torch.testing.assert_close(wide[:, :HIDDEN], narrow, atol=1e-4, rtol=0)
    assert wide[:, HIDDEN:].count_nonzero() == 0


@pytest.mark.parametrize("layout", MEDUSA_LAYOUTS)
def test_medusa_heads_guess_what_they_guessed(layout: str, target: Path, tmp_path: Path) -> None:
    head = make_head(layout)
    count = inflate_draft(head.write(tmp_path / "small", True), target, tmp_path / "large", torch.float32)
    checkpoint = HeadCheckpoint(tmp_path / "large")
    wide = Head(layout, checkpoint.config, {name: checkpoint.tensor(name) for name in checkpoint.shapes})
    assert read_medusa(checkpoint).hidden_size == SHAPE.hidden_size
    assert count == sum(value.numel() for name, value in wide.state.items() if "." in name)
    row, target_head = torch.randn(HIDDEN), torch.randn(VOCABULARY, HIDDEN)
    wider = (0, SHAPE.hidden_size - HIDDEN)
    torch.testing.assert_close(
        medusa_logits(wide, functional.pad(row, wider), functional.pad(target_head, wider)),
        medusa_logits(head, row, target_head),
        atol=1e-4,
        rtol=0,
    )
    block = next(value for name, value in wide.state.items() if "linear.weight" in name)
    assert block[:HIDDEN].count_nonzero() == block[:HIDDEN].numel()


def test_prompt_tokens_ask_for_what_they_asked_for(
    checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    target = tmp_path / "target"
    inflate_model(checkpoint_of("llama"), target, SHAPE, torch.float32)
    small = write_prompt_tokens(tmp_path / "small", members=2, hidden_size=HIDDEN)
    (small / "calibration.json").write_text("{}")
    assert inflate_draft(small, target, tmp_path / "large") == 3 * 2 * SHAPE.hidden_size
    assert (tmp_path / "large" / "calibration.json").exists(), (
        "the guesses are the same, and so what they are worth"
    )
    said = []
    for model, folder in ((checkpoint_of("llama"), small), (target, tmp_path / "large")):
        checkpoint = HeadCheckpoint(folder)
        check_prompt_tokens(read_prompt_tokens(checkpoint), read_config(Checkpoint(model)))
        tokens, sequence = load_prompt_tokens(checkpoint), TokenSequence(Target(load_decoder(model)), 64)
        sequence.prefill([5, 6, 7, 8], lambda: None)
        draft = Draft(probes=tokens.behind([3]))
        sequence.verify(9, draft, lambda: None)
        said.append(sequence.probe_logits(draft.probe_rows(-1)))
    torch.testing.assert_close(said[1], said[0], atol=1e-4, rtol=1e-4)
    with pytest.raises(InvalidOption, match="holds a model already"):
        inflate_draft(small, target, tmp_path / "large")
    wide = write_prompt_tokens(tmp_path / "wide", hidden_size=300)
    with pytest.raises(InvalidOption, match="Prompt tokens of 300 channels do not fit a model of 256"):
        inflate_draft(wide, target, tmp_path / "out")


def test_heads_that_are_too_wide_are_refused(target: Path, tmp_path: Path) -> None:
    state = {"0.0.linear.weight": torch.zeros(300, 300), "0.0.linear.bias": torch.zeros(300)}
    folder = Head("medusa", {}, state).write(tmp_path / "small", True)
    with pytest.raises(InvalidOption, match="Heads of 300 channels do not fit a model of 256"):
        inflate_draft(folder, target, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_blocks_weigh_what_the_targets_weigh(target: Path, tmp_path: Path) -> None:
    inflate_draft(write_draft(tmp_path / "small", "dovetail-of-three"), target, tmp_path / "large")
    draft, whole = Checkpoint(tmp_path / "large"), Checkpoint(target)
    for part in (
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.o_proj",
        "mlp.gate_proj",
        "mlp.down_proj",
    ):
        name = f"model.layers.2.{part}.weight"
        assert draft.shape(name) == whole.shape(name)
        assert draft.types[name] == BF16
    assert read_config(whole).hidden_size == draft.config["hidden_size"]


def test_random_numbers_fill_the_fusion(target: Path, tmp_path: Path) -> None:
    inflate_draft(write_draft(tmp_path / "small", "dovetail"), target, tmp_path / "large")
    draft = Checkpoint(tmp_path / "large")
    gate = draft.tensor("model.W_z")
    assert gate.count_nonzero() == gate.numel()
    feature = draft.tensor("model.W_1")
    assert feature[HIDDEN:].count_nonzero() == feature[HIDDEN:].numel()
    assert feature[:HIDDEN, HIDDEN:].count_nonzero() == 0


def test_what_is_no_such_draft_is_refused(
    target: Path, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedModel, match="no gated-fusion or concatenation draft"):
        inflate_draft(checkpoint_of("llama"), target, tmp_path / "out")
    folder = write_draft(tmp_path / "eagle3", "eagle")
    state = load_file(folder / "model.safetensors")
    save_file({**state, "midlayer.hidden_norm.weight": torch.ones(HIDDEN)}, folder / "model.safetensors")
    with pytest.raises(UnsupportedModel, match=r"midlayer\.hidden_norm\.weight"):
        inflate_draft(folder, target, tmp_path / "out")
    (folder / "model.safetensors").unlink()
    with pytest.raises(WeightsMissing, match="safetensors"):
        inflate_draft(folder, target, tmp_path / "out")
    (folder / "config.json").unlink()
    with pytest.raises(ConfigInvalid, match="config"):
        inflate_draft(folder, target, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_draft_that_does_not_fit_is_refused(target: Path, tmp_path: Path) -> None:
    folder = write_draft(tmp_path / "small", "dovetail")
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**values, "intermediate_size": 128}))
    with pytest.raises(TensorMismatch, match="makes it"):
        inflate_draft(folder, target, tmp_path / "out")
    (folder / "config.json").write_text(json.dumps({**values, "intermediate_size": 1000}))
    with pytest.raises(InvalidOption, match="does not fit"):
        inflate_draft(folder, target, tmp_path / "out")


def test_the_command_inflates_a_draft(
    target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = write_draft(tmp_path / "small", "dovetail"), tmp_path / "large"
    arguments = ["--model", str(folder), "--target", str(target), "--out", str(out)]
    assert main(arguments) == 0
    assert f"parameters in {out}" in capsys.readouterr().out
    assert main(arguments) == 2
    assert "holds a model already" in capsys.readouterr().err
