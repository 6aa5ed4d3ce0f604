"""The speed at which bytes come, and the time that the rest will take."""

from __future__ import annotations

from collections import deque

_WINDOW_S = 10.0
_SHORTEST_S = 0.5


class TransferRate:
    """The speed over the last seconds, so that a pause or a slow minute is soon forgotten."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def note(self, now_s: float, done_bytes: int) -> None:
        """Note how many bytes there were at a time; times must not go back."""
        self._marks.append((now_s, done_bytes))
        while len(self._marks) > 2 and self._marks[1][0] < now_s - _WINDOW_S:
            self._marks.popleft()

    def forget(self) -> None:
        """Start again, after a pause."""
        self._marks.clear()

    def bytes_per_s(self) -> float | None:
        """The speed, None while it is too early to say."""
        if not self._marks:
            return None
        (first_s, first), (last_s, last) = self._marks[0], self._marks[-1]
        return None if last_s - first_s < _SHORTEST_S else (last - first) / (last_s - first_s)

    def seconds_left(self, remaining_bytes: int) -> float | None:
        """Time for the rest at this speed, None where there is none to tell."""
        speed = self.bytes_per_s()
        return None if not speed else remaining_bytes / speed
