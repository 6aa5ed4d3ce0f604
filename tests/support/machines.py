"""Machines that are written down, and models that are known by their configs alone."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.drafting.eagle import HeadDraft
from engine.drafting.head_layout import HeadLayout
from engine.drafting.kind import DraftKind
from engine.drafting.small_model import ModelDraft
from engine.gguf.stored_tensor import TensorTypes
from engine.hub.catalogue import require_catalogue_model
from engine.json_text import from_plain
from engine.messages import LoadOptions
from engine.messages.machine import MachineReport
from engine.model.config import ModelConfig, read_config
from engine.model.tensors import Slot, expected_tensors, layer_slots
from engine.model_file import OpenedModel
from engine.planning.machine_planner import MachinePlan, MachinePlanner
from engine.planning.model_facts import TargetFacts
from engine.weights.checkpoint import CheckpointOutline

_FOLDER = Path(__file__).resolve().parents[1] / "engine" / "planning" / "machines"
_LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
}


def _llama(layers: int, hidden: int, inner: int, heads: int, kv_heads: int, **others: Any) -> dict[str, Any]:
    sizes = {
        "vocab_size": 32000,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
    }
    return _LLAMA | sizes | others


CONFIGS: dict[str, dict[str, Any]] = {
    "tiny": _llama(60, 256, 512, 4, 2, vocab_size=2048),
    "smollm2": _llama(30, 576, 1536, 9, 3, vocab_size=49152, tie_word_embeddings=True),
    "qwen-0.5b": {
        **_llama(24, 896, 4864, 14, 2, vocab_size=151936, tie_word_embeddings=True),
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
    },
    "llama-1b": _llama(22, 2048, 5632, 32, 4),
    "llama-7b": _llama(32, 4096, 11008, 32, 32),
    "llama-8b": _llama(32, 4096, 14336, 32, 8, vocab_size=128256, max_position_embeddings=131_072),
    "llama-13b": _llama(40, 5120, 13824, 40, 40),
    "llama-70b": _llama(80, 8192, 28672, 64, 8),
}


def machine(name: str) -> MachineReport:
    """One of the machines in tests/engine/planning/machines."""
    return from_plain(MachineReport, json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def machine_names() -> list[str]:
    """All of them."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def write_outline(folder: Path, config: dict[str, Any], size_bytes: int | None = None) -> Path:
    """A folder with a config and, where a size is given, an index, but no weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    if size_bytes is not None:
        index = {
            "metadata": {"total_size": size_bytes},
            "weight_map": {"model.embed_tokens.weight": "model-00001-of-00001.safetensors"},
        }
        (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


@cache
def target(name: str) -> TargetFacts:
    """A model of `CONFIGS` or of the catalogue as if it were installed."""
    config = CONFIGS[name] if name in CONFIGS else require_catalogue_model(name).config
    with TemporaryDirectory() as folder:
        outline = CheckpointOutline(write_outline(Path(folder), config))
        return TargetFacts(name, read_config(outline), digest=f"digest of {name}")


def small_draft() -> ModelDraft:
    """The 1.1 B Llama as a draft."""
    facts = target("llama-1b")
    return ModelDraft(OpenedModel(facts.name, Path(facts.name)), facts.digest, facts.config)


def dovetail_head() -> HeadDraft:
    """A gated-fusion head with five blocks for the 7 B Llama, as Dovetail's best."""
    config = target("llama-7b").config
    hidden = config.hidden_size
    layout = HeadLayout(
        kind="gated",
        blocks=replace(config, layers=5),
        target_hidden_size=hidden,
        hidden_layers=None,
        draft_vocabulary_size=config.vocabulary_size,
        norm_before_residual=False,
        outer=tuple(Slot(f"W_{one}", (hidden, hidden), f"gate_{one}") for one in range(4)),
        layers=tuple(tuple(layer_slots(config, block)) for block in range(5)),
    )
    return HeadDraft(OpenedModel("dovetail head", Path("head")), "digest of the head", layout, config)


def stored_in(config: ModelConfig, kind: int, quantization: str | None = None) -> ModelConfig:
    """The same model with every matrix in a type."""
    types = TensorTypes(dict.fromkeys(expected_tensors(config), kind))
    return replace(config, types=types, quantization=quantization)


def plan_machine(
    report: MachineReport,
    target: TargetFacts,
    draft: DraftKind | None = None,
    options: LoadOptions | None = None,
    **more: Any,
) -> MachinePlan:
    """Every mode for a model on a machine, with a draft or without any."""
    return MachinePlanner(report, target, () if draft is None else (draft,), options, **more).plan()
