"""Model of a server in the place of one in memory: its facts, and the connection that its replies share."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from engine.documents.pictures import sent_picture
from engine.errors import Cancelled, TenonError
from engine.hub.endpoints import KIND_TITLES, find_remote, remote_name
from engine.messages import Encoded, Generate, LoadOptions, ModelAdvice, ModelReport, ToAsk
from engine.remote.asking import encoded
from engine.remote.connection import Connection, positive
from engine.remote.probe import learn_model, unencrypted
from engine.sentences import say
from engine.text.preparation import SMALL_BYTES, ask_slowly, beside, waited_for

Result = TypeVar("Result")

# A cancel is seen within this time.
_LOOK_S = 0.02
#: Replies at once; further ones wait for their turn, as a server may have little room.
_MOST_REPLIES = 16


class RemoteModel:
    """Model of a server, with a thread for what is said over the net.

    Args:
        options: Options with the model's name; their context is an upper limit, and the others have no effect.
        check: Called often; raises to cancel.

    Raises:
        TenonError: The server does not answer, or has no such model.
    """

    def __init__(self, options: LoadOptions, check: Callable[[], None] = lambda: None) -> None:
        started = time.perf_counter()
        self.options = options
        server, self.name = find_remote(options.model)
        self.connection = Connection(server)
        self._lane = ThreadPoolExecutor(1, "tenon-prepare-slow")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tenon-remote", daemon=True)
        self._thread.start()
        try:
            self.server, self.facts = self.wait_for(learn_model(self.connection, self.name), check)
        except BaseException:
            self.release()
            raise
        limits = [limit for limit in (self.facts.context, options.context) if limit]
        # Tokens of prompt and reply together; None if the server does not say
        self.context = min(limits) if limits else None
        self.scale = 1.0  # tokens that the server counted in the last prompt, divided by the estimate for it
        warning = unencrypted(self.server, self.connection.has_key)
        self.notes = (warning,) if warning else ()  # sentences for the user
        self.report = ModelReport(
            name=remote_name(options.model),
            folder=server.address,
            architecture=KIND_TITLES[self.server.kind],
            parameters=0,
            weights=say("on {server}", server=server.name),
            context=self.context or 0,
            weight_bytes=0,
            load_ms=(time.perf_counter() - started) * 1e3,
            advice=ModelAdvice(thinking=self.facts.thinking),
        )

    def serves(self, options: LoadOptions) -> bool:
        """Return True if a request with these options is for this model; a server that has changed is another."""
        try:
            server, name = find_remote(options.model)
        except TenonError:
            return False
        here = self.connection.server
        return (server.address, name, options.context) == (here.address, self.name, self.options.context)

    def has_room(self, replies: int) -> bool:
        """Return True if another reply may be asked for beside so many."""
        return replies < _MOST_REPLIES

    def encode(self, asked: ToAsk) -> Generator[Future[Any], None, Encoded]:
        """Return a request as the server gets it; a large one is encoded in a process.

        Raises:
            TenonError: The request does not fit, or a server cannot answer it.
        """
        if asked.request.pictures and not asked.counts:
            asked = yield from beside(self._lane, partial(_with_pictures, asked))
        elif asked.request.size_bytes <= SMALL_BYTES:
            return encoded(asked)
        work = partial(ask_slowly, f"{encoded.__module__}:answer", asked)
        found: Encoded = yield from beside(self._lane, work)
        return found

    def count(self, request: Generate) -> Generator[Future[Any], None, int]:
        """Return the number of tokens of a request's prompt by the server's count, or by an estimate.

        Raises:
            TenonError: The request is too large.
        """
        asked = ToAsk(request, self.name, self.server.kind, self.context, self.scale, counts=True)
        sent = yield from self.encode(asked)
        found = None
        try:
            found = yield from waited_for(self.start(self.connection.ask(sent.path, sent.body)))
        except Cancelled:
            raise
        except TenonError:
            pass  # it has no such path
        told = positive(found.get("input_tokens")) if isinstance(found, dict) else None
        return told or round(sent.tokens * self.scale)

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin some work on the net; cancelling the future closes its connection."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait_for(self, work: Coroutine[Any, Any, Result], check: Callable[[], None]) -> Result:
        """Return the result of some work on the net, which a cancel ends."""
        future = self.start(work)
        try:
            while True:
                check()
                try:
                    return future.result(_LOOK_S)
                except FutureTimeout:
                    if future.done():
                        raise
        finally:
            future.cancel()

    def remember_context(self, context: int) -> None:
        """Remember how much context the server says that it holds."""
        self.context = context
        self.report = replace(self.report, context=context)

    def release(self) -> None:
        """Close the connections; nothing can be asked of the model after it."""

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self.connection.close()

        if self._loop.is_closed():
            return
        self._lane.shutdown(wait=False, cancel_futures=True)
        try:
            self.start(end()).result(1.0)
        except FutureTimeout:
            return  # the thread is a daemon, and what it waits for has limits of its own
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _with_pictures(asked: ToAsk, gone: Callable[[], bool]) -> ToAsk:
    """Return a request whose pictures are files as servers get them."""
    request = asked.request.with_pictures(lambda one: replace(one, content=sent_picture(one, gone), path=""))
    return replace(asked, request=request)
