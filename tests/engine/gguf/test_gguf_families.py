"""GGUF files of every family: the tensors that were written, and transformers' logits and greedy text on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind

from engine.gguf.config import read_gguf_config
from engine.gguf.header import read_header
from engine.gguf.model import GgufFile, Source
from engine.gguf.stored_tensor import PLAIN
from engine.model.embedding import FileRows
from engine.weights.checkpoint import KERNEL_TYPES, Checkpoint
from engine.weights.watched_file import WatchedFile
from tests.support.checkpoints import reference_model
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import covering, families
from tests.support.gguf_files import finish, write_gguf

#: Variants that GGUF can hold, and what they are written with where the file cannot say what the variant has.
CHANGES: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama-tied": {},
    "llama-biased": {},
    "llama3-rope": {},
    "llama-linear": {},
    "smollm3": {"no_rope_layer_interval": 4, "num_hidden_layers": 5},
    "mistral": {},
    "ministral3": {},
    "qwen2": {},
    "qwen2-yarn": {},
    "qwen3": {},
    "granite": {},
    "granite-moe": {},
    "granite-hybrid": {},
    "granite-hybrid-moe": {},
    "nemotron-h": {},
    "nemotron-h-moe": {"layers_block_type": ["moe", "linear_attention", "full_attention", "moe"]},
    "nemotron-h-latent": {
        "layers_block_type": ["moe", "linear_attention", "full_attention", "linear_attention"],
        "n_group": 1,
    },
    "qwen2-moe": {"use_sliding_window": False},
    "qwen3-moe": {},
    "qwen3-moe-shares": {},
    "qwen3-next": {},
    "qwen35": {},
    "qwen35-moe": {},
    "gpt-oss": {},
    "deepseek-v2": {},
    "deepseek-v3": {},
    "glm4-moe": {},
    "glm4-moe-lite": {},
    "lfm2": {},
    "lfm2-moe": {},
    "phi3": {},
    "phi3-longrope": {},
    "gemma2": {},
    "gemma3": {},
    "gemma4": {},
    "gemma4-inputs": {},
    "gemma4-moe": {},
}
PROMPT = torch.randint(3, 300, (110,), generator=torch.Generator().manual_seed(3))
TOKENS = 64


def written(variant: str, path: Path, kind: Kind, **changes: Any) -> Any:
    """A file of a variant, and the transformers model with the weights that the file stands for."""
    model = reference_model(variant, **CHANGES[variant], **changes)
    model.load_state_dict(write_gguf(model, path, kind))
    return model


@pytest.mark.parametrize(("variant", "kind"), covering(sorted(CHANGES), [Kind.F32, Kind.Q8_0, Kind.Q4_0], together=1))
@torch.no_grad()
def test_logits_are_those_of_transformers(variant: str, kind: Kind, tmp_path: Path) -> None:
    model = written(variant, tmp_path / "model.gguf", kind)
    decoder = load_decoder(tmp_path / "model.gguf")
    theirs = model(PROMPT[None]).logits[0]
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("variant", families(CHANGES))
@torch.no_grad()
def test_greedy_text_is_that_of_transformers(variant: str, tmp_path: Path) -> None:
    model = written(variant, tmp_path / "model.gguf", Kind.Q8_0)
    decoder = load_decoder(tmp_path / "model.gguf")
    generated = model.generate(
        PROMPT[None],
        attention_mask=torch.ones(1, len(PROMPT), dtype=torch.long),
        do_sample=False,
        min_new_tokens=TOKENS,
        max_new_tokens=TOKENS,
        eos_token_id=None,
    )[0, len(PROMPT) :]
    assert greedy(decoder, PROMPT, TOKENS) == generated.tolist()


@pytest.mark.parametrize("variant", ["glm4-moe", "qwen3-next", "qwen35"])
@torch.no_grad()
def test_heads_turn_whole_where_the_file_says_so(variant: str, tmp_path: Path) -> None:
    """A config.json without a figure means a part of each head, but a GGUF file without one means all of it."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1.0}
    model = written(variant, tmp_path / "model.gguf", Kind.F32, rope_parameters=rope)
    decoder = load_decoder(tmp_path / "model.gguf")
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "kind",
    [Kind.F16, Kind.BF16, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0, Kind.Q4_0, Kind.Q4_K],
    ids=lambda kind: kind.name,
)
def test_tensors_are_those_that_were_written(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.weights.direct_reader.PIECE_BYTES", 4096)  # 4 rows: heads are cut in their middle
    model = written("llama", tmp_path / "model.gguf", kind, hidden_size=256, intermediate_size=256, head_dim=64)
    checkpoint = Checkpoint(tmp_path / "model.gguf")
    state = model.state_dict()
    assert checkpoint.names == set(state)
    for name, tensor in state.items():
        read = torch.empty_like(tensor)
        counts = list(checkpoint.read(name, read, lambda: None))
        assert torch.equal(read, tensor), name
        assert sum(counts) == checkpoint.stored_bytes(name)
        assert torch.equal(checkpoint.tensor(name).float(), tensor)


@pytest.mark.parametrize(("layers", "scalar"), [(2, 32), (46, 16)])
def test_the_largest_gemma_scales_attention_by_its_width(layers: int, scalar: int, tmp_path: Path) -> None:
    write_gguf(reference_model("gemma2", num_hidden_layers=layers), tmp_path / "model.gguf")
    header = read_header(tmp_path / "model.gguf")
    shapes = {name: tensor.shape for name, tensor in header.tensors.items()}

    def said(**changes: Any) -> Any:
        return read_gguf_config({**header.metadata, **changes}, shapes, lambda name: [])["query_pre_attn_scalar"]

    assert said() == 24
    assert said(**{"gemma2.attention.scale": 0.0}) == scalar


@pytest.mark.parametrize(
    "kind",
    [Kind(kind) for kind in sorted((KERNEL_TYPES - PLAIN.keys()) & gguf.quants._type_traits.keys())],
    ids=lambda kind: kind.name,
)
def test_every_type_is_written_out_as_the_package_does(kind: Kind, tmp_path: Path) -> None:
    """Blocks of random bytes, read from the middle on."""
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = np.random.default_rng(int(kind)).integers(0, 256, (9, 512 // block * block_bytes), np.uint8)
    writer = gguf.GGUFWriter(str(tmp_path / "model.gguf"), "llama")
    writer.add_tensor("matrix", blocks, raw_dtype=kind)
    finish(writer)
    stored = GgufFile(read_header(tmp_path / "model.gguf"), {"matrix": Source("matrix")}).stored("matrix")
    assert (stored.shape, stored.rows, stored.row_bytes) == ((9, 512), 9, blocks.shape[1])
    found = FileRows({stored.path: WatchedFile(stored.path)}, stored)(torch.tensor([3, 8, 3]))
    with np.errstate(all="ignore"):
        whole = gguf.quants.dequantize(blocks, kind)
    assert np.array_equal(found.numpy(), whole[[3, 8, 3]], equal_nan=True)
