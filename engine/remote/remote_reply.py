"""Reply of a server's model, told in the engine's own events."""

from __future__ import annotations

import queue
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

from engine import messages
from engine.errors import Cancelled, PromptTooLong, TenonError
from engine.hub.endpoints import KIND_TITLES
from engine.planning.hardware import own_memory
from engine.remote.connection import READING_S, ContextTooSmall, endless
from engine.remote.remote_model import RemoteModel
from engine.remote.stream import (
    LEAST_MS,
    Told,
    between,
    of_request,
    pieces,
    read_counters,
    with_llama_timings,
    with_server_mean,
    with_usage,
)
from engine.request import last_question
from engine.sentences import say
from engine.text.preparation import opening
from engine.text.reasoning import thought_tokens
from engine.text.repetition import LoopWatch, repeated_from
from engine.text.stop import ReplyText

#: The mode of such a reply: how it is decoded is the server's affair.
MODE = "remote"
_WAIT_S = 0.02
_UPDATE_EVERY_S = 0.25
# The server's own count of a prompt leads to a shorter one so many times.
_MOST_TRIES = 3
_ROOM = 1.05
_COUNTERS_S = 2.0
# Limits of the time between two pieces of a reply (some servers bring a whole call as one), and of all of it.
_BETWEEN_S, _WHOLE_S = 300.0, 6 * 3600.0
# In a shorter prompt what the template adds to the words counts for more than they do.
_ENOUGH_TOKENS = 400
_STOPS: dict[str, messages.StopReason] = {"length": "length", "max_tokens": "length"}


class RemoteReply:
    """Reply to one request that `check_request` has passed.

    Args:
        request: Conversation or raw prompt, with its sampling.
        load_ms: Time that the first question to the server took; None if it was asked before.
        emit: Takes events.
        check: Raises `Cancelled` when the request is to stop.
    """

    def __init__(
        self,
        model: RemoteModel,
        request: messages.Generate,
        load_ms: float | None,
        emit: Callable[[messages.Event], None],
        check: Callable[[], None],
    ) -> None:
        self._model = model
        self._request = request
        self._load_ms = load_ms
        self._emit = emit
        self._check = check
        self._opening = opening(request)
        self._texts: list[str] = []  # each piece by its number, which stands for a token here
        self._numbers: dict[str, int] = {}
        watch = LoopWatch(self._decode, last_question(request)) if request.stop_loops else None
        self._reply = ReplyText(self._decode, (), request.stop, loops=None if watch is None else watch.add)
        self._told = Told()
        self._estimate = 0  # of the prompt's tokens, before it is scaled
        self._started = self._first = self._last = 0.0
        self._pieces = 0  # that have come over the net
        self._timings = messages.Timings(load_ms=load_ms)
        server = model.server
        self._plan = messages.Plan(
            MODE,
            say(
                "{model} answers on {server} ({kind}, {address}).",
                model=model.name,
                server=server.name,
                kind=KIND_TITLES[server.kind],
                address=server.address,
            ),
        )

    def run(self) -> Generator[Future[messages.Encoded] | None, None, None]:
        """Ask, and tell what comes; let others have their turn at each step. End with `Finished`, also if cancelled.

        Raises:
            TenonError: The server fails; the text so far stays.
        """
        self._emit(messages.PlanChosen(self._request.request_id, self._plan))
        limit = self._request.max_tokens
        for attempt in range(_MOST_TRIES):
            encoded = yield from self._encoded(limit)
            try:
                yield from self._answer(encoded, limit)
                break
            except ContextTooSmall as error:
                before = limit, self._model.context, self._model.scale
                limit = self._learn_from(error, limit)
                same = before == (limit, self._model.context, self._model.scale)
                if same or self._reply.text or attempt == _MOST_TRIES - 1:
                    raise PromptTooLong(error.message) from error
        self._emit(messages.Finished(self._request.request_id, self._finished()))

    def _encoded(self, limit: int | None) -> Generator[Future[messages.Encoded], None, messages.Encoded]:
        """Return the request as it fits."""
        model = self._model
        found = yield from model.encode(
            messages.ToAsk(self._request, model.name, model.server.kind, model.context, model.scale, limit)
        )
        self._estimate = found.tokens
        for event in found.events:
            self._emit(event)
        return found

    def _learn_from(self, error: ContextTooSmall, limit: int | None) -> int | None:
        """Learn context and length of the prompt from a refusal; return the limit of tokens that fits after it."""
        model = self._model
        if error.context is not None and (model.context is None or error.context < model.context):
            model.remember_context(error.context)
        room = None if model.context is None or error.prompt is None else model.context - error.prompt
        if limit is not None and room is not None and 0 < room < limit:
            return room
        if error.prompt is not None and self._estimate:
            model.scale = max(model.scale, error.prompt / self._estimate * _ROOM)
        return limit

    def _answer(self, encoded: messages.Encoded, limit: int | None) -> Iterator[None]:
        came: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._started = time.perf_counter()
        talk = self._model.start(self._talk(encoded, limit, came))
        try:
            yield from self._hear(came)
            if self._reply.stop_reason is None:  # else it ends here, whatever the server would add
                talk.result()
                self._reply.close("end")
        except Cancelled:
            self._reply.close(None)
        except TenonError:
            if self._reply.text:
                self._reply.close(None)
            raise
        finally:
            talk.cancel()
            self._settle()
            self._show(self._reply.take_fresh())
            self._update()

    def _hear(self, came: queue.SimpleQueue[str | None]) -> Iterator[None]:
        """Take pieces until the last has come, or the reply ends here.

        Raises:
            TenonError: No piece has come for too long, whatever else the server sends.
        """
        updated = 0.0
        while self._reply.stop_reason is None:
            self._check()
            try:
                text = came.get(timeout=_WAIT_S)
            except queue.Empty:
                text = ""
            if text is None:
                return
            if text:
                self._take(text)
            now = time.perf_counter()
            silent_s, most_s = now - (self._last or self._started), _BETWEEN_S if self._last else READING_S
            if silent_s > most_s or now - self._started > _WHOLE_S:
                raise endless(self._model.server, most_s if silent_s > most_s else _WHOLE_S)
            if now - updated >= _UPDATE_EVERY_S:  # also while nothing comes: it is a sign of life
                updated = now
                self._update()
            if came.empty():
                yield

    async def _talk(self, encoded: messages.Encoded, limit: int | None, came: queue.SimpleQueue[str | None]) -> None:
        """Ask for the reply, and for the counters before and after it, on the net's thread."""
        connection, kind, name = self._model.connection, self._model.server.kind, self._model.name
        try:
            before = await self._counters() if kind == "vllm" else Counter()
            async for text in pieces(connection, encoded.path, encoded.body, name, limit, self._opening, self._told):
                self._last = time.perf_counter()
                self._first = self._first or self._last
                self._pieces += 1
                came.put(text)
            told = self._told
            timings = with_usage(self._measured(), told.usage) if told.usage else self._measured()
            if told.timings:
                timings = with_llama_timings(timings, told.timings)
            counts = of_request(told.metrics)
            if counts is None and before:
                counts = between(before, await self._counters(), timings.predicted_n)
            if counts is not None:
                timings = counts.added_to(timings)
            if kind == "sglang":
                with suppress(TenonError):
                    info = await connection.ask("/server_info", limit_s=_COUNTERS_S)
                    timings = with_server_mean(timings, info)
            self._timings = timings
        finally:
            came.put(None)

    async def _counters(self) -> Counter[str]:
        """Return the server's counters now; none if it does not tell them."""
        try:
            page = await self._model.connection.text("/metrics", limit_s=_COUNTERS_S)
        except TenonError:
            return Counter()
        return read_counters(page, self._model.name)

    def _take(self, text: str) -> None:
        if text not in self._numbers:
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        self._reply.add(self._numbers[text])
        self._show(self._reply.take_fresh())

    def _decode(self, pieces: Any) -> str:
        return "".join(self._texts[piece] for piece in pieces)

    def _show(self, text: str) -> None:
        if text:
            self._emit(messages.TokensAdded(self._request.request_id, text, ()))

    def _measured(self) -> messages.Timings:
        """Return the figures measured here; a piece counts as a token until the server tells its count."""
        now = time.perf_counter()
        pieces = self._pieces
        # While it goes on the time runs on between two pieces; they may come in bursts.
        end = self._last if self._told.finish or self._reply.stop_reason else now
        predicted_ms = (end - self._first) * 1e3 if self._first else 0.0
        prompt_ms = ((self._first or now) - self._started) * 1e3
        return messages.Timings(
            prompt_n=round(self._estimate * self._model.scale),
            prompt_ms=prompt_ms,
            time_to_first_token_ms=prompt_ms if self._first else None,
            predicted_n=pieces,
            predicted_ms=predicted_ms,
            predicted_per_second=(pieces - 1) / predicted_ms * 1e3 if pieces > 1 and predicted_ms >= LEAST_MS else None,
            load_ms=self._load_ms,
            thought_n=thought_tokens(self._reply.text, self._reply.ends),
        )

    def _settle(self) -> None:
        """Take the server's figures if they came, and learn from its count of the prompt."""
        usage = self._told.usage.get("prompt_tokens")
        if isinstance(usage, int) and usage > 0 and self._estimate > _ENOUGH_TOKENS:
            self._model.scale = min(max(usage / self._estimate, 0.2), 5.0)
        if not self._timings.predicted_n:
            self._timings = self._measured()
        measured = self._measured()
        # The server does not count the tokens of thoughts: their share of the pieces is known.
        share = measured.thought_n / measured.predicted_n if measured.predicted_n else 0.0
        self._timings = replace(self._timings, thought_n=round(share * self._timings.predicted_n))

    def _update(self) -> None:
        timings = self._timings if self._timings.predicted_n else self._measured()
        self._emit(
            messages.StatisticsUpdated(
                self._request.request_id,
                MODE,
                timings,
                own_memory(),
                context_used=timings.cache_n + timings.prompt_n + timings.predicted_n,
                context_limit=self._model.context or 0,
            )
        )

    def _finished(self) -> messages.Reply:
        stop = self._reply.stop_reason or "cancelled"
        if stop == "end" and self._told.finish in _STOPS:
            stop = _STOPS[self._told.finish]
        elif stop == "end" and self._told.stop:
            stop = "stop"
        note, server = "", self._model.server.name
        if self._told.cut and stop == "length":
            note = say("{server} wrote on past the limit of the reply, so Tenon ended it there.", server=server)
        elif self._told.finish == "content_filter":
            note = say("{server} cut the reply by a filter of its own.", server=server)
        if note:
            self._emit(messages.Notice(self._request.request_id, note))
        new = None
        if stop == "loop":
            new = (0, *self._reply.ends)[repeated_from(self._reply.token_ids)]
        return messages.Reply(
            text=self._reply.text,
            prompt_ids=(),
            token_ids=(),
            mode=MODE,
            model=self._request.options.model,
            drafts=(),
            weights=self._model.report.weights,
            devices={"target": self._model.server.address, "draft": None},
            stop_reason=stop,
            plan=self._plan,
            timings=self._timings,
            memory=own_memory(),
            new_characters=new,
            stop_text=self._reply.stop_text or self._told.stop,
        )
