"""The scheduler's policy, on replies that compute nothing: who is in a forward, who waits, and who is ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from engine.decoding.sequence import AskedRows, TokenSequence
from engine.decoding.worth import SharedForwards
from engine.errors import Cancelled
from engine.model.token_tree import Draft
from engine.scheduler import Scheduler, Steps


class Target:
    """Notes which texts are in each forward, and fails where the test wants it to."""

    def __init__(self) -> None:
        self.width = SharedForwards()
        self.forwards: list[dict[str, int]] = []
        self.fails: Callable[[list[str]], Exception | None] = lambda names: None
        self.during: Callable[[], None] = lambda: None

    def compute(self, asked: Sequence[AskedRows], check: Callable[[], None]) -> None:
        names = [cast(Any, one.sequence).name for one in asked]
        error = self.fails(names)
        if error is not None:
            raise error
        self.during()
        check()
        self.forwards.append({name: one.rows for name, one in zip(names, asked, strict=True)})
        count = sum(one.rows for one in asked)
        for one in asked:
            one.seconds, one.beside = 1.0, count - one.rows


class Bench:
    """A scheduler, and replies of a prompt's pieces or of rounds."""

    def __init__(self) -> None:
        self.target = Target()
        self.stop: set[str] = set()
        self.log: list[str] = []
        self.made = 0  # drafts
        self.scheduler = Scheduler(self._check)

    def _check(self) -> None:
        if self.scheduler.running in self.stop:
            raise Cancelled("stop")

    def add(self, name: str, rounds: int = 3, prompt: int = 0, streams: bool = False, apart: bool = False) -> None:
        """A reply that reads so long a prompt, and then has so many rounds of a row."""
        self.scheduler.add(name, self._steps(name, rounds, prompt, Text(self, name, streams), apart))

    def _steps(self, name: str, rounds: int, prompt: int, text: Text, apart: bool) -> Steps:
        sequence = cast(TokenSequence, text)
        try:
            while prompt > 0:
                asked = AskedRows(sequence, range(prompt), ends_prompt=True)
                yield asked
                prompt -= asked.rows
            for _ in range(rounds):
                asked = AskedRows(sequence, (1,), Draft())
                if apart:
                    asked.make_draft = self._made
                yield asked
            self.log.append(f"{name} is done")
        except Exception as error:
            self.log.append(f"{name} has {type(error).__name__}")

    def _made(self) -> Callable[[], None]:
        self.made += 1
        return lambda: None

    def run(self, turns: int = 1000) -> list[dict[str, int]]:
        """Take turns until all have ended."""
        for _ in range(turns):
            if not len(self.scheduler):
                break
            self.scheduler.turn()
        return self.target.forwards


class Text:
    """A text without tokens."""

    def __init__(self, bench: Bench, name: str, streams: bool) -> None:
        self.target, self.name, self.streams, self._bench = bench.target, name, streams, bench

    def release(self) -> None:
        self._bench.log.append(f"{self.name} gives back its memory")

    def piece_end(self, tokens: Sequence[int], end: int) -> int:
        return end


@pytest.fixture
def bench() -> Bench:
    return Bench()


SHORT = [
    MemoryError(),
    RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("CUDA out of memory"),
]


@pytest.mark.parametrize("short", SHORT, ids=lambda error: type(error).__name__ + str(error)[:4])
@pytest.mark.parametrize("room", [1, 2, 3])
def test_where_memory_ends_the_newest_of_those_that_compute_wait(bench: Bench, short: Exception, room: int) -> None:
    bench.target.fails = lambda names: short if len(names) > room else None
    for name, rounds in (("oldest", 9), ("old", 6), ("new", 4), ("newest", 2)):
        bench.add(name, rounds)
    forwards = bench.run()
    together = ["oldest", "old", "new", "newest"]
    assert list(forwards[0]) == together[:room]
    released = [entry.split()[0] for entry in bench.log if entry.endswith("memory")]
    assert released[: 4 - room] == ["newest", "new", "old"][: 4 - room]
    # None is lost, none is told of it, and an older one is never behind a newer one for want of memory.
    assert sum(sum(forward.values()) for forward in forwards) == 9 + 6 + 4 + 2
    assert sorted(entry for entry in bench.log if entry.endswith("done")) == sorted(f"{n} is done" for n in together)
    assert bench.log.index("oldest is done") < len(bench.log)
    for forward in forwards:
        computing = [name for name in together if name in forward]
        left = [name for name in together if _is_left(bench, forwards, forward, name)]
        assert computing == left[: len(computing)]


def _is_left(bench: Bench, forwards: list[dict[str, int]], forward: dict[str, int], name: str) -> bool:
    """True if a reply has rows to compute in this forward or a later one."""
    at = next(at for at, one in enumerate(forwards) if one is forward)
    return any(name in later for later in forwards[at:])


def test_those_that_wait_for_memory_go_on_once_another_one_has_ended(bench: Bench) -> None:
    bench.target.fails = lambda names: MemoryError() if len(names) > 1 else None
    bench.add("first", 3)
    bench.add("second", 3)
    forwards = [next(iter(forward)) for forward in bench.run()]
    assert forwards == ["first"] * 3 + ["second"] * 3
    assert bench.log == ["second gives back its memory", "first is done", "second is done"]


def test_memory_that_is_short_for_one_alone_is_its_own_error(bench: Bench) -> None:
    bench.target.fails = lambda names: MemoryError() if "large" in names else None
    bench.add("large", 2)
    bench.add("small", 2)
    bench.run()
    assert bench.log == ["small gives back its memory", "large has MemoryError", "small is done"]


def test_any_other_error_is_told_to_all_of_the_forward_and_to_nobody_else(bench: Bench) -> None:
    bench.target.fails = lambda names: OSError("gone") if "b" in names else None
    for name in ("a", "b"):
        bench.add(name, 5)
    bench.scheduler.turn()
    bench.add("c", 2)
    bench.run()
    assert bench.log == ["a has OSError", "b has OSError", "c is done"]


@pytest.mark.parametrize("open_", range(1, 9))
def test_half_of_the_open_replies_are_verified_while_the_drafts_of_the_others_are_made(
    bench: Bench, open_: int
) -> None:
    for number in range(open_):
        bench.add(str(number), 6, apart=True)
    forwards = bench.run()
    # As long as all are open.
    least, counts = 6, dict.fromkeys(map(str, range(open_)), 0)
    widths = []
    for forward in forwards:
        if max(counts.values()) == least:
            break
        widths.append(len(forward))
        for name in forward:
            counts[name] += 1
    assert max(widths) == -(-open_ // 2)
    assert sorted(bench.log) == [f"{number} is done" for number in range(open_)]


def test_whoever_is_stopped_before_its_first_forward_computes_nothing(bench: Bench) -> None:
    """It may wait for a place in the forward, or for memory."""
    bench.add("runs", 4, prompt=1200)
    bench.add("waits for a place", 2, prompt=600)
    bench.scheduler.turn()
    assert list(bench.target.forwards[0]) == ["runs"]
    assert bench.target.width.replies == 2  # it shares, though it is not in this forward
    bench.stop.add("waits for a place")
    bench.scheduler.turn()
    assert bench.log == ["waits for a place has Cancelled"]
    assert len(bench.scheduler) == 1
    bench.target.fails = lambda names: MemoryError() if len(names) > 1 else None
    bench.add("waits for memory", 2)
    bench.scheduler.turn()
    bench.stop.add("waits for memory")
    bench.scheduler.turn()
    assert bench.log[1:] == ["waits for memory gives back its memory", "waits for memory has Cancelled"]
    assert {name for forward in bench.run() for name in forward} == {"runs"}
    assert bench.log[-1] == "runs is done"


def test_whoever_is_stopped_within_a_forward_ends_alone_and_all_of_them_end_it(bench: Bench) -> None:
    bench.add("a", 3)
    bench.add("b", 3)
    bench.target.during = lambda: bench.stop.add("a")
    bench.scheduler.turn()
    assert bench.log == ["a has Cancelled"]
    bench.target.during = lambda: bench.stop.add("b")
    bench.scheduler.turn()
    assert bench.log == ["a has Cancelled", "b has Cancelled"]
    assert not len(bench.scheduler)
    assert len(bench.target.forwards) == 1


def test_beside_rounds_few_rows_of_prompts_are_read_the_oldest_first(bench: Bench) -> None:
    bench.add("round", 20)
    bench.add("old prompt", 0, prompt=100)
    bench.add("new prompt", 0, prompt=100)
    forwards = bench.run()
    assert [forward.get("old prompt", 0) for forward in forwards[:4]] == [64, 36, 0, 0]
    assert [forward.get("new prompt", 0) for forward in forwards[:4]] == [0, 28, 64, 8]
    assert all("round" in forward for forward in forwards[:20])


@pytest.mark.parametrize("streams", [False, True])
def test_without_rounds_or_where_weights_stream_pieces_are_large(bench: Bench, streams: bool) -> None:
    if streams:
        bench.add("round", 3, streams=True)
    bench.add("a", 0, prompt=500, streams=streams)
    bench.add("b", 0, prompt=500, streams=streams)
    first = bench.run()[0]
    assert (first["a"], first["b"]) == (500, 12)


def test_the_width_learns_of_shared_forwards_alone_and_knows_how_many_are_open(bench: Bench) -> None:
    seen: list[tuple[int, float]] = []
    bench.target.width.observe = lambda rows, seconds, waited_s: seen.append((rows, seconds))  # type: ignore[method-assign]
    bench.add("a", 1)
    bench.scheduler.turn()
    assert (seen, bench.target.width.replies) == ([], 1)
    bench.add("b", 1)
    bench.add("c", 2, prompt=5)
    bench.scheduler.turn()  # a piece of a prompt is in it, which is no draft
    assert (seen, bench.target.width.replies) == ([], 2)
    bench.add("d", 2)
    bench.scheduler.turn()
    assert (seen, bench.target.width.replies) == ([(2, 1.0)], 2)


@pytest.mark.parametrize("open_", range(2, 9))
def test_no_more_drafts_are_begun_than_the_target_takes_at_a_time(bench: Bench, open_: int) -> None:
    """Made ones wait in a pool; those of the others are made when some have been taken."""
    taken, pool = 0, []

    for number in range(open_):
        bench.add(str(number), 5, apart=True)
    bench.scheduler.turn()  # in which there is no draft to verify yet
    drafting = bench.scheduler._drafting
    drafting.submit(lambda: None).result()  # behind all that were begun
    assert bench.made == -(-open_ // 2)

    def look() -> None:
        drafting.submit(lambda: None).result()
        pool.append(bench.made - taken)

    bench.target.during = look
    while len(bench.scheduler) == open_:
        before = len(bench.target.forwards)
        bench.scheduler.turn()
        taken += sum(len(forward) for forward in bench.target.forwards[before:])
    assert max(pool) == min(open_, 2 * -(-open_ // 2))  # those in the forward, and as many that wait


def test_of_replies_of_both_kinds_half_are_in_a_forward_that_verifies_drafts(bench: Bench) -> None:
    for number in range(6):
        bench.add(str(number), 4, apart=number < 3)
    forwards = bench.run()
    assert bench.log.count("0 is done") == 1
    drafted = [forward for forward in forwards[:4] if {"0", "1", "2"} & forward.keys()]
    assert drafted
    assert max(map(len, drafted)) == 3
