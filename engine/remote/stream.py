"""Reply of a server as it comes: server-sent events, the pieces that they bring, and its figures.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event stream".

The mean acceptance length is 1 + accepted / steps: a step checks one draft, and gives one token more than it accepts.
Sources: llama.cpp, tools/server/README.md (``timings``); vLLM, docs/features/per_request_metrics.md
(``metrics.speculative_decoding``) and docs/design/metrics.md (``vllm:spec_decode_*``); SGLang, ``/server_info``
(``internal_states[].avg_spec_accept_length``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import httpx2

from engine.bounded_http import Bound
from engine.json_text import read_json
from engine.messages import Timings, ToolCall
from engine.remote.connection import Connection, broken_off, empty, positive, refusal, unreadable
from engine.text.reasoning import CLOSE, OPEN
from engine.text.tool_calls import DESCRIBED

_DONE = "[DONE]"
# The context of the largest models holds a million tokens, of about four characters.
_MOST_CHARACTERS, _MOST_PIECES, _MOST_CALLS = 4 << 20, 1_000_000, 1000
_CALL_CHARACTERS = 40  # of the marks around it
# Only the server knows its tokens. Some bring a token in several pieces, or many tokens in one.
_LEAST_CHARACTERS, _LONGEST_CHARACTERS, _LONGEST_TOKENS = 8, 32, 128
_SAMPLE = re.compile(r"^(vllm:\w+?)(?:_total)?(?:\{(.*)\})?\s+([0-9.eE+-]+)(?:\s|$)", re.MULTILINE)
_MODEL = re.compile(r'model_name="((?:[^"\\]|\\.)*)"')
_DRAFTS, _DRAFTED, _ACCEPTED = (
    f"vllm:spec_decode_num_{name}" for name in ("drafts", "draft_tokens", "accepted_tokens")
)
_WRITTEN = "vllm:generation_tokens"
#: Over less than this a speed says nothing.
LEAST_MS = 50.0
# No computer writes, or reads, more tokens a second for one user, and no draft is longer.
_FASTEST_WRITING, _FASTEST_READING, _LONGEST_DRAFT = 1e5, 1e6, 1000


@dataclass
class Told:
    """Facts that a server tells of a reply beside its text."""

    finish: str = ""  # reason of its end, in the protocol's word; empty while there is none
    stop: str = ""  # string that ended it, if the server says so
    timings: Mapping[str, Any] = field(default_factory=dict)  # timings of llama.cpp
    usage: Mapping[str, Any] = field(default_factory=dict)  # counts of tokens
    metrics: object = None  # metrics of vLLM
    cut: bool = False  # True if the reply was ended here, because the server went on after its limit


async def pieces(
    connection: Connection, path: str, body: bytes, model: str, limit: int | None, begun: str, told: Told
) -> AsyncIterator[str]:
    """Ask for a reply, and yield its text in pieces, with thoughts and calls in Tenon's own marks.

    A piece is empty if the reply goes on without a text: a call is told when it is complete.

    Args:
        path: Path of the protocol.
        model: The server's name for the model.
        limit: Upper limit of the reply in tokens; None for none.
        begun: Beginning of a reply that is continued; empty for none.
        told: Filled in with what the server tells.

    Raises:
        TenonError: The server fails; the pieces so far stay valid.
    """
    written, server = _Written(begun, limit), connection.server
    came, bound = False, Bound(most_s=inf)  # who hears the pieces looks at the clock
    async with connection.stream(path, body, model, bound) as response:
        async for data in _events(connection, response):
            if not isinstance(data, dict):
                raise unreadable(server)
            came = True
            if data.get("error") is not None:
                raise refusal(server, 0, data, {}, connection.has_key, model)
            before = written.pieces
            texts = written.take(data, told)
            if written.pieces > before:
                bound.restart()
                for text in texts or [""]:
                    yield text
            if written.is_too_long:
                told.finish, told.cut = "length", True
                return
    for text in written.end():
        yield text
    if not came:
        raise empty(server)
    if not told.finish:
        raise broken_off(server)


async def _events(connection: Connection, response: httpx2.Response) -> AsyncIterator[object]:
    """Yield the values of an answer's events, or the one value of an answer that is no stream."""
    kind = response.headers.get("content-type", "")
    if "json" in kind:
        yield _value(connection, (await response.aread()).decode("utf-8", "replace"))
        return
    if "html" in kind:
        raise unreadable(connection.server, kind)
    response.headers["content-type"] = "text/event-stream"  # some servers say something else, or nothing
    events: Any = aiter(httpx2.EventSource(response, max_event_size=None))  # a generator, which is to be closed
    async with aclosing(events):
        async for event in events:
            if event.data.strip() == _DONE:
                return
            if event.data:
                yield _value(connection, event.data)


def _value(connection: Connection, text: str) -> object:
    try:
        return read_json(text)
    except ValueError as error:
        raise unreadable(connection.server) from error


class _Written:
    """Text of a reply with marks around its thought, and its calls in words."""

    def __init__(self, begun: str, limit: int | None) -> None:
        self._limit = limit
        self._most = _MOST_CHARACTERS
        if limit is not None:
            self._most = min(self._most, _LONGEST_CHARACTERS * (limit + _LONGEST_TOKENS))
        self._size, self._count = -len(begun), 0  # characters and calls; some servers say the beginning again
        self.pieces = 0  # number of chunks so far that brought some text
        self._thinks = begun.lstrip().startswith(OPEN) and CLOSE not in begun
        self._answers = False
        self._echo = begun
        self._held = ""
        self._call: ToolCall | None = None
        self._arguments: list[str] = []  # of the call, as far as they have come
        self._index: object = None  # of the call, by the server's count

    @property
    def is_too_long(self) -> bool:
        """True if there is more than was asked for, or than any reply has."""
        if self._size > self._most or self._count > _MOST_CALLS or self.pieces > _MOST_PIECES:
            return True
        limit = self._limit
        return limit is not None and self.pieces > limit and self._size > _LEAST_CHARACTERS * limit

    def _taken(self, value: object) -> str:
        """Return a text of the reply as far as it has room, or an empty text for anything else."""
        text = value if isinstance(value, str) else ""
        room = max(self._most - self._size, 0)
        self._size += len(text)
        return text[:room]

    def take(self, data: Mapping[str, Any], told: Told) -> list[str]:
        """Return the text that a chunk adds; everything else goes to ``told``."""
        for name in ("timings", "usage"):
            if isinstance(data.get(name), dict):
                setattr(told, name, data[name])
        told.metrics = data.get("metrics") or told.metrics
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            return []
        if isinstance(choice.get("finish_reason"), str):
            told.finish = choice["finish_reason"]
        if isinstance(choice.get("stop_reason"), str):
            told.stop = choice["stop_reason"]
        said = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        if not isinstance(said, dict):
            return []
        size = self._size
        thought = self._taken(said.get("reasoning_content") or said.get("reasoning"))
        texts = [self._thought(thought), self._answer(self._taken(said.get("content")))]
        texts += self._called(said.get("tool_calls"))
        self.pieces += self._size > size
        return [text for text in texts if text]

    def end(self) -> list[str]:
        """Return the text that the end adds."""
        calls = [] if self._call is None else [replace(self._call, arguments="".join(self._arguments))]
        self._call, self._arguments = None, []
        held, self._held, self._echo = self._held, "", ""
        closed = f"\n{CLOSE}\n\n" if self._thinks else ""
        self._thinks = False
        return [text for text in (held, closed, *map(DESCRIBED.written, calls)) if text]

    def _thought(self, text: str) -> str:
        if not text or self._answers:  # a thought after the answer has no place
            return ""
        if self._thinks:
            return text
        self._thinks = True
        return f"{OPEN}\n{text}"

    def _answer(self, text: str) -> str:
        text = self._without_echo(text)
        if not text:
            return ""
        closed = f"\n{CLOSE}\n\n" if self._thinks else ""
        self._thinks, self._answers = False, True
        return closed + text

    def _without_echo(self, text: str) -> str:
        """Return the text after the beginning; empty while it may still be the beginning itself."""
        if not self._echo:
            return text
        self._held += text
        if len(self._held) < len(self._echo) and self._echo.startswith(self._held):
            return ""
        fresh, self._held = self._held.removeprefix(self._echo), ""
        self._echo = ""
        return fresh

    def _called(self, calls: object) -> list[str]:
        """Return the calls that are complete because another one begins."""
        done: list[str] = []
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                continue
            if self.is_too_long:
                break
            name, at = self._taken(function.get("name")), call.get("index", int(self._call is not None))
            if name and (self._call is None or at != self._index):
                done += self.end()
                self._index, self._count = at, self._count + 1
                self._size += _CALL_CHARACTERS
                self._call = ToolCall(name, "", self._taken(call.get("id")))
            if self._call is not None:
                self._arguments.append(self._taken(function.get("arguments")))
        return done


@dataclass(frozen=True)
class DraftCounts:
    """Yield of a server's drafts."""

    steps: int  # drafts that were checked
    drafted: int  # tokens in them
    accepted: int  # drafted tokens that held
    shared: bool = False  # True if replies to other clients are counted too

    def added_to(self, timings: Timings) -> Timings:
        """Return the timings with these figures, or unchanged if the figures say nothing or are impossible."""
        if not (0 <= self.accepted <= min(self.drafted, _LONGEST_DRAFT * self.steps) and self.drafted and self.steps):
            return timings
        return replace(
            timings,
            draft_n=self.drafted,
            draft_n_tested=self.drafted,
            draft_n_accepted=self.accepted,
            acceptance_rate=self.accepted / self.drafted,
            mean_acceptance_length=1 + self.accepted / self.steps,
            target_forwards=self.steps,
            shared=self.shared,
        )


def with_llama_timings(timings: Timings, told: Mapping[str, Any]) -> Timings:
    """Return the timings that the server tells if they are possible, else those measured here."""
    prompt_n, cache_n = (_count(told.get(name)) for name in ("prompt_n", "cache_n"))
    predicted_n = _written(timings, told.get("predicted_n"))
    prompt_ms, predicted_ms = (_ms(timings, told.get(name)) for name in ("prompt_ms", "predicted_ms"))
    reading = _speed(prompt_n, prompt_ms, _FASTEST_READING)
    writing = _speed(predicted_n, predicted_ms, _FASTEST_WRITING)
    found = replace(
        timings,
        prompt_n=prompt_n if prompt_ms else timings.prompt_n,
        cache_n=cache_n,
        prompt_ms=prompt_ms if reading else timings.prompt_ms,
        prompt_per_second=reading,
        predicted_n=predicted_n,
        predicted_ms=predicted_ms if writing else timings.predicted_ms,
    )
    if predicted_n > 1:
        measured = _speed(predicted_n, found.predicted_ms, _FASTEST_WRITING)
        found = replace(found, predicted_per_second=writing or measured)
    accepted = _count(told.get("draft_n_accepted"))
    return DraftCounts(predicted_n - accepted, _count(told.get("draft_n")), accepted).added_to(found)


def with_usage(timings: Timings, usage: Mapping[str, Any]) -> Timings:
    """Return the timings with the server's counts of tokens in place of those counted here."""
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    prompt, predicted = _count(usage.get("prompt_tokens")), _written(timings, usage.get("completion_tokens"))
    ms = timings.predicted_ms
    return replace(
        timings,
        prompt_n=max(prompt - cached, 0),
        cache_n=min(cached, prompt),
        predicted_n=predicted,
        predicted_per_second=_speed(predicted - 1, ms, _FASTEST_WRITING) if ms >= LEAST_MS else None,
        prompt_per_second=_speed(prompt - cached, timings.prompt_ms, _FASTEST_READING),
    )


def of_request(metrics: object) -> DraftCounts | None:
    """Return one reply's counts from vLLM's ``metrics`` beside it, or None."""
    found = metrics.get("speculative_decoding") if isinstance(metrics, dict) else None
    if not isinstance(found, dict):
        return None
    names = ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")
    steps, drafted, accepted = (_count(found.get(name)) for name in names)
    return DraftCounts(steps, drafted, accepted) if steps else None


def read_counters(page: str, model: str) -> Counter[str]:
    """Return the counters of vLLM for a model, from its page for Prometheus, summed over its engines."""
    found: Counter[str] = Counter()
    for sample in _SAMPLE.finditer(page):
        name, labels, value = sample.groups(default="")
        named = _MODEL.search(labels)
        if name in (_DRAFTS, _DRAFTED, _ACCEPTED, _WRITTEN) and (named is None or named[1] == model):
            with suppress(ValueError, OverflowError):  # no number, or none that is finite
                found[name] += round(float(value))
    return found


def between(before: Mapping[str, int], after: Mapping[str, int], own_tokens: int) -> DraftCounts | None:
    """Return the counts between two looks at the counters.

    Args:
        before: Counters just before the reply.
        after: Counters just after it.
        own_tokens: Tokens of the reply; if the server has written more, others were served too.
    """
    steps, drafted, accepted, written = (
        after.get(name, 0) - before.get(name, 0) for name in (_DRAFTS, _DRAFTED, _ACCEPTED, _WRITTEN)
    )
    if steps <= 0 or min(drafted, accepted, written) < 0:  # none drafted, or the server was started anew
        return None
    return DraftCounts(steps, drafted, accepted, shared=written > own_tokens)


def with_server_mean(timings: Timings, info: object) -> Timings:
    """Return the timings with SGLang's mean of all replies since its start, if its drafts have one."""
    states = info.get("internal_states") if isinstance(info, dict) else None
    means = [
        mean
        for state in (states if isinstance(states, list) else [])
        if isinstance(state, dict) and 1 < (mean := _number(state.get("avg_spec_accept_length"))) <= _LONGEST_DRAFT
    ]
    return replace(timings, mean_acceptance_length=sum(means) / len(means), shared=True) if means else timings


def _count(value: object) -> int:
    return positive(value) or 0


def _written(timings: Timings, told: object) -> int:
    """Return the tokens of a reply that the server tells, or those counted here if it tells none or too many."""
    s = max(timings.prompt_ms + timings.predicted_ms, LEAST_MS) / 1e3
    tokens = _count(told)
    return tokens if 0 < tokens <= s * _FASTEST_WRITING else timings.predicted_n


def _ms(timings: Timings, told: object) -> float:
    """Return a part of a reply's time, or 0 if it is not told or belongs to another reply."""
    ms = _number(told)
    return ms if ms <= 2 * (timings.prompt_ms + timings.predicted_ms) + 1e3 else 0.0


def _speed(tokens: int, ms: float, fastest: float) -> float | None:
    """Return tokens per second; None if there are none, or the speed is impossible."""
    return tokens / ms * 1e3 if 0 < tokens <= ms / 1e3 * fastest else None


def _number(value: object) -> float:
    """Return a value if it is a number, else 0."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return float(value) if usable else 0.0  # type: ignore[arg-type]
