"""Runs requests on an engine and collects what comes back."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from engine.engine import Engine
from engine.errors import TenonError
from engine.messages import (
    ChatMessage,
    ErrorReport,
    Event,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    Reply,
    SamplingOptions,
)
from engine.modes import MODES, in_mode, mode_options

Kind = TypeVar("Kind")


class EngineClient:
    """An engine in this process, one request at a time."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._queue: queue.Queue[Event] = queue.Queue()
        self._ids = count()
        self.engine = Engine(self._queue.put)

    def request(self, prompt: str | list[ChatMessage], model: object, **values: Any) -> Generate:
        """A request: a text is a raw prompt, a list is a conversation; values go where they belong.

        ``draft`` names a single one. Where nothing else is said the reply is greedy, and one thread computes: a tiny
        model gains nothing from a second.
        """
        options = {name: values.pop(name) for name in list(values) if name in LoadOptions.__dataclass_fields__}
        if values.get("draft") is not None:
            options["drafts"] = (str(values["draft"]),)
        values.pop("draft", None)
        options.setdefault("threads", 1)
        mode = values.pop("mode", "auto")
        if mode in MODES and not MODES[mode].drafts:
            options.pop("drafts", None)  # of settings that other modes share
        of_modes = {name: values.pop(name) for name in mode_options() if name in values}
        sampling = {name: values.pop(name) for name in list(values) if name in SamplingOptions.__dataclass_fields__}
        if not sampling:
            sampling["temperature"] = 0.0
        return Generate(
            request_id=str(next(self._ids)),
            options=in_mode(mode, LoadOptions(model=str(model), mode_options=of_modes, **options)),
            messages=tuple(prompt) if isinstance(prompt, list) else (),
            raw_prompt=prompt if isinstance(prompt, str) else None,
            sampling=SamplingOptions(**sampling),
            **values,
        )

    def answer(self, prompt: str | list[ChatMessage], model: object, **values: Any) -> Reply:
        """Run a request that is expected to work."""
        last = self.finish(self.request(prompt, model, **values))
        assert isinstance(last, Finished), last
        return last.reply

    def failure(self, prompt: str | list[ChatMessage], model: object, **values: Any) -> Failed:
        """Run a request that is expected to fail, perhaps because of the name of its mode."""
        try:
            last = self.finish(self.request(prompt, model, **values))
        except TenonError as error:
            return Failed("", ErrorReport(type(error).__name__, error.message, exit_code=error.exit_code))
        assert isinstance(last, Failed), last
        return last

    def finish(self, request: Generate) -> Event:
        """Submit and collect events until the last one of this request, which is returned."""
        self.engine.submit(request)
        return self.wait_for((Finished, Failed))

    def wait_for(self, kinds: type[Event] | tuple[type[Event], ...]) -> Event:
        """Collect events until one is of this kind."""
        while True:
            event = self._queue.get(timeout=60)
            self.events.append(event)
            if isinstance(event, kinds):
                return event

    def seen(self, kind: type[Kind]) -> list[Kind]:
        """Every event of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]


@contextmanager
def engine_client() -> Iterator[EngineClient]:
    """An engine that is closed at the end."""
    client = EngineClient()
    try:
        yield client
    finally:
        client.engine.close()
