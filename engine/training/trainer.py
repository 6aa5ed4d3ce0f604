"""The training loop: a schedule by time, checkpoints, and a line of progress now and then."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TextIO, TypeVar

import torch
from torch import Tensor, nn

from engine.training.optimizer import optimizers
from engine.training.product_type import product_type
from engine.training.running_time import running_time
from engine.weights.freed_memory import give_back_memory

# Time between two evaluations, at least, beside what one takes.
_BETWEEN_EVALUATIONS = 10


class Sample(Protocol):
    """A batch, as far as the trainer looks into it."""

    @property
    def kind(self) -> str:
        """Names its loss in the progress line, and its share in the step."""
        ...

    @property
    def token_count(self) -> int:
        """Number of tokens that it holds, for the progress line."""
        ...


N = TypeVar("N", bound=nn.Module)
S = TypeVar("S", bound=Sample)


class Supply(Protocol[S]):
    """Source of steps."""

    def next(self) -> list[S]:
        """The next step's batches, one of each kind."""
        ...


@dataclass
class Progress:
    """State that a checkpoint must remember beside the weights."""

    step: int = 0
    elapsed_s: float = 0.0
    tokens: int = 0


@dataclass(frozen=True)
class Schedule:
    """Length and learning rates of a training: the rates rise over the warm-up, then fall to zero by a cosine.

    The course is one of time, or of ``steps`` where these are given, so that trainings of unlike cost learn alike.
    """

    minutes: float
    steps: int | None = None
    matrix_rate: float = 0.02
    other_rate: float = 0.004
    warmup_share: float = 0.02
    hold_share: float = 0.3
    checkpoint_s: float = 180.0
    log_s: float = 20.0
    evaluate_s: float = 300.0

    def done(self, progress: Progress) -> float:
        """The share of the course that is done."""
        if self.steps is not None:
            return progress.step / self.steps
        return progress.elapsed_s / (self.minutes * 60)

    def factor(self, progress: float) -> float:
        """The share of the full rate when this share of the course is done."""
        if progress < self.warmup_share:
            return 0.05 + 0.95 * progress / self.warmup_share
        if progress < self.hold_share:
            return 1.0
        return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (progress - self.hold_share) / (1 - self.hold_share)))


class Trainer(Generic[N, S]):
    """Trains one network, and can stop and resume.

    Args:
        network: trained in place.
        schedule: times and rates.
        loss: the loss of one batch.
        shares: the weight of each batch's loss, by kind.
        checkpoint: where to keep the state; an existing file is resumed from.
        threads: how many batches of a step are worked on at once, each by one thread. Threads that share a batch
            wait for each other at every operation, which is far slower when other programs are busy too.
        out: where progress is reported, standard output by default.
    """

    def __init__(
        self,
        network: N,
        schedule: Schedule,
        loss: Callable[[N, S], Tensor],
        shares: dict[str, float],
        checkpoint: Path | None,
        threads: int = 1,
        out: TextIO | None = None,
    ) -> None:
        self.network, self.schedule, self.loss, self.shares = network, schedule, loss, shares
        self.checkpoint = checkpoint
        self._out = out or sys.stdout
        self.progress = Progress()
        torch.set_num_threads(1)
        self._workers = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        self._optimizers = optimizers(network, schedule.matrix_rate, schedule.other_rate)
        self._rates = [optimizer.param_groups[0]["lr"] for optimizer in self._optimizers]
        if checkpoint is not None and checkpoint.exists():
            self._resume(checkpoint)

    def step(self, batches: list[S]) -> dict[str, float]:
        """Learn from one batch of each kind; gives the loss of each."""
        factor = self.schedule.factor(self.schedule.done(self.progress))
        losses: dict[str, float] = {}
        weights = list(self.network.parameters())
        for batch, (loss, gradients) in zip(
            batches, self._workers.map(self._gradients, batches), strict=True
        ):
            losses[batch.kind] = loss
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

    def _gradients(self, batch: S) -> tuple[float, tuple[Tensor, ...]]:
        with torch.autocast("cpu", torch.bfloat16, enabled=product_type() is torch.bfloat16):
            loss = self.loss(self.network, batch)
        share = self.shares[batch.kind]
        return loss.item(), torch.autograd.grad(loss * share, list(self.network.parameters()))

    def run(self, supply: Supply[S], evaluate: Callable[[N], str] | None = None) -> None:
        """Learn until the schedule's time is up."""
        clock = running_time()
        last_log = last_save = last_evaluation = last = clock.seconds()
        means: dict[str, float] = {}
        tokens_before, evaluate_s = self.progress.tokens, self.schedule.evaluate_s
        while self.schedule.done(self.progress) < 1.0:
            for kind, value in self.step(supply.next()).items():
                means[kind] = value if kind not in means else 0.95 * means[kind] + 0.05 * value
            now = clock.seconds()
            self.progress.elapsed_s += now - last
            last = now
            if now - last_log > self.schedule.log_s:
                rate = (self.progress.tokens - tokens_before) / (now - last_log)
                losses = " ".join(f"{kind} {value:.3f}" for kind, value in means.items())
                print(
                    f"step {self.progress.step} "
                    f"{self.progress.elapsed_s / 60:.1f}/{self.schedule.minutes:g} min "
                    f"{self.progress.tokens / 1e6:.2f} M tokens {rate:.0f}/s loss {losses}",
                    file=self._out,
                    flush=True,
                )
                last_log, tokens_before = now, self.progress.tokens
                give_back_memory()
            if evaluate is not None and now - last_evaluation > evaluate_s:
                print(f"  {evaluate(self.network)}", file=self._out, flush=True)
                last_evaluation = last = last_log = clock.seconds()
                evaluate_s = max(evaluate_s, _BETWEEN_EVALUATIONS * (last - now))
                tokens_before = self.progress.tokens
            if now - last_save > self.schedule.checkpoint_s:
                self.save()
                last_save = now
        self.save()

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        if self.checkpoint is None:
            return
        state: dict[str, Any] = {
            "network": self.network.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "progress": vars(self.progress),
        }
        temporary = self.checkpoint.with_suffix(".tmp")
        torch.save(state, temporary)
        os.replace(temporary, self.checkpoint)

    def _resume(self, checkpoint: Path) -> None:
        state = torch.load(checkpoint, weights_only=True)
        self.network.load_state_dict(state["network"])
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.progress = Progress(**state["progress"])
        resumed = f"resumed at {self.progress.elapsed_s / 60:.1f} min, step {self.progress.step}"
        print(resumed, file=self._out, flush=True)
