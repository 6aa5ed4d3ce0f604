"""One training of a draft: the loop, the best state so far, and the folder that it ends in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TextIO, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.drafting.medusa import FILE as CALIBRATION
from engine.training.draft.features import FeatureBatch
from engine.training.draft.loss import Scores
from engine.training.draft.medusa import MedusaNetwork
from engine.training.draft.network import DraftNetwork, TrainedDraft
from engine.training.draft.prompt_tokens import PromptTokenNetwork
from engine.training.draft.small import TOKENIZER_FILES
from engine.training.draft.supply import KIND
from engine.training.trainer import Schedule, Supply, Trainer

#: Files of a draft's folder.
FILES = {
    *(
        name
        for kind in (DraftNetwork, MedusaNetwork, PromptTokenNetwork)
        for name in (kind.config_name, kind.file_name)
    ),
    *TOKENIZER_FILES,
    CALIBRATION,
}

N = TypeVar("N", bound=TrainedDraft)
N_in = TypeVar("N_in", bound=TrainedDraft, contravariant=True)


class Objective(Protocol[N_in]):
    """Loss that a draft learns by, and its score."""

    def loss(self, network: N_in, batch: FeatureBatch) -> Tensor:
        """Of one batch, a mean over the tokens that are to be drafted."""
        ...

    def score(self, network: N_in) -> Scores:
        """On texts that it has not learned."""
        ...


@dataclass(frozen=True)
class Outcome(Generic[N]):
    """Result of a training.

    Attributes:
        network: The best state, by the texts that were kept aside.
        scores: Its scores there.
        interrupted: It was stopped before its time was up.
    """

    network: N
    scores: Scores
    interrupted: bool


def train(
    network: N,
    objective: Objective[N],
    supply: Supply[FeatureBatch],
    minutes: float,
    out: TextIO,
    steps: int | None = None,
    threads: int = 1,
) -> Outcome[N]:
    """Train until the time is up or the person presses Ctrl-C, and keep the best state.

    Args:
        network: Trained in place.
        objective: Its loss and its scores.
        supply: Steps.
        minutes: Length of the training.
        out: Takes reports of progress.
        steps: Steps to take instead, whatever the time.
        threads: Batches that a step has, each worked on by one thread.
    """
    evaluate_s = 120.0 if steps else min(60.0, max(2.0, minutes * 60 / 12))
    schedule = Schedule(minutes, steps, *network.rates, *network.course, log_s=10.0, evaluate_s=evaluate_s)
    trainer = Trainer(network, schedule, objective.loss, {KIND: 1 / threads}, None, threads, out)
    torch.set_num_threads(
        threads
    )  # the target's own forwards and the optimizer are outside the trainer's threads
    best: tuple[Scores, dict[str, Tensor]] = (Scores(-1.0), {})

    def evaluate(found: N) -> str:
        nonlocal best
        scores = objective.score(found)
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


def read_draft(folder: Path, kind: type[TrainedDraft], make: Callable[[Tensor | None], N]) -> N | None:
    """The draft that a training wrote into a folder; None where there is none of this shape.

    Args:
        folder: The folder.
        kind: Its class, which names its files.
        make: Makes a network of the shape for the tokens that it may draft, as `FeatureGuesser` takes them.
    """
    try:
        config = json.loads((folder / kind.config_name).read_text(encoding="utf-8"))
        state = load_file(folder / kind.file_name)
    except (OSError, ValueError, SafetensorError):
        return None
    offsets = state.get("d2t")
    network = make(None if offsets is None else offsets + torch.arange(len(offsets)))
    return network if network.go_on_from(config, state) else None


def write_draft(network: TrainedDraft, folder: Path) -> None:
    """Write a draft's folder in a published layout, EAGLE's, Dovetail's, Medusa's, PEFT's or Llama's.

    Args:
        network: The draft to write.
        folder: Made if it is missing. Each file is written whole or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = json.dumps(network.published_config(), indent=2) + "\n"
    texts = {network.config_name: config, **network.beside}
    for name, text in texts.items():
        (folder / f"{name}.tmp").write_text(text, encoding="utf-8")
    save_file(network.published_state(), folder / f"{network.file_name}.tmp", metadata={"format": "pt"})
    own = (*texts, network.file_name)
    for name in own:
        os.replace(folder / f"{name}.tmp", folder / name)
        os.chmod(folder / name, 0o644)
    for name in FILES.difference(own):  # of another draft that was here
        (folder / name).unlink(missing_ok=True)
