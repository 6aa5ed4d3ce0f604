"""One training of a feature draft: the loop, the best state so far, and the folder that it ends in."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.training.draft.features import FeatureBatch
from engine.training.draft.loss import TargetEnds, chain_length, feature_loss
from engine.training.draft.network import DraftNetwork, DraftShape
from engine.training.draft.supply import KIND
from engine.training.trainer import Schedule, Supply, Trainer

# Of matrices and of the rest: a draft that begins as the best linear one would lose that to larger steps.
_RATES, _LINEAR_RATES = (0.02, 0.004), (0.006, 0.001)
WEIGHTS, CONFIG = "model.safetensors", "config.json"


@dataclass(frozen=True)
class Outcome:
    """Result of a training.

    Attributes:
        network: The best state, by the texts that were kept aside.
        chain_length: Tokens for each forward there, with chains as long as the training's.
        interrupted: It was stopped before its time was up.
    """

    network: DraftNetwork
    chain_length: float
    interrupted: bool


def train(
    network: DraftNetwork,
    ends: TargetEnds,
    supply: Supply[FeatureBatch],
    kept_aside: Sequence[FeatureBatch],
    minutes: float,
    out: TextIO,
    steps: int | None = None,
    threads: int = 1,
) -> Outcome:
    """Train until the time is up or the person presses Ctrl-C, and keep the best state.

    Args:
        network: Trained in place.
        ends: Of the target.
        supply: Steps.
        kept_aside: Batches that are only scored.
        minutes: How long.
        out: Where progress is reported.
        steps: Steps to take instead, whatever the time.
        threads: Batches that a step has, each worked on by one thread.
    """
    evaluate_s = 120.0 if steps else min(60.0, max(2.0, minutes * 60 / 12))
    rates = _LINEAR_RATES if network.shape.fusion == "eagle" else _RATES
    schedule = Schedule(minutes, steps, *rates, log_s=10.0, evaluate_s=evaluate_s)

    def loss(found: DraftNetwork, batch: FeatureBatch) -> Tensor:
        return feature_loss(found, half, batch)

    trainer = Trainer(network, schedule, loss, {KIND: 1 / threads}, None, threads, out)
    torch.set_num_threads(
        threads
    )  # the target's own forwards and the optimizer are outside the trainer's threads
    best: tuple[float, dict[str, Tensor]] = (-1.0, {})
    half = ends.in_half()

    def evaluate(found: DraftNetwork) -> str:
        nonlocal best
        score = chain_length(found, half, kept_aside)
        if score > best[0]:
            best = (score, {name: value.clone() for name, value in found.state_dict().items()})
        return f"{score:.2f} tokens for each forward on the texts kept aside"

    interrupted = False
    try:
        trainer.run(supply, evaluate)
    except KeyboardInterrupt:
        interrupted = True
    print(f"  {evaluate(network)}", file=out, flush=True)
    network.load_state_dict(best[1])
    return Outcome(network.eval(), best[0], interrupted)


def read_draft(folder: Path, shape: DraftShape) -> DraftNetwork | None:
    """The draft of this shape that a training wrote into a folder; None where there is none."""
    network = DraftNetwork(shape)
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        state = load_file(folder / WEIGHTS)
    except (OSError, ValueError, SafetensorError):
        return None
    return network if network.go_on_from(config, state) else None


def write_draft(network: DraftNetwork, folder: Path) -> None:
    """Write a draft's folder in the published layout: EAGLE's or Dovetail's, without the target's own tensors.

    Args:
        network: What to write; rounded to bfloat16.
        folder: Made if it is missing. Each file is written whole or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = json.dumps(network.published_config(), indent=2) + "\n"
    (folder / f"{CONFIG}.tmp").write_text(config, encoding="utf-8")
    save_file(network.published_state(), folder / f"{WEIGHTS}.tmp", metadata={"format": "pt"})
    for name in (CONFIG, WEIGHTS):
        os.replace(folder / f"{name}.tmp", folder / name)
        os.chmod(folder / name, 0o644)
