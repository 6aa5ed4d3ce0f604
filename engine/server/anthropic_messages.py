"""Anthropic's messages.

Source: https://docs.claude.com/en/api/messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from engine.messages import ChatMessage, Generate, Reply, StopReason, Thinking, ToolCall
from engine.server.exchange import (
    Exchange,
    Served,
    check_bounds,
    check_model,
    content,
    effort,
    in_form,
    new_id,
    sampling,
    sent_event,
    turn,
    wanted_form,
)
from engine.server.fields import Fields
from engine.server.refusal import Refused, anthropic_error
from engine.server.tools import anthropic_tools, arguments_of, earlier_call
from engine.text.reply_parts import Calls, Said

_STOPS: dict[StopReason, str] = {
    "end": "end_turn",
    "stop": "stop_sequence",
    "length": "max_tokens",
    "loop": "end_turn",
    "cancelled": "end_turn",
}
_THINKING = {"enabled": True, "disabled": False, "adaptive": None, "between_tools": None}


class Messages(Exchange):
    """``/v1/messages``. A thought and a text are blocks, and one is closed before the next begins."""

    fields_of: ClassVar = {
        **Exchange.fields_of,
        "form": ("output_format", "output_config.format", "tools"),
        "stop": ("stop_sequences",),
    }

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        self.id = new_id("msg_")
        self._blocks = 0  # that were begun
        self._block = ""  # the type of the open one
        self._calls = Calls()
        fields.need("max_tokens")
        return (replace(prompt(fields, self.served), max_tokens=fields.whole("max_tokens", 1)),)

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        (reply,) = replies
        thought, answer, calls = self.parts(0, reply)
        blocks: list[dict[str, Any]] = [_empty_block("thinking") | {"thinking": thought}] if thought else []
        if answer or not calls:
            blocks.append(_empty_block("text") | {"text": answer})
        blocks += [_call_block(call) | {"input": arguments_of(call)} for call in calls]
        return {**self._head(), "content": blocks, **_end(reply, bool(calls)), "usage": _usage(reply)}

    def opened(self, index: int, prompt_tokens: int, cached_tokens: int) -> bytes:
        """Return the message without content."""
        message = {**self._head(), "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {**_prompt_usage(prompt_tokens, cached_tokens), "output_tokens": 0}}  # fmt: skip
        return _event("message_start", message=message)

    def delta(self, index: int, said: Said) -> bytes:
        sent = b""
        if said.thought:
            thought = {"type": "thinking_delta", "thinking": said.thought}
            sent += self._begin("thinking") + self._piece(thought)
        if said.answer:
            sent += self._begin("text") + self._piece({"type": "text_delta", "text": said.answer})
        for piece in said.calls:
            self._calls.add([piece])
            if piece.name:
                sent += self._close() + self._start("tool_use", _call_block(self._calls.made[-1]))
            if piece.arguments:
                sent += self._piece({"type": "input_json_delta", "partial_json": piece.arguments})
        return sent

    def ended(self, index: int, reply: Reply) -> bytes:
        """Return the end of the last block, the reason, and the mark of the end."""
        said = (b"" if self._blocks else self._begin("text")) + self._close()
        end = _end(reply, bool(self._calls.made))
        return said + _event("message_delta", delta=end, usage=_usage(reply)) + _event("message_stop")

    def ping(self) -> bytes:
        return _event("ping")

    def failed(self, refused: Refused) -> bytes:
        """Return an error in the place of what is to come."""
        return sent_event(anthropic_error(refused), "error")

    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.served.name}

    def _begin(self, kind: str) -> bytes:
        """Begin a block, unless one of this type is open."""
        if kind == self._block:
            return b""
        return self._close() + self._start(kind, _empty_block(kind))

    def _start(self, kind: str, block: dict[str, Any]) -> bytes:
        self._block = kind
        self._blocks += 1
        return _event("content_block_start", index=self._blocks - 1, content_block=block)

    def _close(self) -> bytes:
        if not self._block:
            return b""
        # Clients keep a thought's signature and send it back; nobody checks it here.
        unsigned = {"type": "signature_delta", "signature": ""}
        signed = self._piece(unsigned) if self._block == "thinking" else b""
        self._block = ""
        return signed + _event("content_block_stop", index=self._blocks - 1)

    def _piece(self, delta: dict[str, str]) -> bytes:
        return _event("content_block_delta", index=self._blocks - 1, delta=delta)


def prompt(fields: Fields, served: Served) -> Generate:
    """Return the request that a prompt stands for, without its limit of tokens.

    Raises:
        Refused: The fields are no request.
    """
    check_model(fields, served)
    fields.refuse({"mcp_servers": "Tenon's server calls no tools itself: leave the field mcp_servers out."})
    form = wanted_form(fields, "output_format") or wanted_form(fields.inner("output_config"), "format")
    fields.need("messages")
    system = content(fields, "system")
    turns = [ChatMessage("system", system)] if system else []
    request = Generate(
        "",
        served.options,
        messages=(*turns, *(one for message in fields.objects("messages") for one in _turns(message))),
        sampling=sampling(fields),
        stop=fields.texts("stop_sequences"),
        thinking=_thinking(fields),
        whole=True,
        tools=anthropic_tools(fields),
    )
    asked = in_form(request, form)
    check_bounds(asked, served, {"prompt": "messages", "stop": "stop_sequences"})
    return asked


def _thinking(fields: Fields) -> Thinking:
    kind = fields.inner("thinking").one_of("type", _THINKING)
    found = effort(fields.inner("output_config"), "effort")
    return found if kind is None or _THINKING[kind] is None else replace(found, on=_THINKING[kind])


def _event(kind: str, **data: object) -> bytes:
    return sent_event({"type": kind, **data}, kind)


def _empty_block(kind: str) -> dict[str, Any]:
    return {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}


def _call_block(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id.replace("call_", "toolu_"), "name": call.name, "input": {}}


def _turns(message: Fields) -> list[ChatMessage]:
    """Return the turns of a message: results of calls come before the words that go with them."""
    if not isinstance(message.value("content"), list):
        return [turn(message)]
    blocks = message.objects("content")
    results = [
        ChatMessage("tool", content(one, "content"), answers=one.text("tool_use_id") or "")
        for one in blocks
        if one.text("type") == "tool_result"
    ]
    calls = tuple(earlier_call(one, "input", one.text("id")) for one in blocks if one.text("type") == "tool_use")
    words = [one for one in blocks if one.text("type") not in ("tool_result", "tool_use")]
    if not words and results:
        return results
    return [*results, replace(turn(message.with_value("content", words)), calls=calls)]


def _end(reply: Reply, called: bool) -> dict[str, str | None]:
    reason = "tool_use" if called and reply.stop_reason == "end" else _STOPS[reply.stop_reason]
    return {"stop_reason": reason, "stop_sequence": reply.stop_text or None}


def _prompt_usage(prompt_tokens: int, cached_tokens: int) -> dict[str, int]:
    """Count the tokens of a prompt; those that the cache had are counted apart."""
    return {
        "input_tokens": prompt_tokens - cached_tokens,
        "cache_read_input_tokens": cached_tokens,
        "cache_creation_input_tokens": 0,
    }


def _usage(reply: Reply) -> dict[str, Any]:
    own = reply.timings
    return {
        **_prompt_usage(reply.prompt_tokens, own.cache_n),
        "output_tokens": own.predicted_n,
        "output_tokens_details": {"thinking_tokens": own.thought_n},
    }
