"""A machine with a clock of its own: what a schedule decides there, and what that costs beside plain decoding."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.drafting.schedule import Schedule
from engine.messages import RoundRecord


@dataclass
class FakeMachine:
    """Chains whose tokens hold with the acceptance of their position; plain decoding takes 1 s for a token.

    Attributes:
        acceptance: From tokens emitted so far to the acceptance there.
        row_s: Seconds that each row beyond the first adds to a forward.
        draft_s: Seconds of a draft, whatever its size.
        node_s: Seconds that each node of it adds.
        catch_up_s: Seconds of the drafter for each token that it missed.
        prompt_s: Further seconds of the first draft.
        noise: Every time is off by up to this share.
        finds: The chance that the drafter finds anything to draft.
        waits: The share of each forward in which it waits for weights.
        probes: The share of a draft's rows that are probes; all are where the round before had none to ask for tokens.
        seed: Of acceptance and noise.
    """

    acceptance: Callable[[int], float]
    row_s: float = 0.05
    draft_s: float = 0.0
    node_s: float = 0.0
    catch_up_s: float = 0.0
    prompt_s: float = 0.0
    noise: float = 0.0
    finds: float = 1.0
    waits: float = 0.0
    probes: float = 0.0
    seed: int = 0
    time_s: float = 0.0
    tokens: int = 0
    budgets: list[int] = field(default_factory=list)
    records: list[RoundRecord] = field(default_factory=list)

    def run(self, schedule: Schedule, tokens: int) -> FakeMachine:
        """Emit this many tokens."""
        chance = random.Random(self.seed)
        missed, read, asked = 0, False, False
        goal = self.tokens + tokens
        while self.tokens < goal:
            budget = schedule.shape().rows
            self.budgets.append(budget)
            draft_s, accepted, probes = 0.0, 0, 0
            drafted = budget if chance.random() < self.finds else 0
            if drafted:
                draft_s = (
                    self.draft_s + self.node_s * drafted + self.catch_up_s * missed + (0.0 if read else self.prompt_s)
                )
                missed, read = 0, True
                if self.probes:
                    probes = int(self.probes * drafted) if asked else drafted
                while accepted < drafted - probes and chance.random() < self.acceptance(self.tokens):
                    accepted += 1
            else:
                missed += 1
            asked = probes > 0
            times = [
                seconds * (1 + self.noise * chance.uniform(-1, 1)) for seconds in (draft_s, 1 + self.row_s * drafted)
            ]
            record = RoundRecord(
                position=self.tokens,
                tokens=(0,) * (drafted - probes),
                parents=tuple(range(-1, drafted - probes - 1)),
                scores=(),
                accepted=tuple(range(accepted)),
                emitted=(0,) * (accepted + 1),
                draft_ms=times[0] * 1e3,
                verify_ms=times[1] * 1e3,
                waited_ms=self.waits * times[1] * 1e3,
                probes=(-1,) * probes,
            )
            schedule.observe(record)
            self.records.append(record)
            self.time_s += sum(times)
            self.tokens += accepted + 1
        return self

    def share_drafted(self, start: int = 0) -> float:
        """Share of the rounds from this one on that were allowed to draft."""
        budgets = self.budgets[start:]
        return sum(budget > 0 for budget in budgets) / len(budgets)
