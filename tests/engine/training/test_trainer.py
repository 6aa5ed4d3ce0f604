"""The training loop on a tiny network, and its Hugging Face export."""

from __future__ import annotations

import io
import json
import random
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from engine.training import trainer
from engine.training.llama_network import Network, Shape
from engine.training.loss import Scores
from engine.training.trainer import Muon, Progress, Schedule, Trainer, orthogonalise, train

TINY = Shape(64, 32, 64, 2, 4, 2, max_position_embeddings=64)


@dataclass(frozen=True)
class Rows:
    tokens: torch.Tensor

    @property
    def token_count(self) -> int:
        return self.tokens.numel()


def batch() -> Rows:
    return Rows(torch.randint(0, 64, (6, 12), generator=torch.Generator().manual_seed(1)))


def next_token_loss(network: Network, rows: Rows) -> torch.Tensor:
    logits = network.logits(network(rows.tokens[:, :-1])).float()
    return functional.cross_entropy(logits.flatten(0, 1), rows.tokens[:, 1:].flatten())


def test_steps_reduce_the_loss() -> None:
    torch.manual_seed(0)
    learner = Trainer(
        Network(TINY),
        Schedule(1.0, warmup_share=0.0),
        next_token_loss,
    )
    losses = [learner.step([batch()]) for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]


def test_the_rate_rises_holds_and_falls() -> None:
    schedule = Schedule(10.0)
    rates = [schedule.factor(schedule.done(Progress(elapsed_s=seconds))) for seconds in (0, 12, 100, 400, 600)]
    assert rates[0] < rates[1] == rates[2] == 1.0
    assert rates[3] < 1.0
    assert rates[4] == pytest.approx(0.0, abs=1e-9)


def test_a_course_of_steps_ends_with_them_whatever_the_time() -> None:
    schedule = Schedule(10.0, steps=40)
    assert schedule.done(Progress(step=10, elapsed_s=9000.0)) == 0.25
    assert schedule.factor(schedule.done(Progress(step=40))) == pytest.approx(0.0, abs=1e-9)


def test_orthogonalised_updates_have_singular_values_near_one() -> None:
    torch.manual_seed(0)
    for matrix in (torch.randn(24, 16), torch.randn(16, 24)):
        values = torch.linalg.svdvals(orthogonalise(matrix))
        assert values.min() > 0.4
        assert values.max() < 1.4


def test_transformers_computes_the_same_logits(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    network = Network(TINY)
    for weight in network.parameters():
        weight.data = (weight.data + 0.1 * torch.randn_like(weight)).bfloat16().float()
    config = network.shape.as_config({"bos_token_id": None, "eos_token_id": 4, "pad_token_id": 0})
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(network.hugging_face_state(), tmp_path / "model.safetensors", metadata={"format": "pt"})
    model = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    tokens = torch.tensor([[random.Random(1).randrange(64) for _ in range(30)]])
    with torch.no_grad():
        torch.testing.assert_close(model(tokens).logits, network.logits(network(tokens)), atol=2e-4, rtol=2e-4)


def test_steps_are_those_of_a_matrix_in_its_own_units() -> None:
    torch.manual_seed(1)
    unit = torch.logspace(-2, 2, 12)
    given, wanted = torch.randn(40, 12) / unit, torch.randn(40, 8)
    weight = nn.Parameter(torch.randn(8, 12) * unit)
    scaled = nn.Parameter(weight.detach() / unit)
    ours, theirs = Muon([weight], 0.1, units={weight: unit}), Muon([scaled], 0.1)
    for _ in range(5):
        for optimizer, loss in (
            (ours, given @ weight.T - wanted),
            (theirs, (given * unit) @ scaled.T - wanted),
        ):
            optimizer.zero_grad()
            loss.square().mean().backward()
            optimizer.step()
    torch.testing.assert_close(weight / unit, scaled, atol=0.05, rtol=0.05)  # their products may be of 16 bits


class Clock:
    """A clock that stands still unless somebody takes time."""

    now = 0.0

    def seconds(self) -> float:
        return self.now


@pytest.mark.parametrize(("scoring_s", "step_s"), [(1.0, 2.0), (40.0, 2.0), (40.0, 7.0), (0.5, 31.0)])
def test_scores_and_steps_end_within_the_minutes(
    monkeypatch: pytest.MonkeyPatch, scoring_s: float, step_s: float
) -> None:
    clock = Clock()
    monkeypatch.setattr(trainer, "running_time", lambda: clock)

    class Learner(nn.Linear):
        rates, course = (0.02, 0.004), (0.02, 0.3)

    class Taking:
        scored = steps = 0

        def loss(self, network: Learner, batch: Rows) -> torch.Tensor:
            return network(torch.ones(1, 2)).sum()

        def score(self, network: Learner) -> Scores:
            clock.now += scoring_s
            self.scored += 1
            return Scores(1.0 + self.scored)

        def next(self) -> list[Rows]:
            clock.now += step_s
            self.steps += 1
            return [Rows(torch.zeros(1))]

    taking = Taking()
    train(Learner(2, 1), taking, taking, 4.0, io.StringIO())  # type: ignore[type-var, arg-type]
    assert clock.now <= 240.0
    assert 240.0 - clock.now < 2 * (scoring_s + step_s)
    assert taking.steps > 0
    assert taking.scored > 1
