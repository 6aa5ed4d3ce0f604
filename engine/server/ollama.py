"""Ollama's own protocol, for programs that know no other.

Source: https://docs.ollama.com/api.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any, ClassVar

from engine.messages import ChatMessage, Generate, ModelReport, OutputForm, Picture, Reply, Thinking, ToolCall
from engine.server.chat_completions import FINISH
from engine.server.exchange import (
    ANY_OBJECT,
    UNSERVED,
    Exchange,
    Served,
    as_json,
    check_model,
    decoded,
    effort,
    in_form,
    penalties,
    sampling,
    schema_form,
    turn,
)
from engine.server.fields import Fields
from engine.server.refusal import Refused, ollama_error
from engine.server.tools import arguments_of, openai_tools
from engine.text.reply_parts import Calls, Said

#: The version of Ollama whose protocol this is: clients ask for one that is new enough.
_VERSION = "0.13.0"
_NO_TIME = re.compile(r"[-+]?(0|((0+\.?0*|\.0+)(ns|[u\u00b5\u03bc]s|ms|s|m|h))+)")
_UNSERVED = {
    **UNSERVED,
    "suffix": "Tenon does not write in the middle of a text: leave the field suffix out.",
    "template": "Tenon's server takes the model's own chat template: leave the field template out.",
}


class OllamaExchange(Exchange):
    """Exchange of chat and generate: a line of JSON for each piece."""

    asks = True  # True if there is a prompt; without one the model is only to be loaded, or given up

    media_type: ClassVar[str] = "application/x-ndjson"
    streams_unasked: ClassVar[bool] = True
    fields_of: ClassVar = {
        **Exchange.fields_of,
        "form": ("format", "tools"),
        "bias": ("options.logit_bias",),
        "stop": ("options.stop",),
    }

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        fields.refuse(_UNSERVED)
        self._calls = Calls()
        self._unloads = _is_nothing(fields.value("keep_alive"))
        options = fields.inner("options")
        options.refuse(UNSERVED)
        request = Generate(
            "",
            self.served.options,
            max_tokens=max(options.whole("num_predict") or 0, 0) or None,
            sampling=sampling(options),
            penalties=penalties(options),
            stop=options.texts("stop"),
            thinking=_thinking(fields),
            whole=True,
            tools=openai_tools(fields),
        )
        return (self._with_prompt(in_form(request, _form(fields)), fields),)

    @abstractmethod
    def _with_prompt(self, request: Generate, fields: Fields) -> Generate:
        """Return the request with its prompt."""

    @abstractmethod
    def _said(self, thought: str, answer: str, calls: Sequence[ToolCall] = ()) -> dict[str, Any]:
        """Return thought, answer and calls as the protocol's fields."""

    def loaded(self) -> dict[str, Any]:
        """Answer a request without a prompt. The model stays in any case: it is the only one of this server."""
        reason = "unload" if self._unloads else "load"
        return {**self._head(), **self._said("", ""), "done": True, "done_reason": reason}

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        return {**self._head(), **self._said(*self.parts(0, replies[0])), **_end(replies[0])}

    def delta(self, index: int, said: Said) -> bytes:
        """Return a piece of the thought, of the answer, or of both; calls are sent whole, at the end."""
        self._calls.add(said.calls)
        if not said.thought and not said.answer:
            return b""
        return as_json({**self._head(), **self._said(said.thought, said.answer), "done": False}) + b"\n"

    def ended(self, index: int, reply: Reply) -> bytes:
        """Return the calls, and the end with the figures."""
        pieces = [{**self._said("", "", self._calls.made), "done": False}] if self._calls.made else []
        pieces.append({**self._said("", ""), **_end(reply)})
        return b"".join(as_json({**self._head(), **piece}) + b"\n" for piece in pieces)

    def ping(self) -> bytes:
        """Return nothing: the protocol has no sign of life."""
        return b""

    def failed(self, refused: Refused) -> bytes:
        return as_json(ollama_error(refused)) + b"\n"

    def _head(self) -> dict[str, Any]:
        return {"model": self.served.name, "created_at": _time(datetime.now(timezone.utc))}


class OllamaChat(OllamaExchange):
    """``/api/chat``."""

    def _with_prompt(self, request: Generate, fields: Fields) -> Generate:
        turns = tuple(map(_turn, fields.objects("messages")))
        self.asks = bool(turns)
        return replace(request, messages=turns)

    def _said(self, thought: str, answer: str, calls: Sequence[ToolCall] = ()) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer}
        if thought:
            message["thinking"] = thought
        if calls:
            message["tool_calls"] = [
                {"function": {"name": call.name, "arguments": arguments_of(call)}} for call in calls
            ]
        return {"message": message}


class OllamaGenerate(OllamaExchange):
    """``/api/generate``."""

    fields_of: ClassVar = {**OllamaExchange.fields_of, "prompt": ("prompt",)}

    def _with_prompt(self, request: Generate, fields: Fields) -> Generate:
        prompt, system = fields.text("prompt") or "", fields.text("system")
        self.asks = bool(prompt) or bool(fields.texts("images"))
        if fields.switch("raw"):
            fields.refuse({"images": "A raw text has no place for pictures: leave the field images out, or raw."})
            special = fields.switch("parse_special", self.served.parse_special)
            return replace(request, raw_prompt=prompt, parse_special=special)
        turns = [ChatMessage("system", system)] if system else []
        return replace(request, messages=(*turns, ChatMessage("user", prompt, pictures=_pictures(fields))))

    def _said(self, thought: str, answer: str, calls: Sequence[ToolCall] = ()) -> dict[str, Any]:
        return {"response": answer, "thinking": thought} if thought else {"response": answer}


def version(served: Served) -> dict[str, Any]:
    """Answer ``/api/version``."""
    return {"version": _VERSION}


def listed(served: Served) -> dict[str, Any]:
    """Answer ``/api/tags`` and ``/api/ps``."""
    report, started = served.report, datetime.fromtimestamp(served.created, timezone.utc)
    model = {
        "name": served.name,
        "model": served.name,
        "modified_at": _time(started),
        "expires_at": _time(started.replace(year=started.year + 100)),  # it stays as long as the server
        "size": report.weight_bytes,
        "size_vram": 0,
        "digest": sha256(report.folder.encode()).hexdigest(),
        "details": _details(report),
        "context_length": report.context,
    }
    return {"models": [model]}


def shown(fields: Fields, served: Served) -> dict[str, Any]:
    """Answer ``/api/show``."""
    check_model(fields, served)
    report = served.report
    family = report.architecture
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _details(report),
        "model_info": {
            "general.architecture": family,
            "general.parameter_count": report.parameters,
            f"{family}.context_length": report.context,
        },
        "capabilities": [
            *("completion", "tools"),
            *(["thinking"] if report.advice.thinking else []),
            *(["vision"] if report.sees else []),
        ],
    }


def _details(report: ModelReport) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": report.architecture,
        "families": [report.architecture],
        "parameter_size": f"{report.parameters / 1e9:.3g}B",
        "quantization_level": report.weights,
    }


def _turn(message: Fields) -> ChatMessage:
    return replace(turn(message), pictures=_pictures(message))


def _pictures(fields: Fields) -> tuple[Picture, ...]:
    """Return the pictures of a field ``images``, which come before the words."""
    texts = fields.texts("images")
    return tuple(decoded(text, fields, "images") for text in texts)


def _form(fields: Fields) -> OutputForm | None:
    wanted = fields.value("format")
    if wanted in (None, ""):
        return None
    return ANY_OBJECT if wanted == "json" else schema_form(wanted, fields, "format")


def _is_nothing(duration: object) -> bool:
    """Return whether seconds, or Go's text for a duration (``0s``, ``0h0m``), are zero."""
    if isinstance(duration, str):
        return _NO_TIME.fullmatch(duration) is not None
    return duration == 0 and not isinstance(duration, bool)


def _thinking(fields: Fields) -> Thinking:
    if isinstance(fields.value("think"), str):
        return effort(fields, "think")
    return Thinking() if fields.value("think") is None else Thinking(on=fields.switch("think"))


def _end(reply: Reply) -> dict[str, Any]:
    """Return the end of a reply; times are in nanoseconds."""
    own = reply.timings
    times_ms = {
        "total_duration": own.prompt_ms + own.predicted_ms + (own.load_ms or 0.0),
        "load_duration": own.load_ms or 0.0,
        "prompt_eval_duration": own.prompt_ms,
        "eval_duration": own.predicted_ms,
    }
    return {
        "done": True,
        "done_reason": FINISH[reply.stop_reason],
        **{name: round(time_ms * 1e6) for name, time_ms in times_ms.items()},
        "prompt_eval_count": reply.prompt_tokens,
        "eval_count": own.predicted_n,
    }


def _time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
