"""Drafts that vote beside each of them alone, counted and not timed, and what voting itself takes.

``python -m tests.benchmarks.committee``. Each draft has the same number of nodes in every round, so that tokens of a
round depend on no clock: of the merged tree, of the path of the majority, and of each member by itself. Then the same
replies as the schedule has them: the share of a reply that merging, voting, weighing and the fit of lengths take.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean
from typing import Any

from engine.drafting.committee import Committee, MergedCommittee
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.drafting.lookup import PromptLookup
from engine.drafting.minions import LengthSelector, MajorityCommittee
from engine.messages import DEFAULT_MODEL, ChatMessage, Reply
from tests.benchmarks.lookup_prompts import PROMPTS
from tests.support.engine_client import EngineClient, engine_client
from tests.support.modes import changed_mode

# A member by itself, or a committee: its mode, and whether as published.
_WAYS = {
    "draft head": ("dovetail", False),
    "Medusa heads": ("ghidorah", False),
    "prompt tokens": ("ppd", False),
    "merged tree": ("minions", False),
    "majority": ("minions", True),
}


def answer(client: EngineClient, prompt: str, tokens: int, **options: Any) -> Reply:
    """A greedy reply with the drafts that ship for its mode."""
    return client.answer(
        [ChatMessage("user", prompt)],
        DEFAULT_MODEL,
        max_tokens=tokens,
        stop_loops=True,
        threads=2,
        **options,
    )


@contextmanager
def timed(calls: dict[tuple[type, str], str], spent_s: dict[str, float]) -> Iterator[None]:
    """Add up what methods take, by the names that they are given."""
    originals = {(kind, name): getattr(kind, name) for kind, name in calls}

    def clocked(call: Callable[..., Any], part: str) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            begun = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                spent_s[part] += time.perf_counter() - begun

        return run

    for (kind, name), call in originals.items():
        setattr(kind, name, clocked(call, calls[kind, name]))
    try:
        yield
    finally:
        for (kind, name), call in originals.items():
            setattr(kind, name, call)


def overheads(client: EngineClient, prompts: list[str], tokens: int, **options: Any) -> dict[str, float]:
    """Shares of the replies' time: of all that a committee does beside its members, of judging, and of the fit."""
    spent_s: dict[str, float] = defaultdict(float)
    calls = {
        (MergedCommittee, "propose"): "committee",
        (MajorityCommittee, "propose"): "committee",
        (Committee, "observe"): "committee",
        (FallbackDrafter, "propose"): "members",
        (FallbackDrafter, "observe"): "members",
        (PromptLookup, "propose"): "members",
        (PromptLookup, "observe"): "members",
        (MergedCommittee, "_judge"): "weights",
        (MajorityCommittee, "_judge"): "weights",
        (LengthSelector, "observe"): "fit",
    }
    decoded_s = 0.0
    with timed(calls, spent_s):
        for prompt in prompts:
            decoded_s += answer(client, prompt, tokens, **options).timings.predicted_ms / 1e3
    voting_s = spent_s["committee"] - spent_s["members"]
    return {
        "vote and weights": voting_s / decoded_s,
        "of these, judging": spent_s["weights"] / decoded_s,
        "fit": spent_s["fit"] / decoded_s,
    }


def main() -> None:
    """Count, time, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=["chat", "code", "summary", "list"])
    parser.add_argument("--prompts", type=int, default=2, help="of each kind")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--nodes", type=int, default=7, help="of each draft")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prompts = {kind: list(PROMPTS[kind][: options.prompts]) for kind in options.kinds}
    tau: dict[str, dict[str, float]] = {}
    rates: dict[str, dict[str, float]] = {}
    shares: dict[str, dict[str, float]] = {}
    with engine_client() as client:
        for name, (mode, as_published) in _WAYS.items():
            way = {"mode": mode, "as_published": as_published}
            with changed_mode(mode, rows=options.nodes):
                replies = {
                    kind: [answer(client, one, options.tokens, **way) for one in each] for kind, each in prompts.items()
                }
            tau[name] = {
                kind: fmean(reply.timings.mean_acceptance_length or 1.0 for reply in each)
                for kind, each in replies.items()
            }
            rates[name] = {
                kind: fmean(reply.timings.acceptance_rate or 0.0 for reply in each) for kind, each in replies.items()
            }
            print(
                name,
                *(f"{kind} {tau[name][kind]:.2f} ({rates[name][kind]:.2f})" for kind in tau[name]),
                flush=True,
            )
        every = [prompt for each in prompts.values() for prompt in each]
        for name in ("merged tree", "as published"):
            way = {"mode": "minions", "as_published": name == "as published"}
            shares[name] = overheads(client, every, options.tokens, **way)
            print(name, *(f"{part} {share:.2%}" for part, share in shares[name].items()), flush=True)
    if options.json:
        print(json.dumps({"tau": tau, "acceptance": rates, "overheads": shares}))


if __name__ == "__main__":
    main()
