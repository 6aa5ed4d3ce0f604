"""DFlash and DSpark drafts in GGUF, llama.cpp's and PrismML's, are those of the folders that they were made from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.decoding.worth import Worth
from engine.drafting.block import BlockDraft, BlockDrafter, load_block
from engine.drafting.block_layout import read_block
from engine.drafting.head_loader import share
from engine.drafting.kinds import kind_of
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.gguf.types import GgmlType
from engine.gguf.writing import head_of, pair
from engine.model.decoder import Decoder
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.block_drafts import (
    CONFIGS,
    EACH,
    LAYERS,
    MASK,
    PROMPT,
    SIZE,
    SIZES,
    TEXT,
    block_of,
    chain_of,
    make_state,
    random_tensors,
)
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder, load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.heads import HEADS, HIDDEN, KV_HEADS, VOCABULARY


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    folder = tmp_path_factory.mktemp("target") / "llama"
    return load_decoder(write_checkpoint(folder, num_hidden_layers=7, tokenizer=False))


#: Names in GGUF: of a layer's tensors, and of the others in llama.cpp's files and in PrismML's older ones.
IN_LAYER = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
OUTSIDE = {
    "fc": ("fc", "dspark.fc"),
    "hidden_norm": ("enc.output_norm", "dspark.hidden_norm"),
    "norm": ("output_norm", "output_norm"),
    "embed_tokens": ("token_embd", "token_embd"),
    "lm_head": ("output", "output"),
    "markov_head.markov_w1": ("markov_w1", "dspark.markov_head_a"),
    "markov_head.markov_w2": ("markov_w2", "dspark.markov_head_b"),
    "confidence_head.proj": ("conf_proj", "dspark.confidence_head"),
    "log_snr_embed.fc1": ("log_snr_fc1", "dspark.log_snr_fc1"),
    "log_snr_embed.fc2": ("log_snr_fc2", "dspark.log_snr_fc2"),
}


def in_gguf(
    path: Path, state: dict[str, Tensor], legacy: bool, hadamard: Mapping[str, Any] = MappingProxyType({}), **said: Any
) -> Path:
    """Write a draft as llama.cpp's converter does, or as PrismML's did, in float32."""
    prefix = "dspark" if legacy else "dflash"
    own = f"{prefix}.dspark" if legacy else prefix
    pairs = {
        "general.architecture": prefix,
        f"{prefix}.embedding_length": HIDDEN,
        f"{prefix}.feed_forward_length": SIZES["intermediate_size"],
        f"{prefix}.block_count": LAYERS,
        f"{prefix}.context_length": 512,
        f"{prefix}.attention.head_count": HEADS,
        f"{prefix}.attention.head_count_kv": KV_HEADS,
        f"{prefix}.attention.key_length": EACH,
        f"{prefix}.attention.value_length": EACH,
        f"{prefix}.attention.layer_norm_rms_epsilon": 1e-6,
        f"{prefix}.rope.freq_base": 1e6,
        f"{own}.block_size": SIZE,
        f"{own}.target_layers": [1, 3, 5] if legacy else [2, 4, 6],
        f"{own}.mask_token_id" if legacy else "tokenizer.ggml.mask_token_id": MASK,
        "tokenizer.ggml.tokens": [str(token) for token in range(VOCABULARY)],
        **{f"{own}.{key}": value for key, value in said.items()},
        **{f"prism.hadamard.{key}": value for key, value in hadamard.items()},
    }
    named = {}
    for name, value in state.items():
        module, _, kind = name.rpartition(".")
        if module.startswith("layers."):
            layer, _, module = module.removeprefix("layers.").partition(".")
            named[f"blk.{layer}.{IN_LAYER[module]}.{kind}"] = value
        else:
            named[f"{OUTSIDE[module][legacy]}.{kind}" if module else name] = value
    kinds = {torch.float32: GgmlType.F32, torch.int64: GgmlType.I64}
    rows = [(name, int(kinds[one.dtype]), tuple(one.shape), one.nbytes) for name, one in named.items()]
    head, places = head_of({key: pair(value) for key, value in pairs.items()}, rows)
    with path.open("wb") as file:
        file.write(head)
        for place, one in zip(places, named.values(), strict=True):
            file.seek(place.start)
            file.write(one.contiguous().numpy().tobytes())
        file.truncate(file.tell() + 31 & ~31)
    return path


def noisy(state: dict[str, Tensor]) -> tuple[dict[str, Tensor], Tensor]:
    """Add PrismML's network to a draft: (2, h) what it adds to the first row of a block and to its masks."""
    shapes = {"log_snr_embed.fc1.weight": (HIDDEN, 16), "log_snr_embed.fc2.weight": (HIDDEN, HIDDEN)}
    own = random_tensors({**shapes, **{name.replace("weight", "bias"): (HIDDEN,) for name in shapes}})
    rates = torch.tensor([10000.0 ** (-place / 8) for place in range(8)])
    turns = torch.stack((1000 * rates, 0 * rates))
    inner = torch.cat((turns.sin(), turns.cos()), 1) @ own["log_snr_embed.fc1.weight"].T
    inner = functional.silu(inner + own["log_snr_embed.fc1.bias"])
    return {**state, **own}, inner @ own["log_snr_embed.fc2.weight"].T + own["log_snr_embed.fc2.bias"]


NOISE = {"log_snr_conditioning": True, "min_log_snr": -9.0, "max_log_snr": 9.0, "confidence_head": True}


@pytest.mark.parametrize("kind", ["dflash", "dspark", "noisy", "legacy", "few tokens"])
def test_a_gguf_file_is_the_same_draft(target: Decoder, tmp_path: Path, kind: str) -> None:
    name = "dflash" if kind == "dflash" else "dspark-vanilla"
    state, said, noise = make_state(name), dict[str, Any](), torch.zeros(2, HIDDEN)
    if kind in ("noisy", "legacy"):
        state, noise = noisy(state)
        said = NOISE
    count = VOCABULARY
    if kind == "few tokens":
        count = VOCABULARY // 2
        state = {
            key: one[:count] if key.endswith(("w2.weight", "lm_head.weight")) else one for key, one in state.items()
        }
        state["d2t"] = torch.arange(count) + 7
    path = in_gguf(tmp_path / f"m-{kind}.gguf", state, kind == "legacy", **said)
    opened = OpenedModel("draft", path)
    assert kind_of(opened) is BlockDraft
    with pytest.raises(UnsupportedModel, match=r"holds a draft for a model .DFlash or DSpark., and no model"):
        _ = opened.checkpoint
    network = load_block(opened.head, target.config, share(target.source), weight_format("fp32"))
    assert network.hidden_layers == (2, 4, 6)
    shared = kind in ("dflash", "legacy")
    embedding = target.source.embedding(torch.arange(VOCABULARY)) if shared else state["embed_tokens.weight"]
    head = target.source.whole_head(torch.eye(HIDDEN)).T if shared else state["lm_head.weight"]
    drafter = BlockDrafter(network, 64, Link(torch.device("cpu")), lambda: None)
    rows = torch.randn(len(TEXT), 3 * HIDDEN, generator=torch.Generator().manual_seed(2))
    drafter.reset(TEXT[:-1])
    drafter.observe(TEXT[-1:], rows[:-1])
    drafter.limits = TreeShape(1, SIZE, SIZE)
    seen = embedding.clone()
    seen[TEXT[-1]] += noise[0]
    seen[MASK] += noise[1]
    hidden = block_of(CONFIGS[name], state, rows[:-1], TEXT[-1], seen)
    found = drafter.propose(DraftShape(SIZE)).tokens
    if kind == "few tokens":
        assert found[0] == 7 + int(
            (
                hidden[0] @ head.T
                + state["markov_head.markov_w1.weight"][TEXT[-1]] @ state["markov_head.markov_w2.weight"].T
            ).argmax()
        )
    else:
        assert found == tuple(chain_of(name, state, hidden, TEXT[-1], head))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"conv_kernel_size": 3}, "has conv_kernel_size, which Tenon does not know"),
        ({"attention.scale": 0.5}, "has attention.scale, which Tenon does not know"),
        ({"rope.dimension_count": 4}, "has rope.dimension_count, which Tenon does not know"),
        ({"target_layers": "one"}, "A value in the GGUF file's metadata is missing or of the wrong kind"),
        ({"block_count": 0}, "missing or of the wrong kind"),
        ({"block_size": 0}, "missing or of the wrong kind"),
        ({"block_size": math.inf}, "A value in the draft's config.json is missing or of the wrong kind"),
    ],
)
def test_a_gguf_file_that_is_not_known_is_refused(said: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path = in_gguf(tmp_path / "m-dflash.gguf", make_state("dflash"), False, **said)
    with pytest.raises((UnsupportedModel, ConfigInvalid), match=problem):
        read_block(OpenedModel("draft", path).head)


@pytest.mark.parametrize(
    ("name", "shape", "error"),
    [
        ("markov_head.markov_w1.weight", (3,), ConfigInvalid),
        ("log_snr_embed.fc1.weight", (HIDDEN, 15), TensorMismatch),
        ("log_snr_embed.fc1.weight", (HIDDEN,), TensorMismatch),
    ],
)
def test_a_gguf_file_with_a_tensor_of_another_shape_is_refused(
    name: str, shape: tuple[int, ...], error: type[Exception], tmp_path: Path
) -> None:
    state = noisy(make_state("dspark-vanilla"))[0] | {name: torch.zeros(shape)}
    with pytest.raises(error):
        read_block(OpenedModel("draft", in_gguf(tmp_path / "m-dspark.gguf", state, False, **NOISE)).head)


def test_a_gguf_draft_whose_matrices_are_rotated_is_read_without_the_rotation(tmp_path: Path) -> None:
    state, name = make_state("dflash"), "layers.0.mlp.up_proj.weight"
    mixing = torch.tensor([[1.0, 1.0], [1.0, -1.0]]) * 0.5**0.5
    rotated = (state[name].view(-1, HIDDEN // 2, 2) @ mixing).view(-1, HIDDEN)
    path = in_gguf(
        tmp_path / "m-dflash.gguf",
        state | {name: rotated},
        False,
        hadamard={
            "version": 1,
            "block_size": 2,
            "transform": "normalized-sylvester-walsh-hadamard",
            "axis": "input-last-dimension",
            "sign_mode": "identity",
            "weight_names": ["blk.0.ffn_up.weight"],
        },
    )
    torch.testing.assert_close(OpenedModel("draft", path).head.tensor(name), state[name])


def test_another_gguf_draft_of_the_same_name_has_another_digest(tmp_path: Path) -> None:
    path = in_gguf(tmp_path / "m-dflash", make_state("dflash"), False)
    first = HeadCheckpoint(path).digest()
    os.utime(path, (1, 1))
    assert HeadCheckpoint(path).digest() != first


@pytest.mark.usefixtures("no_gpu")
def test_a_reply_with_a_gguf_draft_is_the_models_own(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    model = write_checkpoint(tmp_path / "llama", num_hidden_layers=7)
    draft = in_gguf(tmp_path / "m-dspark-f32.gguf", noisy(make_state("dspark-vanilla"))[0], True, **NOISE)
    settings = {"weights": "fp32", "max_tokens": 40}
    reply = client.answer(PROMPT, model, mode="dovetail", draft=str(draft), **settings)
    assert list(reply.token_ids) == reference_greedy(load_reference(model), reply.prompt_ids, 40)
    assert reply.timings.draft_n > 0
