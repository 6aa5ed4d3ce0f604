"""Draft heads in the published layouts with random weights, and the few lines of torch that say what they compute."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

HIDDEN, WIDE, HEADS, KV_HEADS, VOCABULARY, DRAFT_VOCABULARY = 64, 96, 4, 2, 384, 96
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": HIDDEN,
    "intermediate_size": WIDE,
    "num_hidden_layers": 1,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "vocab_size": VOCABULARY,
    "torch_dtype": "float16",
}
#: Beside the sizes, what Model-Optimizer writes of its EAGLE-3 (plugins/hf_spec_configs.py).
MODELOPT: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "draft_vocab_size": DRAFT_VOCABULARY,
    "rope_theta": 500000.0,
    "rope_scaling": None,
    "attention_bias": False,
    "attention_dropout": 0.0,
    "mlp_bias": False,
    "head_dim": HIDDEN // HEADS,
    "initializer_range": 0.02,
    "pretraining_tp": 1,
    "tie_word_embeddings": False,
    "use_cache": True,
    "eagle_config": {
        "eagle_aux_hidden_state_layer_ids": [1, 2, 3],
        "use_aux_hidden_state": True,
        "use_input_layernorm_in_first_layer": True,
        "use_last_layernorm": True,
        "use_mtp_layernorm": False,
        "next_layer_regular": True,
        "parallel_draft_step": 1,
        "parallel_draft_heads_num_layers": 1,
    },
}
LAYOUTS = (
    "eagle",
    "eagle-biasless",
    "eagle3",
    "eagle3.1",
    "eagle3-windowed",
    "modelopt",
    "speculators",
    "speculators-3.1",
    "speculators-qwen3",
    "speculators-eagle",
    "speculators-eagle-normed",
    "dovetail",
    "dovetail-prefixed",
)
#: Medusa heads: with maps of their own as published, the same under the names of a whole model, two blocks each, the
#: target's head for all of them, and for some tokens alone.
MEDUSA_LAYOUTS = ("medusa", "medusa-prefixed", "medusa-deep", "medusa-shared", "medusa-drafted")
MEDUSA_HEADS = 4


@dataclass
class Head:
    """A head: its files' contents, and what the reference needs to know of it."""

    layout: str
    config: dict[str, Any]
    state: dict[str, Tensor]
    theta: float = 10000.0
    window: int | None = None
    blocks: list[dict[str, Tensor]] = field(default_factory=list)
    outer: dict[str, Tensor] = field(default_factory=dict)

    def write(self, folder: Path, safetensors: bool) -> Path:
        """As one finds it on a hub."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.config), encoding="utf-8")
        medusa = self.layout in MEDUSA_LAYOUTS
        if safetensors:
            save_file(self.state, folder / f"{'medusa_lm_head' if medusa else 'model'}.safetensors")
        else:
            torch.save(self.state, folder / ("medusa_lm_head.pt" if medusa else "pytorch_model.bin"))
        return folder


def is_eagle3(layout: str) -> bool:
    """True if a layout is EAGLE-3's in essence: three layers' hidden states, a head of its own."""
    return layout.startswith(("eagle3", "modelopt")) or layout in (
        "speculators",
        "speculators-3.1",
        "speculators-qwen3",
    )


def make_head(layout: str, seed: int = 0) -> Head:
    """A random head in a layout of `LAYOUTS` or `MEDUSA_LAYOUTS`."""
    generator = torch.Generator().manual_seed(seed)
    if layout in MEDUSA_LAYOUTS:
        return _medusa(layout, generator)

    def matrix(rows: int, columns: int) -> Tensor:
        return 0.8 * columns**-0.5 * torch.randn(rows, columns, generator=generator)

    def vector(size: int, around: float = 1.0) -> Tensor:
        return around + 0.1 * torch.randn(size, generator=generator)

    eagle3 = is_eagle3(layout)
    count = 3 if layout.startswith("dovetail") else 2 if eagle3 and not layout.startswith("eagle3") else 1
    config = {**CONFIG, "num_hidden_layers": count}
    outer: dict[str, Tensor] = {"embed_tokens.weight": torch.randn(VOCABULARY, HIDDEN, generator=generator)}
    if layout.startswith("dovetail"):
        outer |= {
            "W_1": matrix(HIDDEN, HIDDEN),
            "W_2": matrix(HIDDEN, HIDDEN),
            "W_z": matrix(2 * HIDDEN, HIDDEN),
        }
        outer["input_layernorm.weight"] = vector(HIDDEN)
    elif eagle3:
        outer["fc.weight"] = matrix(HIDDEN, 3 * HIDDEN)
        outer["norm.weight"] = vector(HIDDEN)
        outer["lm_head.weight"] = matrix(DRAFT_VOCABULARY, HIDDEN)
        drafted = torch.randperm(VOCABULARY, generator=generator)[:DRAFT_VOCABULARY].sort().values
        outer["d2t"] = drafted - torch.arange(DRAFT_VOCABULARY)
        if layout != "modelopt":
            outer["t2d"] = torch.zeros(VOCABULARY, dtype=torch.bool).index_fill(0, drafted, True)
        if layout.endswith("3.1"):
            outer |= {f"fc_norm.{index}.weight": vector(HIDDEN) for index in range(3)}
    else:
        outer["fc.weight"] = matrix(HIDDEN, 2 * HIDDEN)
        if layout == "eagle":  # "bias" is true where config.json leaves it out
            outer["fc.bias"] = vector(HIDDEN, 0.0)
    blocks = [_block(index, eagle3, matrix, vector) for index in range(count)]
    if layout == "speculators-eagle-normed":
        blocks[0]["input_layernorm.weight"] = vector(HIDDEN)
        outer |= {f"{name}_layernorm.weight": vector(HIDDEN) for name in ("embedding", "pre_lm_head")}
    if layout == "speculators-qwen3":
        for block in blocks:
            block |= {f"self_attn.{name}_norm.weight": vector(HIDDEN // HEADS) for name in "qk"}
    head = Head(layout, config, {}, blocks=blocks, outer=outer)
    _name(head)
    return head


def _medusa(layout: str, generator: torch.Generator) -> Head:
    # Published files count fewer heads in config.json than they hold.
    config = {"medusa_num_heads": 2, "medusa_num_layers": 1, "base_model_name_or_path": "a/model"}
    prefix = "medusa_head." if layout == "medusa-prefixed" else ""
    blocks = 2 if layout == "medusa-deep" else 1
    state: dict[str, Tensor] = {}
    for head in range(MEDUSA_HEADS):
        for block in range(blocks):
            name = f"{prefix}{head}.{block}.linear"
            state[f"{name}.weight"] = torch.randn(HIDDEN, HIDDEN, generator=generator) * HIDDEN**-0.5
            state[f"{name}.bias"] = 0.1 * torch.randn(HIDDEN, generator=generator)
        if layout not in ("medusa-shared", "medusa-drafted"):
            rows = torch.randn(VOCABULARY, HIDDEN, generator=generator)
            state[f"{prefix}{head}.{blocks}.weight"] = 0.8 * HIDDEN**-0.5 * rows
    if layout == "medusa-shared":
        config |= {"hidden_size": HIDDEN, "vocab_size": VOCABULARY}
    if layout == "medusa-drafted":
        drafted = torch.randperm(VOCABULARY, generator=generator)[:DRAFT_VOCABULARY].sort().values
        state["d2t"] = drafted - torch.arange(DRAFT_VOCABULARY)
        state["t2d"] = torch.zeros(VOCABULARY, dtype=torch.bool).index_fill(0, drafted, True)
    return Head(layout, config, state)


def medusa_logits(head: Head, row: Tensor, target_head: Tensor) -> Tensor:
    """(heads, V) log-probabilities of Medusa heads over a hidden state, (h,); none for what they do not draft."""
    prefix = "medusa_head." if head.layout == "medusa-prefixed" else ""
    blocks = 2 if head.layout == "medusa-deep" else 1
    found = []
    for number in range(MEDUSA_HEADS):
        hidden = row
        for block in range(blocks):
            name = f"{prefix}{number}.{block}.linear"
            linear = functional.linear(hidden, head.state[f"{name}.weight"], head.state[f"{name}.bias"])
            hidden = hidden + functional.silu(linear)
        logits = head.state.get(f"{prefix}{number}.{blocks}.weight", target_head) @ hidden
        if "t2d" in head.state:
            logits = logits.masked_fill(~head.state["t2d"], float("-inf"))
        found.append(logits.log_softmax(-1))
    return torch.stack(found)


def _block(index: int, eagle3: bool, matrix: Any, vector: Any) -> dict[str, Tensor]:
    size, kv = HIDDEN, HIDDEN // HEADS * KV_HEADS
    columns = 2 * size if eagle3 and index == 0 else size
    block = {
        "self_attn.q_proj.weight": matrix(size, columns),
        "self_attn.k_proj.weight": matrix(kv, columns),
        "self_attn.v_proj.weight": matrix(kv, columns),
        "self_attn.o_proj.weight": matrix(size, size),
        "mlp.gate_proj.weight": matrix(WIDE, size),
        "mlp.up_proj.weight": matrix(WIDE, size),
        "mlp.down_proj.weight": matrix(size, WIDE),
        "post_attention_layernorm.weight": vector(size),
    }
    if eagle3 or index > 0:
        block["input_layernorm.weight"] = vector(size)
    if eagle3 and index == 0:
        block["hidden_norm.weight"] = vector(size)
    return block


def _name(head: Head) -> None:
    """Names and config.json as the layout has them."""
    prefix = "model." if head.layout in ("dovetail-prefixed", "eagle3.1") else ""
    outer, config = dict(head.outer), head.config
    first = "layers.0."
    if head.layout == "eagle-biasless":
        config |= {"bias": False, "rope_theta": 500000.0}
        head.theta = 500000.0
    elif head.layout.startswith("eagle3"):
        config["draft_vocab_size"] = DRAFT_VOCABULARY
        first = "midlayer."
        del outer["embed_tokens.weight"]  # the target's
        if head.layout == "eagle3.1":
            config |= {"fc_norm": True, "norm_output": True}
        if head.layout == "eagle3-windowed":
            head.window = 5
            config |= {"sliding_window": 5, "layer_types": ["sliding_attention"]}
    elif head.layout == "modelopt":
        config |= MODELOPT
        head.theta = MODELOPT["rope_theta"]
        del outer["embed_tokens.weight"]
    elif head.layout.startswith("speculators"):
        layer = {**config, "rope_theta": 500000.0, "head_dim": HIDDEN // HEADS}
        head.theta = 500000.0
        kind = "eagle3" if is_eagle3(head.layout) else "eagle"
        if head.layout == "speculators-qwen3":
            layer["model_type"] = "qwen3"
        config.clear()
        config |= {
            "architectures": ["Eagle3Speculator"],
            "speculators_model_type": kind,
            "speculators_config": {"algorithm": kind, "proposal_methods": [], "verifier": {}},
            "transformer_layer_config": layer,
        }
        if kind == "eagle3":
            config |= {"draft_vocab_size": DRAFT_VOCABULARY, "norm_before_residual": True}
            if head.layout == "speculators-3.1":
                config |= {"fc_norm": True, "norm_output": True, "norm_before_fc": False}
                layer |= {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention"]}
                head.window = 6
        else:
            outer["fusion_fc.weight"] = outer.pop("fc.weight")
            config |= {"layernorms": head.layout.endswith("normed"), "fusion_bias": False}
            first = "transformer."
    names = [first, *(f"layers.{index}." for index in range(1, len(head.blocks)))]
    head.state = {f"{prefix}{name}": value for name, value in outer.items()}
    for start, block in zip(names, head.blocks, strict=True):
        head.state |= {f"{prefix}{start}{name}": value for name, value in block.items()}


def norm(rows: Tensor, weight: Tensor) -> Tensor:
    """RMS norm."""
    return rows * torch.rsqrt(rows.pow(2).mean(-1, keepdim=True) + CONFIG["rms_norm_eps"]) * weight


def reference(head: Head, rows: Tensor, tokens: Tensor, drafted: Tensor, embedding: Tensor) -> Tensor:
    """The head's outputs over a whole chain, without a cache.

    Args:
        head: Its weights.
        rows: (n, k * h) the target's hidden rows of the first n positions.
        tokens: (n + d,) the tokens behind each position.
        drafted: (d, h) the head's own outputs, which take the place of further rows.
        embedding: The target's, for a head without one.

    Returns:
        (n + d, h).
    """
    outer = head.outer
    table = outer["embed_tokens.weight"] if any("embed_tokens" in name for name in head.state) else embedding
    token = table[tokens]
    eagle3 = is_eagle3(head.layout)
    if "fc_norm.0.weight" in outer:
        parts = rows.chunk(3, -1)
        rows = torch.cat([norm(part, outer[f"fc_norm.{at}.weight"]) for at, part in enumerate(parts)], -1)
    hidden = torch.cat((rows @ outer["fc.weight"].T if eagle3 else rows, drafted))
    attended = None
    if eagle3:
        block = head.blocks[0]
        normed = norm(hidden, block["hidden_norm.weight"])
        attended = torch.cat((norm(token, block["input_layernorm.weight"]), normed), -1)
        hidden = normed if head.config.get("norm_before_residual") else hidden
    elif head.layout.startswith("dovetail"):
        left = hidden @ outer["W_1"]
        right = functional.silu(norm(token, outer["input_layernorm.weight"]) @ outer["W_2"])
        gate = torch.sigmoid(torch.cat((left, right), -1) @ outer["W_z"])
        hidden = gate * left + (1 - gate) * right
    else:
        if "embedding_layernorm.weight" in outer:
            token = norm(token, outer["embedding_layernorm.weight"])
        hidden = torch.cat((token, hidden), -1) @ outer["fc.weight"].T + outer.get("fc.bias", torch.zeros(HIDDEN))
    for index, block in enumerate(head.blocks):
        if index or (not eagle3 and "input_layernorm.weight" in block):
            attended = norm(hidden, block["input_layernorm.weight"])
        window = head.window if index == 0 else None
        hidden = hidden + _attention(block, hidden if attended is None else attended, head.theta, window)
        attended = None
        mapped = norm(hidden, block["post_attention_layernorm.weight"])
        gate = functional.silu(mapped @ block["mlp.gate_proj.weight"].T)
        hidden = hidden + (gate * (mapped @ block["mlp.up_proj.weight"].T)) @ block["mlp.down_proj.weight"].T
    if "pre_lm_head_layernorm.weight" in outer:
        return norm(hidden, outer["pre_lm_head_layernorm.weight"])
    return norm(hidden, outer["norm.weight"]) if head.config.get("norm_output") else hidden


def _attention(block: Mapping[str, Tensor], rows: Tensor, theta: float, window: int | None) -> Tensor:
    size = HIDDEN // HEADS
    angles = torch.arange(len(rows))[:, None] * theta ** -(torch.arange(0, size, 2) / size)
    cosine, sine = angles.cos().repeat(1, 2)[:, None], angles.sin().repeat(1, 2)[:, None]

    def heads(name: str) -> Tensor:
        return (rows @ block[f"self_attn.{name}_proj.weight"].T).view(len(rows), -1, size)

    def turn(states: Tensor) -> Tensor:
        first, second = states.chunk(2, -1)
        return states * cosine + torch.cat((-second, first), -1) * sine

    query, key, value = heads("q"), heads("k"), heads("v")
    if "self_attn.q_norm.weight" in block:
        query, key = (
            norm(query, block["self_attn.q_norm.weight"]),
            norm(key, block["self_attn.k_norm.weight"]),
        )
    query, key = turn(query), turn(key)
    key, value = (states.repeat_interleave(HEADS // KV_HEADS, 1) for states in (key, value))
    scores = torch.einsum("qhd,khd->hqk", query, key) * size**-0.5
    distance = torch.arange(len(rows))[:, None] - torch.arange(len(rows))
    hidden = (distance < 0) | (distance >= (window or len(rows)))
    scores = scores.masked_fill(hidden, float("-inf"))
    mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1), value).reshape(len(rows), -1)
    return mixed @ block["self_attn.o_proj.weight"].T


def reference_logits(head: Head, hidden: Tensor, target_head: Tensor) -> Tensor:
    """(n, V) log-probabilities over the target's vocabulary; tokens that the head does not draft have none."""
    if not is_eagle3(head.layout):
        return (hidden @ target_head.T).log_softmax(-1)
    normed = hidden if head.config.get("norm_output") else norm(hidden, head.outer["norm.weight"])
    own = (normed @ head.outer["lm_head.weight"].T).log_softmax(-1)
    spread = torch.full((len(hidden), VOCABULARY), float("-inf"))
    spread[:, torch.arange(DRAFT_VOCABULARY) + head.outer["d2t"]] = own
    return spread
