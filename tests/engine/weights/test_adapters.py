"""LoRA adapters: merged weights are those of PEFT's formula; what is no plain LoRA for this model is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.cli import main
from engine.errors import ConfigInvalid, ModelNotFound, TenonError, UnsupportedModel, WeightsNotFinite
from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from engine.model.config import read_config
from engine.model.converted import streams_as_it_is
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import stored_format, weight_format
from engine.model_file import open_model
from engine.placement.resident import Resident
from engine.weights.adapter import Adapter
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder, load_reference
from tests.support.gguf_files import write_gguf

RANK = 4
MODULES = ("layers.0.self_attn.q_proj", "layers.0.self_attn.k_proj", "layers.1.mlp.down_proj", "layers.2.mlp.up_proj")
TOKENS = torch.arange(3, 43)


def factors(folder: Path, seed: int = 0) -> dict[str, tuple[Tensor, Tensor]]:
    """The two matrices of each module."""
    random = torch.Generator().manual_seed(seed)
    shapes = {name: one.shape for name, one in load_file(folder / "model.safetensors").items()}
    found = {}
    for module in MODULES:
        rows, columns = shapes[f"model.{module}.weight"]
        found[f"model.{module}"] = (
            torch.randn(RANK, columns, generator=random) * 0.1,
            torch.randn(rows, RANK, generator=random) * 0.1,
        )
    return found


def write_peft(place: Path, changed: dict[str, tuple[Tensor, Tensor]], base: str = "", **config: Any) -> Path:
    place.mkdir()
    tensors = {}
    for module, (down, up) in changed.items():
        tensors |= {f"base_model.model.{module}.lora_{letter}.weight": one for letter, one in (("A", down), ("B", up))}
    save_file(tensors, place / "adapter_model.safetensors")
    said = {"peft_type": "LORA", "lora_alpha": 6, "r": RANK, "base_model_name_or_path": base, **config}
    (place / "adapter_config.json").write_text(json.dumps(said))
    return place


def merged(folder: Path, changed: dict[str, tuple[Tensor, Tensor]], scale: float | Callable[[str], float]) -> Path:
    """A copy of a model with the products added, as `merge_and_unload` of PEFT writes it."""
    copy = Path(shutil.copytree(folder, folder.with_name(f"{folder.name}-merged")))
    tensors = load_file(copy / "model.safetensors")
    for module, (down, up) in changed.items():
        own = scale(module) if callable(scale) else scale
        tensors[f"{module}.weight"] += own * (up @ down)
    save_file(tensors, copy / "model.safetensors")
    return copy


@pytest.fixture
def folder(llama_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama_folder, tmp_path / "base", ignore=shutil.ignore_patterns("*.packed")))


def assert_alike(found: Checkpoint, expected: Checkpoint) -> None:
    assert found.names == expected.names
    for name in expected.names:
        torch.testing.assert_close(found.tensor(name).float(), expected.tensor(name), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("config", "scale"),
    [
        ({}, 6 / RANK),
        ({"use_rslora": True}, 6 / RANK**0.5),
        ({"lora_alpha": 16}, 4.0),
        ({"alpha_pattern": {"q_proj": 8, "layers.1.mlp.down_proj": 12}}, None),
    ],
)
def test_merged_weights_are_those_of_pefts_formula(folder: Path, config: dict[str, Any], scale: float | None) -> None:
    changed = factors(folder)
    own = {"model.layers.0.self_attn.q_proj": 2.0, "model.layers.1.mlp.down_proj": 3.0}
    adapter = Adapter(write_peft(folder.with_name("adapter"), changed, **config))
    expected = merged(folder, changed, scale or (lambda module: own.get(module, 1.5)))
    assert_alike(Checkpoint(folder, adapter=adapter), Checkpoint(expected))


def test_a_gguf_adapter_merges_into_gguf_and_into_safetensors(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "base", "llama")
    write_gguf(load_reference(tmp_path / "base"), tmp_path / "base.gguf", gguf.GGMLQuantizationType.F32)
    changed = factors(tmp_path / "base")
    adapter = Adapter(write_gguf_adapter(tmp_path / "adapter.gguf", changed, alpha=6.0))
    peft = Adapter(write_peft(tmp_path / "adapter", changed))
    expected = Checkpoint(merged(tmp_path / "base", changed, 1.5))
    for base in ("base", "base.gguf"):
        for one in (adapter, peft):
            found = Checkpoint(tmp_path / base, adapter=one)
            for name in expected.names & found.names:
                torch.testing.assert_close(found.tensor(name), expected.tensor(name), atol=1e-6, rtol=1e-6)


def test_a_quantized_gguf_adapter_is_read(folder: Path) -> None:
    rows, columns = load_file(folder / "model.safetensors")["model.layers.1.mlp.down_proj.weight"].shape
    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(folder.with_name("adapter.gguf"), "llama")
    writer.add_type("adapter")
    made = []
    for letter, shape in (("a", (32, columns)), ("b", (rows, 32))):
        raw = gguf.quants.quantize(random.normal(0, 0.1, shape).astype(np.float32), gguf.GGMLQuantizationType.Q8_0)
        writer.add_tensor(f"blk.1.ffn_down.weight.lora_{letter}", raw, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        made.append(torch.from_numpy(gguf.quants.dequantize(raw, gguf.GGMLQuantizationType.Q8_0)))
    finish(writer)
    expected = merged(folder, {"model.layers.1.mlp.down_proj": (made[0], made[1])}, 1.0)
    assert_alike(Checkpoint(folder, adapter=Adapter(folder.with_name("adapter.gguf"))), Checkpoint(expected))


def write_gguf_adapter(path: Path, changed: dict[str, tuple[Tensor, Tensor]], alpha: float, base: str = "") -> Path:
    """As llama.cpp's converter writes it: rows of q and k interleaved by heads."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    if base:
        writer.add_string("general.base_model.0.name", base)
    names = {"self_attn.q_proj": ("attn_q", 4), "self_attn.k_proj": ("attn_k", 2)}
    names |= {"mlp.down_proj": ("ffn_down", 0), "mlp.up_proj": ("ffn_up", 0)}
    for module, (down, up) in changed.items():
        _, _, layer, end = module.split(".", 3)
        name, heads = names[end]
        if heads:
            up = up.view(heads, 2, -1, RANK).transpose(1, 2).reshape(-1, RANK)
        for letter, one in (("a", down), ("b", up)):
            writer.add_tensor(f"blk.{layer}.{name}.weight.lora_{letter}", np.ascontiguousarray(one.numpy()))
    finish(writer)
    return path


def finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_every_way_of_loading_has_the_merged_weights(folder: Path) -> None:
    changed = factors(folder)
    adapter = Adapter(write_peft(folder.with_name("adapter"), changed))
    expected = load_decoder(merged(folder, changed, 1.5))
    checkpoint = Checkpoint(folder, adapter=adapter)
    config = read_config(checkpoint)
    places = torch.arange(len(TOKENS))
    wanted = expected.forward(TOKENS, places, expected.new_cache(64)).logits
    dense = Decoder(config, Resident(load_weights(checkpoint, config, torch.float32, torch.device("cpu"))))
    found = dense.forward(TOKENS, places, dense.new_cache(64)).logits
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)
    plain = load_decoder(folder)
    apart = (plain.forward(TOKENS, places, plain.new_cache(64)).logits - wanted).norm()
    assert not streams_as_it_is(config, stored_format(config))
    for format_ in (stored_format(config), weight_format("q8_0")):
        packed = Decoder(config, Resident(load_packed(checkpoint, config, format_)))
        found = packed.forward(TOKENS, places, packed.new_cache(64)).logits
        assert (found - wanted).norm() < 0.2 * apart


def test_an_adapter_names_its_base(folder: Path) -> None:
    adapter = write_peft(folder.with_name("adapter"), factors(folder), base=str(folder))
    opened = open_model(str(adapter))
    assert opened.place == folder.resolve()
    expected = open_model(str(folder), adapter=str(adapter))
    assert opened.digest == expected.digest != open_model(str(folder)).digest
    assert_alike(opened.checkpoint, Checkpoint(merged(folder, factors(folder), 1.5)))


def test_the_command_line_takes_an_adapter(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = factors(folder)
    adapter = str(write_peft(folder.with_name("adapter"), changed, base=str(folder)))
    options = ["--max-tokens", "8", "--temperature", "0", "--json", "--mode", "plain", "--weights", "fp32"]

    def reply(*model: str) -> list[int]:
        assert main(["ask", *model, *options, "Hello"]) == 0
        found: list[int] = json.loads(capsys.readouterr().out)["token_ids"]
        return found

    expected = reply("--model", str(merged(folder, changed, 1.5)))
    assert expected != reply("--model", str(folder))
    for named in (["--model", str(folder), "--adapter", adapter], ["--adapter", adapter], ["--model", adapter]):
        assert reply(*named) == expected
    assert main(["plan", "--adapter", adapter, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == adapter


def test_an_imported_adapter_finds_its_installed_base(folder: Path, tmp_path: Path) -> None:
    models = models_folder()
    import_model(models, [folder], name="their-base")
    adapter = write_peft(tmp_path / "adapter", factors(folder), base="their-base")
    record = import_model(models, [adapter], name="ours")
    assert (record.kind, record.belongs_to) == ("target", ("their-base",))
    opened = open_model("ours")
    assert (opened.place, opened.reference, opened.changed) == (folder.resolve(), "ours", False)
    (adapter / "adapter_model.safetensors").touch()
    assert opened.changed


def test_a_gguf_adapter_may_be_installed_as_a_copy(folder: Path, tmp_path: Path) -> None:
    import_model(models_folder(), [folder], name="their-base")
    changed = factors(folder)
    import_model(
        models_folder(), [write_gguf_adapter(tmp_path / "a.gguf", changed, 6.0, "their-base")], name="ours", copy=True
    )
    expected = Checkpoint(merged(folder, changed, 1.5))
    for opened in (open_model("ours"), open_model("their-base", adapter="ours")):
        assert opened.place == folder.resolve()
        assert_alike(opened.checkpoint, expected)


@pytest.mark.parametrize(
    ("base", "sentence"),
    [("", "does not say which model"), ("meta/other-model", "made for meta/other-model, which is not on this")],
)
def test_an_adapter_without_its_base_says_so(folder: Path, base: str, sentence: str) -> None:
    adapter = write_peft(folder.with_name("adapter"), factors(folder), base=base)
    with pytest.raises(ModelNotFound, match=sentence):
        open_model(str(adapter))


def test_a_base_on_a_network_share_is_not_looked_up(folder: Path) -> None:
    with pytest.raises(ModelNotFound, match="which is not on this computer"):
        open_model(str(write_peft(folder.with_name("adapter"), factors(folder), base=f"/{folder}")))


def test_an_adapter_for_another_base_is_refused(folder: Path) -> None:
    changed = factors(folder)
    changed["model.layers.0.self_attn.q_proj"] = (torch.zeros(RANK, 24), torch.zeros(64, RANK))
    with pytest.raises(UnsupportedModel, match=r"changes model.layers.0.self_attn.q_proj.weight in a way"):
        Checkpoint(folder, adapter=Adapter(write_peft(folder.with_name("adapter"), changed)))
    changed["model.layers.7.self_attn.q_proj"] = changed.pop("model.layers.0.self_attn.q_proj")
    with pytest.raises(UnsupportedModel, match=r"layers\.7\.self_attn.q_proj"):
        Checkpoint(folder, adapter=Adapter(write_peft(folder.with_name("deeper"), changed)))


def test_heads_in_another_order_are_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "base", "qwen35")
    write_gguf(load_reference(tmp_path / "base"), tmp_path / "base.gguf", gguf.GGMLQuantizationType.F32)
    name = "model.layers.0.linear_attn.out_proj"
    rows, columns = Checkpoint(tmp_path / "base").shape(f"{name}.weight")
    changed = {name: (torch.zeros(RANK, columns), torch.zeros(rows, RANK))}
    adapter = Adapter(write_peft(tmp_path / "adapter", changed))
    assert Checkpoint(tmp_path / "base", adapter=adapter).converts
    with pytest.raises(UnsupportedModel, match=r"linear_attn.out_proj.weight in a way that does not fit"):
        Checkpoint(tmp_path / "base.gguf", adapter=adapter)


def test_a_quantized_base_is_refused_with_a_remedy(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "base", "llama")
    write_gguf(load_reference(tmp_path / "base"), tmp_path / "base.gguf", gguf.GGMLQuantizationType.Q8_0)
    adapter = Adapter(write_peft(tmp_path / "adapter", factors(tmp_path / "base")))
    with pytest.raises(UnsupportedModel, match="adapter cannot be merged into weights of the type Q8_0"):
        Checkpoint(tmp_path / "base.gguf", adapter=adapter)


@pytest.mark.parametrize(
    ("config", "feature"),
    [
        ({"use_dora": True}, "use_dora"),
        ({"peft_type": "IA3"}, "IA3"),
        ({"alora_invocation_tokens": [1]}, "alora"),
        *(({"init_lora_weights": way}, f"has init_lora_weights {way}") for way in ("pissa_niter_4", "olora", "loftq")),
    ],
)
def test_other_formulas_are_refused(folder: Path, config: dict[str, Any], feature: str) -> None:
    place = write_peft(folder.with_name("adapter"), factors(folder), **config)
    with pytest.raises(UnsupportedModel, match=f"{feature}.*merge it into its model with PEFT"):
        Adapter(place)
    with pytest.raises(UnsupportedModel, match=feature):
        import_model(folder.with_name("models"), [place])


@pytest.mark.parametrize("way", [True, False, "gaussian", "eva", "orthogonal"])
def test_other_ways_to_begin_leave_the_model_as_it_is(folder: Path, way: object) -> None:
    Adapter(write_peft(folder.with_name("adapter"), factors(folder), init_lora_weights=way))


@pytest.mark.parametrize(
    ("config", "feature"),
    [
        ({"lora_alpha": "much"}, "lora_alpha much"),
        ({"lora_alpha": None}, "lora_alpha None"),
        ({"lora_alpha": float("nan")}, "lora_alpha nan"),
        ({"alpha_pattern": {"q_proj": []}}, r"lora_alpha \[\]"),
        ({"alpha_pattern": {"(": 3}}, "alpha_pattern"),
        ({"alpha_pattern": ["q_proj"]}, "alpha_pattern"),
    ],
)
def test_a_factor_that_is_none_is_named(folder: Path, config: dict[str, Any], feature: str) -> None:
    with pytest.raises(UnsupportedModel, match=f"adapter has {feature}, and"):
        Checkpoint(folder, adapter=Adapter(write_peft(folder.with_name("adapter"), factors(folder), **config)))


def test_an_adapter_that_says_or_holds_nothing_is_refused(folder: Path) -> None:
    place = write_peft(folder.with_name("adapter"), {})
    with pytest.raises(UnsupportedModel, match="adapter has no matrices, and"):
        Checkpoint(folder, adapter=Adapter(place))
    (place / "adapter_config.json").write_text("{")
    for read in (Adapter, lambda place: open_model(str(place)), lambda place: import_model(models_folder(), [place])):
        with pytest.raises(ConfigInvalid, match=r"adapter_config\.json cannot be read"):
            read(place)


def test_other_tensors_are_refused(folder: Path) -> None:
    place = write_peft(folder.with_name("adapter"), factors(folder))
    tensors = load_file(place / "adapter_model.safetensors")
    save_file({**tensors, "base_model.model.lm_head.weight": torch.zeros(4, 4)}, place / "adapter_model.safetensors")
    with pytest.raises(UnsupportedModel, match=r"base_model\.model\.lm_head\.weight"):
        Checkpoint(folder, adapter=Adapter(place))
    first = next(name for name in tensors if "lora_A" in name)
    save_file({name: one for name, one in tensors.items() if name != first}, place / "adapter_model.safetensors")
    with pytest.raises(UnsupportedModel, match=r"layers\.\d"):
        Checkpoint(folder, adapter=Adapter(place))


def test_an_adapter_that_is_not_finite_is_refused(folder: Path) -> None:
    changed = factors(folder)
    changed["model.layers.0.self_attn.q_proj"][1][3, 2] = float("nan")
    checkpoint = Checkpoint(folder, adapter=Adapter(write_peft(folder.with_name("adapter"), changed)))
    with pytest.raises(WeightsNotFinite, match=r"adapter_model.safetensors.*q_proj.lora_B"):
        load_packed(checkpoint, read_config(checkpoint), weight_format("bf16"))


def test_a_folder_without_an_adapter_is_refused(folder: Path) -> None:
    with pytest.raises(TenonError, match="no LoRA adapter at"):
        open_model(str(folder), adapter=str(folder)).checkpoint  # noqa: B018


@pytest.mark.parametrize("there", [False, True])
def test_what_is_no_adapter_is_named_as_none(there: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adapter = str(folder if there else folder.with_name("nowhere"))
    for model in ([], ["--model", str(folder)]):
        assert main(["ask", *model, "--adapter", adapter, "Hello"]) != 0
        assert f"There is no LoRA adapter at {adapter}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("base", "told"),
    [
        ("someone/Base", False),
        ("unsloth/base-unsloth-bnb-4bit", False),
        ("/home/someone/models/base", False),
        ("", False),
        ("someone/Other-Base-2", True),
    ],
)
def test_an_adapter_that_names_another_base_of_the_same_shape_says_so(base: str, told: bool, folder: Path) -> None:
    adapter = write_peft(folder.with_name("adapter"), factors(folder), base=base)
    notes = open_model(str(folder), adapter=str(adapter)).adapter_notes
    assert len(notes) == told
    assert all(f"adapter was made for {base}, and base seems to be another model" in note for note in notes)
    assert open_model(str(folder)).adapter_notes == ()
