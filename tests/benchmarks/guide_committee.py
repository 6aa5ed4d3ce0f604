"""The guide's three drafts, each trained on another kind of prompt: each alone, and all of them voting.

    python -m tests.benchmarks.guide_committee [--prompts 8] [--tables counted timed lengths]

Mixes are the three kinds of prompts (tests/guide/prompts.py, with a seed that no training had) and all of them in turn.
Counted first, without a clock: chains of 4 guesses in every round, the paper's speculation length, so that acceptance
depends on the drafts alone. Then by the clock, as the schedule has it: the tokens per second of a way, and what they
would be with members side by side, as in the paper, where each has a device of its own: the same rounds with the
slowest member's time in the place of all members'. Last the lengths: fixed ones, the selector and `AdaptiveBudget`, by
the rounds behind a mix's first 20. Ways take turns prompt by prompt.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from engine.drafting.committee import Committee
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.messages import ChatMessage, RoundRecord, StatisticsUpdated, Unload
from engine.model.token_tree import Draft, DraftShape
from tests.guide.prompts import KINDS, prompts
from tests.support.engine_client import EngineClient, engine_client
from tests.support.toy import MODELS, TOY

DRAFTS = tuple(str(MODELS / f"guide-{kind}") for kind in KINDS)
SEED = 97  # of prompts that nothing was trained on
_ALL: dict[str, Any] = {"mode": "minions", "drafts": DRAFTS}
_VOTE: dict[str, Any] = {**_ALL, "merged_tree": False}
_ALONE: dict[str, dict[str, Any]] = {
    f"{kind} draft": {"mode": "dovetail", "drafts": (draft,), "draft_width": 1}
    for kind, draft in zip(KINDS, DRAFTS, strict=True)
}
_WAYS = {
    **_ALONE,
    "the paper's vote": _VOTE,
    "the vote, the voted one judged": {**_VOTE, "judge_all": False},
    "merged tree": _ALL,
}
_LENGTHS: tuple[Any, ...] = (2, 3, 4, 6, 8, 12, "selector", "adaptive")
_SETTLED = 20


@dataclass
class Counts:
    """What some replies took.

    Attributes:
        tokens: Emitted behind the first ones.
        seconds: Of their rounds.
        beside_s: Of these, what would be saved with members side by side.
        drafted: Tokens of drafts that were tested.
        held: Of these, those that held.
        rounds: Number of them.
    """

    tokens: int = 0
    seconds: float = 0.0
    beside_s: float = 0.0
    drafted: int = 0
    held: int = 0
    rounds: int = 0

    def add(self, records: Sequence[RoundRecord], saved_s: Sequence[float]) -> None:
        """Rounds of a reply, and what each would save with members side by side."""
        self.beside_s += sum(saved_s)
        for record in records:
            self.tokens += len(record.emitted)
            self.seconds += (record.draft_ms + record.verify_ms) / 1e3
            self.held += len(record.accepted)
            self.drafted += len(record.tokens)
            self.rounds += 1


@contextmanager
def members_timed() -> Iterator[list[float]]:
    """What each draft that is made would save if its members guessed side by side."""
    saved_s: list[float] = []
    of_round: list[float] = []
    propose = FallbackDrafter.propose
    together = {kind: kind.propose for kind in Committee.__subclasses__()}

    def alone(drafter: FallbackDrafter, shape: DraftShape) -> Draft:
        begun = time.perf_counter()
        try:
            return propose(drafter, shape)
        finally:
            of_round.append(time.perf_counter() - begun)

    def all_of(call: Callable[[Any, DraftShape], Draft]) -> Callable[[Any, DraftShape], Draft]:
        def run(committee: Any, shape: DraftShape) -> Draft:
            of_round.clear()
            draft = call(committee, shape)
            saved_s.append(sum(of_round) - max(of_round, default=0.0))
            return draft

        return run

    FallbackDrafter.propose = alone  # type: ignore[method-assign]
    for kind, call in together.items():
        kind.propose = all_of(call)
    try:
        yield saved_s
    finally:
        FallbackDrafter.propose = propose  # type: ignore[method-assign]
        for kind, call in together.items():
            kind.propose = call


def rounds_of(
    client: EngineClient, prompt: str, tokens: int, **values: Any
) -> tuple[list[RoundRecord], list[float]]:
    """Rounds of a greedy reply, and what each would save with members side by side."""
    client.events.clear()
    message = [ChatMessage("user", prompt)]
    with members_timed() as saved_s:
        client.answer(message, TOY, max_tokens=tokens, threads=1, temperature=0.0, **values)
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds]
    return rounds, [*saved_s, *[0.0] * len(rounds)][: len(rounds)]


def main() -> None:
    """Count, time, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=8, help="of each kind")
    parser.add_argument("--tokens", type=int, default=160)
    tables = ("counted", "timed", "lengths")
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    mixes = {kind: prompts(kind, options.prompts, SEED) for kind in KINDS}
    mixes["mixed"] = [prompt for each in zip(*mixes.values(), strict=True) for prompt in each]
    found: dict[str, dict[str, dict[str, Counts]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(Counts))
    )
    with engine_client() as client:

        def run(table: str, ways: dict[str, dict[str, Any]], skipped: int = 0) -> None:
            for mix, asked in mixes.items():
                client.engine.submit(Unload())  # what members have learned in the mix before
                seen: dict[str, int] = defaultdict(int)
                for prompt in asked:
                    for name, way in ways.items():
                        rounds, saved_s = rounds_of(client, prompt, options.tokens, **way)
                        first = max(0, skipped - seen[name])
                        seen[name] += len(rounds)
                        found[table][name][mix].add(rounds[first:], saved_s[first:])

        if "counted" in options.tables:
            run("counted", {name: {**way, "length": 4} for name, way in _WAYS.items()})
        if "timed" in options.tables:
            run("timed", {"plain": {"mode": "plain"}, **_WAYS})
        if "lengths" in options.tables:
            lengths = {f"length {length}": {**_VOTE, "length": length} for length in _LENGTHS}
            run("lengths", lengths, _SETTLED)
    for table, ways in found.items():
        print(table)
        for name, by_mix in ways.items():
            print(f"  {name:32}", end="")
            for mix in mixes:
                one = by_mix[mix]
                tau = one.tokens / max(1, one.rounds)
                rate = one.held / max(1, one.drafted)
                beside = one.tokens / max(1e-9, one.seconds - one.beside_s)
                print(
                    f" | {mix} {tau:.2f} ({rate:.2f}) {one.tokens / max(1e-9, one.seconds):.0f} [{beside:.0f}] tok/s",
                    end="",
                )
            print(flush=True)
    if options.json:
        print(
            json.dumps(
                {
                    table: {
                        name: {mix: vars(one) for mix, one in each.items()} for name, each in ways.items()
                    }
                    for table, ways in found.items()
                }
            )
        )


if __name__ == "__main__":
    main()
