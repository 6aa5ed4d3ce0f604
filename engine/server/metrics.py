"""Metrics: counts of what was answered since the start, in Prometheus' text format.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from __future__ import annotations

from collections import Counter

from engine.messages import Event, Failed, Finished, Memory, StatisticsUpdated, TokensAdded


class Metrics:
    """Counts over all requests.

    Attributes:
        tokens: Of replies, of those that run too.
    """

    def __init__(self) -> None:
        self.tokens = 0
        self._ended: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._memory = Memory()

    @property
    def drafted(self) -> int:
        """Drafted tokens of replies that have ended."""
        return self._sums["drafted_tokens"]

    @property
    def accepted(self) -> int:
        """Those of them that held."""
        return self._sums["accepted_tokens"]

    def take(self, event: Event) -> None:
        """An event of the engine."""
        if isinstance(event, TokensAdded):
            self.tokens += len(event.token_ids)
        elif isinstance(event, StatisticsUpdated):
            self._memory = event.memory
        elif isinstance(event, Failed):
            self._ended["failed"] += 1
        elif isinstance(event, Finished):
            own = event.reply.timings
            self._ended["cancelled" if event.reply.stop_reason == "cancelled" else "answered"] += 1
            self._sums.update(
                prompt_tokens=own.prompt_n,
                cached_prompt_tokens=own.cache_n,
                predicted_tokens=own.predicted_n,
                drafted_tokens=own.draft_n,
                accepted_tokens=own.draft_n_accepted,
                target_forwards=own.target_forwards,
                prompt_ms=round(own.prompt_ms),
                predicted_ms=round(own.predicted_ms),
            )

    def text(self, running: int, waiting: int) -> str:
        """The page that Prometheus reads.

        Args:
            running: Requests that the engine has.
            waiting: Requests that wait for their turn.
        """
        sums = self._sums
        lines = [
            *_metric("requests_total", "counter", "Requests by their end.", self._ended, "end"),
            *_metric("requests_running", "gauge", "Requests that the engine has.", running),
            *_metric("requests_waiting", "gauge", "Requests that wait for their turn.", waiting),
            *_metric("prompt_tokens_total", "counter", "Tokens of prompts that were read.", sums["prompt_tokens"]),
            *_metric("cached_prompt_tokens_total", "counter", "Tokens of prompts that a cache had.",
                     sums["cached_prompt_tokens"]),
            *_metric("predicted_tokens_total", "counter", "Tokens of replies.", sums["predicted_tokens"]),
            *_metric("drafted_tokens_total", "counter", "Drafted tokens.", self.drafted),
            *_metric("accepted_tokens_total", "counter", "Drafted tokens that held.", self.accepted),
            *_metric("target_forwards_total", "counter", "Forwards of the model.", sums["target_forwards"]),
            *_metric("prompt_seconds_total", "counter", "Time that prompts took.", sums["prompt_ms"] / 1e3),
            *_metric("predicted_seconds_total", "counter", "Time that replies took.", sums["predicted_ms"] / 1e3),
            *_metric("engine_resident_bytes", "gauge", "The engine's memory.", self._memory.resident_bytes),
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, help_: str, value: float | Counter[str], label: str = "") -> list[str]:
    head = [f"# HELP tenon_{name} {help_}", f"# TYPE tenon_{name} {kind}"]
    if isinstance(value, Counter):
        return head + [f'tenon_{name}{{{label}="{key}"}} {count}' for key, count in sorted(value.items())]
    return [*head, f"tenon_{name} {value}"]
