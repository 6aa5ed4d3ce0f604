"""The answer to an exchange over HTTP: at once or as a stream, and only for as long as the client listens."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from engine.messages import Failed, Finished, PrefillProgress, Reply, TokensAdded
from engine.server.connection import PROBE
from engine.server.engine_link import Answers
from engine.server.exchange import Exchange
from engine.server.refusal import Refused, error_body, refusal
from engine.text.reply_parts import Said

#: A stream that has nothing to say for so long says that it lives.
PING_S = 10.0
#: Pieces of text that come so soon behind others are sent together, as the window shows them: each sending wakes server
#: and client, on processors that the model computes with.
_TOGETHER_S = 0.03
_CANCELLED = "The request was stopped before its end."


class ExchangeAnswer(Response):
    """Response that sends what the engine says, in the protocol of the exchange.

    A stream begins with its first piece, so that a request that fails before has an error's status.
    """

    def __init__(self, exchange: Exchange, answers: Answers) -> None:
        super().__init__()
        self._exchange = exchange
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and cancel the requests when the client leaves."""
        scope[PROBE] = self._answers.wake
        answering = asyncio.ensure_future(self._answer(scope, receive, send))
        listening = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({answering, listening}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._answers.cancel()
            for task in (answering, listening):
                task.cancel()
        with suppress(asyncio.CancelledError):
            await answering

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = _Stream(send, self._exchange.media_type) if self._exchange.streams else None
        try:
            replies = await self._follow(stream)
        except Refused as refused:
            if stream is not None and stream.begun:
                await stream.write(self._exchange.failed(refused), last=True)
                return
            body = error_body(scope["path"], refused)
            response = JSONResponse(body, refused.status, refused.headers)
        else:
            if stream is not None:
                await stream.write(self._exchange.closed(replies), last=True)
                return
            response = JSONResponse(self._exchange.whole(replies))
        await response(scope, receive, send)

    async def _follow(self, stream: _Stream | None) -> list[Reply]:
        """Pass the events on as they come, and return the replies of all choices.

        Raises:
            Refused: One of them failed.
        """
        exchange = self._exchange
        count = len(exchange.requests)
        divided = [exchange.divided(index) for index in range(count)]
        opened: set[int] = set()
        replies: dict[int, Reply] = {}
        while len(replies) < count:
            if stream is None:
                item = await self._answers.next(gather=True)
            else:
                if not self._answers.ready:
                    await stream.flush()
                gather, stream.gathers = stream.gathers, False
                item = await self._answers.next(_TOGETHER_S if gather else PING_S, gather)
                if item is None and not gather:
                    await stream.write(exchange.ping())
            if item is None:
                continue
            index, event = item
            if isinstance(event, Failed):
                raise refusal(event.error, exchange.places)
            if isinstance(event, Finished):
                if event.reply.stop_reason == "cancelled":
                    raise Refused(503, _CANCELLED)
                replies[index] = event.reply
            if stream is None:
                continue
            parts = divided[index]
            if isinstance(event, PrefillProgress) and index not in opened:
                opened.add(index)
                await stream.write(exchange.opened(index, event.total_tokens, event.done_tokens))
            elif isinstance(event, TokensAdded):
                exchange.logged(index, event.logprobs)
                said = Said(answer=event.text) if parts is None else parts.add(event.text)
                if said:
                    stream.add(exchange.delta(index, said))
            elif isinstance(event, Finished):
                said = Said() if parts is None else parts.end(event.reply.stop_reason == "length")
                rest = exchange.delta(index, said) if said else b""
                await stream.write(rest + exchange.ended(index, event.reply))
        return [replies[index] for index in range(count)]


async def _gone(receive: Receive) -> None:
    """Wait until the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Stream:
    """Body of a response, which begins with its first piece."""

    def __init__(self, send: Send, media_type: str) -> None:
        self._send = send
        self._media_type = media_type
        self._held = b""
        self.begun = False
        self.gathers = False  # True if text was sent just now

    def add(self, piece: bytes) -> None:
        """Hold a piece of text for the next sending."""
        self._held += piece

    async def flush(self) -> None:
        """Send the text that is held."""
        if self._held:
            self.gathers = True
            await self.write(b"")

    async def write(self, piece: bytes, last: bool = False) -> None:
        """Send what is held and a piece; send nothing if both are empty, unless it is the last."""
        piece, self._held = self._held + piece, b""
        if not piece and not last:
            return
        if not self.begun:
            self.begun = True
            headers = [
                (b"content-type", self._media_type.encode()),
                (b"cache-control", b"no-cache"),
                (b"x-accel-buffering", b"no"),
            ]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": piece, "more_body": not last})
