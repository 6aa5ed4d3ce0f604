"""Inflates a head along with its target, so that its blocks weigh what blocks of the inflated target weigh.

The inflated target's hidden rows are the model's own and zeros (`inflate_tensor`), and its embedding too. The draft's
fusion and blocks keep the new channels at zero in the same way, so the draft guesses what it guessed before; so do the
blocks of Medusa heads, whose output maps grow as the target's head does. Prompt tokens are rows of the embedding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from engine.drafting.medusa import read_medusa
from engine.drafting.prompt_tokens import TENSOR, read_prompt_tokens
from engine.errors import ConfigInvalid, InvalidOption, TensorMismatch, UnsupportedModel
from engine.model.config import ModelConfig, read_config
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import ADAPTER_CONFIG, ADAPTER_SAFETENSORS, MEDUSA_TENSOR, is_prompt_tokens
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.benchmarks.inflate_model import AMPLITUDE, begin_folder, write_config
from tests.benchmarks.inflate_tensor import RULES, Axis, Extents, Rule, Widening, gains, network_axes
from tests.benchmarks.shard_writer import Planned, write_shards

#: What a draft has beside the blocks: EAGLE-2's fusion, then Dovetail's, whose matrices are stored (in, out).
DRAFT_RULES: dict[str, Rule] = {
    **RULES,
    "fc": Rule(("hidden", "joined"), dead_columns=True),
    "W_1": Rule(("hidden", "hidden"), dead_rows=True),
    "W_2": Rule(("hidden", "hidden"), dead_rows=True),
    "W_z": Rule(("joined", "hidden"), dead_rows=True, dead_columns=True),
    "medusa block": Rule(("hidden", "hidden"), dead_columns=True),
    "medusa map": RULES["lm_head"],
}
# Numbers of tokens, which stay.
_TOKENS = {"d2t": torch.int64, "t2d": torch.bool}


def inflate_draft(
    folder: Path,
    target: Path,
    out: Path,
    dtype: torch.dtype = torch.bfloat16,
    amplitude: float = AMPLITUDE,
    seed: int = 0,
) -> int:
    """Write the inflated form of a gated-fusion or concatenation draft, of Medusa heads, or of prompt tokens.

    Args:
        folder: A draft of the model that ``target`` was made from, in Dovetail's, EAGLE-2's, Medusa's or PEFT's layout.
        target: The inflated model.
        out: Made if it is missing.
        dtype: Of the matrices; norms stay in float32.
        amplitude: Of what is random in it; see `Widening`.
        seed: Likewise.

    Returns:
        The number of its parameters.

    Raises:
        UnsupportedModel: Another kind of draft, or a whole model.
        InvalidOption: The draft does not fit into the target, or ``out`` holds a model.
        CheckpointError: One of the folders is not usable.
        OutOfDisk: There is no room in ``out``.
    """
    checkpoint = HeadCheckpoint(folder)
    if is_prompt_tokens(folder):
        return _prompt_tokens(checkpoint, read_config(Checkpoint(target)), out)
    rules = {name: _rule(name) for name in checkpoint.shapes if _part(name) not in _TOKENS}
    parts = {_part(name) for name in rules}
    large_target = read_config(Checkpoint(target))
    axes, factors, config = (
        _medusa(checkpoint, large_target)
        if any(map(MEDUSA_TENSOR.fullmatch, rules))
        else _feature_draft(checkpoint, parts, large_target)
    )
    widening = Widening(axes, factors, amplitude, torch.Generator().manual_seed(seed))
    planned = [
        Planned(name, shape, _TOKENS[_part(name)])
        for name, shape in checkpoint.shapes.items()
        if name not in rules
    ]
    for name, rule in rules.items():
        extents = checkpoint.shapes[name]
        if extents != widening.narrow_shape(rule, extents):
            raise TensorMismatch(
                f"{name} of the draft is {extents}, and its config.json makes it "
                f"{widening.narrow_shape(rule, extents)}; choose another draft."
            )
        wide = widening.shape(rule, extents)
        planned.append(Planned(name, wide, torch.float32 if len(wide) == 1 else dtype))
    begin_folder(folder, out)

    def value(name: str) -> Tensor:
        stored = checkpoint.tensor(name)
        return widening.widen(rules[name], stored) if name in rules else stored

    write_shards(out, planned, (value(tensor.name) for tensor in planned))
    write_config(out, config)
    return sum(math.prod(tensor.shape) for tensor in planned if tensor.name in rules)


Sizes = tuple[dict[str, Axis], dict[str, float], dict[str, Any]]
"""Axes and gains of a widening, and the config of what it makes."""


def _prompt_tokens(checkpoint: HeadCheckpoint, target: ModelConfig, out: Path) -> int:
    """Write prompt tokens as `inflate_draft`: what they make the model say stays, and so does their calibration."""
    layout = read_prompt_tokens(checkpoint)
    _check_width("Prompt tokens", layout.hidden_size, target)
    begin_folder(checkpoint.folder, out)
    rows = checkpoint.tensor(TENSOR).float()
    wide = functional.pad(rows, (0, target.hidden_size - layout.hidden_size))
    sizes = {
        "token_dim": target.hidden_size,
        "num_layers": target.layers,
        "num_attention_heads": target.heads,
    }
    save_file({TENSOR: wide}, out / ADAPTER_SAFETENSORS, metadata={"format": "pt"})
    write_config(out, {**checkpoint.config, **sizes}, ADAPTER_CONFIG)
    return wide.numel()


def _check_width(what: str, channels: int, target: ModelConfig) -> None:
    if channels > target.hidden_size:
        raise InvalidOption(
            f"{what} of {channels} channels do not fit a model of {target.hidden_size}: inflate those of the model "
            "that the target was made from."
        )


def _medusa(checkpoint: HeadCheckpoint, target: ModelConfig) -> Sizes:
    layout = read_medusa(checkpoint)
    rows = layout.drafted or layout.vocabulary_size or 0
    _check_width("Heads", layout.hidden_size, target)
    axes = {
        "hidden": Axis(target.hidden_size, torch.arange(layout.hidden_size)),
        "vocabulary": Axis(rows, torch.arange(rows)),
    }
    return axes, {}, {**checkpoint.config, "hidden_size": target.hidden_size}


def _feature_draft(checkpoint: HeadCheckpoint, parts: set[str], target: ModelConfig) -> Sizes:
    config, folder = checkpoint.config, checkpoint.folder
    if "speculators_model_type" in config:
        raise UnsupportedModel(f"{folder} holds no draft in Dovetail's or EAGLE-2's own layout: choose one.")
    if not parts & {"fc", "W_1"} or "layers.0.input_layernorm" in parts:
        raise UnsupportedModel(
            f"{folder} holds no gated-fusion or concatenation draft: choose such a draft, or inflate a whole model "
            "with --parameters."
        )
    small, epsilon = _extents(config)
    large = _like(small, target)
    axes = network_axes(small, large)
    hidden = axes["hidden"]
    axes["joined"] = Axis(2 * hidden.size, torch.cat((hidden.live, hidden.size + hidden.live)))
    query_key_norm = any(part.endswith("self_attn.q_norm") for part in parts)
    wide = {
        **config,
        "hidden_size": large.hidden_size,
        "num_attention_heads": large.heads,
        "num_key_value_heads": large.kv_heads,
        "intermediate_size": large.intermediate_size,
        "rms_norm_eps": epsilon * small.hidden_size / large.hidden_size,
        **({"head_dim": large.head_dim} if "head_dim" in config else {}),
    }
    return axes, gains(small.hidden_size, large.hidden_size, query_key_norm), wide


def _part(name: str) -> str:
    """A tensor's name without the prefix, ``weight`` and ``bias``."""
    return name.removeprefix("model.").removesuffix(".weight").removesuffix(".bias")


def _rule(name: str) -> Rule:
    part = _part(name)
    medusa = MEDUSA_TENSOR.fullmatch(name)
    if medusa:
        part = "medusa block" if medusa[4] else "medusa map"
    if part.startswith("layers."):
        part = part.split(".", 2)[-1]
    rule = DRAFT_RULES.get(part)
    if rule is None:
        raise UnsupportedModel(
            f"The tensor {name} belongs to no gated-fusion or concatenation draft: choose such a draft."
        )
    return rule


def _extents(config: Mapping[str, Any]) -> tuple[Extents, float]:
    """The blocks' sizes and eps. A head is as wide as the hidden size makes it, whatever ``head_dim`` says."""
    try:
        heads = int(config["num_attention_heads"])
        return Extents(
            hidden_size=int(config["hidden_size"]),
            heads=heads,
            kv_heads=int(config.get("num_key_value_heads") or heads),
            head_dim=int(config["hidden_size"]) // heads,
            intermediate_size=int(config["intermediate_size"]),
            vocabulary_size=int(config["vocab_size"]),
        ), float(config.get("rms_norm_eps", 1e-6))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ConfigInvalid(
            "A value in the draft's config.json is missing or of the wrong kind; correct it, or choose another draft.",
            details=repr(error),
        ) from error


def _like(small: Extents, target: ModelConfig) -> Extents:
    """The sizes of the target's blocks, with heads of the draft's own width."""
    heads = target.hidden_size // small.head_dim
    group = max(target.group, small.heads // small.kv_heads)
    large = Extents(
        hidden_size=target.hidden_size,
        heads=heads,
        kv_heads=heads // group,
        head_dim=small.head_dim,
        intermediate_size=target.intermediate_size,
        vocabulary_size=small.vocabulary_size,
    )
    fits = all(value >= getattr(small, name) for name, value in vars(large).items())
    if not fits or heads % group or target.hidden_size % small.head_dim:
        raise InvalidOption(
            f"A draft of {small.hidden_size} channels and {small.heads} heads does not fit into blocks of "
            f"{target.hidden_size} channels: inflate the draft of the model that the target was made from."
        )
    return large
