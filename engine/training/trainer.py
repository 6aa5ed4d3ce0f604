"""The training loop and one training of a draft: schedule by time, optimizers, checkpoints, and the folder it ends in.

Muon (Keller Jordan, 2024) orthogonalises each momentum matrix by a Newton-Schulz iteration; its author reports that
small networks learn from fewer tokens with it than with AdamW alone. Medusa heads of SmolLM2-135M-Instruct do: after
200 steps of 2,000 tokens tau was 1.28 with it, and 1.24 and 1.21 with AdamW at rates of 0.003 and 0.001.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Protocol, TextIO, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from engine.drafting.medusa import FILE as CALIBRATION
from engine.drafting.medusa import write_beside
from engine.freed_memory import give_back_memory
from engine.training.draft_networks import DraftNetwork, MedusaNetwork, TrainedDraft
from engine.training.features import ExampleSupply, FeatureBatch
from engine.training.llama_network import fast_products, product_type
from engine.training.loss import Scores
from engine.training.prompt_tokens import PromptTokenNetwork
from engine.training.small_model import TOKENIZER_FILES

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
# Interval of looks at the time, and the gap above which the process was stopped: a busy machine is not that late.
_TICK_S, _STOPPED_S = 0.5, 5.0
# Least time between two evaluations, beside the time of one.
_BETWEEN_EVALUATIONS = 10
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

D = TypeVar("D", bound=TrainedDraft)
D_in = TypeVar("D_in", bound=TrainedDraft, contravariant=True)


def orthogonalise(matrix: Tensor, steps: int = 5) -> Tensor:
    """Return roughly the nearest semi-orthogonal matrix of ``matrix`` (rows, columns)."""
    a, b, c = NEWTON_SCHULZ
    tall = matrix.shape[0] > matrix.shape[1]
    # Not in batches, which CPUs multiply several times as slowly.
    x = (matrix.T.contiguous() if tall else matrix).to(product_type())
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    out: Tensor = (x.T if tall else x).to(matrix.dtype)
    return out


class Muon(torch.optim.Optimizer):
    """Momentum whose updates are orthogonalised; for weights of two dimensions.

    Args:
        units: Units of a weight's entries, in its shape or one that spreads to it; 1 if it has none. Updates are
            orthogonal, and of the size of the rate, in these units.
    """

    def __init__(
        self,
        weights: list[nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.01,
        units: Mapping[Tensor, Tensor] = MappingProxyType({}),
    ) -> None:
        self._units = units
        super().__init__(weights, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every weight once."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                average: Tensor = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                average.lerp_(weight.grad, 1 - group["momentum"])
                unit = self._units.get(weight, 1.0)
                update = orthogonalise(weight.grad.lerp(average, group["momentum"]) * unit) * unit
                scale = group["lr"] * max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
                weight.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-scale)


def optimizers(network: nn.Module, matrix_rate: float, other_rate: float) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices of the layers, and AdamW for the rest."""
    maps = {id(weight) for weight in getattr(network, "maps", ())}
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, weight in network.named_parameters():
        inner = weight.dim() == 2 and "embed" not in name and id(weight) not in maps
        (matrices if inner else others).append(weight)
    found: list[torch.optim.Optimizer] = []
    if matrices:
        found.append(Muon(matrices, matrix_rate, units=getattr(network, "units", {})))
    if others:
        found.append(torch.optim.AdamW(others, other_rate, betas=(0.9, 0.95), weight_decay=0.0, eps=1e-10))
    return found


class RunningTime:
    """Seconds since this was made, less those in which the process was stopped or the machine slept.

    Nothing tells that a process was stopped, so a thread looks at the time twice a second: time missing between two
    looks was not run.

    Args:
        now: Seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._begun = self._last = now()
        self._missing = 0.0
        threading.Thread(target=self._look, name="running-time", daemon=True).start()

    def seconds(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            now = self._now()
            gap, self._last = now - self._last, now
            if gap > _STOPPED_S:
                self._missing += gap
            return now - self._begun - self._missing

    def _look(self) -> None:
        while True:
            time.sleep(_TICK_S)
            self.seconds()


@cache
def running_time() -> RunningTime:
    """Return the process's own running time."""
    return RunningTime()


N = TypeVar("N", bound=nn.Module)


@dataclass
class Progress:
    """Steps, seconds and tokens so far."""

    step: int = 0
    elapsed_s: float = 0.0
    tokens: int = 0


@dataclass(frozen=True)
class Schedule:
    """Length and learning rates of a training: the rates rise over the warm-up, then fall to zero by a cosine.

    The course is one of time, or of ``steps`` if these are given, so that trainings of unlike cost learn alike.
    """

    minutes: float
    steps: int | None = None
    matrix_rate: float = 0.02
    other_rate: float = 0.004
    warmup_share: float = 0.02
    hold_share: float = 0.3
    log_s: float = 20.0
    evaluate_s: float = 300.0

    def done(self, progress: Progress) -> float:
        """Return the share of the course that is done."""
        if self.steps is not None:
            return progress.step / self.steps
        return progress.elapsed_s / (self.minutes * 60)

    def factor(self, progress: float) -> float:
        """Return the share of the full rate when this share of the course is done."""
        if progress < self.warmup_share:
            return 0.05 + 0.95 * progress / self.warmup_share
        if progress < self.hold_share:
            return 1.0
        return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (progress - self.hold_share) / (1 - self.hold_share)))


class Trainer(Generic[N]):
    """Trains one network.

    Args:
        network: trained in place.
        schedule: times and rates.
        loss: the loss of one batch.
        threads: Number of batches of a step that are worked on at once, each by one thread. Threads that share a
            batch wait for each other at every operation, which is far slower when other programs are busy too.
        out: Stream for reports of progress, standard output by default.
    """

    def __init__(
        self,
        network: N,
        schedule: Schedule,
        loss: Callable[[N, FeatureBatch], Tensor],
        threads: int = 1,
        out: TextIO | None = None,
    ) -> None:
        self.network, self.schedule, self.loss, self.share = network, schedule, loss, 1 / threads
        self._out = out or sys.stdout
        self.progress = Progress()
        torch.set_num_threads(1)
        self._workers = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        self._optimizers = optimizers(network, schedule.matrix_rate, schedule.other_rate)
        self._rates = [optimizer.param_groups[0]["lr"] for optimizer in self._optimizers]

    def step(self, batches: Sequence[FeatureBatch]) -> float:
        """Learn from a step's batches, one for each thread; return their mean loss."""
        factor = self.schedule.factor(self.schedule.done(self.progress))
        losses = 0.0
        weights = list(self.network.parameters())
        for batch, (loss, gradients) in zip(batches, self._workers.map(self._gradients, batches), strict=True):
            losses += self.share * loss
            self.progress.tokens += batch.token_count
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.grad = gradient if weight.grad is None else weight.grad.add_(gradient)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        for optimizer, rate in zip(self._optimizers, self._rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.progress.step += 1
        return losses

    def _gradients(self, batch: FeatureBatch) -> tuple[float, tuple[Tensor, ...]]:
        with fast_products():
            loss = self.loss(self.network, batch)
        return loss.item(), torch.autograd.grad(loss * self.share, list(self.network.parameters()))

    def run(self, supply: ExampleSupply, evaluate: Callable[[N], str] | None = None) -> None:
        """Learn until the schedule has no time for a further step like the last one; evaluations take of it too."""
        clock = running_time()
        last_log = last_evaluation = last = clock.seconds()
        mean = 0.0
        tokens_before, evaluate_s = self.progress.tokens, self.schedule.evaluate_s
        step_s = 0.0
        while self.schedule.done(replace(self.progress, elapsed_s=self.progress.elapsed_s + step_s)) < 1.0:
            begun = clock.seconds()
            loss = self.step(supply.next())
            mean = 0.95 * mean + 0.05 * loss if mean else loss
            now = clock.seconds()
            self.progress.elapsed_s += now - last
            last, step_s = now, now - begun
            if now - last_log > self.schedule.log_s:
                rate = (self.progress.tokens - tokens_before) / (now - last_log)
                print(
                    f"step {self.progress.step} "
                    f"{self.progress.elapsed_s / 60:.1f}/{self.schedule.minutes:g} min "
                    f"{self.progress.tokens / 1e6:.2f} M tokens {rate:.0f}/s loss {mean:.3f}",
                    file=self._out,
                    flush=True,
                )
                last_log, tokens_before = now, self.progress.tokens
                give_back_memory()
            if evaluate is not None and now - last_evaluation > evaluate_s:
                print(f"  {evaluate(self.network)}", file=self._out, flush=True)
                last_evaluation = last_log = clock.seconds()
                evaluate_s = max(evaluate_s, _BETWEEN_EVALUATIONS * (last_log - now))
                tokens_before = self.progress.tokens


class Objective(Protocol[D_in]):
    """Loss that a draft learns by, and its score."""

    def loss(self, network: D_in, batch: FeatureBatch) -> Tensor:
        """Return the loss of one batch, the mean over the tokens to be drafted."""
        ...

    def score(self, network: D_in) -> Scores:
        """Score the network on texts that it has not learned."""
        ...


@dataclass(frozen=True)
class Outcome(Generic[D]):
    """Result of a training."""

    network: D  # the best state, by the texts that were kept aside
    scores: Scores  # scores of that state on these texts
    interrupted: bool  # True if it was stopped before its time was up


def train(
    network: D,
    objective: Objective[D],
    supply: ExampleSupply,
    minutes: float,
    out: TextIO,
    steps: int | None = None,
    threads: int = 1,
    keep: Callable[[D, Scores], None] = lambda network, scores: None,
) -> Outcome[D]:
    """Train until the time is up or the user presses Ctrl-C, and keep the best state, the beginning included.

    The scores at the beginning and at the end take of the time too.

    Args:
        network: Trained in place.
        objective: Loss and scores of the draft.
        supply: Steps.
        minutes: Length of the training.
        out: Takes reports of progress.
        steps: Steps to take instead, whatever the time.
        threads: Batches that a step has, each worked on by one thread.
        keep: Called with each state that is the best so far, and its scores.
    """
    evaluate_s, clock = 120.0 if steps else min(60.0, max(2.0, minutes * 60 / 12)), running_time()
    schedule = Schedule(minutes, steps, *network.rates, *network.course, log_s=10.0, evaluate_s=evaluate_s)
    trainer = Trainer(network, schedule, objective.loss, threads, out)
    torch.set_num_threads(threads)  # the target's own forwards and the optimizer are outside the trainer's threads
    best: tuple[Scores, dict[str, Tensor]] = (Scores(-1.0), {})
    scored = -1  # the step that was scored last

    def evaluate(found: D) -> str:
        nonlocal best, scored
        scores, scored = objective.score(found), trainer.progress.step
        if scores.tau > best[0].tau:
            best = (scores, {name: value.clone() for name, value in found.state_dict().items()})
            keep(found, scores)
        return f"tau {scores.tau:.2f} on the texts kept aside"

    interrupted = False
    try:
        begun = clock.seconds()
        print(f"  {evaluate(network)}", file=out, flush=True)
        # The same time again is for the last scores.
        left_s = max(60 * minutes - 2 * (clock.seconds() - begun), 1.0)
        trainer.schedule = replace(schedule, minutes=left_s / 60)
        trainer.run(supply, evaluate)
    except KeyboardInterrupt:
        interrupted = True
    if scored < trainer.progress.step:
        print(f"  {evaluate(network)}", file=out, flush=True)
    network.load_state_dict(best[1])
    return Outcome(network.eval(), best[0], interrupted)


def read_draft(folder: Path, kind: type[TrainedDraft], make: Callable[[Tensor | None], D]) -> D | None:
    """Read the draft that a training wrote into a folder, or return None if there is none of this shape.

    Args:
        kind: Class of the draft, which names its files.
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


def write_draft(network: TrainedDraft, folder: Path, scores: Scores | None = None) -> None:
    """Write a draft's folder in a published layout, EAGLE's, Dovetail's, Medusa's, PEFT's or Llama's.

    Args:
        folder: Made if it is missing. Each file is written whole or not at all.
        scores: Its scores, by which plans know what it is worth.
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
    for name in FILES.difference(own):  # files of another draft that was here
        (folder / name).unlink(missing_ok=True)
    if scores is not None and scores.calibration is not None:
        write_beside(folder, scores.calibration)
