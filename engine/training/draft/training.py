"""One training of a draft: the loop, the best state so far, and the folder that it ends in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.drafting.head_calibration import FILE as CALIBRATION
from engine.training.draft.features import FeatureBatch
from engine.training.draft.loss import Scores, TargetEnds, draft_loss, score
from engine.training.draft.medusa import MedusaNetwork
from engine.training.draft.network import DraftNetwork, TrainedDraft
from engine.training.draft.supply import KIND
from engine.training.trainer import Schedule, Supply, Trainer

CONFIG, WEIGHTS = "config.json", (DraftNetwork.file_name, MedusaNetwork.file_name)


@dataclass(frozen=True)
class Outcome:
    """Result of a training.

    Attributes:
        network: The best state, by the texts that were kept aside.
        scores: Its scores there.
        interrupted: It was stopped before its time was up.
    """

    network: TrainedDraft
    scores: Scores
    interrupted: bool


def train(
    network: TrainedDraft,
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
        minutes: Length of the training.
        out: Takes reports of progress.
        steps: Steps to take instead, whatever the time.
        threads: Batches that a step has, each worked on by one thread.
    """
    evaluate_s = 120.0 if steps else min(60.0, max(2.0, minutes * 60 / 12))
    schedule = Schedule(minutes, steps, *network.rates, log_s=10.0, evaluate_s=evaluate_s)

    def loss(found: TrainedDraft, batch: FeatureBatch) -> Tensor:
        return draft_loss(found, half, batch)

    trainer = Trainer(network, schedule, loss, {KIND: 1 / threads}, None, threads, out)
    torch.set_num_threads(
        threads
    )  # the target's own forwards and the optimizer are outside the trainer's threads
    best: tuple[Scores, dict[str, Tensor]] = (Scores(-1.0), {})
    half = ends.in_half()

    def evaluate(found: TrainedDraft) -> str:
        nonlocal best
        scores = score(found, half, kept_aside)
        if scores.tau > best[0].tau:
            best = (scores, {name: value.clone() for name, value in found.state_dict().items()})
        return f"tau {scores.tau:.2f} on the texts kept aside"

    interrupted = False
    try:
        trainer.run(supply, evaluate)
    except KeyboardInterrupt:
        interrupted = True
    print(f"  {evaluate(network)}", file=out, flush=True)
    network.load_state_dict(best[1])
    return Outcome(network.eval(), best[0], interrupted)


def read_draft(
    folder: Path, file_name: str, make: Callable[[Tensor | None], TrainedDraft]
) -> TrainedDraft | None:
    """The draft that a training wrote into a folder; None where there is none of this shape.

    Args:
        folder: The folder.
        file_name: Of the weights.
        make: Makes a network of the shape for the tokens that it may draft, as `TrainedDraft` takes them.
    """
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        state = load_file(folder / file_name)
    except (OSError, ValueError, SafetensorError):
        return None
    offsets = state.get("d2t")
    network = make(None if offsets is None else offsets + torch.arange(len(offsets)))
    return network if network.go_on_from(config, state) else None


def write_draft(network: TrainedDraft, folder: Path) -> None:
    """Write a draft's folder in the published layout, EAGLE's, Dovetail's or Medusa's, without the target's tensors.

    Args:
        network: The draft to write; rounded to bfloat16.
        folder: Made if it is missing. Each file is written whole or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = json.dumps(network.published_config(), indent=2) + "\n"
    (folder / f"{CONFIG}.tmp").write_text(config, encoding="utf-8")
    save_file(network.published_state(), folder / f"{network.file_name}.tmp", metadata={"format": "pt"})
    for name in (CONFIG, network.file_name):
        os.replace(folder / f"{name}.tmp", folder / name)
        os.chmod(folder / name, 0o644)
    for name in {*WEIGHTS, CALIBRATION} - {network.file_name}:  # of another draft that was here
        (folder / name).unlink(missing_ok=True)
