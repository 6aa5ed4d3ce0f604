"""DFlash and DSpark drafts fill a block as a few lines of torch over the same files say."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest
import torch
import transformers
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional
from transformers.cache_utils import DFlashCache

from engine.decoding.worth import Worth
from engine.drafting.block import BlockDraft, BlockDrafter, load_block
from engine.drafting.block_layout import read_block
from engine.drafting.head_loader import share
from engine.drafting.kinds import kind_of
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.gguf.types import GgmlType
from engine.gguf.writing import head_of, pair
from engine.hub.catalogue import catalogue
from engine.model.decoder import Decoder
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import all_experts, muse_glimmer, save, train_tokenizer, write_checkpoint
from tests.support.decoders import load_decoder, load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.heads import CONFIG, HEADS, HIDDEN, KV_HEADS, VOCABULARY, norm

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

MUSE = "muse_glimmer_assistant"
QWEN35 = {
    **{"model_type": "qwen3", "hidden_act": "silu", "rms_norm_eps": 1e-6, "vocab_size": 248_320},
    **{"max_position_embeddings": 262_144, "attention_bias": False, "attention_dropout": 0.0},
}


def qwen35_dflash(hidden: int, wide: int, layers: int, taken: list[int]) -> dict[str, Any]:
    """z-lab's config for Qwen3.5, and for Qwen3.6-35B-A3B in its present revision."""
    return {
        **QWEN35,
        "architectures": ["DFlashDraftModel"],
        "auto_map": {"AutoModel": "dflash.DFlashDraftModel"},
        "bos_token_id": None,
        "dflash_config": {"block_size": 16, "mask_token_id": 248_077, "target_layer_ids": taken},
        **{"hidden_size": hidden, "intermediate_size": wide, "num_hidden_layers": 6, "head_dim": 128},
        **{"num_attention_heads": 32, "num_key_value_heads": 8, "num_target_layers": layers},
        "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
        "max_window_layers": 6,
        "rope_parameters": {"rope_theta": 10_000_000, "rope_type": "default"},
        **{"sliding_window": 4096, "use_sliding_window": True, "tie_word_embeddings": hidden < 4096},
    }


#: The catalogue's drafts for targets with states or windows: the variant of `write_checkpoint` like their target, the
#: config, and the number of weights if it is published. The configs for 4B and 35B-A3B are the published ones. The
#: others are derived: 9B's from 4B's and the bytes of its file, 27B's from its card and its number of weights,
#: Coder-Next's from a GGUF copy and its bytes; Muse-Glimmer's is transformers' default.
PUBLISHED: dict[str, tuple[str, dict[str, Any], int | None]] = {
    "z-lab/Qwen3.5-4B-DFlash": ("qwen35", qwen35_dflash(2560, 9216, 32, [*range(1, 30, 4)]), 634_425_856),
    "z-lab/Qwen3.5-9B-DFlash": ("qwen35", qwen35_dflash(4096, 12288, 32, [*range(1, 30, 4)]), 1_291_904_512),
    "z-lab/Qwen3.6-35B-A3B-DFlash": (
        "qwen35-moe",
        qwen35_dflash(2048, 6144, 40, [1, 6, 11, 16, 22, 27, 32, 37]),
        None,
    ),
    "RedHatAI/Qwen3.8-27B-speculator.dspark": (
        "qwen35",
        {
            "architectures": ["DSparkDraftModel"],
            "auto_map": {"": "config.DSparkSpeculatorConfig"},
            "speculators_model_type": "dspark",
            "speculators_config": {"algorithm": "dspark", "proposal_methods": [{"speculative_tokens": 8}]},
            "speculators_version": "0.8.0.dev221",
            "max_anchors": 3072,
            "aux_hidden_state_layer_ids": [4, 12, 20, 28, 36, 44, 52, 60],
            **{"block_size": 8, "mask_token_id": 248_077, "draft_vocab_size": 248_320, "sample_from_anchor": True},
            **{"markov_rank": 256, "markov_head_type": "vanilla", "sliding_window_non_causal": False},
            **{"enable_confidence_head": True, "confidence_head_with_markov": True, "tie_word_embeddings": False},
            "transformer_layer_config": {
                **QWEN35,
                **{"hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 5, "head_dim": 256},
                **{"num_attention_heads": 20, "num_key_value_heads": 4, "sliding_window": 2048},
                **{"layer_types": ["sliding_attention"] * 5, "use_sliding_window": True, "max_window_layers": 5},
                "rope_parameters": {
                    **{"rope_theta": 10_000_000, "rope_type": "default"},
                    **{"partial_rotary_factor": 1.0, "mrope_section": [44, 44, 40]},
                },
            },
        },
        1_988_431_617,
    ),
    "z-lab/Qwen3-Coder-Next-DFlash": (
        "qwen3-next",
        {
            **QWEN35,
            "architectures": ["DFlashDraftModel"],
            "block_size": 16,
            "dflash_config": {"mask_token_id": 151_669, "target_layer_ids": [3, 11, 23, 35, 43]},
            **{"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 8, "head_dim": 128},
            **{"num_attention_heads": 32, "num_key_value_heads": 4, "num_target_layers": 48, "vocab_size": 151_936},
            **{"layer_types": ["full_attention"] * 8, "sliding_window": None, "use_sliding_window": False},
            **{"rope_theta": 5_000_000, "rope_scaling": None},
        },
        None,
    ),
    "meta-models/Muse-Glimmer-30B-assistant": (
        "muse-glimmer",
        {
            "architectures": ["MuseGlimmerAssistantModel"],
            "model_type": MUSE,
            **{"block_size": 16, "mask_token_id": 201_818, "target_layer_ids": [1, 13, 25, 37, 49]},
            **{"hidden_size": 6656, "intermediate_size": 19968, "num_hidden_layers": 5, "head_dim": 128},
            **{"num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu", "rms_norm_eps": 1e-5},
            **{"layer_types": ["sliding_attention"] * 5, "sliding_window": 2048, "max_position_embeddings": 131_072},
            "rope_parameters": {"rope_theta": 500_000.0, "rope_type": "default"},
        },
        None,
    ),
}
SMALL: dict[str, Any] = {
    **SIZES,
    **{"target_layer_ids": [1, 3, 5], "aux_hidden_state_layer_ids": [2, 4, 6], "mask_token_id": MASK},
    **{"num_target_layers": 8, "sliding_window": 16, "draft_vocab_size": VOCABULARY, "markov_rank": RANK},
}


def small(config: dict[str, Any], **said: Any) -> dict[str, Any]:
    """Return a published config with small sizes and two layers: of its first and of its last kind."""
    own = {key: SMALL[key] for key in config if key in SMALL and key not in ("model_type", "architectures")}
    made = {**config, **own, **said}
    for key, value in config.items():
        if isinstance(value, dict):
            made[key] = small(value)
    if "layer_types" in config:
        made["layer_types"] = [config["layer_types"][0], config["layer_types"][-1]]
    return made


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


def shapes_of(config: dict[str, Any], tables: bool) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of a config's published tensors; ``tables`` adds embedding and head."""
    inner = {"head_dim": EACH, **config.get("transformer_layer_config", config)}
    hidden, wide, each = (inner[key] for key in ("hidden_size", "intermediate_size", "head_dim"))
    queries, keys = (inner[f"num_{kind}_heads"] * each for kind in ("attention", "key_value"))
    vocabulary = inner.get("vocab_size", 0)
    own, rank = config.get("draft_vocab_size") or vocabulary, config.get("markov_rank")
    taken = [config.get("aux_hidden_state_layer_ids"), config.get("target_layer_ids")]
    taken += [config.get("dflash_config", {}).get("target_layer_ids")]
    muse = config["model_type"] == MUSE if "model_type" in config else False
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.fc.weight" if muse else "fc.weight": (hidden, sum(len(one or ()) for one in taken) * hidden),
        "encoder.output_norm_enc.weight" if muse else "hidden_norm.weight": (hidden,),
        "norm.weight": (hidden,),
    }
    for layer in range(inner["num_hidden_layers"]):
        start = f"layers.{layer}."
        for module, rows in (("q", queries), ("k", keys), ("v", keys)):
            shapes[f"{start}self_attn.{module}_proj.weight"] = (rows, hidden)
        shapes[f"{start}self_attn.o_proj.weight"] = (hidden, queries)
        for module in ("q_norm", "k_norm"):
            shapes[f"{start}self_attn.{module}.weight"] = (each,)
        for module in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{start}{module}.weight"] = (hidden,)
        shapes[f"{start}mlp.gate_proj.weight"] = shapes[f"{start}mlp.up_proj.weight"] = (wide, hidden)
        shapes[f"{start}mlp.down_proj.weight"] = (hidden, wide)
    if tables:
        shapes |= {"embed_tokens.weight": (vocabulary, hidden), "lm_head.weight": (own, hidden)}
    if own != vocabulary:
        shapes |= {"d2t": (own,), "t2d": (vocabulary,)}
    if rank:
        shapes["markov_head.markov_w1.weight"] = (vocabulary, rank)
        shapes["markov_head.markov_w2.weight"] = (own, rank)
        shapes["confidence_head.proj.weight"] = (1, hidden + rank)
        shapes["confidence_head.proj.bias"] = (1,)
    for kind, module, rows, columns in (
        ("gated", "gate_proj", rank, hidden + (rank or 0)),
        ("rnn", "joint_proj", 3 * (rank or 0), 2 * (rank or 0) + hidden),
    ):
        if config.get("markov_head_type") == kind:
            shapes[f"markov_head.{module}.weight"] = (rows, columns)
            shapes[f"markov_head.{module}.bias"] = (rows,)
    return shapes


def random_tensors(shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Return random tensors of these shapes; d2t and t2d choose the vocabulary's first tokens."""
    generator = torch.Generator().manual_seed(0)

    def random(name: str, shape: tuple[int, ...]) -> Tensor:
        if name == "d2t":
            return torch.zeros(shape, dtype=torch.long)
        if name == "t2d":
            return torch.arange(shape[0]) < shapes["d2t"][0]
        if len(shape) == 1:
            return float(not name.endswith("bias")) + 0.1 * torch.randn(shape, generator=generator)
        scale = 1.0 if name.endswith(("embed_tokens.weight", "w1.weight")) else 0.8 * shape[1] ** -0.5
        return scale * torch.randn(shape, generator=generator)

    return {name: random(name, shape) for name, shape in shapes.items()}


def make_state(name: str) -> dict[str, Tensor]:
    return random_tensors(shapes_of(CONFIGS[name], tables=not name.startswith("dflash")))


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
    """Return a mask, (b, n + b), True where a row of the block does not see a row of the text or of the block."""
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


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_layout_is_read(name: str) -> None:
    variant, config, count = PUBLISHED[name]
    assert name in {head for model in catalogue() for head in model.heads}
    shapes = shapes_of({"vocab_size": 202_048, **config} if variant == "muse-glimmer" else config, tables=False)
    layout = read_block(cast(HeadCheckpoint, SimpleNamespace(config=config, shapes=shapes)))
    (target,) = (model for model in catalogue() if name in model.heads)
    assert layout.blocks.hidden_size == target.config["hidden_size"]
    assert layout.blocks.vocabulary_size == target.config["vocab_size"]
    layers = layout.layers_of(target.config["num_hidden_layers"])
    assert max(layers) < target.config["num_hidden_layers"]
    if count is not None:
        assert sum(math.prod(shape) for shape in shapes.values()) == count


def test_every_draft_of_the_new_models_was_tried() -> None:
    tried = {"qwen3.5", "qwen3.5-moe", "qwen3-coder-next", "muse-glimmer"}
    assert {head for model in catalogue() if model.tried_as in tried for head in model.heads} == set(PUBLISHED)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", chosen(PUBLISHED, [name for name in PUBLISHED if "9B" not in name]))
def test_a_reply_with_a_published_layout_is_the_models_own(
    client: EngineClient, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    variant, config, _ = PUBLISHED[name]
    model, muse = tmp_path / "model", variant == "muse-glimmer"
    if muse:
        save(muse_glimmer(num_hidden_layers=8), model)
        train_tokenizer().save_pretrained(model)
    else:
        write_checkpoint(model, variant, num_hidden_layers=8, **all_experts(variant))
    config = small(config, **({"vocab_size": VOCABULARY} if muse else {}))
    draft = write(tmp_path / "draft", config, random_tensors(shapes_of(config, tables=False)))
    settings = {"weights": "fp32", "max_tokens": 24}
    reply = client.answer(PROMPT, model, mode="dovetail", draft=str(draft), **settings)
    reference, decoder, prompt = load_reference(model), load_decoder(model), torch.tensor(reply.prompt_ids)
    assert list(reply.token_ids) == reference_greedy(reference, reply.prompt_ids, len(reply.token_ids))
    cache = decoder.new_cache(len(prompt))
    rows = decoder.forward(prompt, torch.arange(len(prompt)), cache, hidden_layers=(2, 4, 6)).layer_inputs
    with torch.no_grad():
        theirs = reference(prompt[None], output_hidden_states=True).hidden_states
    for layer, row in rows.items():
        torch.testing.assert_close(row, theirs[layer][0], atol=1e-3, rtol=1e-3)
    assert len(reply.prompt_ids) > 2 * config.get("transformer_layer_config", config).get("sliding_window", 16)
    assert reply.timings.draft_n > 0


@torch.no_grad()
def test_muse_glimmers_blocks_are_those_of_transformers(tmp_path: Path) -> None:
    folder = tmp_path / "target"
    save(muse_glimmer(num_hidden_layers=8, output_multiplier=0.3), folder)
    target = load_decoder(folder)
    config = small(PUBLISHED["meta-models/Muse-Glimmer-30B-assistant"][1], vocab_size=VOCABULARY, block_size=SIZE)
    config |= {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}
    state = random_tensors(shapes_of(config, tables=False))
    draft = HeadCheckpoint(write(tmp_path / "draft", config, state))
    network = load_block(draft, target.config, share(target.source), weight_format("fp32"))
    own = transformers.MuseGlimmerAssistantConfig(**config)
    model = transformers.MuseGlimmerAssistantModel._from_config(own, attn_implementation="eager").eval()
    model.load_state_dict(state)
    reference = load_reference(folder)
    cache, theirs = network.new_cache(64), DFlashCache(config=own)
    theirs.activate_past_recording()
    rows = torch.randn(40, 3 * HIDDEN, generator=torch.Generator().manual_seed(2))
    table = reference.get_input_embeddings().weight  # without the norm that its model applies to it
    at = 0
    for count in (17, 3, 1, 9):
        new = rows[at : at + count]
        network.take_in(new, cache)
        theirs.set_previous_accepted_tokens(count)
        if at:
            theirs.crop(-SIZE)
        wanted = model(
            noise_embeds=table[torch.tensor([TEXT[count - 1]] + [MASK] * (SIZE - 1))][None],
            context_hidden_states=new[None],
            position_ids=torch.arange(at, at + count + SIZE)[None],
            past_key_values=theirs,
        ).last_hidden_state[0]
        found = network.run(TEXT[count - 1], cache)
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)
        logits = 20.0 * torch.tanh(0.3 * reference.lm_head(wanted) / 20.0)
        torch.testing.assert_close(network.logits(found), logits, atol=1e-4, rtol=1e-4)
        at = cache.length


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
