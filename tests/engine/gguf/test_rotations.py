"""Rotated matrices of PrismML's files, and factors of NVFP4's, against what their definition says."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file

from engine.errors import UnsupportedModel, WeightsCorrupt, WeightsNotFinite
from engine.gguf.header import read_header
from engine.gguf.types import GgmlType
from engine.gguf.writing import head_of, pair, pairs_of
from engine.kernels import blocks, library
from engine.model.config import read_config
from engine.model.converted import Conversion, ConversionKeeper
from engine.model.decoder import Decoder
from engine.model.packed_loader import load_packed
from engine.model.weight_format import stored_format, weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.engine.gguf.test_gguf_families import PROMPT, written
from tests.support.checkpoints import reference_model
from tests.support.decoders import load_decoder
from tests.support.foreign_matrices import mlx_packed
from tests.support.packed_models import kinds_of, load
from tests.support.streams import streamed_decoder

needs_library = pytest.mark.skipif(library.available() is None, reason=library.reason())
WIDTH = 32
SIZES = {"hidden_size": 128, "intermediate_size": 256, "tie_word_embeddings": False}
ROTATED = ("attn_q", "attn_k", "attn_v", "attn_qkv", "attn_gate", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
Packer = Callable[[str, np.ndarray], tuple[int, np.ndarray]]


def hadamard(width: int) -> np.ndarray:
    """The normalized matrix in Sylvester's order: the sign of a place is the parity of the bits that its row and column
    share."""
    parity = [[bin(row & column).count("1") % 2 for column in range(width)] for row in range(width)]
    return (1 - 2 * np.array(parity, np.float64)) / np.sqrt(width)


def grouped(values: np.ndarray, key_heads: int, heads: int) -> np.ndarray:
    """Columns of value heads by their key heads, where head h had those of head h modulo their number."""
    shaped = values.reshape(len(values), heads // key_heads, key_heads, -1)
    return np.ascontiguousarray(shaped.transpose(0, 2, 1, 3)).reshape(values.shape)


def plain(name: str, values: np.ndarray) -> tuple[int, np.ndarray]:
    return GgmlType.F32, values


def quantized(kind: Kind) -> Packer:
    return lambda name, values: (int(kind), gguf.quants.quantize(values, kind))


def trits(values: np.ndarray) -> np.ndarray:
    """PTQ1_0's blocks: trits of 120 weights, five to a byte, of 8 more, four to a byte, and a scale."""
    stored = values.reshape(-1, 128)
    scale = np.abs(stored).max(1, keepdims=True)
    codes = np.rint(stored / scale).astype(int) + 1
    parts = []
    for first, count, digits in ((0, 16, 5), (80, 8, 5), (120, 2, 4)):
        weights = 3 ** np.arange(4, 4 - digits, -1)
        number = np.tensordot(codes[:, first : first + count * digits].reshape(-1, digits, count), weights, (1, 0))
        parts.append((number * 256 + 242) // 243)
    packed = np.concatenate([*parts, scale.astype(np.float16).view(np.uint8)], 1).astype(np.uint8)
    return packed.reshape(len(values), -1)


def rotated(source: Path, target: Path, packer: Packer = plain, **changes: Any) -> None:
    """A file's matrices in a rotated basis, as the metadata that PrismML's llama.cpp reads says it."""
    header, random = read_header(source), np.random.default_rng(1)
    architecture = header.metadata["general.architecture"]
    key_heads, heads = (header.metadata[f"{architecture}.ssm.{key}"] for key in ("group_count", "time_step_rank"))
    signs: dict[int, np.ndarray] = {}
    tensors, data, names = [], [], []
    for tensor in header.tensors.values():
        raw = np.fromfile(source, np.uint8, tensor.size_bytes, offset=tensor.start)
        kind, stem = int(tensor.kind), tensor.name.removesuffix(".weight").rpartition(".")[2]
        if stem in (*ROTATED, "ssm_out", "output", "token_embd"):
            values = raw.view(np.float32).reshape(tensor.shape)
            values = grouped(values, key_heads, heads) if stem == "ssm_out" else values
            columns = values.shape[1]
            own = signs.setdefault(columns, random.choice([-1.0, 1.0], columns))
            turned = ((values * own).reshape(-1, WIDTH) @ hadamard(WIDTH)).reshape(values.shape).astype(np.float32)
            kind, raw = packer(tensor.name, turned)
            names.append(tensor.name)
        data.append(raw.tobytes())
        tensors.append((tensor.name, kind, tensor.shape, len(data[-1])))
    said = {
        "version": 1,
        "block_size": WIDTH,
        "transform": "normalized-sylvester-walsh-hadamard",
        "axis": "input-last-dimension",
        "sign_mode": "explicit",
        "sign_widths": list(signs),
        "sign_values": [int(sign) for own in signs.values() for sign in own],
        "weight_names": [name for name in names if name != "token_embd.weight"],
        "inverse_weight_names": ["token_embd.weight"],
        "gdn_v_grouped": True,
        **changes,
    }
    pairs = pairs_of(header) | {f"prism.hadamard.{key}": pair(value) for key, value in said.items()}
    head, places = head_of(pairs, tensors)
    with target.open("wb") as file:
        file.write(head)
        for place, one in zip(places, data, strict=True):
            file.seek(place.start)
            file.write(one)
        file.truncate(max(file.tell(), place.start + len(one) + 31 & ~31))


def packed_decoder(path: Path) -> Decoder:
    return Decoder(read_config(Checkpoint(path)), Resident(load(path, "auto")))


def logits(decoder: Any) -> torch.Tensor:
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    return decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits.float()


@torch.no_grad()
def test_a_rotated_model_is_the_model(tmp_path: Path) -> None:
    model = written("qwen35", tmp_path / "plain.gguf", Kind.F32, **SIZES)
    rotated(tmp_path / "plain.gguf", tmp_path / "rotated.gguf")
    ours = logits(load_decoder(tmp_path / "rotated.gguf"))
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["Q8_0", "PTQ1_0"])
@torch.no_grad()
def test_rotated_blocks_are_multiplied_as_they_are_stored(kind: str, tmp_path: Path) -> None:
    written("qwen35", tmp_path / "plain.gguf", Kind.F32, **SIZES)
    packer = quantized(Kind.Q8_0) if kind == "Q8_0" else lambda name, values: (GgmlType.PTQ1_0, trits(values))
    rotated(tmp_path / "plain.gguf", tmp_path / "rotated.gguf", packer)
    packed = packed_decoder(tmp_path / "rotated.gguf")
    dense, ours = logits(load_decoder(tmp_path / "rotated.gguf")), logits(packed)
    assert (ours - dense).norm() < 0.12 * dense.norm()
    stored = Checkpoint(tmp_path / "rotated.gguf").stored("model.layers.0.linear_attn.out_proj.weight")
    assert stored.rotation is not None
    assert stored.rotation.order is not None
    assert stored.kind == blocks.NAMES[kind]


@torch.no_grad()
def write_pack(folder: Path, **said: Any) -> Any:
    """A random checkpoint as PrismML's packs for MLX are: the transformers model that it is."""
    sizes = {**SIZES, "intermediate_size": 256, "linear_key_head_dim": 32, "linear_value_head_dim": 32}
    model, random = reference_model("qwen35", **sizes), torch.Generator().manual_seed(3)
    mixing = torch.from_numpy(hadamard(WIDTH)).float()
    tensors, records, signs = {}, [], dict[int, torch.Tensor]()
    for name, value in model.state_dict().items():
        base, own = name.removesuffix(".weight"), f"language_model.{name}"
        if value.dim() == 2 and not base.endswith(("in_proj_a", "in_proj_b")) and value.shape[1] % 128 == 0:
            rows, columns = value.shape
            turn = signs.setdefault(columns, torch.randint(2, (columns,), generator=random) * 2.0 - 1)
            codes = torch.randint(3, (rows, columns), generator=random)
            scales = (torch.rand(rows, columns // 128, generator=random) + 0.5).half() * columns**-0.5
            stored = (codes - 1) * scales.float().repeat_interleave(128, 1)
            value.copy_((stored.view(rows, -1, WIDTH) @ mixing).view(rows, columns) * turn)
            weight = mlx_packed(codes, 2)
            parts = {"weight": weight, "scales": scales, "biases": -scales, "signs": turn}
            tensors |= {f"{own.removesuffix('weight')}{end}": part for end, part in parts.items()}
            records.append({"path": base, "block": WIDTH, "embedding": "embed" in base, "dtype": "float16"})
        else:
            plus = float(name.endswith("norm.weight") and "linear_attn" not in name)
            tensors[own] = (value + plus).transpose(1, 2) if value.dim() == 3 else value + plus
    folder.mkdir()
    save_file({name: one.clone().contiguous() for name, one in tensors.items()}, folder / "model.safetensors")
    config = {
        "schema_version": 2,
        "model_type": "prism_hadamard_qwen35",
        "base_model_type": "qwen3_5",
        "gdn_activation_layout": "grouped",
        "quantization": {"bits": 2, "group_size": 128, "mode": "affine"},
        "modules": records,
        "text_config": {**model.config.to_dict(), "model_type": "qwen3_5_text"},
        **said,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return model


@torch.no_grad()
def test_a_pack_for_mlx_is_the_model(tmp_path: Path) -> None:
    model = write_pack(tmp_path / "pack")
    ours = logits(load_decoder(tmp_path / "pack"))
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    config = read_config(Checkpoint(tmp_path / "pack"))
    assert (config.quantization, config.converts) == ("PQ2_0", False)
    assert read_config(CheckpointOutline(tmp_path / "pack")).quantization == "PQ2_0"


@needs_library
@torch.no_grad()
def test_a_pack_for_mlx_stays_in_two_bits(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack")
    dense, loaded = logits(load_decoder(tmp_path / "pack")), load(tmp_path / "pack", "auto")
    assert kinds_of(loaded.layers[0].down) == ["PQ2_0"]
    assert loaded.notes == ()
    ours = logits(packed_decoder(tmp_path / "pack"))
    assert (ours - dense).norm() < 0.12 * dense.norm()
    streamed = streamed_decoder(tmp_path / "pack", stored_format(read_config(Checkpoint(tmp_path / "pack"))), 0, 2)
    assert torch.equal(logits(streamed), ours)
    streamed.source.release()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"schema_version": 3}, "by schema_version that its weights are rotated in a way"),
        ({"gdn_activation_layout": "tiled"}, "gdn_activation_layout"),
        ({"quantization": {"bits": 1, "group_size": 128, "mode": "affine"}}, "quantization"),
        ({"modules": [{"path": "lm_head"}]}, "modules"),
        ({"modules": [{"path": "lm_head", "block": 96}]}, r"lm_head\.signs"),
        ({"modules": [{"path": "lm_head", "block": math.inf}]}, "modules"),
        ({"modules": []}, r"\.signs that its weights are rotated in a way"),
    ],
)
def test_a_pack_that_is_not_known_is_refused(said: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    write_pack(tmp_path / "pack", **said)
    with pytest.raises(UnsupportedModel, match=sentence):
        Checkpoint(tmp_path / "pack")


def test_groups_with_other_zeros_are_refused(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack")
    path = tmp_path / "pack/model.safetensors"
    tensors = load_file(path)
    tensors["language_model.lm_head.biases"][3] *= 2
    save_file(tensors, path)
    with pytest.raises(WeightsCorrupt, match=r"lm_head.weight do not fit together .zeros are not 1"):
        load(tmp_path / "pack", "auto")


@needs_library
@torch.no_grad()
def test_a_kept_file_has_rotated_blocks_and_says_so(tmp_path: Path) -> None:
    written("qwen35", tmp_path / "plain.gguf", Kind.F32, **SIZES)

    def packer(name: str, values: np.ndarray) -> tuple[int, np.ndarray]:
        return quantized(Kind.Q8_0)(name, values) if "ffn" in name else (GgmlType.PTQ1_0, trits(values))

    path = tmp_path / "rotated.gguf"
    rotated(tmp_path / "plain.gguf", path, packer)
    checkpoint, chosen = Checkpoint(path), weight_format("q8_0")
    config = read_config(checkpoint)
    with ConversionKeeper(Conversion(checkpoint, config, chosen, tmp_path / "cache")) as keeper:
        expected = logits(Decoder(config, Resident(load_packed(checkpoint, config, chosen, keep=keeper.take))))
    for thread in threading.enumerate():
        if thread.name == "tenon-keeper":
            thread.join()
    (kept,) = tmp_path.glob("*.packed")
    for _ in range(2):  # from the file that was kept, and from one that is converted matrix by matrix
        streamed = streamed_decoder(path, chosen, 1, 2)
        assert torch.equal(logits(streamed), expected)
        streamed.source.release()
        kept.unlink()


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 3},
        {"block_size": 24},
        {"block_size": 4096},
        {"transform": "another"},
        {"axis": "rows"},
        {"sign_mode": "random"},
        {"sign_widths": [128]},
        {"sign_values": [2]},
        {"sign_values": [math.inf]},
        {"weight_names": ["blk.0.ssm_alpha.weight"]},
        {"weight_names": ["blk.9.ffn_up.weight"]},
        {"weight_names": [3]},
        {"inverse_weight_names": 3},
        {"inverse_weight_names": ["output.weight"]},
        {"later": 1},
    ],
    ids=str,
)
def test_a_rotation_that_is_not_known_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    written("qwen35", tmp_path / "plain.gguf", Kind.F32, **SIZES)
    rotated(tmp_path / "plain.gguf", tmp_path / "rotated.gguf", **changes)
    with pytest.raises(UnsupportedModel, match="rotated in a way that Tenon does not know"):
        Checkpoint(tmp_path / "rotated.gguf")


@pytest.mark.parametrize(("factor", "count"), [(0.25, 1), (float("nan"), 1), (0.25, 2)])
@torch.no_grad()
def test_factors_multiply_matrices_of_nvfp4(factor: float, count: int, tmp_path: Path) -> None:
    written("llama", tmp_path / "plain.gguf", Kind.F32, hidden_size=128, intermediate_size=256)
    header, tensors, data = read_header(tmp_path / "plain.gguf"), [], []
    values, random = {}, np.random.default_rng(2)
    for tensor in header.tensors.values():
        raw = np.fromfile(tmp_path / "plain.gguf", np.uint8, tensor.size_bytes, offset=tensor.start)
        kind = int(tensor.kind)
        if "ffn_" in tensor.name and tensor.name.endswith("weight") and len(tensor.shape) == 2:
            kind, raw = (
                int(Kind.NVFP4),
                random.integers(0, 256, (*tensor.shape[:1], tensor.shape[1] // 64, 36), np.uint8),
            )
            raw[..., :4] %= 24
            raw = raw.reshape(len(raw), -1)
            values[tensor.name] = gguf.quants.dequantize(raw, Kind.NVFP4) * np.float32(factor)
            for end in ("scale", "input_scale"):
                tensors.append((tensor.name.replace("weight", end), int(Kind.F32), (count,), 4 * count))
                data.append(np.full(count, factor, np.float32).tobytes())
        data.append(raw.tobytes())
        tensors.append((tensor.name, kind, tensor.shape, len(data[-1])))
    head, places = head_of(pairs_of(header), tensors)
    with (tmp_path / "model.gguf").open("wb") as file:
        file.write(head)
        for place, one in zip(places, data, strict=True):
            file.seek(place.start)
            file.write(one)
    if count != 1:
        with pytest.raises(WeightsCorrupt, match=r"ffn_\w+\.scale does not fit blk\.0\.ffn_\w+\.weight"):
            Checkpoint(tmp_path / "model.gguf")
        return
    if factor != factor:
        with pytest.raises(WeightsNotFinite, match=r"ffn_\w+\.weight"):
            load_decoder(tmp_path / "model.gguf")
        return
    read = Checkpoint(tmp_path / "model.gguf").tensor("model.layers.0.mlp.down_proj.weight")
    assert torch.equal(read, torch.from_numpy(values["blk.0.ffn_down.weight"]))
    dense, ours = (
        logits(load_decoder(tmp_path / "model.gguf")),
        logits(packed_decoder(tmp_path / "model.gguf")),
    )
    assert (ours - dense).norm() < 0.12 * dense.norm()
