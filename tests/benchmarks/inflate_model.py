"""Writes the inflated model of a checkpoint, one tensor at a time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import InvalidOption, UnsupportedModel
from engine.model.config import ModelConfig, read_config
from engine.model.tensors import check_tensors, expected_tensors
from engine.weights.checkpoint import INDEX, Checkpoint
from engine.weights.draft_kind import CONFIGS
from tests.benchmarks.inflate_shape import InflatedShape
from tests.benchmarks.inflate_tensor import RULES, Extents, Widening, gains, network_axes
from tests.benchmarks.shard_writer import SHARD_BYTES, Planned, write_shards

#: Of the random numbers. Up to 1 no row's int8 scale changes; BENCHMARKS.md has the agreement measured by format.
AMPLITUDE = 0.5
#: Not copied from the folder: what is written anew, weights, and what other formats were packed into.
_OWN_FILES = (*CONFIGS, "README.md")
_WEIGHTS = (".safetensors", ".index.json", ".bin", ".pt", ".pth", ".gguf", ".packed")


def inflate_model(
    folder: Path,
    out: Path,
    shape: InflatedShape,
    dtype: torch.dtype = torch.bfloat16,
    amplitude: float = AMPLITUDE,
    seed: int = 0,
    shard_bytes: int = SHARD_BYTES,
) -> ModelConfig:
    """Write the inflated model of a checkpoint.

    Args:
        folder: A Llama, Mistral, Qwen2, Qwen3 or SmolLM3 checkpoint.
        out: Made if it is missing.
        shape: The sizes of the result.
        dtype: Of its matrices. In bfloat16 a model whose weights were not is rounded, and so is one with query and key
            norms, whose projections are scaled, unless the hidden size grows by a power of 4.
        amplitude: Of what is random in it; see `Widening`.
        seed: Likewise.
        shard_bytes: Largest weights file.

    Returns:
        The result's config.

    Raises:
        UnsupportedModel: A family that cannot be inflated.
        InvalidOption: ``shape`` would shrink something, ``folder`` is a file, or ``out`` holds a model.
        OutOfDisk: There is no room in ``out``.
        CheckpointError: The checkpoint is not usable.
    """
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    _refuse(config)
    check_tensors(checkpoint, config)
    large = shape.config(config)
    begin_folder(folder, out)
    widening = Widening(
        network_axes(_extents(config), _extents(large)),
        gains(config.hidden_size, large.hidden_size, bool(config.family.query_key_norm)),
        amplitude,
        torch.Generator().manual_seed(seed),
    )
    sources = shape.sources(config.layers)
    planned = [
        Planned(name, extents, torch.float32 if len(extents) == 1 else dtype)
        for name, extents in expected_tensors(large).items()
    ]
    write_shards(
        out,
        planned,
        (_widened(checkpoint, config, widening, sources, tensor.name) for tensor in planned),
        shard_bytes,
    )
    write_config(out, _large_config(checkpoint, large, dtype))
    return large


def _refuse(config: ModelConfig) -> None:
    family = config.family
    others = family.fused_projections or family.sandwich_norm or family.scaled_embedding or family.multipliers
    if others or family.sinks or config.mixture or config.convolution or config.latent:
        raise UnsupportedModel(
            f"{family.name} cannot be inflated: choose a Llama, Mistral, Qwen2, Qwen3 or SmolLM3 checkpoint."
        )


def _extents(config: ModelConfig) -> Extents:
    return Extents(
        config.hidden_size,
        config.heads,
        config.kv_heads,
        config.head_dim,
        config.intermediate_size,
        config.vocabulary_size,
    )


def _widened(
    checkpoint: Checkpoint,
    config: ModelConfig,
    widening: Widening,
    sources: list[tuple[int, bool]],
    name: str,
) -> Tensor:
    """The values of one tensor of the inflated model."""
    layers = f"{config.tensor_prefix}layers."
    if not name.startswith(layers):
        return widening.widen(RULES[name.split(".")[-2]], checkpoint.tensor(name))
    index, _, part = name.removeprefix(layers).partition(".")
    source, live = sources[int(index)]
    rule = RULES[part.rpartition(".")[0]]
    return widening.widen(rule, checkpoint.tensor(f"{layers}{source}.{part}"), dead=not live)


def _large_config(checkpoint: Checkpoint, large: ModelConfig, dtype: torch.dtype) -> dict[str, Any]:
    values = {
        **checkpoint.config,
        "hidden_size": large.hidden_size,
        "num_hidden_layers": large.layers,
        "num_attention_heads": large.heads,
        "num_key_value_heads": large.kv_heads,
        "head_dim": large.head_dim,
        "intermediate_size": large.intermediate_size,
        "rms_norm_eps": large.norm_epsilon,
        "torch_dtype": str(dtype).removeprefix("torch."),
    }
    values.pop("dtype", None)
    if large.family.windows == "layer_types":
        values["layer_types"] = [
            "full_attention" if window is None else "sliding_attention" for window in large.windows
        ]
    if "no_rope_layers" in values:
        values["no_rope_layers"] = [0 if rope is None else 1 for rope in large.layer_ropes]
    return values


def begin_folder(folder: Path, out: Path) -> None:
    """Make ``out`` and copy what is neither weights nor config: the tokenizer, generation settings.

    Raises:
        InvalidOption: ``folder`` is a file, or ``out`` holds a model already.
    """
    if not folder.is_dir():
        raise InvalidOption(f"{folder} is one file: give the folder of a checkpoint with its config.json.")
    if any((out / name).exists() for name in CONFIGS):
        raise InvalidOption(f"{out} holds a model already: choose another folder for the inflated one.")
    out.mkdir(parents=True, exist_ok=True)
    (out / INDEX).unlink(missing_ok=True)  # what an interrupted run left must not be taken for this one's
    for path in folder.iterdir():
        if path.is_file() and path.name not in _OWN_FILES and not path.name.endswith(_WEIGHTS):
            shutil.copyfile(path, out / path.name)


def write_config(out: Path, values: dict[str, Any], name: str = CONFIGS[0]) -> None:
    """Write a config, last: a folder without one is not taken for a model."""
    (out / name).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
