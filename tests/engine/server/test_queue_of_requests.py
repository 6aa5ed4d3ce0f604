"""The queue in front of the engine: whose turn it is, how many may wait, and whose news an event is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.messages import (
    Cancel,
    Command,
    CountTokens,
    ErrorReport,
    Event,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    Memory,
    Plan,
    PrefillProgress,
    Reply,
    Timings,
    TokensAdded,
    TokensCounted,
)
from engine.server.engine_link import Answers, Asked, EngineLink
from engine.server.refusal import Refused

GENERATE = Generate("", LoadOptions("model"), raw_prompt="a")
REPLY = Reply("", (), (), "plain", "model", (), "fp32", {}, "end", Plan("plain", ""), Timings(), Memory())


class Host:
    """An engine that says what the test says."""

    process_id = 7

    def __init__(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> None:
        self.say, self.exit = on_event, on_exit
        self.sent: list[Command] = []

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def kill(self) -> None:
        self.exit(-9)

    def close(self) -> None:
        pass

    @property
    def asked(self) -> list[str]:
        """Requests that it has got, by their numbers."""
        return [one.request_id for one in self.sent if isinstance(one, Generate | CountTokens)]


class Desk:
    """A link, the engines that it has started, and a few words for a test."""

    def __init__(self, most_running: int = 2, most_waiting: int = 4) -> None:
        self.hosts: list[Host] = []
        self.seen: list[Event] = []
        self.refused = 0  # starts that fail
        self.link = EngineLink(self.seen.append, self._start, most_running, most_waiting)

    def _start(self, *tell: Any) -> Host:
        if self.refused:
            self.refused -= 1
            raise OSError(24, "Too many open files")
        self.hosts.append(Host(*tell))
        return self.hosts[-1]

    def ask(self, command: Asked = GENERATE, count: int = 1) -> Answers:
        return self.link.ask([command] * count)

    @property
    def numbers(self) -> tuple[int, int]:
        return self.link.running, self.link.waiting


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


async def told() -> None:
    """Let what another thread has said arrive."""
    for _ in range(3):
        await asyncio.sleep(0)


def events(answers: Answers) -> list[Event]:
    """Events that have come so far."""
    return [event for _, event in answers._events]


ENDS: dict[str, Callable[[str], Event]] = {
    "finished": lambda number: Finished(number, REPLY),
    "failed": lambda number: Failed(number, ErrorReport("InternalError", "a mistake")),
    "counted": lambda number: TokensCounted(number, 3),
}


@pytest.mark.parametrize("end", [*ENDS, "exit", "unreadable", "killed"])
def test_after_each_kind_of_end_the_next_request_has_its_turn(end: str) -> None:
    async def test() -> None:
        desk = Desk(most_running=1)
        command: Asked = CountTokens("", GENERATE) if end == "counted" else GENERATE
        first, second, third = (desk.ask(command) for _ in range(3))
        (host,) = desk.hosts
        assert len(host.asked) == 1
        assert desk.numbers == (1, 2)
        if end in ENDS:
            host.say(ENDS[end](host.asked[0]))
        elif end == "killed":
            desk.link.kill("It hung.")
        else:
            host.exit(None if end == "unreadable" else 3)
        await told()
        assert len(events(first)) == 1
        assert (events(second), events(third)) == ([], [])
        assert desk.numbers == (1, 1)
        last = desk.hosts[-1]
        assert (last is host) == (end in ENDS)
        assert last.asked[-1] == "served-2"

    run(test)


def test_text_and_progress_are_no_end() -> None:
    async def test() -> None:
        desk = Desk(most_running=1)
        first, second = desk.ask(), desk.ask()
        (host,) = desk.hosts
        for event in (PrefillProgress(host.asked[0], 1, 2), TokensAdded(host.asked[0], "a", (1,))):
            host.say(event)
        await told()
        assert len(events(first)) == 2
        assert (host.asked, events(second)) == (["served-1"], [])

    run(test)


def test_a_start_that_fails_ends_its_own_request_and_the_next_is_tried() -> None:
    async def test() -> None:
        desk = Desk(most_running=1)
        desk.refused = 1
        first = desk.ask()
        (failed,) = events(first)
        assert isinstance(failed, Failed)
        assert "Too many open files" in failed.error.message
        assert desk.numbers == (0, 0)
        desk.ask()
        assert desk.hosts[-1].asked == ["served-2"]

    run(test)


def test_as_many_wait_as_may_and_the_next_is_asked_to_come_back() -> None:
    async def test() -> None:
        desk = Desk(most_running=2, most_waiting=4)
        for _ in range(6):
            desk.ask()
        assert desk.numbers == (2, 4)
        for count in (1, 2, 5):
            with pytest.raises(Refused) as refused:
                desk.ask(count=count)
            assert refused.value.status == 429
            assert refused.value.retry_after_s
        assert desk.numbers == (2, 4)
        desk.hosts[0].say(ENDS["finished"]("served-1"))
        await told()
        assert desk.numbers == (2, 3)
        with pytest.raises(Refused):
            desk.ask(count=2)  # each choice of a request takes a place
        desk.ask()
        assert desk.numbers == (2, 4)

    run(test)


def test_who_gives_up_while_waiting_is_never_asked_for_and_leaves_room() -> None:
    async def test() -> None:
        desk = Desk(most_running=1, most_waiting=2)
        running, given_up, last = desk.ask(), desk.ask(), desk.ask()
        given_up.cancel()
        (host,) = desk.hosts
        assert host.sent[1:] == []  # nothing to cancel there
        assert desk.numbers == (1, 1)
        desk.ask()
        host.say(ENDS["finished"]("served-1"))
        await told()
        assert host.asked == ["served-1", "served-3"]
        assert not events(last)
        running.cancel()
        assert Cancel("served-1") not in host.sent  # it has ended
        last.cancel()
        assert host.sent[-1] == Cancel("served-3")

    run(test)


def test_each_request_has_a_number_of_its_own_and_lets_a_person_s_go_first() -> None:
    async def test() -> None:
        desk = Desk(most_running=8)
        desk.ask(count=3)
        desk.ask()
        sent = desk.hosts[0].sent
        assert len({one.request_id for one in sent if isinstance(one, Generate)}) == 4
        assert all(isinstance(one, Generate) and one.lets_others_first for one in sent)

    run(test)


@pytest.mark.parametrize("late", [*ENDS, "text", "exit"])
def test_what_an_engine_says_after_its_end_is_no_news_of_the_one_after_it(late: str) -> None:
    async def test() -> None:
        desk = Desk()
        first = desk.ask()
        desk.hosts[0].exit(-11)
        await told()
        (failed,) = events(first)
        assert isinstance(failed, Failed)
        assert "signal 11" in failed.error.message
        second, third = desk.ask(), desk.ask()
        heard, seen = desk.link.heard, len(desk.seen)
        if late == "exit":
            desk.hosts[0].exit(0)
        else:
            number = desk.hosts[1].asked[0]
            desk.hosts[0].say(TokensAdded(number, "old", (1,)) if late == "text" else ENDS[late](number))
        await told()
        assert (events(second), events(third)) == ([], [])
        assert (desk.numbers, desk.link.heard, len(desk.seen)) == ((2, 0), heard, seen)
        assert len(desk.hosts) == 2
        desk.hosts[1].say(ENDS["finished"](desk.hosts[1].asked[0]))
        await told()
        assert len(events(second)) == 1

    run(test)


def test_what_is_said_after_the_close_reaches_nobody() -> None:
    async def test() -> None:
        desk = Desk(most_running=1)
        running, waiting = desk.ask(), desk.ask()
        await desk.link.close()
        assert [len(events(one)) for one in (running, waiting)] == [1, 1]
        heard = desk.link.heard
        desk.hosts[0].say(ENDS["finished"]("served-1"))
        desk.hosts[0].exit(0)
        await told()
        assert [len(events(one)) for one in (running, waiting)] == [1, 1]
        assert (desk.link.heard, len(desk.hosts)) == (heard, 1)
        with pytest.raises(Refused, match="stopping"):
            desk.ask()

    run(test)


def test_text_gathers_and_an_end_does_not_wait() -> None:
    async def test() -> None:
        desk = Desk()
        answers = desk.ask()
        host = desk.hosts[0]
        waiting = asyncio.ensure_future(answers.next(30.0, gather=True))
        await told()
        host.say(TokensAdded("served-1", "a", (1,)))
        await told()
        assert not waiting.done()
        host.say(ENDS["finished"]("served-1"))
        await told()
        assert waiting.done()
        assert (await waiting, len(events(answers))) == ((0, TokensAdded("served-1", "a", (1,))), 1)

    run(test)
