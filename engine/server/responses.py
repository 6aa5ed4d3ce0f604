"""OpenAI's responses, without a state: each request brings the whole conversation.

Source: https://platform.openai.com/docs/api-reference/responses.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from engine.messages import ChatMessage, Generate, Reply, ToolCall
from engine.server.chat_completions import most_tokens
from engine.server.exchange import (
    MOST_TOOL_CHARACTERS,
    UNSERVED,
    Exchange,
    content,
    effort,
    in_form,
    new_id,
    penalties,
    sampling,
    sent_event,
    timings,
    turn,
    wanted_form,
)
from engine.server.fields import Fields
from engine.server.refusal import Refused, openai_error
from engine.server.tools import earlier_call, openai_tools
from engine.text.reply_parts import Calls, Said

_STATELESS = "Tenon's server keeps no responses: leave the field {} out, and send the whole conversation."
_EMPTY_TOOL = {"type": "function", "description": None, "parameters": None, "strict": None}
_UNSERVED = {
    **UNSERVED,
    **{name: _STATELESS.format(name) for name in ("previous_response_id", "conversation", "background")},
    "prompt": "Tenon's server keeps no prompts: leave the field prompt out.",
}


class Responses(Exchange):
    """``/v1/responses``. A thought and a message are items of the output."""

    fields_of: ClassVar = {**Exchange.fields_of, "prompt": ("input",), "form": ("text.format", "tools")}

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        self.id = new_id("resp_")
        self._events = 0
        self._items: list[dict[str, Any]] = []
        self._text = ""  # of the item that is open
        fields.refuse(_UNSERVED)
        self._calls = Calls()
        self._asked: dict[str, Any] = {
            **{name: fields.text(name) for name in ("instructions", "safety_identifier", "prompt_cache_key")},
            **{name: fields.whole(name) for name in ("max_output_tokens", "max_tool_calls")},
            "metadata": fields.inner("metadata").values,
            "tools": [{**_EMPTY_TOOL, **tool.values} for tool in fields.objects("tools")],
            "tool_choice": fields.value("tool_choice") or "auto",
            "reasoning": {"effort": None, "summary": None, **fields.inner("reasoning").values},
            "text": {"format": fields.inner("text").value("format") or {"type": "text"}},
        }
        if len(json.dumps({**self._asked, "instructions": None})) > MOST_TOOL_CHARACTERS:
            sentence = f"Metadata, tools and format may have {MOST_TOOL_CHARACTERS:,} characters: send less."
            raise Refused(400, sentence)
        instructions = fields.text("instructions")
        turns = [ChatMessage("system", instructions)] if instructions else []
        if isinstance(fields.value("input"), str):
            turns.append(ChatMessage("user", fields.text("input") or ""))
        else:
            turns += _turns([item for item in fields.objects("input") if item.text("type") != "reasoning"])
        if not turns:
            fields.need("input")
        request = Generate(
            "",
            self.served.options,
            messages=tuple(turns),
            max_tokens=most_tokens(fields, "max_output_tokens"),
            sampling=sampling(fields),
            penalties=penalties(fields),
            stop=fields.texts("stop"),
            thinking=effort(fields.inner("reasoning"), "effort"),
            whole=fields.one_of("truncation", ("auto", "disabled")) != "auto",
            tools=openai_tools(fields),
        )
        return (in_form(request, wanted_form(fields.inner("text"), "format")),)

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        thought, answer, calls = self.parts(0, replies[0])
        if thought:
            self._items.append(_thought_item(thought))
        if answer or not calls:
            self._items.append(_message_item(answer))
        self._items += [_call_item(call) for call in calls]
        return self._response(replies[0])

    def opened(self, index: int, prompt_tokens: int, cached_tokens: int) -> bytes:
        """Return the response without output."""
        response = self._response(None)
        kinds = ("response.created", "response.in_progress")
        return b"".join(self._event(kind, response=response) for kind in kinds)

    def delta(self, index: int, said: Said) -> bytes:
        sent = self._piece("reasoning", said.thought) + self._piece("message", said.answer)
        for piece in said.calls:
            self._calls.add([piece])
            if piece.name:
                item = {**_call_item(self._calls.made[-1]), "arguments": "", "status": "in_progress"}
                sent += self._close() + self._add(item)
            if piece.arguments:
                more = {**self._item(), "delta": piece.arguments}
                sent += self._event("response.function_call_arguments.delta", **more)
        return sent

    def ended(self, index: int, reply: Reply) -> bytes:
        """Return the end of the last item, and the whole response."""
        said = b"" if self._items else self._begin("message")
        said += self._close()
        response = self._response(reply)
        return said + self._event(f"response.{response['status']}", response=response)

    def failed(self, refused: Refused) -> bytes:
        """Return the response as one that failed."""
        error = {"code": refused.code or "server_error", "message": refused.message}
        response = {**self._response(None), "status": "failed", "error": error}
        told = self._event("error", **error, param=refused.field or None, **openai_error(refused))
        return told + self._event("response.failed", response=response)

    def _response(self, reply: Reply | None) -> dict[str, Any]:
        cut = reply is not None and reply.stop_reason == "length"
        status = "in_progress" if reply is None else "incomplete" if cut else "completed"
        asked, advised = self.requests[0].sampling, self.served.report.advice.sampling
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "completed_at": int(time.time()) if status == "completed" else None,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "model": self.served.name,
            "output": list(self._items),
            **self._asked,
            "parallel_tool_calls": self.requests[0].tools.parallel,
            "previous_response_id": None,
            "store": False,
            "background": False,
            "service_tier": "default",
            "temperature": advised.temperature if asked.temperature is None else asked.temperature,
            "top_p": advised.top_p if asked.top_p is None else asked.top_p,
            "presence_penalty": self.requests[0].penalties.presence,
            "frequency_penalty": self.requests[0].penalties.frequency,
            "top_logprobs": 0,
            "truncation": "disabled" if self.requests[0].whole else "auto",
            "usage": None if reply is None else _usage(reply),
            **({} if reply is None else {"timings": timings(reply)}),
        }

    def _piece(self, kind: str, text: str) -> bytes:
        if not text:
            return b""
        begun = b"" if self._open == kind else self._close() + self._begin(kind)
        self._text += text
        more: dict[str, Any] = {"logprobs": []} if kind == "message" else {}
        return begun + self._event(f"response.{_PARTS[kind]}.delta", **self._place(), delta=text, **more)

    @property
    def _open(self) -> str:
        """Type of the item that is open."""
        last = self._items[-1] if self._items else None
        return str(last["type"]) if last is not None and last["status"] == "in_progress" else ""

    def _begin(self, kind: str) -> bytes:
        made = _message_item("") if kind == "message" else _thought_item("")
        part = made["content"][0]
        self._text = ""
        added = self._add({**made, "content": [], "status": "in_progress"})
        return added + self._event("response.content_part.added", **self._place(), part=part)

    def _add(self, item: dict[str, Any]) -> bytes:
        self._items.append(item)
        return self._event("response.output_item.added", output_index=len(self._items) - 1, item=item)

    def _close(self) -> bytes:
        kind = self._open
        if not kind:
            return b""
        if kind == "function_call":
            called = self._calls.made[len([one for one in self._items if one["type"] == kind]) - 1]
            item = self._items[-1] = {**_call_item(called), "id": self._items[-1]["id"]}
            told = {"name": item["name"], "arguments": item["arguments"]}
            ended = self._event("response.function_call_arguments.done", **self._item(), **told)
        else:
            made = _message_item(self._text) if kind == "message" else _thought_item(self._text)
            item = self._items[-1] = {**made, "id": self._items[-1]["id"]}
            more: dict[str, Any] = {"logprobs": []} if kind == "message" else {}
            ended = self._event(f"response.{_PARTS[kind]}.done", **self._place(), text=self._text, **more)
            ended += self._event("response.content_part.done", **self._place(), part=item["content"][0])
        done = {"output_index": len(self._items) - 1, "item": item}
        return ended + self._event("response.output_item.done", **done)

    def _place(self) -> dict[str, Any]:
        """Return the part that is being written, which is the only one of its item."""
        return {**self._item(), "content_index": 0}

    def _item(self) -> dict[str, Any]:
        """Return the item that is being written."""
        return {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1}

    def _event(self, kind: str, **data: object) -> bytes:
        self._events += 1
        return sent_event({"type": kind, "sequence_number": self._events - 1, **data}, kind)


_PARTS = {"message": "output_text", "reasoning": "reasoning_text"}


def _message_item(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": new_id("msg_"), "type": "message", "role": "assistant", "status": "completed", "content": [part]
    }  # fmt: skip


def _thought_item(text: str) -> dict[str, Any]:
    part = {"type": "reasoning_text", "text": text}
    return {"id": new_id("rs_"), "type": "reasoning", "status": "completed", "summary": [], "content": [part]}


def _call_item(call: ToolCall) -> dict[str, Any]:
    return {
        "id": new_id("fc_"), "type": "function_call", "status": "completed", "call_id": call.id,
        "name": call.name, "arguments": call.arguments,
    }  # fmt: skip


def _turns(items: Sequence[Fields]) -> list[ChatMessage]:
    """Return the turns of a conversation's items; calls belong to the assistant's turn before them."""
    turns: list[ChatMessage] = []
    for item in items:
        kind = item.text("type") or "message"
        if kind == "message":
            turns.append(turn(item))
        elif kind == "function_call":
            if not turns or turns[-1].role != "assistant":
                turns.append(ChatMessage("assistant", ""))
            call = earlier_call(item, "arguments", item.text("call_id"))
            turns[-1] = replace(turns[-1], calls=(*turns[-1].calls, call))
        elif kind == "function_call_output":
            turns.append(ChatMessage("tool", content(item, "output"), answers=item.text("call_id") or ""))
        else:
            sentence = f"Tenon's server knows no items of the type {kind[:40]}: leave it out."
            raise Refused(400, sentence, item.name("type"), "not_supported")
    return turns


def _usage(reply: Reply) -> dict[str, Any]:
    prompt, written = reply.prompt_tokens, reply.timings.predicted_n
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": reply.timings.cache_n},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": reply.timings.thought_n},
        "total_tokens": prompt + written,
    }
