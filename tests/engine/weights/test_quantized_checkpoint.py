"""Checkpoints that others have quantized: their numbers, the types that they become, and parts that do not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from engine.errors import TenonError, UnsupportedModel, WeightsCorrupt, WeightsNotFinite
from engine.kernels import blocks, library
from engine.model.config import read_config
from engine.model.converted import streams_as_it_is
from engine.model.linear import PackedLinear
from engine.model.tensors import check_tensors
from engine.model.weight_format import stored_format, weight_format
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from engine.weights.encodings import Whole
from tests.support.checkpoints import all_experts, save
from tests.support.decoders import greedy, load_decoder, reference_greedy
from tests.support.fast_cases import examples
from tests.support.packed_models import assert_only_rounded, kinds_of, load, logits
from tests.support.quantized_checkpoints import FORMATS, Format, Tensors, mlx, write_mlx, write_quantized
from tests.support.streams import resident_decoder, streamed_decoder, streamed_experts_decoder

PROMPT = torch.arange(3, 43)
needs_library = pytest.mark.skipif(library.available() is None, reason=library.reason())
DOWN = "model.layers.1.mlp.down_proj."


def rewritten(folder: Path, change: Callable[[Tensors], object]) -> Path:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("name", FORMATS)
@torch.no_grad()
def test_numbers_and_text_are_those_of_the_reference(name: str, tmp_path: Path) -> None:
    model = write_quantized(tmp_path, FORMATS[name])
    checkpoint = Checkpoint(tmp_path)
    own = model.state_dict()
    assert checkpoint.names - own.keys() == set()
    for one in checkpoint.names:
        assert torch.equal(checkpoint.tensor(one).float(), own[one]), one
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(PROMPT, torch.arange(40), decoder.new_cache(40)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    model.generation_config.eos_token_id = None
    assert greedy(decoder, PROMPT, 8) == reference_greedy(model, PROMPT.tolist(), 8)


@needs_library
@pytest.mark.parametrize(
    ("variant", "bits"), [("qwen3-moe", 4), ("qwen3", 6), ("qwen3-next", 4), ("gemma2", 8), ("gemma4-moe", 4)]
)
@torch.no_grad()
def test_mlx_has_stacks_embeddings_and_routers_in_codes(variant: str, bits: int, tmp_path: Path) -> None:
    model = write_mlx(tmp_path, variant, bits)
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(PROMPT, torch.arange(40), decoder.new_cache(40)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    loaded = load(tmp_path, "auto")
    assert_only_rounded(logits(loaded, tmp_path), loaded, lambda weights: logits(weights, tmp_path))


@needs_library
@pytest.mark.parametrize(
    ("name", "variant", "changes"),
    [
        ("fp8-block", "deepseek-v3", {"kv_lora_rank": 128, "first_k_dense_replace": 1}),
        ("int4", "deepseek-v3", {"first_k_dense_replace": 1}),
        ("nf4-nested", "qwen3-moe", {}),
        ("fp8-block", "qwen3-next", {"moe_intermediate_size": 128, "fused": True}),
        ("int8-words", "llama-tied", {"chosen": lambda name: name.endswith(("_proj.weight", "embed_tokens.weight"))}),
        ("fp8-block", "llama", {"chosen": lambda name: "norm" not in name}),
        ("int4-zeros", "phi3", {}),
        *(
            (
                name,
                "deepseek-v3",
                {"kv_lora_rank": 64, "first_k_dense_replace": 3, "chosen": lambda name: "kv_b" in name},
            )
            for name in ("awq", "gptq", "gptq-act-order")
        ),
    ],
)
@torch.no_grad()
def test_experts_latents_and_embeddings_are_read_so_too(
    name: str, variant: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    """Stacks of experts, maps that are read as columns, and rows of an embedding that stays in its file."""
    model = write_quantized(tmp_path, FORMATS[name], variant, **all_experts(variant), **changes)
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(PROMPT, torch.arange(40), decoder.new_cache(40)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=2e-4, rtol=1e-3)
    embedded = load(tmp_path, "auto").embedding(torch.tensor([7, 300, 7]))
    assert torch.equal(embedded.float(), model.get_input_embeddings().weight[[7, 300, 7]])
    save(model, tmp_path / "plain")
    for weights in ("bf16",) if FORMATS[name].exact else ("bf16", "q8_0"):
        found = [logits(load(folder, weights), folder) for folder in (tmp_path, tmp_path / "plain")]
        assert torch.equal(*found)


@needs_library
@pytest.mark.parametrize("name", FORMATS)
def test_matrices_become_the_nearest_type(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    write_quantized(tmp_path, form)
    checkpoint = Checkpoint(tmp_path)
    config = read_config(checkpoint)
    assert config.quantization == checkpoint.quantization == CheckpointOutline(tmp_path).quantization
    loaded = load(tmp_path, "auto")
    down = loaded.layers[1].down
    assert kinds_of(down) == [form.kind]
    assert stored_format(config).name == form.kind
    if config.quantization == "MXFP4":
        assert loaded.notes == ()
    else:
        assert loaded.notes == (f"The model is published in {config.quantization}, and computed with as {form.kind}.",)
    assert_only_rounded(logits(loaded, tmp_path), loaded, lambda weights: logits(weights, tmp_path))
    assert isinstance(down, PackedLinear)
    exact, found = checkpoint.tensor(f"{DOWN}weight"), blocks.plain_rows(down.matrix)
    assert torch.equal(found, exact) if form.exact else (found - exact).norm() < 0.01 * exact.norm()


@needs_library
@pytest.mark.parametrize("weights", ["auto", "bf16", "q4_k_m", "fp32"])
def test_what_streams_says_what_is_in_memory(weights: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS["fp8-block"], num_hidden_layers=3)
    config = read_config(Checkpoint(tmp_path))
    chosen = stored_format(config) if weights == "auto" else weight_format(weights)
    assert streams_as_it_is(config, chosen) == (weights == "fp32")
    streamed = streamed_decoder(tmp_path, chosen, 1, 2)
    resident = resident_decoder(tmp_path, chosen)
    places = torch.arange(40)
    assert torch.equal(
        streamed.forward(PROMPT, places, streamed.new_cache(40)).logits,
        resident.forward(PROMPT, places, resident.new_cache(40)).logits,
    )
    streamed.source.release()


@needs_library
@pytest.mark.parametrize("weights", ["auto", "fp32"])
def test_experts_stream_from_their_parts(weights: str, tmp_path: Path) -> None:
    """In float32 from the checkpoint itself, in blocks from the file that they are converted to."""
    write_quantized(tmp_path, FORMATS["int4-zeros"], "qwen3-moe", **all_experts("qwen3-moe"))
    config = read_config(Checkpoint(tmp_path))
    chosen = stored_format(config) if weights == "auto" else weight_format(weights)
    streamed, resident = streamed_experts_decoder(tmp_path, chosen, 2), resident_decoder(tmp_path, chosen)
    places = torch.arange(40)
    assert torch.equal(
        streamed.forward(PROMPT, places, streamed.new_cache(40)).logits,
        resident.forward(PROMPT, places, resident.new_cache(40)).logits,
    )
    streamed.source.release()


@pytest.mark.parametrize(
    ("name", "end", "value", "problem"),
    [
        ("fp8-block", "weight_scale_inv", None, r"down_proj\.weight_scale is missing"),
        ("fp8-block", "weight_scale_inv", torch.ones(3, 2), r"\(256, 192\) and \(3, 2\)"),
        ("fp8-block", "weight_scale_inv", torch.ones(0), r"\(256, 192\) and \(0,\)"),
        ("int4", "weight_scale", torch.ones(256, 5), r"\(256, 192\) and \(256, 5\)"),
        ("int4", "weight_shape", None, r"weight_shape is missing"),
        ("int4", "weight_shape", torch.tensor([256, 190]), r"\(256, 190\) and \(256, 6\)"),
        ("int4-zeros", "weight_zero_point", torch.ones(32, 2).int(), r"\(256, 192\) and \(32, 2\)"),
        ("int4-reordered", "weight_g_idx", torch.full((192,), 6).int(), r"a column is of the group 6"),
        ("int8-groups", "weight_scale", torch.ones(256, 7), r"\(256, 192\) and \(256, 7\)"),
        ("nvfp4", "weight_global_scale", None, r"weight_global_scale is missing"),
        ("nvfp4-modelopt", "weight_scale", torch.ones(256, 11), r"\(256, 192\) and \(256, 11\)"),
        ("nf4", "weight.absmax", None, r"weight\.absmax is missing"),
        ("nf4", "weight.absmax", torch.ones(767), r"\(767,\) and \(768,\)"),
        (
            "nf4-nested",
            "weight.quant_state.bitsandbytes__nf4",
            torch.ones(9).byte(),
            "nf4 cannot be read",
        ),
        ("int8-bitsandbytes", "SCB", torch.ones(255), r"\(256, 192\) and \(255,\)"),
        ("int8-bitsandbytes", "weight", torch.ones(256, 0).char(), r"\(256, 0\) and \(256,\)"),
        ("nvfp4", "weight_scale", torch.ones(256, 12).half(), "weight_scale is of the type float16"),
        ("int4-reordered", "weight_g_idx", torch.full((192,), float("nan")), "g_idx is of the type float32"),
    ],
)
def test_parts_that_do_not_fit_are_named(
    name: str, end: str, value: torch.Tensor | None, problem: str, tmp_path: Path
) -> None:
    write_quantized(tmp_path, FORMATS[name])

    def change(tensors: Tensors) -> None:
        tensors[DOWN + end]
        if value is None:
            del tensors[DOWN + end]
        else:
            tensors[DOWN + end] = value

    with pytest.raises(WeightsCorrupt, match=problem) as refused:
        Checkpoint(rewritten(tmp_path, change))
    assert f"The parts of {DOWN}weight do not fit together" in str(refused.value)


@needs_library
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("weights", ["auto", "bf16", "fp32"])
def test_a_scale_that_is_not_finite_is_refused(value: float, weights: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS["fp8-block"])

    def spoil(tensors: Tensors) -> None:
        tensors[f"{DOWN}weight_scale_inv"][1, 0] = value

    rewritten(tmp_path, spoil)
    with pytest.raises(WeightsNotFinite, match=r"layers\.1\.mlp\.down_proj\.weight holds numbers that are infinite"):
        load_decoder(tmp_path) if weights == "fp32" else load(tmp_path, weights)


@pytest.mark.parametrize("name", ["awq", "gptq-act-order", "mlx-4"])
def test_groups_stream_as_they_are_in_memory(name: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS[name], num_hidden_layers=3)
    chosen = stored_format(read_config(Checkpoint(tmp_path)))
    found = []
    for decoder in (resident_decoder(tmp_path, chosen), streamed_decoder(tmp_path, chosen, 1, 2)):
        found.append(decoder.forward(PROMPT, torch.arange(40), decoder.new_cache(40)).logits)
    decoder.source.release()
    assert torch.equal(*found)


@pytest.mark.parametrize("bits", [3, 5])
def test_mlx_has_codes_in_two_bytes(bits: int, tmp_path: Path) -> None:
    form = Format({"bits": bits, "group_size": 32}, mlx(bits, 32), "")
    model = write_quantized(tmp_path, form)
    assert torch.equal(Checkpoint(tmp_path).tensor(f"{DOWN}weight"), model.state_dict()[f"{DOWN}weight"])


@pytest.mark.parametrize(
    ("name", "settings", "layout"),
    [
        ("awq", {"version": "gemv"}, "AWQ in the layout gemv, bits 4"),
        ("awq", {"zero_point": False}, "zero_point False"),
        ("awq", {"bits": 8}, "bits 8, zero_point True"),
        ("gptq", {"checkpoint_format": "marlin"}, "GPTQ in the layout marlin"),
        ("gptq", {"bits": 3}, "bits 3, and Tenon reads gptq, gptq_v2, bits 4, bits 8"),
        ("mlx-4", {"mode": "nvfp4"}, "MLX in the layout nvfp4"),
        ("mlx-4", {"bits": 7}, "affine, bits 7"),
    ],
)
def test_other_layouts_are_refused(name: str, settings: dict[str, object], layout: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    write_quantized(tmp_path, replace(form, settings={**form.settings, **settings}))
    with pytest.raises(UnsupportedModel, match=layout):
        Checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("name", "end", "value", "problem"),
    [
        ("awq", "qzeros", None, r"down_proj\.qzeros is missing"),
        ("awq", "scales", torch.ones(5, 256).half(), "192 columns in 5 groups"),
        ("awq", "qzeros", torch.ones(3, 31, dtype=torch.int32), r"\(3, 31\) and \(3, 32\)"),
        ("gptq", "qweight", torch.ones(23, 256, dtype=torch.int32), "192 columns of 3 bits"),
        ("gptq", "g_idx", torch.full((192,), 7, dtype=torch.int32), "group 7"),
        ("mlx-4", "biases", torch.ones(256, 2).half(), r"\(256, 2\) and \(256, 3\)"),
        ("mlx-4", "scales", torch.ones(256, 3, dtype=torch.int32), "do not fit together"),
    ],
)
def test_parts_of_groups_that_do_not_fit_are_named(
    name: str, end: str, value: torch.Tensor | None, problem: str, tmp_path: Path
) -> None:
    write_quantized(tmp_path, FORMATS[name])

    def spoil(tensors: Tensors) -> None:
        del tensors[f"{DOWN}{end}"]
        if value is not None:
            tensors[f"{DOWN}{end}"] = value

    with pytest.raises(WeightsCorrupt, match=f"layers.1.mlp.down_proj.weight.*{problem}"):
        Checkpoint(rewritten(tmp_path, spoil))


@pytest.mark.parametrize("name", ["gptq", "mlx-4"])
def test_bits_may_be_written_with_a_point(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    model = write_quantized(tmp_path, replace(form, settings={**form.settings, "bits": 4.0}))
    rewritten(tmp_path, lambda tensors: [tensors.pop(one) for one in list(tensors) if one.endswith("g_idx")])
    assert torch.equal(Checkpoint(tmp_path).tensor(f"{DOWN}weight"), model.state_dict()[f"{DOWN}weight"])


def test_blocks_may_be_a_text(tmp_path: Path) -> None:
    weights = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": "128x128"}
    told = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights}}}
    model = write_quantized(tmp_path, replace(FORMATS["fp8-block"], settings=told), intermediate_size=200)
    assert torch.equal(Checkpoint(tmp_path).tensor(f"{DOWN}weight"), model.state_dict()[f"{DOWN}weight"])


def test_a_group_size_that_does_not_divide_is_refused(tmp_path: Path) -> None:
    form = FORMATS["mlx-4"]
    write_quantized(tmp_path, replace(form, settings={**form.settings, "group_size": 128}))
    with pytest.raises(WeightsCorrupt, match="192 columns in 0 groups"):
        Checkpoint(tmp_path)


@pytest.mark.parametrize("weights", ["auto", "fp32"])
def test_zeros_that_contradict_the_config_are_refused(weights: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS["gptq"])
    rewritten(tmp_path, lambda tensors: tensors[f"{DOWN}qzeros"].add_(1))
    with pytest.raises(WeightsCorrupt, match="zeros are not 8, as the config says"):
        load_decoder(tmp_path) if weights == "fp32" else load(tmp_path, weights)


@pytest.mark.parametrize(
    ("name", "end"), [("awq", "scales"), ("gptq", "scales"), ("gptq-act-order", "scales"), ("mlx-4", "biases")]
)
@pytest.mark.parametrize("weights", ["auto", "fp32"])
def test_groups_that_are_not_finite_are_refused(name: str, end: str, weights: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS[name])

    def spoil(tensors: Tensors) -> None:
        tensors[f"{DOWN}{end}"][1, 2] = float("nan")

    rewritten(tmp_path, spoil)
    with pytest.raises(WeightsNotFinite, match=r"layers\.1\.mlp\.down_proj\.weight holds numbers that are infinite"):
        load_decoder(tmp_path) if weights == "fp32" else load(tmp_path, weights)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"quant_method": "exl3", "bits": 4}, "exl3"),
        ({**FORMATS["int4"].settings, "format": "marlin-24"}, "compressed-tensors, marlin-24"),
        ({**FORMATS["int4"].settings, "transform_config": {"R1": 1}}, "compressed-tensors, pack-quantized"),
        ({**FORMATS["int4"].settings, "sparsity_config": {"format": "sparse-24-bitmask"}}, "compressed-tensors"),
        ({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"}, "modelopt, W4A8_AWQ"),
        ({"bits": 4}, "an unknown method"),
        ("4 bits", "?"),
    ],
)
def test_a_method_that_is_not_read_is_named(settings: object, told: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, replace(FORMATS["fp8-block"], settings=settings))
    for opened in (Checkpoint(tmp_path), CheckpointOutline(tmp_path)):
        with pytest.raises(UnsupportedModel, match=rf"is quantized \(quantization_config, {re.escape(told)}"):
            read_config(opened)


@needs_library
def test_modelopts_own_file_of_settings_is_read(tmp_path: Path) -> None:
    write_quantized(tmp_path, replace(FORMATS["nvfp4-modelopt"], settings={}))
    assert Checkpoint(tmp_path).quantization is None
    told = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(told))
    for opened in (Checkpoint(tmp_path), CheckpointOutline(tmp_path)):
        assert read_config(opened).quantization == "NVFP4"
    assert kinds_of(load(tmp_path, "auto").layers[1].down) == ["NVFP4"]
    (tmp_path / "hf_quant_config.json").write_text("[]")
    assert Checkpoint(tmp_path).quantization is None


_SETTINGS = ("quant_method", "config_groups", "weight_block_size", "format", "quant_algo", "load_in_4bit")
_VALUES = st.recursive(st.none() | st.integers(-3, 300) | st.sampled_from(["fp8", "int", "NVFP4"]), st.lists)
SMALL: dict[str, tuple[Tensors, str]] = {}


def small(form: str) -> tuple[Tensors, str]:
    """The tensors and the config of a model of one layer."""
    if form not in SMALL:
        with TemporaryDirectory() as folder:
            write_quantized(Path(folder), FORMATS[form], num_hidden_layers=1, hidden_size=64, intermediate_size=64)
            text = (Path(folder) / "config.json").read_text()
            SMALL[form] = load_file(Path(folder) / "model.safetensors"), text
    return SMALL[form]


@needs_library
@settings(max_examples=examples(150), deadline=None)
@given(
    form=st.sampled_from(sorted(FORMATS)),
    place=st.integers(0, 99),
    change=st.sampled_from(["remove", "cut", "more", "bytes", "type", "flat", "settings"]),
    wild=st.binary(min_size=8, max_size=8),
    told=st.dictionaries(st.sampled_from(_SETTINGS), _VALUES),
)
def test_damaged_parts_get_a_sentence_or_are_read(
    form: str, place: int, change: str, wild: bytes, told: dict[str, Any]
) -> None:
    tensors, text = small(form)
    tensors, config = dict(tensors), json.loads(text)
    names = sorted(name for name in tensors if "o_proj" in name)
    name = names[place % len(names)]
    one = tensors[name]
    if change == "remove":
        del tensors[name]
    elif change == "cut":
        tensors[name] = one[: len(one) // 2] if one.dim() else one[None][:0]
    elif change == "more":
        tensors[name] = torch.cat([one, one]) if one.dim() else torch.stack([one, one])
    elif change == "bytes" and one.numel():
        raw = one.clone().reshape(-1).view(torch.uint8)
        raw[:] = torch.tensor(list(wild), dtype=torch.uint8).repeat(-(-len(raw) // 8))[: len(raw)]
        tensors[name] = raw.view(one.dtype).view(one.shape)
    elif change == "type":
        tensors[name] = one.reshape(-1).view(torch.uint8)[: one.numel()].view(one.shape).clone()
    elif change == "flat":
        tensors[name] = one.reshape(-1)
    elif change == "settings":
        config["quantization" if "quantization" in config else "quantization_config"] |= told
    with TemporaryDirectory() as folder:
        save_file(tensors, Path(folder) / "model.safetensors")
        (Path(folder) / "config.json").write_text(json.dumps(config))
        with suppress(TenonError):
            checkpoint = Checkpoint(Path(folder))
            check_tensors(checkpoint, read_config(checkpoint))
            for tensor in checkpoint.names:
                assert checkpoint.tensor(tensor).isfinite().all()
            load(Path(folder), "auto")


@pytest.mark.parametrize("name", ["awq", "gptq", "gptq-act-order"])
def test_a_matrix_that_is_read_whole_is_decoded_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stack of heads' maps is read by heads, and lies in its file with columns first."""
    model = write_quantized(
        tmp_path,
        FORMATS[name],
        "deepseek-v3",
        kv_lora_rank=64,
        first_k_dense_replace=3,
        chosen=lambda own: "kv_b" in own,
    )
    made: list[int] = []
    floats = Whole.floats

    def counted(self: Whole, parts: Sequence[torch.Tensor], first: int) -> torch.Tensor:
        found = floats(self, parts, first)
        made.append(found.numel())
        return found

    monkeypatch.setattr(Whole, "floats", counted)
    checkpoint = Checkpoint(tmp_path)
    for own in checkpoint.names:
        checkpoint.tensor(own)
    assert sum(made) == sum(value.numel() for own, value in model.state_dict().items() if "kv_b" in own)
