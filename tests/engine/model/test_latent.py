"""Attention over latents: what is cached, both ways to compute it, and what files have of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from gguf import GGMLQuantizationType as Kind

from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.gguf.config import read_gguf_config
from engine.gguf.header import read_header
from engine.kernels import library
from engine.model.config import Latent, read_config
from engine.model.decoder import Decoder
from engine.model.footprint import cache_bytes, weight_bytes
from engine.model.fused_layer import FusedLayer, can_fuse
from engine.model.kv_cache import KVCache
from engine.model.layer import ModelWeights
from engine.model.packed_loader import load_packed
from engine.model.tensors import count_parameters
from engine.model.weight_format import stored_format, weight_format
from engine.placement.resident import Resident
from engine.planning.load_plan import cache_formats
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.support.checkpoints import all_experts, reference_model, save, write_checkpoint
from tests.support.decoders import greedy, load_decoder, prefill
from tests.support.fast_cases import chosen, covering
from tests.support.gguf_files import write_gguf
from tests.support.packed_models import assert_only_rounded, dequantized, load
from tests.support.rounding import (
    DRAWS_APART,
    ROUND_ACTIVATIONS,
    Bfloat16Products,
    rounded_latents,
    to_8_bits,
    to_bfloat16,
)

VARIANT = "glm4-moe-lite"
TWO_LAYERS: dict[str, Any] = {"num_hidden_layers": 2, "mlp_layer_types": ["dense", "sparse"]}
VARIANTS = (VARIANT, "deepseek-v2", "deepseek-v3")
needs_library = pytest.mark.skipif(not library.available(), reason=library.reason())
FLASH = Latent(rank=512, rotated=64, plain=192, values=256, query_rank=768)


def random_tokens(count: int, seed: int) -> torch.Tensor:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed))


def without_fused_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers run on torch's operators, as where there is no library."""
    monkeypatch.setattr(FusedLayer, "made_of", lambda *arguments: None)


def packed_decoder(path: Path, weights: str | None = None, cache: torch.dtype = torch.bfloat16) -> Decoder:
    checkpoint = Checkpoint(path)
    config = read_config(checkpoint)
    format_ = stored_format(config) if weights is None else weight_format(weights)
    format_ = replace(format_, cache=cache)
    return Decoder(config, Resident(load_packed(checkpoint, config, format_)))


def test_the_latent_is_what_is_cached(checkpoint_of: Callable[[str], Path]) -> None:
    config = read_config(Checkpoint(checkpoint_of(VARIANT)))
    cache = load_decoder(checkpoint_of(VARIANT)).new_cache(200)
    assert config.cache_shapes == ((1, 64 + 16),) * 3
    assert cache.store(0).shape == (1, 1, 200, 80)
    assert cache.bytes == cache_bytes(config, 200, weight_format("fp32")) == 3 * 200 * 80 * 4
    assert can_fuse(config)
    assert [one.cache for one in cache_formats(config, weight_format("q8_0"), "auto")] == [
        torch.bfloat16,
        torch.int8,
    ]


def test_bytes_of_weights_are_those_that_are_loaded(checkpoint_of: Callable[[str], Path]) -> None:
    for variant in (VARIANT, "deepseek-v2", "deepseek-v3"):
        config = read_config(Checkpoint(checkpoint_of(variant)))
        for name in ("bf16", "q8_0", "q4_k_m"):
            loaded = load_packed(Checkpoint(checkpoint_of(variant)), config, weight_format(name))
            assert loaded.size_bytes == weight_bytes(config, weight_format(name)), (variant, name)


def test_many_rows_have_their_keys_and_values_mapped_first() -> None:
    assert not FLASH.expands(64, 4096)
    assert not FLASH.expands(300, 8000)
    assert FLASH.expands(300, 300)
    assert FLASH.expands(512, 8000)
    assert not FLASH.expands(512, 100_000)  # a head's would take more memory than scores may


@pytest.mark.parametrize("weights", ["fp32", "q8_0"])
def test_both_ways_give_the_same(weights: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, VARIANT, tokenizer=False, **all_experts(VARIANT))
    without_fused_layers(monkeypatch)
    config, text, found = read_config(Checkpoint(folder)), random_tokens(170, 5), []

    def run(model: ModelWeights) -> torch.Tensor:
        decoder = Decoder(config, Resident(model))
        cache = prefill(decoder, text[:70], 200)
        return decoder.forward(text[70:], torch.arange(70, 170), cache).logits

    loaded = load(folder)
    for expands in (False, True):
        monkeypatch.setattr(Latent, "expands", lambda *sizes, expands=expands: expands)
        if weights == "fp32":
            found.append(run(dequantized(loaded)))
        else:
            assert_only_rounded(run(loaded), loaded, run)
    if found:
        assert (found[0] - found[1]).std() < 1e-5 * found[0].std()


@needs_library
@pytest.mark.parametrize(("variant", "cache"), covering(VARIANTS, [torch.bfloat16, torch.int8], together=1), ids=str)
@torch.no_grad()
def test_the_kernel_library_agrees_with_the_reference(
    variant: str, cache: torch.dtype, instruction_set: str, tmp_path: Path
) -> None:
    model, text = reference_model(variant), random_tokens(150, 5)
    model.load_state_dict(write_gguf(model, tmp_path / "model.gguf", Kind.BF16))
    decoder = packed_decoder(tmp_path / "model.gguf", "bf16", cache)
    assert decoder.most_next > 0
    ours = decoder.forward(text, torch.arange(150), decoder.new_cache(150)).logits
    theirs = model(text[None]).logits[0]
    rounding = to_bfloat16 if cache == torch.bfloat16 else to_8_bits
    products = Bfloat16Products() if instruction_set in ROUND_ACTIVATIONS else nullcontext()
    with rounded_latents(model, rounding), products:
        rounded = model(text[None]).logits[0]
    error, expected = ((found - theirs).std(-1) / theirs.std() for found in (ours, rounded))
    assert error.median() < DRAWS_APART * expected.median()
    # Where nearly equal experts change places a row is another one, and those that see it a little.
    assert (error < 0.1).float().mean() > (expected < 0.1).float().mean() - 0.1


@needs_library
@pytest.mark.parametrize(("weights", "variant"), chosen(product(["bf16", "q8_0"], VARIANTS), [("q8_0", "deepseek-v3")]))
def test_a_row_depends_on_its_path_alone(
    weights: str, variant: str, instruction_set: str, checkpoint_of: Callable[[str], Path]
) -> None:
    """Not on the forward's width, the tree around it, what is committed, or the threads."""
    decoder, text = packed_decoder(checkpoint_of(variant), weights), random_tokens(640, 7)

    def behind(committed: int) -> KVCache:
        return prefill(decoder, text[:committed], 700)

    def run(cache: KVCache, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        depths = torch.arange(len(tokens)) if mask is None else mask.sum(1) - 1
        return decoder.forward(tokens, cache.length + depths, cache, mask).logits

    expected = torch.cat([run(behind(500), text[500:501]), run(behind(500), text[500:])[1:]])
    for committed, pieces in ((500, (140,)), (530, (3, 107)), (560, (80,)), (600, (1,) * 9)):
        cache, at = behind(committed), committed
        for count in pieces:
            assert torch.equal(run(cache, text[at : at + count]), expected[at - 500 : at - 500 + count])
            cache.commit(range(count))
            at += count
    tree = torch.eye(60, dtype=torch.bool)
    for node in range(1, 60):
        tree[node] |= tree[max(node - 2, 0) if node % 7 else node // 3]
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found = run(behind(510), text[510:570], tree)
        for node in (0, 1, 9, 28, 45, 59):
            path = tree[node].nonzero()[:, 0]
            assert torch.equal(found[node], run(behind(510), text[510 + path])[-1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_text_that_is_cut_goes_on_as_one_that_was_read_anew(
    variant: str, checkpoint_of: Callable[[str], Path]
) -> None:
    decoder = load_decoder(checkpoint_of(variant))
    text, other = random_tokens(50, 5), random_tokens(9, 6)
    cut = prefill(decoder, text, 60)
    cut.truncate(30)
    fresh = prefill(decoder, text[:30], 60)
    found, expected = (decoder.forward(other, torch.arange(30, 39), cache).logits for cache in (cut, fresh))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "default", "rope_theta": 1e4},
        {
            "rope_type": "yarn",
            "rope_theta": 1e4,
            "factor": 8.0,
            "original_max_position_embeddings": 64,
            "mscale": 0.7,
            "mscale_all_dim": 1.0,
        },
    ],
    ids=lambda rope: rope["rope_type"],
)
@torch.no_grad()
def test_halves_that_turn_and_biases_are_read_from_the_config(rope: dict[str, Any], tmp_path: Path) -> None:
    model = reference_model(VARIANT, rope_interleave=False, attention_bias=True, rope_parameters=rope, seed=4)
    save(model, tmp_path)
    prompt = random_tokens(90, 2)
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(prompt, torch.arange(90), decoder.new_cache(90)).logits
    torch.testing.assert_close(ours, model(prompt[None]).logits[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", [Kind.Q8_0, Kind.Q4_0, Kind.BF16], ids=lambda kind: kind.name)
@torch.no_grad()
def test_a_quantized_file_is_multiplied_as_it_is(kind: Kind, tmp_path: Path) -> None:
    model = reference_model(VARIANT, **all_experts(VARIANT))
    model.load_state_dict(write_gguf(model, tmp_path / "model.gguf", kind))
    prompt, loaded = random_tokens(90, 2), load(tmp_path / "model.gguf", "auto")
    config = read_config(Checkpoint(tmp_path / "model.gguf"))

    def run(weights: ModelWeights) -> torch.Tensor:
        decoder = Decoder(config, Resident(weights))
        return decoder.forward(prompt, torch.arange(90), decoder.new_cache(90)).logits

    theirs = model(prompt[None]).logits[0]
    assert (run(dequantized(loaded)) - theirs).norm() < 1e-3 * theirs.norm()
    assert_only_rounded(run(loaded), loaded, run)
    assert {config.types[f"model.layers.0.self_attn.k_b_proj.{head}.weight"] for head in range(4)} == {kind}


def test_layers_that_guess_further_tokens_are_left_out(tmp_path: Path) -> None:
    """As GLM-4.7-Flash is published: one layer more than the config counts."""
    folder = write_checkpoint(tmp_path, VARIANT, tokenizer=False)
    prompt = random_tokens(20, 1)
    shorter = load_decoder(write_checkpoint(tmp_path / "two", VARIANT, tokenizer=False, **TWO_LAYERS))
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"num_hidden_layers": 3', '"num_hidden_layers": 2'))
    decoder = load_decoder(folder)
    assert decoder.config.layers == shorter.config.layers == 2
    assert len(greedy(decoder, prompt, 3)) == 3


def test_dense_layers_are_counted_as_published_configs_do(checkpoint_of: Callable[[str], Path]) -> None:
    checkpoint = Checkpoint(checkpoint_of(VARIANT))
    checkpoint.config.pop("mlp_layer_types")
    checkpoint.config["first_k_dense_replace"] = 2
    mixture = read_config(checkpoint).mixture
    assert mixture.layers == (False, False, True)


def test_bad_sizes_are_told_in_one_sentence(checkpoint_of: Callable[[str], Path]) -> None:
    for changes in ({"qk_rope_head_dim": 15}, {"kv_lora_rank": 0}, {"v_head_dim": "wide"}, {"n_group": 3}):
        checkpoint = Checkpoint(checkpoint_of(VARIANT))
        checkpoint.config.update(changes)
        with pytest.raises(ConfigInvalid, match="of the wrong kind"):
            read_config(checkpoint)
    checkpoint = Checkpoint(checkpoint_of(VARIANT))
    checkpoint.config["num_experts_per_tok"] = 9
    with pytest.raises(ConfigInvalid, match="9 experts per token where there are 8"):
        read_config(checkpoint)


def test_another_width_of_heads_than_the_file_s_is_told(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, VARIANT, tokenizer=False)
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"v_head_dim": 64', '"v_head_dim": 32'))
    with pytest.raises(TensorMismatch, match=r"do not match config\.json"):
        load_decoder(folder)


def test_an_older_file_is_refused_and_one_that_does_not_name_its_router_is_read(tmp_path: Path) -> None:
    write_gguf(reference_model(VARIANT), tmp_path / "model.gguf")
    header = read_header(tmp_path / "model.gguf")
    shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
    older = {name.replace("attn_k_b", "attn_kv_b"): shape for name, shape in shapes.items()}
    with pytest.raises(UnsupportedModel, match="attn_kv_b"):
        read_gguf_config(header.metadata, older, lambda name: [])
    key = gguf.Keys.LLM.EXPERT_GATING_FUNC.format(arch="deepseek2")
    silent = {name: value for name, value in header.metadata.items() if name != key}
    assert read_gguf_config(silent, shapes, lambda name: [])["model_type"] == "deepseek_v3"
    plain = {name: shape for name, shape in shapes.items() if "exp_probs_b" not in name}
    assert read_gguf_config(silent, plain, lambda name: [])["model_type"] == "deepseek_v2"


def test_glm_4_7_flash_caches_576_numbers_a_token_and_layer(tmp_path: Path) -> None:
    """By its config's own defaults, in which keys and values of all heads would be 9216."""
    (tmp_path / "config.json").write_text(
        '{"architectures": ["Glm4MoeLiteForCausalLM"], "model_type": "glm4_moe_lite"}'
    )
    config = read_config(CheckpointOutline(tmp_path))
    assert cache_bytes(config, 1, weight_format("q4_k_m")) == 47 * (512 + 64) * 2
    assert round(count_parameters(config) / 1e9, 2) == 29.94
