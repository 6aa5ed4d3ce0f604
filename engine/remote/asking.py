"""A request in OpenAI's protocol, with what each kind of server understands beyond it.

Source: https://platform.openai.com/docs/api-reference/chat; llama.cpp, tools/server/README.md; vLLM,
docs/serving/openai_compatible_server.md, "Extra parameters".
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from engine.errors import InvalidOption, PromptTooLong
from engine.messages import (
    ChatMessage,
    ContextTrimmed,
    Encoded,
    Event,
    Generate,
    Notice,
    OutputForm,
    ServerKind,
    ToAsk,
    ToolUse,
)
from engine.sentences import figure
from engine.text.context_window import FittedPrompt, check_length, fit_with_attachments, say_cut
from engine.text.pictures import MARK, marked
from engine.text.preparation import answered, opening
from engine.text.reasoning import without_thoughts

#: Kinds that sample with more than OpenAI's numbers, and their word for the repetition penalty.
_PENALTIES: dict[ServerKind, str] = {
    "tenon": "repeat_penalty",
    "llama.cpp": "repeat_penalty",
    "lmstudio": "repeat_penalty",
    "vllm": "repetition_penalty",
    "sglang": "repetition_penalty",
}
_TEMPLATE_KINDS = ("tenon", "llama.cpp", "vllm", "sglang")
# A token has about so many bytes of UTF-8; in doubt it is said to have fewer, so that more room is left.
_BYTES_PER_TOKEN = 3.2
_TURN_TOKENS = 6
_PICTURE_TOKENS = 765  # OpenAI's of 1024 x 1024; the server's own count corrects the estimate


@dataclass(frozen=True)
class CountedTurns:
    """Turns with an estimate of their tokens, since only the server has the tokenizer; `len` gives it."""

    turns: tuple[ChatMessage, ...]  # turns whose attachments are in their texts
    tokens: int  # number of tokens

    def __len__(self) -> int:
        return self.tokens


def count_text(text: str, scale: float) -> int:
    """Estimate the tokens of a text.

    Args:
        scale: Tokens that the server counted before, divided by the estimate for the same text.
    """
    return round(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN * scale) + 1


def count_turns(turns: Sequence[ChatMessage], tools: ToolUse, scale: float) -> CountedTurns:
    """Return turns and their number of tokens by an estimate."""
    texts = [turn.content for turn in turns]
    texts += [part for turn in turns for call in turn.calls for part in (call.name, call.arguments)]
    texts += [part for tool in tools.offered for part in (tool.name, tool.description, tool.parameters)]
    tokens = sum(count_text(text, scale) for text in texts) + _TURN_TOKENS * (len(turns) + 1)
    pictures = sum(len(turn.pictures) for turn in turns)
    return CountedTurns(tuple(turns), tokens + _PICTURE_TOKENS * pictures)


def answer(question: bytes) -> bytes:
    """Encode a large request in a preparer's process."""
    return answered(question, encoded)


def encoded(asked: ToAsk) -> Encoded:
    """Return a request as its server gets it: the turns that fit by estimate, without the oldest.

    Raises:
        InvalidOption: A server cannot do what is asked for.
        PromptTooLong: The last message does not fit even alone.
    """
    events: list[Event] = []
    request, raw = asked.request, asked.request.raw_prompt
    if raw is not None:
        fitted = CountedTurns((), count_text(raw, 1.0) if isinstance(raw, str) else len(raw))
    elif asked.counts:
        fitted = count_turns(request.messages, request.tools, 1.0)
    else:
        fitted = _fitted(asked, events.append)
    if asked.counts:
        path = "/v1/messages/count_tokens"
        body = {"model": asked.model, "messages": [_message(replace(turn, pictures=())) for turn in fitted.turns]}
    else:
        path, body = _path_and_body(asked, fitted.turns)
    return Encoded(path, json.dumps(body).encode(), fitted.tokens, tuple(events))


def _fitted(asked: ToAsk, emit: Callable[[Event], None]) -> CountedTurns:
    """Return the turns that fit, or all if the context is not known."""
    request, scale, begun = asked.request, asked.scale, opening(asked.request)
    turns = [
        replace(turn, content=without_thoughts(turn.content)) if turn.role == "assistant" else turn
        for turn in (request.messages[:-1] if begun else request.messages)
    ]
    if request.pictures:
        turns = [marked(turn) for turn in turns]
    begun_tokens = count_text(begun, scale)

    def render(those: Sequence[ChatMessage]) -> CountedTurns:
        counted = count_turns(those, request.tools, scale)
        return replace(counted, tokens=counted.tokens + begun_tokens)

    context = asked.context or sys.maxsize
    most = 1 if request.whole else request.max_tokens
    found: FittedPrompt[CountedTurns]
    try:
        found = fit_with_attachments(turns, render, lambda text: count_text(text, scale), context, most)
        if request.whole and (found.messages_left_out or found.cut):
            check_length(len(render(turns)), context)
    except PromptTooLong as error:
        raise PromptTooLong(
            "The message is about {prompt} tokens long, but the model's context on the server holds {context}: "
            "shorten it.",
            prompt=figure(len(render(turns if request.whole else turns[-1:])), ","),
            context=figure(context, ","),
        ) from error
    if found.cut:
        emit(Notice(request.request_id, say_cut(found.cut)))
    if found.sources:
        emit(Notice(request.request_id, found.sources))
    if left_out := request.left_out + found.messages_left_out:
        emit(ContextTrimmed(request.request_id, left_out))
    return replace(found.prompt, tokens=round(found.prompt.tokens / scale))


def _path_and_body(asked: ToAsk, turns: Sequence[ChatMessage]) -> tuple[str, dict[str, Any]]:
    request, kind, begun = asked.request, asked.kind, opening(asked.request)
    body: dict[str, Any] = {"model": asked.model, "stream": True, "stream_options": {"include_usage": True}}
    sampling, penalties = request.sampling, request.penalties
    wanted = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_tokens": asked.limit,
        "stop": list(request.stop) or None,
        "presence_penalty": penalties.presence or None,
        "frequency_penalty": penalties.frequency or None,
        "logit_bias": {str(token): value for token, value in penalties.bias} or None,
    }
    if kind in _PENALTIES:
        wanted |= {
            "top_k": _all_tokens(sampling.top_k, kind),
            "min_p": sampling.min_p,
            _PENALTIES[kind]: sampling.repetition_penalty,
        }
    body |= {name: value for name, value in wanted.items() if value is not None}
    if request.logprobs is not None:
        raise InvalidOption("A model on a server gives no log-probabilities here: leave them out.", about="logprobs")
    if request.raw_prompt is not None:
        return "/v1/completions", {**body, "prompt": request.raw_prompt}
    messages = [_message(turn) for turn in turns]
    if begun:
        messages.append({"role": "assistant", "content": begun})
        if kind in ("vllm", "sglang"):
            body |= {"add_generation_prompt": False, "continue_final_message": True}
    body["messages"] = messages
    body |= _thinking(request, kind)
    if request.form is not None:
        body["response_format"] = _form(request.form)
    return "/v1/chat/completions", body | _tools(request.tools)


def _all_tokens(top_k: int | None, kind: ServerKind) -> int | None:
    """Return the number of tokens to draw from; all tokens are 0 here and -1 in some servers."""
    return -1 if top_k == 0 and kind in ("vllm", "sglang") else top_k


def _message(turn: ChatMessage) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": _parts(turn) if turn.pictures else turn.content}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{at}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for at, call in enumerate(turn.calls)
        ]
    if turn.role == "tool":
        message["tool_call_id"] = turn.answers
    return message


def _parts(turn: ChatMessage) -> list[dict[str, Any]]:
    """Return the texts and pictures of a marked turn in their order; pictures were made ready (`sent_picture`)."""
    parts: list[dict[str, Any]] = []
    for text, picture in zip_longest(turn.content.split(MARK), turn.pictures):
        if text.strip():
            parts.append({"type": "text", "text": text})
        if picture is not None:
            kind = "png" if picture.content.startswith(b"\x89PNG") else "jpeg"
            url = f"data:image/{kind};base64,{b64encode(picture.content).decode()}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _thinking(request: Generate, kind: ServerKind) -> dict[str, Any]:
    """Return wishes for thoughts, as variables of the chat template or as OpenAI's field."""
    wished = request.thinking
    found: dict[str, Any] = {}
    if wished.effort is not None:
        found["reasoning_effort"] = wished.effort
    if wished.on is not None and kind in _TEMPLATE_KINDS:
        found["chat_template_kwargs"] = {"enable_thinking": wished.on}
    elif wished.on is False and kind == "ollama":
        found["reasoning_effort"] = "none"
    return found


def _form(form: OutputForm) -> dict[str, Any]:
    if form.kind != "schema":
        raise InvalidOption(
            "A model on a server cannot follow a grammar here: give a JSON schema instead.", about="form"
        )
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": json.loads(form.text)}}


def _tools(use: ToolUse) -> dict[str, Any]:
    if not use.offered:
        return {}
    choice: object = "required" if use.required else "auto"
    if use.only:
        choice = {"type": "function", "function": {"name": use.only}}
    functions = [
        {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
        for tool in use.offered
    ]
    return {
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": choice,
        "parallel_tool_calls": use.parallel,
    }
