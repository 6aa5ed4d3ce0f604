"""Content of a killed window, content of the next one, and losses between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# An older change than this has to be there; of a reply, what the engine had sent by then.
MOST_S = 0.2
_UNFINISHED = ("queued", "waiting", "streaming")


@dataclass
class Shown:
    """The values that each thing had, and when, in seconds."""

    values: dict[str, list[tuple[float, Any]]] = field(default_factory=dict)
    replies: dict[int, list[tuple[float, str]]] = field(default_factory=dict)  # pieces by message
    in_flight: bool = False  # whether something was begun last, and not yet shown
    closing: bool = False  # whether the window was being closed

    def take(self, at: float, kind: str, value: Any) -> None:
        """Follow a line of `tests.support.killed_window`."""
        if kind == "set":
            for name, new in value.items():
                self.values.setdefault(name, [(0.0, None)]).append((at, _kept(name, new)))
        elif kind == "reply":
            self.replies.setdefault(value[0], []).append((at, value[1]))
        self.closing |= kind == "closing"
        self.in_flight = kind == "doing" or (self.in_flight and kind == "reply")

    def history(self, name: str) -> list[tuple[float, Any]]:
        """The values of one thing; the first is None, and what was there at the start is at 0 seconds."""
        return self.values.get(name, [(0.0, None)])


@dataclass
class Tally:
    """Cost of the kills so far.

    Attributes:
        lost: Sentences about what should have been there.
        oldest_s: The oldest change that was not on the disk, by kind.
        touched: Kills that cost anything, by kind.
        letters: Most letters in the composer that one kill cost.
        characters: Most characters of a reply that one kill cost.
        twice: Prompts that were both sent and still in the composer.
    """

    lost: list[str] = field(default_factory=list)
    oldest_s: dict[str, float] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    letters: int = 0
    characters: int = 0
    twice: int = 0

    def compare(self, shown: Shown, found: dict[str, Any], killed_at: float, disturbed: bool) -> None:
        """Compare what a window had shown when it was killed with what the next one found.

        Args:
            shown: By the first.
            found: By the next.
            killed_at: In seconds.
            disturbed: True if the machine stood still meanwhile, so that no age says anything.
        """
        if not shown.values:  # nothing was shown before
            return
        ages: dict[str, float] = {}
        for name in sorted(set(shown.values) | set(found)):
            kind = name.split()[0]
            history = shown.history(name)
            there = _kept(name, found.get(name))
            if kind == "answer":
                age = self._answer(name, shown, history, there, killed_at)
            elif kind == "prompt" and there is None and history[-1][1] is not None:
                age = 0.0 if _still_typed(name, shown, found) else float("inf")
            elif kind == "typed" and there is None and _sent(name, shown, found):
                age = 0.0
            else:
                age = _age(history, there, killed_at)
            if age is None:
                if not shown.in_flight:
                    self.lost.append(f"{name}: never shown: {there!r:.200}, but {history[-1]!r:.200}")
                continue
            if kind == "typed" and age and there is not None:
                self.letters = max(self.letters, len(history[-1][1] or "") - len(there))
            if age > 0.0:
                ages[kind] = max(ages.get(kind, 0.0), age)
            if age > MOST_S and not (disturbed and age < float("inf")):
                self.lost.append(f"{name}: {1000 * age:.0f} ms old: {history[-1][1]!r:.200} is {there!r:.200}")
        self.twice += sum(_still_typed(name, shown, found) for name in found if name.startswith("prompt"))
        if not disturbed:
            for kind, age in ages.items():
                self.oldest_s[kind] = max(self.oldest_s.get(kind, 0.0), age)
                self.touched[kind] = self.touched.get(kind, 0) + 1

    def _answer(
        self, name: str, shown: Shown, history: list[tuple[float, Any]], there: Any, killed_at: float
    ) -> float | None:
        """The age of the first character of a reply that is missing."""
        last = history[-1][1]
        if last is None or there is None or last[1] not in _UNFINISHED:
            age = _age(history, there, killed_at)
            if age is not None or there is None:
                return age
        # Stopped with what was shown; the engine may have sent more until it ended, too.
        if shown.closing and last is not None and there[1] == "stopped":
            return 0.0 if there[0].startswith(last[0].rstrip()) else float("inf")
        # It was being written, or had ended a moment ago, so that the disk may know more than was noted.
        length, pieces = 0, shown.replies.get(int(name.split()[1]), [])
        said = "".join(text for _, text in pieces)
        if not (said.startswith(there[0].rstrip()) or there[0].startswith(said.rstrip())):
            return None
        if there[1] in _UNFINISHED:
            return float("inf")
        self.characters = max(self.characters, len(said.rstrip()) - len(there[0]))
        for at, text in pieces:
            length += len(text)
            if length > len(there[0]) and said[len(there[0]) :].strip():
                return killed_at - at
        return 0.0


def _still_typed(prompt: str, shown: Shown, found: dict[str, Any]) -> bool:
    """True if the text that a prompt was sent from, in this life of the window, is still in a composer."""
    at, content = _first(shown.history(prompt)) or (float("inf"), found.get(prompt))
    for name, text in found.items():
        if name.startswith("typed") and content and text == content[0]:
            typed_at = max((when for when, value in shown.history(name) if value == text), default=0.0)
            if 0.0 < typed_at < at:
                return True
    return False


def _sent(typed: str, shown: Shown, found: dict[str, Any]) -> bool:
    """True if the last text of a composer is a prompt that was sent after it had been typed."""
    typed_at, text = shown.history(typed)[-1]
    return any(
        name.startswith("prompt")
        and value[0] == text
        and (_first(shown.history(name)) or (float("inf"),))[0] > typed_at
        for name, value in found.items()
    )


def _first(history: list[tuple[float, Any]]) -> tuple[float, Any] | None:
    """The first value that is one."""
    return next(((at, value) for at, value in history if value is not None), None)


def _kept(name: str, value: Any) -> Any:
    """A value after a start: deleted messages are gone, and so is an empty composer of a chat."""
    if name.startswith(("prompt", "answer")) and value is not None and value[2]:
        return None
    return None if name.startswith("typed") and value == "" else value


def _age(history: list[tuple[float, Any]], there: Any, killed_at: float) -> float | None:
    """Age of the first change that is not there; None where that value was never shown."""
    for place in range(len(history) - 1, -1, -1):
        if history[place][1] == there:
            return 0.0 if place + 1 == len(history) else killed_at - history[place + 1][0]
    return None
