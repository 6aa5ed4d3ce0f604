"""Measures what a model does on this machine in each mode: the same standard prompts in all of them.

The benchmark has no thread of its own: it hands commands to an engine, wherever that runs, and is handed the engine's
events. So the window's engine can run it as well as the command line's. What the replies measure refines the
profile of the machine as every reply's does (`engine.planning.profile`), with the kind of prompt known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from engine import messages

#: A function to ask about.
LONGEST_WORD = """```python
def longest_word(words: list[str]) -> str:
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best
```"""

#: Four kinds, as speculation differs by them, with long answers.
STANDARD_PROMPTS: dict[messages.PromptKind, tuple[str, ...]] = {
    "chat": (
        "What is speculative decoding and why is it fast?",
        "What is the difference between int8 and int4?",
    ),
    "code": (
        "Write a Python function to count the words that start with b.",
        f"Change the variable best to value in this code:\n{LONGEST_WORD}",
    ),
    "arithmetic": (
        "Make a table of 8 products with price and number.",
        "Calculate 45 + 32.",
    ),
    "instruction": (
        "Write a plan for a trip to Rome for 3 days.",
        "Write a shopping list for a soup for 4.",
    ),
}
_GREEDY = messages.SamplingOptions(temperature=0.0, repetition_penalty=1.0)
# A reply after a load reads pages for the first time, which no later one does.
_WARMING_TOKENS = 12


@dataclass(frozen=True)
class BenchmarkProgress:
    """Progress of a benchmark."""

    mode: str  # the mode that runs
    done: int  # replies done, in all modes
    total: int  # replies in all
    load_share: float | None = None  # of the model that is loading, None while a reply runs


@dataclass(frozen=True)
class BenchmarkFinished:
    """The benchmark is over."""

    rows: tuple[messages.BenchmarkRow, ...]  # the modes, in the order they were measured
    cancelled: bool = False  # it was stopped; the rows are those that were complete


BenchmarkEvent = BenchmarkProgress | messages.BenchmarkRow | BenchmarkFinished


@dataclass(frozen=True)
class _Step:
    mode: str
    kind: messages.PromptKind | None
    prompt: str


class Benchmark:
    """One run over some modes.

    Args:
        modes: The model with the draft and the memory of each mode, by its name; or why it cannot run.
        submit: Takes commands for an engine.
        on_event: Takes `BenchmarkProgress`, a `BenchmarkRow` after each mode and `BenchmarkFinished` once.
    """

    def __init__(
        self,
        modes: Mapping[str, messages.LoadOptions | str],
        submit: Callable[[messages.Generate | messages.Cancel], None],
        on_event: Callable[[BenchmarkEvent], None],
        prompts: Mapping[messages.PromptKind, Sequence[str]] = STANDARD_PROMPTS,
        max_tokens: int = 64,
    ) -> None:
        self._modes = modes
        self._submit = submit
        self._on_event = on_event
        self._max_tokens = max_tokens
        self._each = 1 + sum(map(len, prompts.values()))
        self._steps: list[_Step] = []
        for mode in modes:
            self._steps.append(_Step(mode, None, next(iter(prompts.values()))[0]))
            self._steps += [_Step(mode, kind, prompt) for kind, texts in prompts.items() for prompt in texts]
        self._total = len(self._steps)
        self._at = 0
        self._rows: list[messages.BenchmarkRow] = []
        self._replies: list[tuple[messages.PromptKind, messages.Reply]] = []
        self._promised: float | None = None  # speed of the mode that runs, before any of its replies
        self._cancelled = False
        self.over = False  # True if `BenchmarkFinished` was sent

    def start(self) -> None:
        """Hand in the first command."""
        self._next()

    def cancel(self) -> None:
        """Stop. The reply that runs is cancelled, and its mode has no row."""
        self._cancelled = True
        self._submit(messages.Cancel(self._request_id))

    def take(self, event: messages.Event) -> None:
        """Take an event of the engine; events of other requests are left alone."""
        if self.over or getattr(event, "request_id", None) != self._request_id:
            return
        if isinstance(event, messages.LoadProgress):
            share = event.done_bytes / max(event.total_bytes, 1)
            self._on_event(BenchmarkProgress(self._step.mode, self._at, self._total, share))
        elif isinstance(event, messages.Failed):
            self._failed(event.error.message)
        elif isinstance(event, messages.Finished):
            self._finished(event.reply)

    @property
    def _step(self) -> _Step:
        return self._steps[self._at]

    @property
    def _request_id(self) -> str:
        return f"benchmark-{id(self):x}-{self._at}"

    def _next(self) -> None:
        if self._cancelled or self._at == self._total:
            self.over = True
            self._on_event(BenchmarkFinished(tuple(self._rows), self._cancelled))
            return
        step = self._step
        options = self._modes[step.mode]
        if isinstance(options, str):
            self._failed(options)
            return
        self._on_event(BenchmarkProgress(step.mode, self._at, self._total))
        self._submit(
            messages.Generate(
                self._request_id,
                options,
                messages=(messages.ChatMessage("user", step.prompt),),
                max_tokens=self._max_tokens if step.kind is not None else _WARMING_TOKENS,
                sampling=_GREEDY,
                prompt_kind=step.kind,
            )
        )

    def _finished(self, reply: messages.Reply) -> None:
        if self._cancelled or reply.stop_reason == "cancelled":
            self._cancelled = True
            self._next()
            return
        step = self._step
        if step.kind is not None:
            self._replies.append((step.kind, reply))
        else:
            self._promised = None if reply.plan.promise is None else reply.plan.promise.tokens_per_second
        self._at += 1
        if self._at % self._each == 0:
            self._add(_row(step.mode, self._replies, self._promised))
        self._next()

    def _failed(self, sentence: str) -> None:
        if not self._cancelled:
            mode = self._step.mode
            self._at = (self._at // self._each + 1) * self._each
            self._add(messages.BenchmarkRow(mode, refusal=sentence))
        self._next()

    def _add(self, row: messages.BenchmarkRow) -> None:
        self._replies = []
        self._rows.append(row)
        self._on_event(row)


def _row(
    mode: str, replies: Sequence[tuple[messages.PromptKind, messages.Reply]], promised: float | None
) -> messages.BenchmarkRow:
    """One mode's figures over its replies."""
    from statistics import median  # with decimal numbers and fractions, which a start needs for nothing

    timings = [reply.timings for _, reply in replies]
    kinds = dict.fromkeys(kind for kind, _ in replies)
    by_kind = {str(kind): _speed([reply for own, reply in replies if own == kind]) for kind in kinds}
    firsts = sorted(one.time_to_first_token_ms or 0.0 for one in timings)
    forwards = sum(one.target_forwards for one in timings)
    tested = sum(one.draft_n_tested for one in timings)
    last = replies[-1][1]
    speed = _speed([reply for _, reply in replies])
    found = [promise_errors(reply) for _, reply in replies]
    errors = {what: median(one[what] for one in found if what in one) for what in dict.fromkeys(chain(*found))}
    if promised and speed:  # of all kinds of text together, as the promise is
        errors["speed"] = promised / speed - 1.0
    return messages.BenchmarkRow(
        mode=mode,
        tokens_per_second=speed,
        by_kind={kind: speed for kind, speed in by_kind.items() if speed is not None},
        predicted_per_second=promised,
        errors=errors,
        first_token_ms=firsts[len(firsts) // 2],
        tokens_per_round=sum(one.predicted_n - 1 for one in timings) / forwards if forwards else None,
        acceptance_rate=sum(one.draft_n_accepted for one in timings) / tested if tested else None,
        peak_bytes=last.memory.resident_peak_bytes,
        device_peak_bytes=last.memory.device_peak_bytes,
        busy=any(reply.busy for _, reply in replies),
    )


def promise_errors(reply: messages.Reply) -> dict[str, float]:
    """Return what was promised too much or, below 0, too little, as shares of what came."""
    promise, timings = reply.plan.promise or messages.Promise(), reply.timings
    pairs = {
        "speed": (promise.tokens_per_second, timings.predicted_per_second),
        "first token": (promise.first_token_s, (timings.time_to_first_token_ms or 0.0) / 1e3),
        "memory": (promise.memory_bytes, reply.memory.resident_bytes),
    }
    return {what: promised / came - 1.0 for what, (promised, came) in pairs.items() if promised and came}


def _speed(replies: Sequence[messages.Reply]) -> float | None:
    """Tokens per second over some replies; the first token of each came out of its prompt."""
    tokens = sum(reply.timings.predicted_n - 1 for reply in replies)
    seconds = sum(reply.timings.predicted_ms for reply in replies) / 1e3
    return tokens / seconds if tokens > 0 and seconds > 0 else None
