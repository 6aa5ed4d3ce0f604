"""Recorded replies decoded again by the schedules: tokens a second as a multiple of plain decoding's.

    python -m tests.benchmarks.worth [--write FILE] [--against FILE]

Replies, guesses and the seconds of forwards are recorded (tests/engine/decoding/recorded), so the figures depend on the
rules alone: the same on every machine, to compare a change of a rule with the rule before. ``--against`` prints a
file's figures beside, which ``--write`` has kept. Of each case the figure is all replies' plain time over all their
time, and the worst reply's.

Cases: lookup on chats and on texts that repeat themselves; a head's chains with lookup beside; trees of the same
guesses without chances, whose draft takes time as heads' do or a small model's; chains that hold with a fixed chance;
a model's own layer (MTP), whose guesses hold as often as published ones do, with lookup beside, after lookup alone;
four and eight texts whose forwards are shared.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from engine.decoding.costs import Costs
from engine.decoding.sequence import AskedRows, TokenSequence
from engine.decoding.worth import SharedForwards, Worth
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.eagle import ChainDraft, FeatureDraft, ShareChances
from engine.drafting.lookup import MatchChances, PromptLookup
from engine.drafting.mtp import NextLayerDraft
from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape
from tests.engine.decoding.test_worth_of_a_head import RECORDED as HEADS
from tests.engine.decoding.test_worth_of_a_head import RecordedHead, large, small
from tests.support.fake_machine import FakeMachine
from tests.support.replayed_text import Replayed, accepted_path, replay

RECORDED = Path(__file__).parents[1] / "engine" / "decoding" / "recorded"
CHATS: dict[str, Any] = json.loads((RECORDED / "smollm2-chats.json").read_text(encoding="utf-8"))

Forward = Callable[[int], float]
Figures = dict[str, tuple[float, float]]


def recorded_s(forward_ms: dict[str, float]) -> Forward:
    """Seconds by rows, between and beyond what was measured on lines."""
    known = sorted((int(rows), ms / 1e3) for rows, ms in forward_ms.items())
    (before, before_s), (last, last_s) = known[-2:]

    def forward_s(rows: int) -> float:
        if rows > last:
            return last_s + (rows - last) * (last_s - before_s) / (last - before)
        return next(seconds for width, seconds in known if width >= rows)

    return forward_s


MACHINES: dict[str, Forward] = {
    "recorded": recorded_s(CHATS["forward_ms"] | {"64": 48.0}),
    "row 0.03": lambda rows: 1 + 0.03 * (rows - 1),
    "row 0.1": lambda rows: 1 + 0.1 * (rows - 1),
    "row 0.3": lambda rows: 1 + 0.3 * (rows - 1),
}


def repeating(holds: float, tokens: int, seed: int) -> dict[str, list[int]]:
    """A prompt, and a reply that repeats it, each token with this chance; else it jumps or says a new token."""
    draws = random.Random(seed)
    prompt = [draws.randrange(50) for _ in range(300)]
    reply: list[int] = []
    place = 0
    for _ in range(tokens):
        if draws.random() >= holds:
            place = draws.randrange(300)
            reply.append(draws.randrange(1000, 2000) if draws.random() < 0.3 else prompt[place])
        else:
            reply.append(prompt[place % 300])
        place += 1
    return {"prompt": prompt, "reply": reply}


TEXTS = {"chats": CHATS["replies"]} | {
    f"texts that hold {holds}": [repeating(holds, 150, seed) for seed in range(32)] for holds in (0.5, 0.8, 0.95)
}


class RecordedTree(Drafter):
    """Drafts the recorded guesses of a head as a tree, the likeliest nodes first, without chances."""

    def __init__(self, reply: Sequence[int], guesses: Sequence[Sequence[Sequence[float]]]) -> None:
        self._guesses, self._at = guesses, -1
        self.missed = 0

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin."""
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Go on."""
        self._at += len(tokens)
        self.missed += 1

    def propose(self, shape: DraftShape) -> Draft:
        """A chain with the second likeliest beside each node."""
        nodes: list[tuple[float, int, int]] = []
        chance, above = 1.0, -1
        for first, share, second, other in self._guesses[self._at] if self._at < len(self._guesses) else []:
            nodes += [(chance * share, above, int(first)), (chance * other, above, int(second))]
            chance, above = chance * share, len(nodes) - 2
        order = sorted(range(len(nodes)), key=lambda node: -nodes[node][0])[: shape.rows]
        place = {node: at for at, node in enumerate(order)} | {-1: -1}
        return Draft(
            tuple(nodes[node][2] for node in order),
            tuple(place[nodes[node][1]] for node in order),
            tuple(nodes[node][0] for node in order),
        )


def told(replies: Sequence[Replayed]) -> tuple[float, float]:
    """All plain time over all time, and the least of any reply."""
    plain_s, seconds = (sum(getattr(one, name) for one in replies) for name in ("plain_seconds", "seconds"))
    return plain_s / seconds, min(one.speedup for one in replies)


def lookup() -> Iterator[tuple[str, tuple[float, float]]]:
    """Chats by prompt lookup, each by itself and one after the other."""
    for (texts, replies), (name, forward_s), noise in product(TEXTS.items(), MACHINES.items(), (0.0, 0.5)):
        alone, later = [], []
        cost, chances = Costs(), MatchChances()
        for seed, chat in enumerate(replies):
            text = chat["prompt"], chat["reply"]
            alone.append(replay(*text, PromptLookup(), Worth(PromptLookup()), forward_s, noise, seed))
            later.append(replay(*text, PromptLookup(chances), Worth(PromptLookup(), 31, cost), forward_s, noise, seed))
            chances.keep()
        yield f"lookup, {texts}, {name}, noise {noise}, alone", told(alone)
        yield f"lookup, {texts}, {name}, noise {noise}, later", told(later)


def heads() -> Iterator[tuple[str, tuple[float, float]]]:
    """Chains of a head, by kind and temperature."""
    for make in (small, large):
        for wrong in (False, True):
            machine = make()
            by_kind = defaultdict(list)
            for recorded in HEADS["replies"]:
                found = machine.decoded(recorded, wrong)
                for kind in (recorded["kind"], f"temperature {recorded['temperature']}"):
                    by_kind[kind].append(found)
            for kind, replies in by_kind.items():
                yield f"head{' that is wrong' * wrong}, {make.__name__}, {kind}", told(replies)


def trees() -> Iterator[tuple[str, tuple[float, float]]]:
    """Trees without chances: seconds of the draft and of each level, as shares of a plain round."""
    machines = {name: recorded_s(HEADS[f"{name}forward_ms"]) for name in ("", "wide_")}
    for name, forward_s in ({"small": machines[""], "large": machines["wide_"]} | MACHINES).items():
        for kind, (once, level) in {"heads": (0.1, 0.0), "model": (0.02, 0.1), "dear": (0.4, 0.0)}.items():
            cost, by_kind = Costs(), defaultdict(list)
            for recorded in HEADS["replies"]:
                tree = RecordedTree(recorded["reply"], recorded["guesses"])

                def draft_s(draft: Draft, tree: RecordedTree = tree) -> float:
                    if not draft.tokens:
                        return 0.0
                    missed, tree.missed = tree.missed - 1, 0
                    depth = (len(draft) + 1) // 2
                    return forward_s(1) * (once + level * depth + 0.01 * missed)  # noqa: B023, called at once

                by_kind[recorded["kind"]].append(
                    replay(
                        recorded["prompt"],
                        recorded["reply"],
                        tree,
                        Worth(tree, 15, cost),
                        forward_s,
                        draft_s=draft_s,
                    )
                )
            for one, replies in by_kind.items():
                yield f"tree of {kind}, {name}, {one}", told(replies)


def chains() -> Iterator[tuple[str, tuple[float, float]]]:
    """Chains that hold with a fixed chance, of a free draft, of heads and of a small model."""
    for acceptance in (0.0, 0.3, 0.6, 0.85):
        for row_s in (0.03, 0.1, 0.3):
            for name, (draft_s, node_s) in {
                "free": (0.0, 0.0),
                "heads": (0.2, 0.0),
                "model": (0.0, 0.1),
            }.items():
                speeds = []
                for seed in range(16):
                    machine = FakeMachine(
                        lambda at, acceptance=acceptance: acceptance,  # type: ignore[misc]
                        row_s,
                        draft_s,
                        node_s,
                        0.01,
                        noise=0.2,
                        seed=seed,
                    )
                    machine.run(Worth(NoDrafter(), 31), 250)
                    speeds.append(machine.tokens / machine.time_s)
                yield f"chain {acceptance}, row {row_s}, {name}", (sum(speeds) / len(speeds), min(speeds))


# Chance that a layer's guess holds by its place in the chain, if those before it held. Two are Qwen3.5-122B's with two
# versions (vllm-ascend's issue 9871), one is the lowest published figure that was found, one is the layer's of a hybrid
# of 150 million parameters that was trained for an hour, and one layer knows nothing.
LAYERS = {
    "good": (0.87, 0.86, 0.83),
    "usual": (0.77, 0.72, 0.72),
    "poor": (0.6, 0.48, 0.45),
    "weak": (0.45, 0.38, 0.3),
    "wrong": (0.01,),
}
# Times as shares of a plain round: of a step, of a further row, and the delay of a forward after a step. The models
# have 0.15 billion parameters (that hybrid with AVX2), 1 billion with a large head, 27 billion, and 35 billion of which
# 3 billion are active.
SIZES = {"0.15B": (0.24, 0.28, 0.0), "1B": (0.3, 0.1, 0.05), "27B": (0.05, 0.04, 0.0), "A3B": (0.2, 0.35, 0.0)}


class Layer(RecordedHead):
    """Guesses the next tokens of a reply, each with a chance by its place; its shares are a little too high."""

    def __init__(self, text: dict[str, Any], holds: Sequence[float], step_s: float, seed: int) -> None:
        super().__init__({"reply": text["reply"], "guesses": []})
        self._holds, self._step_s, self._seed = holds, step_s, seed

    def run_chain(
        self, goes_on: Callable[[Tensor], int | None], known: Callable[[Tensor, Sequence[int]], None]
    ) -> None:
        """Run a chain, each step of which takes the same time."""
        steps = 0

        def counted(logits: Tensor) -> int | None:
            nonlocal steps
            steps += 1
            return goes_on(logits)

        waiting = self.waiting
        super().run_chain(counted, known)
        self.seconds = self._step_s * (steps + 0.01 * max(waiting - 4, 0))

    def _logits(self, at: int, path: Sequence[int]) -> Tensor:
        truth, place = self._reply[at + 1 : at + 2 + len(path)], len(path)
        draws = random.Random(hash((self._seed, at, tuple(path))))
        on_it = len(truth) > place and list(path) == truth[:place]
        mean = self._holds[min(place, len(self._holds) - 1)] if on_it else 0.35
        share = draws.betavariate(3 * mean, 3 * (1 - mean))
        tokens = [-3 - draws.randrange(1000), -2]
        if on_it and draws.random() < share:
            tokens[0] = truth[place]
        elif on_it and draws.random() < 0.4 * mean:
            tokens[1] = truth[place]
        self._guesses = [[]] * at + [[[0, 0, 0, 0]] * place + [[tokens[0], share**0.8, tokens[1], (1 - share) / 2]]]
        return super()._logits(at, [0] * place)


def layers() -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield figures of a model's own layer (MTP) with lookup beside, and of lookup alone."""
    for (texts, replies), (size, (step, row, pushed)) in product(TEXTS.items(), SIZES.items()):

        def forward_s(rows: int, row: float = row) -> float:
            return 1.0 + row * (rows - 1)

        cost, matches, replies = Costs(), MatchChances(), replies[:16]
        alone = []
        for text in replies:
            alone.append(
                replay(text["prompt"], text["reply"], PromptLookup(matches), Worth(PromptLookup(), 15, cost), forward_s)
            )
            matches.keep()
        yield f"layer none, {size}, {texts}", told(alone)
        for name, holds in LAYERS.items():
            cost, matches, chances = Costs(step=step), MatchChances(), ShareChances(NextLayerDraft.usual)
            found = []
            for seed, text in enumerate(replies):
                head = Layer(text, holds, step, seed)
                chain = ChainDraft(cast(FeatureDraft, head), PromptLookup(matches), chances)
                found.append(
                    replay(
                        *(text["prompt"], text["reply"], chain, Worth(chain, 15, cost), forward_s),
                        draft_s=lambda draft, head=head: head.seconds if draft.steps else 0.0,  # type: ignore[misc]
                        pushed_out_s=pushed,
                    )
                )
                matches.keep()
            yield f"layer {name}, {size}, {texts}", told(found)


class OneOfSeveral:
    """A recorded chat whose forwards are shared."""

    def __init__(self, chat: dict[str, Any]) -> None:
        self._text: list[int] = chat["reply"]
        self._drafter, self._schedule = PromptLookup(), Worth(PromptLookup())
        self._drafter.reset(chat["prompt"])
        self._drafter.observe(self._text[:1], None)
        self._at = 1

    @property
    def over(self) -> bool:
        """True if its text ended."""
        return self._at >= len(self._text)

    def ask(self, width: SharedForwards) -> AskedRows:
        """Its rows."""
        draft = self._drafter.propose(self._schedule.shape_beside(width.tokens_per_s, width.row_s))
        asked = AskedRows(cast(TokenSequence, None), (0, *draft.tokens), draft)
        asked.chances = self._schedule.chances(draft)
        return asked

    def take(self, asked: AskedRows, seconds: float, beside: int) -> None:
        """Go on."""
        draft = asked.draft or Draft()
        accepted = accepted_path(draft, self._text[self._at : len(self._text) - 1])
        emitted = tuple(self._text[self._at : self._at + len(accepted) + 1])
        self._at += len(emitted)
        self._schedule.observe(
            RoundRecord(
                *(0, draft.tokens, draft.parents, draft.scores, accepted, emitted, 0.0, seconds * 1e3),
                beside=beside,
            )
        )
        self._drafter.observe(emitted, None)


def shared() -> Iterator[tuple[str, tuple[float, float]]]:
    """Four and eight chats at a time."""
    cases = product(TEXTS.items(), MACHINES.items(), (4, 8), (0.0, 0.5))
    for (texts, replies), (name, forward_s), count, noise in cases:
        width, speeds, chance = SharedForwards(), [], random.Random(0)
        for first in range(0, len(replies) - count + 1, count):
            some = [OneOfSeveral(chat) for chat in replies[first : first + count]]
            lengths = [len(chat["reply"]) - 1 for chat in replies[first : first + count]]
            open_ = [sum(length > at for length in lengths) for at in range(max(lengths))]
            plain_s, seconds = sum(map(forward_s, open_)) * (1 + noise / 2), 0.0
            while some := [one for one in some if not one.over]:
                asked = [one.ask(width) for one in some]
                width.divide(asked)
                rows = sum(one.rows for one in asked)
                taken_s = forward_s(rows) * (1 + noise * chance.random())
                width.observe(rows, taken_s, 0.0)
                seconds += taken_s
                for one, its in zip(some, asked, strict=True):
                    one.take(its, taken_s, rows - its.rows)
            speeds.append(plain_s / seconds)
        yield f"{count} {texts} that share, {name}, noise {noise}", (sum(speeds) / len(speeds), min(speeds))


def main() -> None:
    """Print each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--against", type=Path)
    chosen = parser.parse_args()
    found: Figures = {}
    for cases in (lookup, heads, trees, chains, layers, shared):
        found.update(cases())
    before: Figures = json.loads(chosen.against.read_text(encoding="utf-8")) if chosen.against else {}
    ratios = []
    for name, (speed, least) in found.items():
        other = before.get(name)
        beside = "" if other is None else f"  before {other[0]:6.3f} {other[1]:6.3f}  ratio {speed / other[0]:6.3f}"
        ratios += [] if other is None else [speed / other[0]]
        print(f"{name:52} {speed:6.3f} worst {least:6.3f}{beside}")
    if ratios:
        print(f"of the figures before: least {min(ratios):.3f}, mean {sum(ratios) / len(ratios):.3f}")
    if chosen.write:
        chosen.write.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
