"""OpenAI's completions, of a chat or of a text that goes on, with the fields that llama.cpp's server adds.

Sources: https://platform.openai.com/docs/api-reference/chat and /completions; llama.cpp, tools/server/README.md.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from engine.messages import Generate, Reply, StopReason, Thinking, TokenLogprob
from engine.server.exchange import (
    UNSERVED,
    Exchange,
    choices,
    effort,
    in_form,
    new_id,
    openai_form,
    penalties,
    sampling,
    sent_event,
    timings,
    turn,
)
from engine.server.fields import Fields
from engine.server.refusal import Refused, openai_error
from engine.server.tools import openai_call, openai_tools
from engine.text.reply_parts import Calls, Said

FINISH: dict[StopReason, str] = {
    "end": "stop", "stop": "stop", "length": "length", "loop": "stop", "cancelled": "stop",
}  # fmt: skip
#: Likeliest tokens at each place, at most.
MOST_LOGPROBS = 20
DONE = b"data: [DONE]\n\n"
_SWITCHES = ("enable_thinking", "thinking")
_MOST_PROMPTS = 16
_UNSERVED = {
    **{name: sentence for name, sentence in UNSERVED.items() if name != "logprobs"},
    "suffix": "Tenon does not write in the middle of a text: leave the field suffix out.",
    "echo": "Tenon's server does not repeat the prompt: leave the field echo out.",
}


class OpenAICompletions(Exchange):
    """Exchange of chat completions and of completions."""

    piece: ClassVar[str] = "text_completion"  # kind of the objects of a stream

    def _open(self, fields: Fields, prefix: str) -> None:
        self.id = new_id(prefix)
        self._usage_wanted = fields.inner("stream_options").switch("include_usage")
        self._choices = fields.whole("n") or 1
        self._logged: dict[int, list[TokenLogprob]] = {}

    def logged(self, index: int, logprobs: Sequence[TokenLogprob]) -> None:
        """Keep log-probabilities for the next piece."""
        self._logged.setdefault(index, []).extend(logprobs)

    def closed(self, replies: Sequence[Reply]) -> bytes:
        """Return the usage if it is wanted, and the mark of the end."""
        last = {**self._head(self.piece), "choices": [], "usage": usage(replies, self._choices)}
        return (sent_event(last) if self._usage_wanted else b"") + DONE

    def failed(self, refused: Refused) -> bytes:
        return sent_event(openai_error(refused)) + DONE

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id, "object": kind, "created": self.created, "model": self.served.name,
            "system_fingerprint": self.served.fingerprint,
        }  # fmt: skip


class ChatCompletions(OpenAICompletions):
    """``/v1/chat/completions``."""

    piece = "chat.completion.chunk"

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        self._open(fields, "chatcmpl-")
        fields.refuse({name: sentence for name, sentence in UNSERVED.items() if "logprobs" not in name})
        self._calls: dict[int, Calls] = {}
        if "audio" in fields.texts("modalities"):
            raise Refused(400, "This model answers in text alone: leave audio out.", "modalities")
        fields.need("messages")
        request = Generate(
            "",
            self.served.options,
            messages=tuple(map(turn, fields.objects("messages"))),
            max_tokens=most_tokens(fields, "max_completion_tokens", "max_tokens"),
            sampling=sampling(fields),
            penalties=penalties(fields),
            stop=fields.texts("stop"),
            thinking=_thinking(fields),
            whole=True,
            tools=openai_tools(fields),
            logprobs=_logprobs(fields),
        )
        return choices(fields, in_form(request, openai_form(fields)))

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        found = []
        for index, reply in enumerate(replies):
            thought, answer, calls = self.parts(index, reply)
            said = answer if answer or not calls else None
            message: dict[str, Any] = {"role": "assistant", "content": said}
            if thought:
                message["reasoning_content"] = thought
            if calls:
                message["tool_calls"] = list(map(openai_call, calls))
            end = {"logprobs": logged(reply.logprobs), "finish_reason": _finish(reply, bool(calls))}
            found.append({"index": index, "message": message, **end})
        return {
            **self._head("chat.completion"),
            "choices": found,
            "usage": usage(replies, self._choices),
            "timings": timings(replies[-1]),
        }

    def opened(self, index: int, prompt_tokens: int, cached_tokens: int) -> bytes:
        """Return the role, which comes first."""
        return self._chunk(index, {"role": "assistant", "content": None})

    def delta(self, index: int, said: Said) -> bytes:
        chunks: list[dict[str, Any]] = []
        if said.thought:
            chunks.append({"reasoning_content": said.thought})
        if said.answer:
            chunks.append({"content": said.answer})
        calls = self._calls.setdefault(index, Calls())
        for piece in said.calls:
            known = len(calls.made)
            calls.add([piece])
            more = {"function": {"arguments": piece.arguments}}
            call = more if piece.index < known else openai_call(calls.made[-1])
            chunks.append({"tool_calls": [{"index": piece.index, **call}]})
        return b"".join(self._chunk(index, chunk) for chunk in chunks)

    def ended(self, index: int, reply: Reply) -> bytes:
        called = index in self._calls and bool(self._calls[index].made)
        return self._chunk(index, {}, _finish(reply, called), {"timings": timings(reply)})

    def _chunk(
        self, index: int, delta: dict[str, Any], finish: str | None = None, more: dict[str, Any] | None = None
    ) -> bytes:
        logprobs = logged(self._logged.pop(index, ()))
        choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        usage = {"usage": None} if self._usage_wanted else {}
        return sent_event({**self._head(self.piece), "choices": [choice], **usage, **(more or {})})


def _finish(reply: Reply, called: bool) -> str:
    return "tool_calls" if called and reply.stop_reason == "end" else FINISH[reply.stop_reason]


def _logprobs(fields: Fields) -> int | None:
    """Return the number of likeliest tokens that are wanted beside each one; None for no log-probabilities."""
    top = fields.whole("top_logprobs", 0, MOST_LOGPROBS)
    if not fields.switch("logprobs"):
        if top:
            sentence = "The field top_logprobs goes with logprobs: set logprobs to true."
            raise Refused(400, sentence, "top_logprobs")
        return None
    return top or 0


def logged(logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
    """Return log-probabilities as OpenAI's clients get them; None for none."""
    if not logprobs:
        return None

    def told(said: bytes, logprob: float) -> dict[str, Any]:
        return {"token": said.decode(errors="replace"), "logprob": logprob, "bytes": list(said)}

    found = [{**told(one.said, one.logprob), "top_logprobs": [told(*other) for other in one.top]} for one in logprobs]
    return {"content": found, "refusal": None}


def usage(replies: Sequence[Reply], choices: int) -> dict[str, Any]:
    """Count tokens of prompts and replies; the prompt of several choices counts once."""
    prompt = sum(reply.prompt_tokens for reply in replies[::choices])
    written = sum(reply.timings.predicted_n for reply in replies)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
        "prompt_tokens_details": {"cached_tokens": sum(reply.timings.cache_n for reply in replies[::choices])},
        "completion_tokens_details": {
            "reasoning_tokens": sum(reply.timings.thought_n for reply in replies),
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def most_tokens(fields: Fields, *names: str) -> int | None:
    """Return the limit of tokens by the first of these fields that is there; -1 is none."""
    name = next((one for one in names if fields.value(one) is not None), names[0])
    return None if fields.value(name) == -1 else fields.whole(name, 1)


def _thinking(fields: Fields) -> Thinking:
    """Read wishes for thinking: by effort, and by variables of the chat template."""
    found = effort(fields, "reasoning_effort")
    variables = fields.inner("chat_template_kwargs")
    for name in variables.names():
        if name not in (*_SWITCHES, "reasoning_effort"):
            known = "enable_thinking, thinking or reasoning_effort"
            sentence = f"A chat template is given {known}, not {name[:60]!r}."
            raise Refused(400, sentence, variables.name(name), "not_supported")
    if variables.value("reasoning_effort") is not None:
        found = effort(variables, "reasoning_effort")
    for name in _SWITCHES:
        if variables.value(name) is not None:
            found = replace(found, on=variables.switch(name))
    return found


class Completions(OpenAICompletions):
    """``/v1/completions``."""

    fields_of: ClassVar = {**Exchange.fields_of, "prompt": ("prompt",)}

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        self._open(fields, "cmpl-")
        fields.refuse(_UNSERVED)
        wanted = None if fields.value("logprobs") is False else fields.whole("logprobs", 0, MOST_LOGPROBS)
        self._lengths: dict[int, int] = {}
        self._readers: dict[int, codecs.IncrementalDecoder] = {}
        if (fields.whole("best_of") or 1) > self._choices:
            sentence = "Tenon's server does not choose among replies: leave the field best_of out."
            raise Refused(400, sentence, "best_of", "not_supported")
        return tuple(
            request
            for prompt in _prompts(fields)
            for request in choices(
                fields,
                Generate(
                    "",
                    self.served.options,
                    raw_prompt=prompt,
                    parse_special=fields.switch("parse_special", self.served.parse_special),
                    max_tokens=most_tokens(fields, "max_tokens"),
                    sampling=sampling(fields),
                    penalties=penalties(fields),
                    stop=fields.texts("stop"),
                    form=openai_form(fields),
                    logprobs=wanted,
                ),
            )
        )

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        found = []
        for at, reply in enumerate(replies):
            self.logged(at, reply.logprobs)
            found.append(self._choice(at, reply.text, FINISH[reply.stop_reason]))
        return {
            **self._head(self.piece),
            "choices": found,
            "usage": usage(replies, self._choices),
            "timings": timings(replies[-1]),
        }

    def delta(self, index: int, said: Said) -> bytes:
        return sent_event({**self._head(self.piece), "choices": [self._choice(index, said.answer, None)]})

    def ended(self, index: int, reply: Reply) -> bytes:
        choice = self._choice(index, "", FINISH[reply.stop_reason])
        return sent_event({**self._head(self.piece), "choices": [choice], "timings": timings(reply)})

    def _choice(self, index: int, text: str, finish: str | None) -> dict[str, Any]:
        logprobs = self._told(index, self._logged.pop(index, ()))
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish}

    def _told(self, index: int, logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
        """Return log-probabilities in the older form: a list for each thing."""
        if not logprobs:
            return None
        offsets = []
        for one in logprobs:
            # A token inside of a character has the character's place.
            offsets.append(self._lengths.get(index, 0))
            reader = self._readers.setdefault(index, codecs.getincrementaldecoder("utf-8")("replace"))
            self._lengths[index] = offsets[-1] + len(reader.decode(one.said))
        return {
            "tokens": [one.said.decode(errors="replace") for one in logprobs],
            "token_logprobs": [one.logprob for one in logprobs],
            "top_logprobs": [_by_text(one) for one in logprobs],
            "text_offset": offsets,
        }


def _prompts(fields: Fields) -> list[str | tuple[int, ...]]:
    """Return the prompts: texts, or their tokens."""
    fields.need("prompt")
    value = fields.value("prompt")
    found = [_prompt(one) for one in (value if isinstance(value, list) and _prompt(value) is None else [value])]
    prompts = [one for one in found if one is not None]
    if len(prompts) < len(found) or not 1 <= len(found) <= _MOST_PROMPTS:
        raise fields.wrong("prompt", f"a text, a list of token ids, or a list of 1 to {_MOST_PROMPTS} of them")
    return prompts


def _prompt(value: object) -> str | tuple[int, ...] | None:
    """Return a text or token ids; None for what is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(type(one) is int for one in value):
        return tuple(value)
    return None


def _by_text(logprob: TokenLogprob) -> dict[str, float]:
    """Return the likeliest tokens by their texts; for tokens with one text (parts of characters) the likeliest."""
    found: dict[str, float] = {}
    for said, value in logprob.top:
        found.setdefault(said.decode(errors="replace"), value)
    return found
