"""DFlash and DSpark drafts as each publisher lays them out, with random weights, and their blocks in plain torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

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
