"""The application: one table of routes, how each is answered, and what the server tells of itself."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, TypeVar, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from engine import messages
from engine.freed_memory import give_back_memory
from engine.messages import Generate
from engine.server.answer import ExchangeAnswer
from engine.server.anthropic_messages import Messages, prompt
from engine.server.chat_completions import ChatCompletions, Completions
from engine.server.connection import HEADER_S, UNREAD_S, most_connections, most_without_request
from engine.server.engine_link import MOST_RUNNING, MOST_WAITING, EngineLink
from engine.server.exchange import Exchange, Served, with_pictures_read
from engine.server.fields import Fields
from engine.server.guard import Guard
from engine.server.ollama import OllamaChat, OllamaExchange, OllamaGenerate, listed, shown, version
from engine.server.phone_page import Endpoint, PhoneGuard, page_routes
from engine.server.phones import Phones
from engine.server.refusal import Refused, error_body, refusal
from engine.server.responses import Responses

_MOST_BODY_BYTES = 32 << 20
_MOST_BODIES_BYTES = 128 << 20
_BODY_S = 30.0
_TOO_LARGE = f"The request is larger than {_MOST_BODY_BYTES >> 20} MiB: send less."
_TOO_MUCH = (
    f"The requests that are read at once have {_MOST_BODIES_BYTES >> 20} MiB together at most: "
    "send it again in a few seconds."
)
_RETRY_AFTER_S = 5
# Reading so many holds Python's lock for half a second, in which all answers stand still.
_MOST_VALUES = 1 << 19
_TOO_MANY = f"The request has more than {_MOST_VALUES:,} values or commas: send less."
#: Bytes of a body that is no large one.
SMALL_BYTES = 64 << 10
# After the request of a large body, whose memory goes back to the system then.
_GIVES_BACK_S = 2.0
_TOO_SLOW = "The request's body did not come in time: send it again."
_NO_PATH = "There is nothing at this address: see the README for those that are served."
_NO_METHOD = "This address does not take this method."
_MISTAKE = "Tenon made a mistake and stopped this request: try again, and report it if it comes back."
_NO_EMBEDDINGS = "Tenon's models write texts, and none makes embeddings: use another server for them."

#: Clients of Ollama look for this sentence to learn whether a server is there.
_RUNNING = "Ollama is running"

Read = TypeVar("Read")


class Metrics:
    """Counts of what was answered since the start, in Prometheus' text format.

    Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
    """

    def __init__(self) -> None:
        self.tokens = 0  # tokens of replies, those that run included
        self._ended: Counter[str] = Counter()
        self.sums: Counter[str] = Counter()  # sums over replies that have ended
        self._memory = messages.Memory()

    def take(self, event: messages.Event) -> None:
        """Count an event of the engine."""
        if isinstance(event, messages.TokensAdded):
            self.tokens += len(event.token_ids)
        elif isinstance(event, messages.StatisticsUpdated):
            self._memory = event.memory
        elif isinstance(event, messages.Failed):
            self._ended["failed"] += 1
        elif isinstance(event, messages.Finished):
            own = event.reply.timings
            self._ended["cancelled" if event.reply.stop_reason == "cancelled" else "answered"] += 1
            self.sums.update(
                prompt_tokens=own.prompt_n,
                cached_prompt_tokens=own.cache_n,
                predicted_tokens=own.predicted_n,
                drafted_tokens=own.draft_n,
                accepted_tokens=own.draft_n_accepted,
                target_forwards=own.target_forwards,
                prompt_ms=round(own.prompt_ms),
                predicted_ms=round(own.predicted_ms),
            )

    def text(self, running: int, waiting: int) -> str:
        """Return the page that Prometheus reads.

        Args:
            running: Requests that the engine has.
            waiting: Requests that wait for their turn.
        """
        sums = self.sums
        lines = [
            *_metric("requests_total", "counter", "Requests by their end.", self._ended, "end"),
            *_metric("requests_running", "gauge", "Requests that the engine has.", running),
            *_metric("requests_waiting", "gauge", "Requests that wait for their turn.", waiting),
            *_metric("prompt_tokens_total", "counter", "Tokens of prompts that were read.", sums["prompt_tokens"]),
            *_metric("cached_prompt_tokens_total", "counter", "Tokens of prompts that a cache had.",
                     sums["cached_prompt_tokens"]),
            *_metric("predicted_tokens_total", "counter", "Tokens of replies.", sums["predicted_tokens"]),
            *_metric("drafted_tokens_total", "counter", "Drafted tokens.", sums["drafted_tokens"]),
            *_metric("accepted_tokens_total", "counter", "Drafted tokens that held.", sums["accepted_tokens"]),
            *_metric("target_forwards_total", "counter", "Forwards of the model.", sums["target_forwards"]),
            *_metric("prompt_seconds_total", "counter", "Time that prompts took.", sums["prompt_ms"] / 1e3),
            *_metric("predicted_seconds_total", "counter", "Time that replies took.", sums["predicted_ms"] / 1e3),
            *_metric("engine_resident_bytes", "gauge", "The engine's memory.", self._memory.resident_bytes),
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, help_: str, value: float | Counter[str], label: str = "") -> list[str]:
    head = [f"# HELP tenon_{name} {help_}", f"# TYPE tenon_{name} {kind}"]
    if isinstance(value, Counter):
        return head + [f'tenon_{name}{{{label}="{key}"}} {count}' for key, count in sorted(value.items())]
    return [*head, f"tenon_{name} {value}"]


def health(served: Served) -> dict[str, Any]:
    """Say that the server runs and its model was loaded."""
    return {"status": "ok"}


def models(served: Served) -> dict[str, Any]:
    """Return OpenAI's list of models; Anthropic's clients find their fields in it too."""
    model = _model(served)
    return {
        "object": "list",
        "data": [model],
        "has_more": False,
        "first_id": model["id"],
        "last_id": model["id"],
    }


def one_model(served: Served, name: str) -> dict[str, Any]:
    """Return one model of that list."""
    if name not in (served.name, served.options.model):
        raise Refused(404, f"There is no model {name[:100]!r} here.", "model", "model_not_found")
    return _model(served)


def props(served: Served) -> dict[str, Any]:
    """Return the server's properties, under llama.cpp's names where it has them."""
    report = served.report
    sampling = {name: value for name, value in asdict(report.advice.sampling).items() if value is not None}
    return {
        "model_alias": served.name,
        "model_path": report.folder,
        "total_slots": MOST_RUNNING,
        "default_generation_settings": {"n_ctx": report.context, "params": sampling},
        "modalities": {"vision": report.sees, "audio": False},
        "architecture": report.architecture,
        "weights": report.weights,
        "kv_cache": report.kv_cache,
        "drafts": list(served.options.drafts),
        "memory": served.options.memory,
        "thinking": report.advice.thinking,
    }


def _model(served: Served) -> dict[str, Any]:
    report = served.report
    return {
        "id": served.name,
        "object": "model",
        "type": "model",
        "display_name": report.name,
        "created": served.created,
        "owned_by": "tenon",
        "max_model_len": report.context,
        # OpenRouter's words
        "architecture": {"input_modalities": ["text", *(["image"] if report.sees else [])]},
        "meta": {"n_ctx_train": report.context, "n_params": report.parameters, "size": report.weight_bytes},
    }


def application(served: Callable[[], Served], link: EngineLink, metrics: Metrics, key: str | Phones | None) -> ASGIApp:
    """Make the server's application.

    Args:
        served: Returns the model, which may be another one later.
        metrics: Counts of the events of `link`.
        key: Key that each request has to bring; None for none. Phones get the page, and nothing that it does not need.
    """

    def exchange(kind: Callable[[Fields, Served], Exchange]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            asked = await _read(request, kind, served())
            return ExchangeAnswer(asked, link.ask(asked.requests))

        return endpoint

    def told(tell: Callable[[Served], dict[str, Any]]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return JSONResponse(tell(served()))

        return endpoint

    async def count(asked: messages.Generate) -> int:
        """Count the tokens of a request's prompt; load the model for it."""
        answers = link.ask([messages.CountTokens("", asked)])
        while (item := await answers.next()) is not None:
            if isinstance(item[1], messages.Failed):
                raise refusal(item[1].error, {"prompt": "messages"})
            if isinstance(item[1], messages.TokensCounted):
                return item[1].tokens
        raise AssertionError("the engine ends each request")

    async def count_tokens(request: Request) -> Response:
        return JSONResponse({"input_tokens": await count(await _read(request, prompt, served()))})

    def ollama(kind: Callable[[Fields, Served], OllamaExchange]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            asked = await _read(request, kind, served())
            if asked.asks:
                return ExchangeAnswer(asked, link.ask(asked.requests))
            await count(messages.Generate("", served().options, raw_prompt="Hello"))
            return JSONResponse(asked.loaded())

        return endpoint

    async def root(request: Request) -> Response:
        return PlainTextResponse(_RUNNING)

    async def model(request: Request) -> Response:
        return JSONResponse(one_model(served(), request.path_params["name"]))

    async def show(request: Request) -> Response:
        return JSONResponse(await _read(request, shown, served()))

    async def embeddings(request: Request) -> Response:
        raise Refused(400, _NO_EMBEDDINGS, code="not_supported")

    async def measured(request: Request) -> Response:
        return Response(metrics.text(link.running, link.waiting), media_type="text/plain; version=0.0.4")

    routes = [
        ("GET", "/", root),
        ("GET", "/health", told(health)),
        ("GET", "/metrics", measured),
        ("GET", "/props", told(props)),
        ("GET", "/v1/models", told(models)),
        ("GET", "/v1/models/{name:path}", model),
        ("POST", "/v1/chat/completions", exchange(ChatCompletions)),
        ("POST", "/v1/completions", exchange(Completions)),
        ("POST", "/v1/responses", exchange(Responses)),
        ("POST", "/v1/embeddings", embeddings),
        ("POST", "/v1/messages", exchange(Messages)),
        ("POST", "/v1/messages/count_tokens", count_tokens),
        ("GET", "/api/version", told(version)),
        ("GET", "/api/tags", told(listed)),
        ("GET", "/api/ps", told(listed)),
        ("POST", "/api/show", show),
        ("POST", "/api/chat", ollama(OllamaChat)),
        ("POST", "/api/generate", ollama(OllamaGenerate)),
        ("POST", "/api/embed", embeddings),
        ("POST", "/api/embeddings", embeddings),
    ]
    if isinstance(key, Phones):
        of_page = ("/v1/models", "/v1/chat/completions")
        routes = [*(route for route in routes if route[1] in of_page), *page_routes(key)]
    app = Starlette(
        routes=[Route(path, endpoint, methods=[method]) for method, path, endpoint in routes],
        exception_handlers={HTTPException: _tell_status, Refused: _tell_refusal, Exception: _tell_refusal},
    )
    app.router.redirect_slashes = False
    app.state.body_bytes = 0  # of all requests that are being read
    return PhoneGuard(app, key) if isinstance(key, Phones) else Guard(app, key)


def limits() -> list[str]:
    """Return the bounds that keep clients from taking all of this machine, as texts for a user."""
    most = most_connections()
    return [
        f"{most} connections, {most_without_request(most)} of them without a whole request",
        f"{HEADER_S:.0f} s for a header, {_BODY_S:.0f} s and {_MOST_BODY_BYTES >> 20} MiB for a body, "
        f"{_MOST_BODIES_BYTES >> 20} MiB for all that are read at once, "
        f"{UNREAD_S:.0f} s in which nothing of an answer is read",
        f"{MOST_RUNNING} requests at once, {MOST_WAITING} that wait",
    ]


async def _read(request: Request, kind: Callable[[Fields, Served], Read], served: Served) -> Read:
    """Read a request's body within limits of size and time, its own and those of all together, and translate it."""
    body, all_bodies = bytearray(), request.app.state

    async def read() -> None:
        async for piece in request.stream():
            body.extend(piece)
            all_bodies.body_bytes += len(piece)
            if len(body) > _MOST_BODY_BYTES:
                raise Refused(413, _TOO_LARGE)
            if all_bodies.body_bytes > _MOST_BODIES_BYTES:
                raise Refused(503, _TOO_MUCH, retry_after_s=_RETRY_AFTER_S)

    try:
        try:
            await asyncio.wait_for(read(), _BODY_S)
        except asyncio.TimeoutError as error:
            raise Refused(408, _TOO_SLOW) from error
        except ClientDisconnect as error:
            raise Refused(400, _TOO_SLOW) from error  # nobody is there to read it
        if body.count(b",") > _MOST_VALUES:
            raise Refused(413, _TOO_MANY)
        found = kind(Fields.of_body(bytes(body)), served)
        if isinstance(found, Exchange) and found.requests[0].pictures:  # and so have all of them
            read_once = (await _with_pictures(found.requests[0], served)).messages
            found.requests = tuple(replace(one, messages=read_once) for one in found.requests)
        elif isinstance(found, Generate) and found.pictures:
            return cast("Read", await _with_pictures(found, served))
        return found
    finally:
        all_bodies.body_bytes -= len(body)
        if len(body) > SMALL_BYTES:
            loop = asyncio.get_running_loop()
            loop.call_later(_GIVES_BACK_S, loop.run_in_executor, None, give_back_memory)


async def _with_pictures(request: Generate, served: Served) -> Generate:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, with_pictures_read, request, served.picture_addresses)


async def _tell_refusal(request: Request, error: Exception) -> Response:
    refused = error if isinstance(error, Refused) else Refused(500, _MISTAKE)
    return JSONResponse(error_body(request.url.path, refused), refused.status, refused.headers)


async def _tell_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    refused = Refused(error.status_code, _NO_METHOD if error.status_code == 405 else _NO_PATH)
    return JSONResponse(error_body(request.url.path, refused), error.status_code, error.headers)
