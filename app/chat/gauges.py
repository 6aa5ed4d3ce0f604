"""Speed of a reply and the memory it took, from moment to moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from engine.messages import StatisticsUpdated

# Of a longer reply the latest are kept.
_MOST_SAMPLES = 4_096


@dataclass(frozen=True)
class Sample:
    """The figures of one moment.

    Attributes:
        at_s: When, on a clock that only goes forward.
        tokens_per_second: Since the sample before; None where no token came.
        resident_bytes: Memory of the engine's process.
        disk_bytes_per_second: Weights read from the disk since the sample before.
    """

    at_s: float
    tokens_per_second: float | None
    resident_bytes: int
    disk_bytes_per_second: float


def smooth_speeds(samples: Iterable[Sample], over: int = 5) -> list[float | None]:
    """Return the speed at each sample, averaged with those just before it.

    A step emits whole tokens, so that the speed from one sample to the next jumps even where nothing changes.

    Args:
        samples: In order.
        over: Samples to average, the one itself included.
    """
    speeds: list[float | None] = []
    recent: deque[float] = deque(maxlen=over)
    for sample in samples:
        if sample.tokens_per_second is not None:
            recent.append(sample.tokens_per_second)
        speeds.append(None if sample.tokens_per_second is None else sum(recent) / len(recent))
    return speeds


class Gauges:
    """Turns running totals into figures of each moment."""

    def __init__(self) -> None:
        self.samples: deque[Sample] = deque(maxlen=_MOST_SAMPLES)
        self._last: StatisticsUpdated | None = None

    def take(self, event: StatisticsUpdated, at_s: float) -> None:
        """Add an event that came at a moment."""
        last = self._last
        if last is None:
            speed, disk = event.timings.predicted_per_second, 0.0
            worked_ms = event.timings.prompt_ms + event.timings.predicted_ms
            read_bytes = event.memory.disk_read_bytes
        else:
            tokens = event.timings.predicted_n - last.timings.predicted_n
            took_ms = event.timings.predicted_ms - last.timings.predicted_ms
            speed = tokens / took_ms * 1e3 if tokens > 0 and took_ms > 0 else None
            worked_ms = took_ms
            read_bytes = event.memory.disk_read_bytes - last.memory.disk_read_bytes
        disk = read_bytes / worked_ms * 1e3 if worked_ms > 0 else 0.0
        self._last = event
        self.samples.append(Sample(at_s, speed, event.memory.resident_bytes, disk))
