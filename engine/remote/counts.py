"""Figures of a reply from what servers tell about its speed and their drafts.

The mean acceptance length is 1 + accepted / steps: a step checks one draft, and gives one token more than it accepts.
Sources: llama.cpp, tools/server/README.md (``timings``); vLLM, docs/features/per_request_metrics.md
(``metrics.speculative_decoding``) and docs/design/metrics.md (``vllm:spec_decode_*``); SGLang, ``/server_info``
(``internal_states[].avg_spec_accept_length``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from engine.messages import Timings
from engine.remote.failures import positive

_SAMPLE = re.compile(r"^(vllm:\w+?)(?:_total)?(?:\{(.*)\})?\s+([0-9.eE+-]+)(?:\s|$)", re.MULTILINE)
_MODEL = re.compile(r'model_name="((?:[^"\\]|\\.)*)"')
_DRAFTS, _DRAFTED, _ACCEPTED = (
    f"vllm:spec_decode_num_{name}" for name in ("drafts", "draft_tokens", "accepted_tokens")
)
_WRITTEN = "vllm:generation_tokens"
#: Over less than this a speed says nothing.
LEAST_MS = 50.0
# No computer writes, or reads, more tokens a second for one user, and no draft is longer.
_FASTEST_WRITING, _FASTEST_READING, _LONGEST_DRAFT = 1e5, 1e6, 1000


@dataclass(frozen=True)
class DraftCounts:
    """Yield of a server's drafts."""

    steps: int  # drafts that were checked
    drafted: int  # tokens in them
    accepted: int  # drafted tokens that held
    shared: bool = False  # True if replies to other clients are counted too

    def added_to(self, timings: Timings) -> Timings:
        """Return the timings with these figures, or unchanged if the figures say nothing or are impossible."""
        if not (0 <= self.accepted <= min(self.drafted, _LONGEST_DRAFT * self.steps) and self.drafted and self.steps):
            return timings
        return replace(
            timings,
            draft_n=self.drafted,
            draft_n_tested=self.drafted,
            draft_n_accepted=self.accepted,
            acceptance_rate=self.accepted / self.drafted,
            mean_acceptance_length=1 + self.accepted / self.steps,
            target_forwards=self.steps,
            shared=self.shared,
        )


def with_llama_timings(timings: Timings, told: Mapping[str, Any]) -> Timings:
    """Return the timings that the server tells if they are possible, else those measured here."""
    prompt_n, cache_n = (_count(told.get(name)) for name in ("prompt_n", "cache_n"))
    predicted_n = _written(timings, told.get("predicted_n"))
    prompt_ms, predicted_ms = (_ms(timings, told.get(name)) for name in ("prompt_ms", "predicted_ms"))
    reading = _speed(prompt_n, prompt_ms, _FASTEST_READING)
    writing = _speed(predicted_n, predicted_ms, _FASTEST_WRITING)
    found = replace(
        timings,
        prompt_n=prompt_n if prompt_ms else timings.prompt_n,
        cache_n=cache_n,
        prompt_ms=prompt_ms if reading else timings.prompt_ms,
        prompt_per_second=reading,
        predicted_n=predicted_n,
        predicted_ms=predicted_ms if writing else timings.predicted_ms,
    )
    if predicted_n > 1:
        measured = _speed(predicted_n, found.predicted_ms, _FASTEST_WRITING)
        found = replace(found, predicted_per_second=writing or measured)
    accepted = _count(told.get("draft_n_accepted"))
    return DraftCounts(predicted_n - accepted, _count(told.get("draft_n")), accepted).added_to(found)


def with_usage(timings: Timings, usage: Mapping[str, Any]) -> Timings:
    """Return the timings with the server's counts of tokens in place of those counted here."""
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    prompt, predicted = _count(usage.get("prompt_tokens")), _written(timings, usage.get("completion_tokens"))
    ms = timings.predicted_ms
    return replace(
        timings,
        prompt_n=max(prompt - cached, 0),
        cache_n=min(cached, prompt),
        predicted_n=predicted,
        predicted_per_second=_speed(predicted - 1, ms, _FASTEST_WRITING) if ms >= LEAST_MS else None,
        prompt_per_second=_speed(prompt - cached, timings.prompt_ms, _FASTEST_READING),
    )


def of_request(metrics: object) -> DraftCounts | None:
    """Return one reply's counts from vLLM's ``metrics`` beside it, or None."""
    found = metrics.get("speculative_decoding") if isinstance(metrics, dict) else None
    if not isinstance(found, dict):
        return None
    names = ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")
    steps, drafted, accepted = (_count(found.get(name)) for name in names)
    return DraftCounts(steps, drafted, accepted) if steps else None


def read_counters(page: str, model: str) -> Counter[str]:
    """Return the counters of vLLM for a model, from its page for Prometheus, summed over its engines."""
    found: Counter[str] = Counter()
    for sample in _SAMPLE.finditer(page):
        name, labels, value = sample.groups(default="")
        named = _MODEL.search(labels)
        if name in (_DRAFTS, _DRAFTED, _ACCEPTED, _WRITTEN) and (named is None or named[1] == model):
            with suppress(ValueError, OverflowError):  # no number, or none that is finite
                found[name] += round(float(value))
    return found


def between(before: Mapping[str, int], after: Mapping[str, int], own_tokens: int) -> DraftCounts | None:
    """Return the counts between two looks at the counters.

    Args:
        before: Counters just before the reply.
        after: Counters just after it.
        own_tokens: Tokens of the reply; if the server has written more, others were served too.
    """
    steps, drafted, accepted, written = (
        after.get(name, 0) - before.get(name, 0) for name in (_DRAFTS, _DRAFTED, _ACCEPTED, _WRITTEN)
    )
    if steps <= 0 or min(drafted, accepted, written) < 0:  # none drafted, or the server was started anew
        return None
    return DraftCounts(steps, drafted, accepted, shared=written > own_tokens)


def with_server_mean(timings: Timings, info: object) -> Timings:
    """Return the timings with SGLang's mean of all replies since its start, if its drafts have one."""
    states = info.get("internal_states") if isinstance(info, dict) else None
    means = [
        mean
        for state in (states if isinstance(states, list) else [])
        if isinstance(state, dict) and 1 < (mean := _number(state.get("avg_spec_accept_length"))) <= _LONGEST_DRAFT
    ]
    return replace(timings, mean_acceptance_length=sum(means) / len(means), shared=True) if means else timings


def _count(value: object) -> int:
    return positive(value) or 0


def _written(timings: Timings, told: object) -> int:
    """Return the tokens of a reply that the server tells, or those counted here if it tells none or too many."""
    s = max(timings.prompt_ms + timings.predicted_ms, LEAST_MS) / 1e3
    tokens = _count(told)
    return tokens if 0 < tokens <= s * _FASTEST_WRITING else timings.predicted_n


def _ms(timings: Timings, told: object) -> float:
    """Return a part of a reply's time, or 0 if it is not told or belongs to another reply."""
    ms = _number(told)
    return ms if ms <= 2 * (timings.prompt_ms + timings.predicted_ms) + 1e3 else 0.0


def _speed(tokens: int, ms: float, fastest: float) -> float | None:
    """Return tokens per second; None if there are none, or the speed is impossible."""
    return tokens / ms * 1e3 if 0 < tokens <= ms / 1e3 * fastest else None


def _number(value: object) -> float:
    """Return a value if it is a number, else 0."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return float(value) if usable else 0.0  # type: ignore[arg-type]
