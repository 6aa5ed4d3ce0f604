"""Minions' ablation (figure 10) in shape: default, + selector, + pipeline, on a simulated second device.

``python -m tests.benchmarks.pipeline``. Texts, drafts and verdicts are real: the toy and its draft. Times are not: a
forward of the target takes so many seconds and so many for each reply in it, and a draft so many for each guess, as on
a device of its own; what the real ones take is within that. Default has 4 guesses, the paper's speculation length. All
replies are open at once. The vote is counted by `tests.benchmarks.speculation`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.committee import CommitteeMemory, Member
from engine.drafting.drafter import Drafter
from engine.drafting.kind import Drafting
from engine.drafting.minions import LengthSelector, MajorityCommittee
from engine.drafting.schedule import FixedShape, Schedule
from engine.drafting.trees import TreeShape
from engine.loaded_model import LoadedModel, load_model
from engine.messages import ChatMessage, LoadOptions
from engine.model.sampling import Sampler
from engine.model.token_tree import Draft, DraftShape
from engine.modes import in_mode
from engine.run import settle
from engine.scheduler import Scheduler, Steps
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch
from tests.support.toy import TEXTS, TOY, TOY_DRAFT


class SetTime(Drafter):
    """A drafter whose guesses take a set time each."""

    def __init__(self, inner: Drafter, guess_s: float, apart: bool) -> None:
        self._inner, self._guess_s, self.apart = inner, guess_s, apart

    def reset(self, prompt: Sequence[int]) -> int:
        """Of the drafter."""
        return self._inner.reset(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Tell the drafter."""
        self._inner.observe(tokens, hidden, probes)

    def propose(self, shape: DraftShape) -> Draft:
        """Its draft, once the time is over."""
        until = time.perf_counter() + shape.rows * self._guess_s
        draft = self._inner.propose(shape)
        time.sleep(max(0.0, until - time.perf_counter()))
        return draft


class Bench:
    """The toy, with a target's times that are set."""

    def __init__(self, model: LoadedModel, options: argparse.Namespace) -> None:
        self._model, self._options = model, options
        requests = [request for request, _ in json.loads(TEXTS.read_text(encoding="utf-8"))][: options.replies]
        self._prompts = [model.tokenizer.render([ChatMessage("user", request)]) for request in requests]
        compute = model.target.compute

        def timed(asked: Sequence[Any], check: Callable[[], None]) -> None:
            until = time.perf_counter() + options.forward_s + options.reply_s * len(asked)
            compute(asked, check)
            time.sleep(max(0.0, until - time.perf_counter()))

        model.target.compute = timed  # type: ignore[method-assign]

    def tokens_per_s(self, schedule: Callable[[], Schedule], apart: bool) -> float:
        """Tokens of all replies over all the time."""
        model, memory, tokens = self._model, CommitteeMemory(), 0
        scheduler = Scheduler(lambda: None)

        def emitted(some: Sequence[int], drafted: int) -> None:
            nonlocal tokens
            tokens += len(some)

        def steps(decoding: Decoding) -> Steps:
            while (asked := decoding.ask()) is not None:
                yield asked
                decoding.take(asked)

        for at, prompt in enumerate(self._prompts):
            texts = [draft.new_text() for draft in model.drafts]
            wanted = Drafting(TreeShape(1, 12, 12), None, False, lambda guess: None)
            own = [Member(str(TOY_DRAFT), "model", text(wanted)) for text in texts]
            committee = MajorityCommittee(own, memory)
            drafter = SetTime(committee, self._options.guess_s, apart)
            recipe = Recipe(drafter, SampleAndMatch(Sampler(temperature=0.0)), schedule())
            hooks = Hooks(lambda: None, lambda done, total: None, emitted)
            reply = ReplyText(lambda ids: "", model.tokenizer.end_ids, (), self._options.tokens)
            sequence = TokenSequence(model.target, model.plan.context)
            scheduler.add(str(at), steps(Decoding(sequence, recipe, prompt, reply, ReplyClock(), hooks)))
        begun = time.perf_counter()
        while len(scheduler):
            scheduler.turn()
        return tokens / (time.perf_counter() - begun)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replies", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=80)
    parser.add_argument("--forward-s", type=float, default=0.02)
    parser.add_argument("--reply-s", type=float, default=0.01, help="that each reply adds to a forward")
    parser.add_argument("--guess-s", type=float, default=0.003)
    options = parser.parse_args()
    model = load_model(
        settle(in_mode("minions", LoadOptions(model=str(TOY), drafts=(str(TOY_DRAFT),), threads=1, context=1024)))
    )
    bench = Bench(model, options)
    shared = [LengthSelector(12, CommitteeMemory()) for _ in range(2)]
    ways: dict[str, tuple[Callable[[], Schedule], bool]] = {
        "default": (lambda: FixedShape(DraftShape(4)), False),
        "+ selector": (lambda: shared[0], False),
        "+ pipeline": (lambda: shared[1], True),
    }
    default = 0.0
    for name, way in ways.items():
        rate = bench.tokens_per_s(*way)
        default = default or rate
        print(f"{name:12}{rate:8.1f} tokens/s  {rate / default:.2f}", flush=True)


if __name__ == "__main__":
    main()
