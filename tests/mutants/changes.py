"""Changes of policy that a test must notice: where, what, why it matters, and the tests that are to fail.

A line of policy (a limit, an order, a threshold, who is asked first) computes no wrong number when it is changed, so a
test of results passes all the same. Each of these has a test of its own kind.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A change of one place.

    Attributes:
        file: Path of the source in the repository.
        before: Text that is in it once.
        after: Text in its place.
        why: What would be worse for a user.
        tests: Files or single tests, one of which fails.
    """

    file: str
    before: str
    after: str
    why: str
    tests: tuple[str, ...]


def mutated(source: str, mutant: Mutant) -> str:
    """A source with the change.

    Raises:
        ValueError: The text to change is not there once.
    """
    if source.count(mutant.before) != 1:
        raise ValueError(f"{mutant.before!r} is {source.count(mutant.before)} times in {mutant.file}")
    return source.replace(mutant.before, mutant.after)


def _of(
    file: str, tests: str, *changes: tuple[str, str, str] | tuple[str, str, str, str]
) -> tuple[Mutant, ...]:
    """Changes of a file; one that names tests of the first file is noticed by these, any other by all."""
    found = []
    for before, after, why, *own in changes:
        named = (
            tuple(f"{tests.split()[0]}::{name}" for name in own[0].split()) if own else tuple(tests.split())
        )
        found.append(Mutant(file, before, after, why, named))
    return tuple(found)


MUTANTS: tuple[Mutant, ...] = (
    *_of(
        "engine/server/engine_link.py",
        "tests/engine/server/test_engine_link.py",
        (
            """        if isinstance(event, _ENDS):
            del self._running[asked.command.request_id]
        asked.answers.put(asked.index, event)
        self._advance()
""",
            """        if isinstance(event, _ENDS):
            del self._running[asked.command.request_id]
        asked.answers.put(asked.index, event)
""",
            "requests that wait are never advanced after an end",
        ),
        (
            "if len(self._waiting) + len(commands) > self._most_waiting:",
            "if False:",
            "no cap on waiting requests",
        ),
        (
            """    def _receive(self, number: int, event: Event) -> None:
        if number != self._starts:
            return
""",
            """    def _receive(self, number: int, event: Event) -> None:
""",
            "an engine's last events after its end are taken for the new one's",
        ),
    ),
)
