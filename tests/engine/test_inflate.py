"""An inflated model says what the model said, in Tenon and in transformers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.errors import InvalidOption, OutOfDisk, TensorMismatch, UnsupportedModel
from engine.gguf.stored_tensor import PLAIN
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.tensors import check_tensors
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.weights.checkpoint import INDEX, Checkpoint
from tests.benchmarks import shard_writer
from tests.benchmarks.inflate import main
from tests.benchmarks.inflate_model import inflate_model
from tests.benchmarks.inflate_shape import InflatedShape, choose_shape, parameter_count
from tests.support.checkpoints import reference_model, write_checkpoint
from tests.support.decoders import greedy, load_decoder, load_reference
from tests.support.gguf_files import write_gguf
from tests.support.toy import TOY

VARIANTS = (
    "llama",
    "llama-tied",
    "llama-biased",
    "llama-gelu",
    "llama3-rope",
    "smollm3",
    "mistral-window",
    "qwen2",
    "qwen2-window",
    "qwen3",
)
PROMPT = torch.tensor([5, 9, 200, 14, 33, 7, 310, 41, 8, 120, 77, 3, 90, 15, 66, 240, 31, 180, 2, 19])


def grown(config: ModelConfig) -> InflatedShape:
    """A shape in which everything grows, and the heads on a key-value head too."""
    kv_heads = config.kv_heads + 1
    return InflatedShape(240, 2 * config.layers + 1, 2 * config.group * kv_heads, kv_heads, 224)


def inflated(folder: Path, out: Path, dtype: torch.dtype = torch.float32) -> Path:
    inflate_model(folder, out, grown(read_config(Checkpoint(folder))), dtype)
    return out


def logits(decoder: Decoder, tokens: Tensor) -> Tensor:
    cache = decoder.new_cache(len(tokens))
    cache.begin(len(tokens))
    return decoder.forward(tokens, torch.arange(len(tokens)), cache).logits


@pytest.mark.parametrize("variant", VARIANTS)
def test_logits_and_greedy_tokens_stay(
    variant: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    small = load_decoder(checkpoint_of(variant))
    large = load_decoder(inflated(checkpoint_of(variant), tmp_path / "large"))
    torch.testing.assert_close(logits(large, PROMPT), logits(small, PROMPT), atol=1e-4, rtol=0)
    assert greedy(large, PROMPT, 12) == greedy(small, PROMPT, 12)


def test_norms_on_queries_and_keys_keep_their_epsilon(tmp_path: Path) -> None:
    """They share eps with the wide norms: with one this large, projections that were not scaled would show."""
    folder = write_checkpoint(tmp_path / "small", "qwen3", rms_norm_eps=0.5)
    small, large = load_decoder(folder), load_decoder(inflated(folder, tmp_path / "large"))
    torch.testing.assert_close(logits(large, PROMPT), logits(small, PROMPT), atol=1e-4, rtol=0)


@pytest.mark.parametrize("variant", ["llama-biased", "smollm3", "qwen2-window", "qwen3"])
def test_transformers_agrees(variant: str, checkpoint_of: Callable[[str], Path], tmp_path: Path) -> None:
    small = load_reference(checkpoint_of(variant))
    large = load_reference(inflated(checkpoint_of(variant), tmp_path / "large"))
    with torch.no_grad():
        torch.testing.assert_close(large(PROMPT[None]).logits, small(PROMPT[None]).logits, atol=1e-4, rtol=0)


def test_hidden_rows_are_the_models_own_and_zeros(llama_folder: Path, tmp_path: Path) -> None:
    small, large = load_decoder(llama_folder), load_decoder(inflated(llama_folder, tmp_path / "large"))
    outputs = []
    for decoder, layers in ((small, (1, 2)), (large, (2, 4))):
        cache = decoder.new_cache(len(PROMPT))
        cache.begin(len(PROMPT))
        outputs.append(decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache, hidden_layers=layers))
    width = small.config.hidden_size
    for narrow, wide in (
        (outputs[0].hidden, outputs[1].hidden),
        (outputs[0].layer_inputs[1], outputs[1].layer_inputs[2]),
        (outputs[0].layer_inputs[2], outputs[1].layer_inputs[4]),
    ):
        torch.testing.assert_close(wide[:, :width], narrow, atol=5e-5, rtol=0)
        assert wide[:, width:].count_nonzero() == 0


def test_random_numbers_fill_what_may_hold_anything(llama_folder: Path, tmp_path: Path) -> None:
    small, large = Checkpoint(llama_folder), Checkpoint(inflated(llama_folder, tmp_path / "large"))
    name = "model.layers.{}.{}.weight"
    for part in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"):
        live, dead = large.tensor(name.format(0, part)), large.tensor(name.format(1, part))
        assert live.count_nonzero() == live.numel()
        assert dead.count_nonzero() == dead.numel()
    for part in ("self_attn.o_proj", "mlp.down_proj"):
        live, dead = large.tensor(name.format(0, part)), large.tensor(name.format(1, part))
        assert live.count_nonzero() == small.tensor(name.format(0, part)).count_nonzero()
        assert dead.count_nonzero() == 0


def test_no_old_row_gets_a_larger_int8_scale(llama_folder: Path, tmp_path: Path) -> None:
    small, large = Checkpoint(llama_folder), Checkpoint(inflated(llama_folder, tmp_path / "large"))
    for part in ("mlp.gate_proj", "self_attn.k_proj", "self_attn.v_proj"):
        name = f"model.layers.0.{part}.weight"
        before, after = small.tensor(name), large.tensor(name)[: small.shape(name)[0]]
        assert torch.equal(after.abs().amax(1), before.abs().amax(1))


def test_bfloat16_files_keep_norms_exact(checkpoint_of: Callable[[str], Path], tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "small", dtype=torch.bfloat16)
    out = inflated(folder, tmp_path / "large", torch.bfloat16)
    large = Checkpoint(out)
    assert PLAIN[large.types["model.layers.0.input_layernorm.weight"]] == torch.float32
    assert PLAIN[large.types["model.layers.0.mlp.up_proj.weight"]] == torch.bfloat16
    torch.testing.assert_close(
        logits(load_decoder(out), PROMPT), logits(load_decoder(folder), PROMPT), atol=1e-4, rtol=0
    )


def test_shards_and_the_tokenizer_come_along(llama_folder: Path, tmp_path: Path) -> None:
    shape = grown(read_config(Checkpoint(llama_folder)))
    large = inflate_model(llama_folder, tmp_path / "large", shape, shard_bytes=200_000)
    index = json.loads((tmp_path / "large" / INDEX).read_text())
    assert len(set(index["weight_map"].values())) > 2
    checkpoint = Checkpoint(tmp_path / "large")
    assert replace(read_config(checkpoint), types=large.types) == large
    check_tensors(checkpoint, large)
    template = Tokenizer(tmp_path / "large", read_end_ids(tmp_path / "large"))
    assert template.encode("fox") == Tokenizer(llama_folder, read_end_ids(llama_folder)).encode("fox")


@pytest.mark.parametrize("parameters", [5e8, 1e9, 3e9])
def test_chosen_shapes_have_the_parameters_asked_for(parameters: float) -> None:
    config = read_config(Checkpoint(TOY))
    shape = choose_shape(config, parameters)
    assert parameter_count(shape.config(config)) == pytest.approx(parameters, rel=0.02)
    assert {shape.hidden_size % 256, shape.intermediate_size % 128, shape.heads % shape.kv_heads} == {0}


def test_own_layers_are_spread_over_the_new_ones() -> None:
    config = read_config(Checkpoint(TOY))
    sources = replace(choose_shape(config, 1e9), layers=12).sources(5)
    assert [index for index, (_, live) in enumerate(sources) if live] == [0, 2, 4, 7, 9]
    assert [source for source, _ in sources] == [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4]


@pytest.mark.parametrize("parameters", [float("nan"), -1.0, 4e6, 1e12])
def test_sizes_that_cannot_be_are_refused(parameters: float) -> None:
    config = read_config(Checkpoint(TOY))
    with pytest.raises(InvalidOption, match="parameters were asked for"):
        choose_shape(config, parameters)


def test_shapes_that_shrink_or_split_groups_are_refused(llama_folder: Path, tmp_path: Path) -> None:
    shape = grown(read_config(Checkpoint(llama_folder)))
    with pytest.raises(InvalidOption, match="layers would shrink from 3 to 2"):
        inflate_model(llama_folder, tmp_path, replace(shape, layers=2))
    with pytest.raises(InvalidOption, match="leave no room"):
        inflate_model(llama_folder, tmp_path, replace(shape, heads=6, kv_heads=6))
    with pytest.raises(InvalidOption, match="holds a model already"):
        inflate_model(llama_folder, llama_folder, shape)


@pytest.mark.parametrize("variant", ["gemma2", "qwen3-moe", "gpt-oss", "lfm2", "deepseek-v3"])
def test_families_that_are_no_llama_of_another_size_are_refused(
    variant: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint_of(variant)
    with pytest.raises(UnsupportedModel, match="cannot be inflated: choose"):
        inflate_model(folder, tmp_path / "large", grown(read_config(Checkpoint(folder))))


def test_a_checkpoint_that_lacks_a_tensor_is_refused(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "small")
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**values, "num_hidden_layers": 4}))
    with pytest.raises(TensorMismatch, match="missing"):
        inflate_model(folder, tmp_path / "large", grown(read_config(Checkpoint(folder))))


def test_a_full_disk_is_said_before_anything_is_written(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_writer.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1000})())
    with pytest.raises(OutOfDisk, match="GB left"):
        inflated(llama_folder, tmp_path / "large")
    assert not list((tmp_path / "large").glob("*.safetensors"))


def test_the_command_answers_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", "no-such-model", "--parameters", "1e9", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    converted = tmp_path / "small.gguf"
    write_gguf(reference_model("llama", 0), converted)
    assert main(["--model", str(converted), "--parameters", "1e6", "--out", str(tmp_path / "large")]) == 2
    assert "small.gguf is one file: give the folder" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_guide_at_half_a_billion() -> None:
    """A folder of its own: pytest would keep a gigabyte of each of its last runs."""
    folder = TOY
    config = read_config(Checkpoint(folder))
    tokenizer = Tokenizer(folder, read_end_ids(folder))
    with tempfile.TemporaryDirectory() as place:
        inflate_model(folder, Path(place), choose_shape(config, 5e8))
        small, large = load_decoder(folder), load_decoder(Path(place))
    for question in ("What is a token?", "write a short story about a fox", "what is 7 * 8"):
        prompt = torch.tensor(tokenizer.encode(question))
        torch.testing.assert_close(logits(large, prompt), logits(small, prompt), atol=1e-4, rtol=0)
        assert greedy(large, prompt, 32) == greedy(small, prompt, 32)
