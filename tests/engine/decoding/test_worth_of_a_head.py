"""The schedule of a head beside a CPU's target on recorded replies: it loses nearly nothing, and gains where it can."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from statistics import mean
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from engine.decoding.costs import Costs
from engine.decoding.worth import Worth
from engine.drafting.drafter import Drafter
from engine.drafting.eagle import ChainDraft, FeatureDraft, HeadDraft, ShareChances
from engine.drafting.lookup import MatchChances, PromptLookup
from engine.model.next_rows import MOST_ROWS
from tests.support.replayed_text import Replayed, replay

# The bundled model's replies at temperatures 0, 0.2 and 0.8; the two likeliest tokens of its draft, and their shares,
# at each step of a chain behind each token; and the times of a forward by its rows, on 2 cores of a Xeon with AMX, of
# the model as it is and of the same one widened to a billion parameters (tests/benchmarks/widened_model.py).
RECORDED = json.loads((Path(__file__).parent / "recorded" / "smollm2-draft.json").read_text(encoding="utf-8"))
# A further step of the head; a first one by the rows that it takes in, the last few by the short way; what a forward
# takes longer behind it (the same machine, in ms).
STEP, FIRST, ROW, BEGIN, FURTHER_ROW, PUSHED_OUT = 0.27, 0.45, 0.055, 0.6, 0.033, 0.25
OTHERS = 1000


class RecordedHead:
    """Stands where a `FeatureDraft` stands, and says what was recorded."""

    hidden_layers = (30,)

    def __init__(self, recorded: dict[str, Any], wrong: bool = False) -> None:
        self.asked = 0
        self.seconds = 0.0
        self.waiting = 0
        self._reply: list[int] = recorded["reply"]
        self._guesses: list[list[list[float]]] = recorded["guesses"]
        self._wrong = wrong
        self._at = -1
        self._tokens: list[int] = []

    def reset(self, prompt: Sequence[int]) -> int:
        self.waiting = len(prompt) - 1
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        self._at += len(tokens)
        self.waiting += len(tokens)

    def target_token(self, own: int) -> int:
        return -1 if self._wrong or own >= len(self._tokens) else self._tokens[own]

    def run_chain(
        self, goes_on: Callable[[Tensor], int | None], known: Callable[[Tensor, Sequence[int]], None]
    ) -> None:
        few = min(self.waiting, MOST_ROWS)
        more = self.waiting - few
        self.asked, self.waiting, self._tokens = self.asked + 1, 0, []
        ms = FIRST + ROW * few + (BEGIN + FURTHER_ROW * more if more else 0.0)
        seen = range(max(self._at - few + 1, 0), self._at)
        if seen:
            known(torch.stack([self._logits(at, ()) for at in seen]), self._reply[seen[0] + 1 : self._at + 1])
        path: list[int] = []
        while (token := goes_on(self._logits(self._at, path)[None])) is not None:
            path.append(token)
            ms += STEP
        self.seconds = ms / 1e3

    def _logits(self, at: int, path: Sequence[int]) -> Tensor:
        """Return the logits behind a path from a place: the recorded ones if the path is the head's own chain."""
        steps, step = self._guesses[at] if at < len(self._guesses) else [], len(path)
        known = step < len(steps) and all(int(one[0]) == token for one, token in zip(steps, path, strict=False))
        first, share, second, other = steps[step] if known else (-1, 0.05, -2, 0.01)
        logits = torch.full((OTHERS,), log(max(1 - share - other, 1e-3) / OTHERS))
        for token, its in ((first, share), (second, other)):
            logits[len(self._tokens)] = log(max(its, 2 / OTHERS))
            self._tokens.append(int(token))
        return logits


class Machine:
    """Decodes replies one after the other; what they teach stays."""

    def __init__(self, forward_ms: dict[str, float], step: float) -> None:
        self._ms = {int(rows): ms for rows, ms in forward_ms.items()}
        self.cost, self._chances, self._matches = Costs(step=step), ShareChances(HeadDraft.usual), MatchChances()
        self.asked = 0.0

    def decoded(self, recorded: dict[str, Any], wrong: bool = False) -> Replayed:
        head = RecordedHead(recorded, wrong)
        chain = ChainDraft(cast(FeatureDraft, head), PromptLookup(self._matches), self._chances)
        found = self._replayed(recorded, chain, lambda: head.seconds)
        self.asked = head.asked / len(found.rounds)
        return found

    def looked_up(self, recorded: dict[str, Any]) -> Replayed:
        return self._replayed(recorded, PromptLookup(self._matches), lambda: 0.0)

    def _replayed(self, recorded: dict[str, Any], drafter: Drafter, head_s: Callable[[], float]) -> Replayed:
        found = replay(
            *(
                recorded["prompt"],
                recorded["reply"],
                drafter,
                Worth(drafter, 15, self.cost),
                self._forward_s,
            ),
            draft_s=lambda draft: head_s() if draft.steps else 0.0,
            pushed_out_s=PUSHED_OUT / 1e3,
        )
        self._matches.keep()
        return found

    def _forward_s(self, rows: int) -> float:
        widest = max(self._ms)
        each = (self._ms[widest] - self._ms[1]) / (widest - 1)
        return (self._ms.get(rows) or self._ms[widest] + (rows - widest) * each) / 1e3


def small() -> Machine:
    return Machine(RECORDED["forward_ms"], 0.24)


def large() -> Machine:
    return Machine(RECORDED["wide_forward_ms"], 0.03)


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("make", [small, large])
def test_no_reply_is_slower_than_plain_by_more_than_three_hundredths(make: Callable[[], Machine], wrong: bool) -> None:
    """Each by itself, and one after the other with what those before have taught; of a head that is never right too."""
    machine = make()
    assert len(RECORDED["replies"]) >= 12
    for recorded in RECORDED["replies"]:
        assert make().decoded(recorded, wrong).speedup >= 0.97
        assert machine.decoded(recorded, wrong).speedup >= 0.97


def test_a_large_target_gains_by_a_head_what_lookup_cannot() -> None:
    machine, plain = large(), large()
    for temperature, least in ((0.0, 1.22), (0.2, 1.18), (0.8, 1.12)):
        replies = [each for each in RECORDED["replies"] if each["temperature"] == temperature]
        gains, asked = [], []
        for recorded in replies:
            gains.append(machine.decoded(recorded).speedup / plain.looked_up(recorded).speedup)
            asked.append(machine.asked)
        assert mean(gains) > least
        assert mean(asked) > 0.4


def test_rows_that_looked_dear_for_some_rounds_do_not_leave_a_head_alone_for_ever() -> None:
    """Another program slows the forwards of more than one row down, and is gone before a plain one is measured."""
    machine = large()
    for rows, ms in RECORDED["wide_forward_ms"].items():
        for _ in range(3):
            machine.cost.add_forward(int(rows) - 1, ms * (3 if int(rows) > 1 else 1) / 1e3)
    replies = [each for each in RECORDED["replies"] if each["temperature"] == 0.0]
    for recorded in replies * 2:
        machine.decoded(recorded)
    assert mean([machine.decoded(recorded).speedup for recorded in replies]) > 1.1
    assert machine.asked > 0.4


def test_a_head_that_became_worth_it_is_noticed() -> None:
    """Wrong for a reply, then right: in a long text it is tried again, and asked from then on."""
    machine = small()
    best = max(
        RECORDED["replies"],
        key=lambda each: sum(
            steps[0][0] == token for steps, token in zip(each["guesses"], each["reply"][1:], strict=True)
        ),
    )
    machine.decoded(best, wrong=True)
    right = {
        "prompt": best["prompt"],
        "reply": [1000 + at for at in range(500)],
        "guesses": [[[1001 + at + step, 0.97, 3, 0.01] for step in range(3)] for at in range(499)],
    }
    assert machine.decoded(right).speedup > 1.2
    assert machine.asked > 0.3
