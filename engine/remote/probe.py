"""Probe of a server: its kind, its models and their abilities, by the protocol of each kind.

Sources: llama.cpp, tools/server/README.md (``/props``); vLLM and SGLang, ``max_model_len`` of ``/v1/models``; Ollama,
docs/api.md (``/api/show``, ``/api/ps``); LM Studio, REST API v0 (``/api/v0/models``).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.errors import RemoteError, TenonError
from engine.hub.endpoints import Endpoint, ServedModel
from engine.messages import ServerKind, ThinkingControl
from engine.remote.connection import READING_S, Connection, no_server, positive
from engine.sentences import say

_OWNERS: dict[str, ServerKind] = {
    "tenon": "tenon",
    "llamacpp": "llama.cpp",
    "vllm": "vllm",
    "sglang": "sglang",
}
_MOST_MODELS = 200
_AT_ONCE = 8
_LEARNING_S = 60.0


def probe(server: Endpoint, key: str | None = None) -> Endpoint:
    """Ask a server for its kind and its models, without keeping or changing it.

    Args:
        server: Server with name and address.
        key: Key to send; None for the one that is kept.

    Raises:
        RemoteError: The server does not answer, or not as a server of models.
    """

    async def run() -> Endpoint:
        connection = Connection(server, key)
        try:
            return await connection.within(_LEARNING_S, learn(connection))
        finally:
            await connection.close()

    return asyncio.run(run())


def unencrypted(server: Endpoint, has_key: bool) -> str:
    """Return a warning for a key that is sent without encryption, or an empty text."""
    if not has_key or server.encrypted or server.is_here:
        return ""
    return say(
        "The key and your words go to {server} unencrypted, so whoever is on the network between can read them: use an "
        "address that begins with https, or a tunnel such as ssh -L.",
        server=server.name,
    )


async def learn(connection: Connection) -> Endpoint:
    """Return the server with its kind and its models, as `probe` finds them."""
    server = connection.server
    listed = _objects(_field(await connection.ask("/v1/models"), "data", server))
    models = [ServedModel(name, positive(one.get("max_model_len"))) for one in listed if (name := _name(one))]
    if listed and not models:
        raise no_server(server)
    models = models[:_MOST_MODELS]
    owners = {str(one.get("owned_by")) for one in listed}
    kind: ServerKind = next((kind for owner, kind in _OWNERS.items() if owner in owners), "")
    if kind in ("tenon", "llama.cpp"):
        props = await _asked(connection, "/props")
        models = [_with_props(model, props) for model in models]
    elif kind in ("vllm", "sglang"):
        models = [replace(model, thinking="switch") for model in models]
    elif isinstance((await _asked(connection, "/api/version")).get("version"), str):
        kind, models = "ollama", await _ollama(connection, models)
    else:
        known = _objects((await _asked(connection, "/api/v0/models")).get("data"))
        if known:
            kind, models = "lmstudio", _lm_studio(models, known)
    return replace(server, kind=kind, models=tuple(models))


async def learn_model(connection: Connection, name: str) -> tuple[Endpoint, ServedModel]:
    """Return the server and one of its models, loaded if only that decides on its context.

    Raises:
        RemoteError: The server does not answer, or has no such model any more.
    """
    server = await connection.within(_LEARNING_S, learn(connection))
    if server.kind == "ollama":
        # An empty prompt loads the model, and only then it is known how much context it gets.
        await connection.ask("/api/generate", {"model": name}, name, READING_S)
        server = replace(server, models=tuple(await _ollama(connection, [*server.models])))
    found = next((model for model in server.models if model.name == name), None)
    if found is None:
        raise RemoteError(
            "{server} has no model {model} any more: choose another one of its models.",
            server=server.name,
            model=name,
        )
    return server, found


async def _asked(connection: Connection, path: str, body: object = None) -> Mapping[str, Any]:
    """Return an answer that is an object, empty if the server has nothing at this address."""
    try:
        found = await connection.ask(path, body)
    except TenonError:
        return {}
    return found if isinstance(found, dict) else {}


def _with_props(model: ServedModel, props: Mapping[str, Any]) -> ServedModel:
    """Return a model of llama.cpp's server or of Tenon's, by the server's properties."""
    settings = props.get("default_generation_settings")
    context = positive(settings.get("n_ctx")) if isinstance(settings, dict) else None
    told, template = props.get("thinking"), str(props.get("chat_template", ""))
    thinking: ThinkingControl = ""
    if told == "switch" or "enable_thinking" in template:
        thinking = "switch"
    elif told == "effort" or "reasoning_effort" in template:
        thinking = "effort"
    return replace(model, context=context or model.context, thinking=thinking)


async def _ollama(connection: Connection, models: list[ServedModel]) -> list[ServedModel]:
    """Return Ollama's models; a model in memory has the context that it was given, others that of their settings."""
    running = {
        str(one.get("model") or one.get("name")): positive(one.get("context_length"))
        for one in _objects((await _asked(connection, "/api/ps")).get("models"))
    }
    turns = asyncio.Semaphore(_AT_ONCE)

    async def shown(model: ServedModel) -> ServedModel | None:
        async with turns:
            about = await _asked(connection, "/api/show", {"model": model.name})
        able = about.get("capabilities")
        if isinstance(able, list) and "completion" not in able:
            return None
        settings = dict(
            pair for line in str(about.get("parameters", "")).splitlines() if len(pair := line.split()) == 2
        )
        own = settings.get("num_ctx", "")
        context = running.get(model.name) or (positive(int(own)) if re.fullmatch("[0-9]{1,10}", own) else None)
        thinks = isinstance(able, list) and "thinking" in able
        return replace(model, context=context, thinking="switch" if thinks else "")

    return [model for model in await asyncio.gather(*map(shown, models)) if model is not None]


def _lm_studio(models: list[ServedModel], known: Iterable[Mapping[str, Any]]) -> list[ServedModel]:
    """Return LM Studio's models that write texts."""
    about = {str(one.get("id")): one for one in known}
    found = []
    for model in models:
        own = about.get(model.name, {})
        if own.get("type") != "embeddings":
            context = positive(own.get("loaded_context_length")) or positive(own.get("max_context_length"))
            found.append(replace(model, context=context))
    return found


def _field(answer: object, name: str, server: Endpoint) -> object:
    if not isinstance(answer, dict) or not isinstance(answer.get(name), list):
        raise no_server(server)
    return answer[name]


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _name(one: Mapping[str, Any]) -> str:
    """Return a model's name, or an empty text for one that cannot be shown or sent."""
    name = one.get("id")
    return name if isinstance(name, str) and name.isprintable() and len(name) <= 300 else ""
