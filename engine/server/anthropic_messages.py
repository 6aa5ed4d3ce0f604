"""Anthropic's messages.

Source: https://docs.claude.com/en/api/messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.messages import ChatMessage, Generate, Reply, StopReason, Thinking
from engine.server.exchange import (
    Exchange,
    Served,
    check_model,
    content,
    effort,
    new_id,
    refuse_tools,
    sampling,
    sent_event,
    timings,
    turn,
)
from engine.server.fields import Fields
from engine.server.form import in_form, wanted_form
from engine.server.refusal import Refused, anthropic_error

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

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        self.id = new_id("msg_")
        self._blocks = 0  # that were begun
        self._block = ""  # the type of the open one
        most = fields.whole("max_tokens")
        if most is None:
            raise fields.wrong("max_tokens", "a whole number")
        return (replace(prompt(fields, self.served), max_tokens=most),)

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        """The answer at once."""
        (reply,) = replies
        thought, answer = self.parts(0, reply)
        blocks = [_empty_block("thinking") | {"thinking": thought}] if thought else []
        blocks.append(_empty_block("text") | {"text": answer})
        return {
            **self._head(),
            "content": blocks,
            **_end(reply),
            "usage": _usage(reply),
            "timings": timings(reply),
        }

    def opened(self, index: int, prompt_tokens: int, cached_tokens: int) -> bytes:
        """The message without content."""
        message = {**self._head(), "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {**_prompt_usage(prompt_tokens, cached_tokens), "output_tokens": 0}}  # fmt: skip
        return _event("message_start", message=message)

    def delta(self, index: int, thought: str, answer: str) -> bytes:
        """A piece of the thought, of the answer, or of both."""
        said = b""
        if thought:
            said += self._begin("thinking") + self._piece({"type": "thinking_delta", "thinking": thought})
        if answer:
            said += self._begin("text") + self._piece({"type": "text_delta", "text": answer})
        return said

    def ended(self, index: int, reply: Reply) -> bytes:
        """The end of the last block, the reason, and the mark of the end."""
        said = b"" if self._blocks else self._begin("text")
        return (
            said
            + self._close()
            + _event("message_delta", delta=_end(reply), usage=_usage(reply), timings=timings(reply))
            + _event("message_stop")
        )

    def ping(self) -> bytes:
        """A sign of life."""
        return _event("ping")

    def failed(self, refused: Refused) -> bytes:
        """An error in the place of what is to come."""
        return sent_event(anthropic_error(refused), "error")

    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.served.name}

    def _begin(self, kind: str) -> bytes:
        """Begin a block, unless one of this type is open."""
        if kind == self._block:
            return b""
        closed, self._block = self._close(), kind
        self._blocks += 1
        return closed + _event(
            "content_block_start", index=self._blocks - 1, content_block=_empty_block(kind)
        )

    def _close(self) -> bytes:
        if not self._block:
            return b""
        # Clients keep a thought's signature and send it back; nobody checks it here.
        signed = (
            self._piece({"type": "signature_delta", "signature": ""}) if self._block == "thinking" else b""
        )
        self._block = ""
        return signed + _event("content_block_stop", index=self._blocks - 1)

    def _piece(self, delta: dict[str, str]) -> bytes:
        return _event("content_block_delta", index=self._blocks - 1, delta=delta)


def prompt(fields: Fields, served: Served) -> Generate:
    """The request that a prompt stands for, without its limit of tokens.

    Raises:
        Refused: It is none.
    """
    check_model(fields, served)
    refuse_tools(fields)
    fields.refuse(
        {"mcp_servers": "Tenon's server does not serve tools yet: leave the field mcp_servers out."}
    )
    form = wanted_form(fields, "output_format") or wanted_form(fields.inner("output_config"), "format")
    system = content(fields, "system")
    turns = [ChatMessage("system", system)] if system else []
    request = Generate(
        "",
        served.options,
        messages=(*turns, *map(turn, fields.objects("messages"))),
        sampling=sampling(fields),
        stop=fields.texts("stop_sequences"),
        thinking=_thinking(fields),
        whole=True,
    )
    return in_form(request, form)


def _thinking(fields: Fields) -> Thinking:
    kind = fields.inner("thinking").one_of("type", _THINKING)
    found = effort(fields.inner("output_config"), "effort")
    return found if kind is None or _THINKING[kind] is None else replace(found, on=_THINKING[kind])


def _event(kind: str, **data: object) -> bytes:
    return sent_event({"type": kind, **data}, kind)


def _empty_block(kind: str) -> dict[str, str]:
    return (
        {"type": "thinking", "thinking": "", "signature": ""}
        if kind == "thinking"
        else {"type": kind, kind: ""}
    )


def _end(reply: Reply) -> dict[str, str | None]:
    return {"stop_reason": _STOPS[reply.stop_reason], "stop_sequence": reply.stop_text or None}


def _prompt_usage(prompt_tokens: int, cached_tokens: int) -> dict[str, int]:
    """Tokens of a prompt; those that the cache had count apart."""
    return {
        "input_tokens": prompt_tokens - cached_tokens,
        "cache_read_input_tokens": cached_tokens,
        "cache_creation_input_tokens": 0,
    }


def _usage(reply: Reply) -> dict[str, Any]:
    own = reply.timings
    return {
        **_prompt_usage(len(reply.prompt_ids), own.cache_n),
        "output_tokens": own.predicted_n,
        "output_tokens_details": {"thinking_tokens": own.thought_n},
    }
