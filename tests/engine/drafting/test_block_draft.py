"""DFlash and DSpark drafts fill a block as a few lines of torch over the same files say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from engine.decoding.worth import Worth
from engine.drafting.block import BlockDraft, BlockDrafter, load_block
from engine.drafting.head_loader import share
from engine.drafting.kinds import kind_of
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.model.decoder import Decoder
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder, load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.heads import CONFIG, HEADS, HIDDEN, KV_HEADS, VOCABULARY, WIDE, norm

MASK, SIZE, LAYERS, RANK, EACH = 3, 5, 2, 8, HIDDEN // HEADS
PROMPT = "one two three four one two three four one two " * 3
TEXT = torch.randint(4, 300, (17,), generator=torch.Generator().manual_seed(4)).tolist()
SIZES = {**CONFIG, "model_type": "qwen3", "num_hidden_layers": LAYERS, "head_dim": EACH, "rope_theta": 1e6}
DFLASH = {
    **SIZES,
    "architectures": ["DFlashDraftModel"],
    "block_size": SIZE,
    "num_target_layers": 7,
    "layer_types": ["full_attention"] * LAYERS,
    "dflash_config": {"mask_token_id": MASK, "target_layer_ids": [1, 3, 5]},
}
DSPARK = {
    **SIZES,
    "architectures": ["Qwen3DSparkModel"],
    "block_size": SIZE,
    "mask_token_id": MASK,
    "target_layer_ids": [1, 3, 5],
    "num_target_layers": 7,
    "num_anchors": 512,
    "enable_confidence_head": True,
    "confidence_head_with_markov": True,
    "markov_rank": RANK,
}


def speculators(kind: str) -> dict[str, Any]:
    return {
        "speculators_model_type": kind,
        "speculators_config": {"algorithm": kind, "proposal_methods": [], "verifier": {}},
        "transformer_layer_config": SIZES,
        "draft_vocab_size": VOCABULARY,
        "aux_hidden_state_layer_ids": [2, 4, 6],
        "block_size": SIZE,
        "mask_token_id": MASK,
        "sample_from_anchor": kind == "dspark",
        **({"markov_rank": RANK, "markov_head_type": "vanilla"} if kind == "dspark" else {}),
    }


def sliding(config: dict[str, Any], window: int, kinds: str = "sf", **said: Any) -> dict[str, Any]:
    """Make the layers of a config sliding (s) or full (f), with the rotary parameters that Qwen3.5 hands down."""
    names = {"s": "sliding_attention", "f": "full_attention"}
    rope = {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 1.0, "mrope_section": [3, 3, 2]}
    own = {
        "layer_types": [names[kind] for kind in kinds],
        "sliding_window": window,
        "use_sliding_window": True,
        "rope_parameters": rope,
    }
    nested = config.get("transformer_layer_config")
    return {**config, **said, **(own if nested is None else {"transformer_layer_config": {**nested, **own}})}


# As published for Qwen3.5 and 3.6: the block's size stands in the inner config.
WINDOWED = {key: value for key, value in DFLASH.items() if key != "block_size"}
WINDOWED["dflash_config"] = {**DFLASH["dflash_config"], "block_size": SIZE}

CONFIGS: dict[str, dict[str, Any]] = {
    "dflash": DFLASH,
    "dspark-vanilla": {**DSPARK, "markov_head_type": "vanilla"},
    "dspark-gated": {**DSPARK, "markov_head_type": "gated"},
    "dspark-rnn": {**DSPARK, "markov_head_type": "rnn"},
    "speculators-dflash": speculators("dflash"),
    "speculators-dspark": speculators("dspark"),
    "dflash-window": sliding(WINDOWED, 8),
    "dflash-narrow": sliding(WINDOWED, 3),
    "dflash-both-ways": sliding(WINDOWED, 3, "ss", is_causal=False),
    "dflash-causal": sliding(
        {**WINDOWED, "dflash_config": {**WINDOWED["dflash_config"], "causal": True}}, 6, is_causal=None
    ),
    "dspark-window": sliding(DSPARK, 8),
    "speculators-dspark-window": sliding(speculators("dspark"), 8, "ss", sliding_window_non_causal=False),
    "speculators-dflash-both-ways": sliding(speculators("dflash"), 8, "fs", sliding_window_non_causal=True),
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    folder = tmp_path_factory.mktemp("target") / "llama"
    return load_decoder(write_checkpoint(folder, num_hidden_layers=7, tokenizer=False))


def make_state(name: str) -> dict[str, Tensor]:
    """Random tensors under the published names."""
    generator = torch.Generator().manual_seed(0)

    def matrix(rows: int, columns: int) -> Tensor:
        return 0.8 * columns**-0.5 * torch.randn(rows, columns, generator=generator)

    def vector(size: int, around: float = 1.0) -> Tensor:
        return around + 0.1 * torch.randn(size, generator=generator)

    state = {
        "fc.weight": matrix(HIDDEN, 3 * HIDDEN),
        "hidden_norm.weight": vector(HIDDEN),
        "norm.weight": vector(HIDDEN),
    }
    for layer in range(LAYERS):
        start = f"layers.{layer}."
        for module, rows in (("q", HIDDEN), ("k", EACH * KV_HEADS), ("v", EACH * KV_HEADS), ("o", HIDDEN)):
            state[f"{start}self_attn.{module}_proj.weight"] = matrix(rows, HIDDEN)
        for module in ("q_norm", "k_norm"):
            state[f"{start}self_attn.{module}.weight"] = vector(EACH)
        for module in ("input_layernorm", "post_attention_layernorm"):
            state[f"{start}{module}.weight"] = vector(HIDDEN)
        state[f"{start}mlp.gate_proj.weight"] = matrix(WIDE, HIDDEN)
        state[f"{start}mlp.up_proj.weight"] = matrix(WIDE, HIDDEN)
        state[f"{start}mlp.down_proj.weight"] = matrix(HIDDEN, WIDE)
    if not name.startswith("dflash"):
        state["embed_tokens.weight"] = torch.randn(VOCABULARY, HIDDEN, generator=generator)
        state["lm_head.weight"] = matrix(VOCABULARY, HIDDEN)
    if "dspark" in name:
        state["markov_head.markov_w1.weight"] = torch.randn(VOCABULARY, RANK, generator=generator)
        state["markov_head.markov_w2.weight"] = matrix(VOCABULARY, RANK)
        state["confidence_head.proj.weight"] = matrix(1, HIDDEN + RANK)
        state["confidence_head.proj.bias"] = vector(1, 0.0)
    for kind, module, rows, columns in (
        ("gated", "gate_proj", RANK, HIDDEN + RANK),
        ("rnn", "joint_proj", 3 * RANK, 2 * RANK + HIDDEN),
    ):
        if name.endswith(kind):
            state[f"markov_head.{module}.weight"] = matrix(rows, columns)
            state[f"markov_head.{module}.bias"] = vector(rows, 0.0)
    return state


def write(folder: Path, config: dict[str, Any], state: dict[str, Tensor]) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(state, folder / "model.safetensors")
    return folder


def turned(heads: Tensor, first: int) -> Tensor:
    """(n, heads, d) rotated from a position on."""
    angles = torch.arange(first, first + len(heads))[:, None] * 1e6 ** -(torch.arange(0, EACH, 2) / EACH)
    cosine, sine = angles.cos().repeat(1, 2)[:, None], angles.sin().repeat(1, 2)[:, None]
    one, other = heads.chunk(2, -1)
    return heads * cosine + torch.cat((-other, one), -1) * sine


def hidden_from(config: dict[str, Any], layer: int, context: int) -> Tensor:
    """(b, n + b) True where a row of the block does not see a row of the text or of the block."""
    inner = config.get("transformer_layer_config", config)
    slides = inner.get("layer_types", ["full_attention"] * LAYERS)[layer] == "sliding_attention"
    distance = context + torch.arange(SIZE)[:, None] - torch.arange(context + SIZE)
    said = [config.get("is_causal"), config.get("dflash_config", {}).get("causal")]
    said += [False if config.get("sliding_window_non_causal") else None, slides]
    outside = distance < 0 if next(one for one in said if one is not None) else torch.zeros_like(distance).bool()
    return outside | (distance.abs() >= inner["sliding_window"]) if slides else outside


def block_of(config: dict[str, Any], state: dict[str, Tensor], rows: Tensor, root: int, embedding: Tensor) -> Tensor:
    """(b, h) outputs of a block behind the target's (n, 3 h) rows."""

    def mapped(values: Tensor, module: str) -> Tensor:
        return values @ state[f"{module}.weight"].T

    context = norm(mapped(rows, "fc"), state["hidden_norm.weight"])
    hidden = embedding[torch.tensor([root] + [MASK] * (SIZE - 1))]
    for layer in range(LAYERS):
        start = f"layers.{layer}."
        attention = f"{start}self_attn."
        normed = norm(hidden, state[f"{start}input_layernorm.weight"])
        both = torch.cat((context, normed))
        query = mapped(normed, f"{attention}q_proj").view(SIZE, -1, EACH)
        key, value = (mapped(both, f"{attention}{one}_proj").view(len(both), -1, EACH) for one in "kv")
        query = turned(norm(query, state[f"{attention}q_norm.weight"]), len(context))
        key = turned(norm(key, state[f"{attention}k_norm.weight"]), 0)
        key, value = (states.repeat_interleave(HEADS // KV_HEADS, 1) for states in (key, value))
        scores = torch.einsum("qhd,khd->hqk", query, key) * EACH**-0.5
        scores = scores.masked_fill(hidden_from(config, layer, len(context)), -torch.inf)
        mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1), value).reshape(SIZE, -1)
        hidden = hidden + mapped(mixed, f"{attention}o_proj")
        normed = norm(hidden, state[f"{start}post_attention_layernorm.weight"])
        gate = functional.silu(mapped(normed, f"{start}mlp.gate_proj"))
        hidden = hidden + mapped(gate * mapped(normed, f"{start}mlp.up_proj"), f"{start}mlp.down_proj")
    return norm(hidden, state["norm.weight"])


def chain_of(name: str, state: dict[str, Tensor], hidden: Tensor, root: int, head: Tensor) -> list[int]:
    """The likeliest tokens one after the other."""
    if "dspark" not in name:
        return (hidden[1:] @ head.T).argmax(-1).tolist()
    chain, last, memory = [], root, torch.zeros(RANK)
    for row in hidden:
        latent = state["markov_head.markov_w1.weight"][last]
        if name.endswith("gated"):
            linear = torch.cat((row, latent)) @ state["markov_head.gate_proj.weight"].T
            latent = torch.sigmoid(linear + state["markov_head.gate_proj.bias"]) * latent
        if name.endswith("rnn"):
            linear = torch.cat((memory, latent, row)) @ state["markov_head.joint_proj.weight"].T
            gate, candidate, out = (linear + state["markov_head.joint_proj.bias"]).chunk(3)
            memory = gate.sigmoid() * memory + (1 - gate.sigmoid()) * candidate.tanh()
            latent = out.tanh()
        logits = row @ head.T + latent @ state["markov_head.markov_w2.weight"].T
        last = int(logits.argmax())
        chain.append(last)
    return chain


@pytest.mark.parametrize("name", CONFIGS)
def test_a_block_is_that_of_the_reference(target: Decoder, tmp_path: Path, name: str) -> None:
    state = make_state(name)
    folder = write(tmp_path / "draft", CONFIGS[name], state)
    assert draft_kind(folder) == "head"
    assert kind_of(OpenedModel("draft", folder)) is BlockDraft
    network = load_block(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))
    assert network.hidden_layers == (2, 4, 6)
    drafter = BlockDrafter(network, 64, Link(torch.device("cpu")), lambda: None)
    embedding = state.get("embed_tokens.weight", target.source.embedding(torch.arange(VOCABULARY)))
    head = state.get("lm_head.weight")
    rows = torch.randn(len(TEXT) + 3, 3 * HIDDEN, generator=torch.Generator().manual_seed(2))
    assert drafter.reset(TEXT[:-1]) == 0
    text = list(TEXT)
    drafter.observe(text[-1:], rows[: len(text) - 1])
    drafter.limits = TreeShape(1, SIZE, SIZE)
    for more in ([], [5, 9, 7]):  # the second block stands behind rows that the first one did not see
        if more:
            drafter.observe(more, rows[len(text) - 1 : len(text) - 1 + len(more)])
            text += more
        hidden = block_of(CONFIGS[name], state, rows[: len(text) - 1], text[-1], embedding)
        matrix = target.source.whole_head(torch.eye(HIDDEN)).T if head is None else head
        assert drafter.propose(DraftShape(SIZE)).tokens == tuple(chain_of(name, state, hidden, text[-1], matrix))


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", chosen(CONFIGS, ("dflash", "dspark-gated")))
def test_a_reply_is_the_models_own(
    client: EngineClient, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    model = write_checkpoint(tmp_path / "llama", num_hidden_layers=7)
    draft = write(tmp_path / "draft", CONFIGS[name], make_state(name))
    settings = {"weights": "fp32", "max_tokens": 40}
    reply = client.answer(PROMPT, model, mode="dovetail", draft=str(draft), **settings)
    assert list(reply.token_ids) == reference_greedy(load_reference(model), reply.prompt_ids, 40)
    assert reply.token_ids == client.answer(PROMPT, model, mode="plain", **settings).token_ids
    assert reply.timings.draft_n > 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"layer_types": ["linear_attention"] * 2}, UnsupportedModel, "linear_attention"),
        ({"layer_types": ["sliding_attention"] * 2}, ConfigInvalid, "sliding_window is None"),
        ({"rope_parameters": {"rope_theta": 1e6, "partial_rotary_factor": 0.25}}, UnsupportedModel, "0.25"),
        ({"model_type": "gemma4_text"}, UnsupportedModel, "blocks of the type gemma4_text"),
        ({"dflash_config": {**DFLASH["dflash_config"], "use_swa": True}}, UnsupportedModel, "use_swa"),
        ({"dflash_config": {**DFLASH["dflash_config"], "conv_kernel_size": 2}}, UnsupportedModel, "conv_kernel_size"),
        ({"dflash_config": {"target_layer_ids": [1, 3, 5]}}, ConfigInvalid, "mask_token_id"),
        ({"block_size": 1}, ConfigInvalid, "block_size 1"),
    ],
)
def test_what_is_not_run_is_refused_by_name(
    target: Decoder, tmp_path: Path, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    folder = write(tmp_path / "draft", {**DFLASH, **change}, make_state("dflash"))
    with pytest.raises(error, match=message):
        load_block(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))


def test_every_missing_tensor_is_named(target: Decoder, tmp_path: Path) -> None:
    state = make_state("dspark-rnn")
    for at, name in enumerate(("markov_head.joint_proj.bias", "hidden_norm.weight", "layers.1.mlp.up_proj.weight")):
        folder = write(tmp_path / str(at), CONFIGS["dspark-rnn"], {k: v for k, v in state.items() if k != name})
        with pytest.raises(TensorMismatch, match=name):
            load_block(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))
