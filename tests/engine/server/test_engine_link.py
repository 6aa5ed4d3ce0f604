"""The engine's queue: what takes long to prepare lets others pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.messages import (
    ChatMessage,
    Command,
    ErrorReport,
    Event,
    Failed,
    Generate,
    LoadOptions,
    Notice,
    OutputForm,
    PrefillProgress,
)
from engine.server.engine_link import EngineLink


class Host:
    """An engine that notes what it is sent."""

    process_id = 1

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.tell: Callable[[Event], None] = lambda event: None

    def start(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> Host:
        self.tell = on_event
        return self

    def send(self, command: Command) -> None:
        assert isinstance(command, Generate)
        self.sent.append(command.request_id.removeprefix("served-"))

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_plain_requests_pass_those_that_take_long_to_prepare() -> None:
    plain = Generate("", LoadOptions(), (ChatMessage("user", "Hi"),))
    slow = Generate("", LoadOptions(), plain.messages, form=OutputForm("regex", "a"))
    long = Generate("", LoadOptions(), (ChatMessage("user", "Hi" * 50_000),))

    async def run() -> None:
        host = Host()
        link = EngineLink(start=host.start)

        async def told(event: Event) -> None:
            host.tell(event)
            await asyncio.sleep(0)

        link.ask([slow, long, slow, long, slow, long])
        link.ask([plain])
        assert host.sent == ["1", "2", "3", "4", "7"]
        await told(Notice("served-2", "It is on its way."))
        assert host.sent[5:] == []
        await told(PrefillProgress("served-2", 1, 2))
        await told(PrefillProgress("served-2", 2, 2))
        assert host.sent[5:] == ["5"]
        await told(Failed("served-1", ErrorReport("RequestTooLarge", "It is too large.")))
        assert host.sent[6:] == ["6"]
        assert (link.running, link.waiting) == (6, 0)
        await link.close()

    asyncio.run(run())
