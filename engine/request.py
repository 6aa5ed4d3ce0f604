"""A request once it is checked: the prompt that is read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from engine.errors import EmptyPrompt, InvalidOption
from engine.messages import ChatMessage, ContextTrimmed, Event, Generate, Notice
from engine.model.sampling import Sampler
from engine.sentences import mark, say
from engine.text.attached_turns import fit_with_attachments
from engine.text.context_window import check_length
from engine.text.thoughts import OPEN, without_thoughts
from engine.text.tokenizer import Tokenizer
from engine.verifying.rules import DEFAULT_RULE, RULES

_NO_SWITCH = mark("The chat template of this model has no such setting for thinking, so it has no effect.")
# Tokens at a prompt's end that surely hold the mark of a thought, whether it is one token or many.
_END_TOKENS = 12


def last_question(request: Generate) -> str:
    """Text that the person wrote last."""
    if request.raw_prompt is not None:
        return request.raw_prompt if isinstance(request.raw_prompt, str) else ""
    return next((turn.content for turn in reversed(request.messages) if turn.role == "user"), "")


def check_request(request: Generate) -> None:
    """Refuse a request that makes no sense, before anything is loaded.

    Raises:
        EmptyPrompt: there is nothing to answer.
        InvalidOption: a value is out of its range, or the text is no text.
    """
    if not _asks(request):
        raise EmptyPrompt("The message is empty: write a question first.")
    check_limit(request.max_tokens)
    if request.verify not in RULES:
        raise InvalidOption(
            "There is no rule of verification {verify}: choose {names}.",
            verify=repr(request.verify),
            names=", ".join(RULES),
        )
    if (request.form is not None or request.logprobs is not None) and request.verify != DEFAULT_RULE:
        raise InvalidOption(
            "A reply that has a form or log-probabilities is verified by {rule} alone: leave the rule out.",
            rule=DEFAULT_RULE,
        )
    numbers = {name: value for name, value in vars(request.sampling).items() if value is not None}
    Sampler(**numbers, penalties=request.penalties)
    files = (file.text for message in request.messages for file in message.attachments)
    contents = [message.content for message in request.messages]
    contents += [
        text for message in request.messages for call in message.calls for text in (call.name, call.arguments)
    ]
    contents += [
        text for tool in request.tools.offered for text in (tool.name, tool.description, tool.parameters)
    ]
    raw = request.raw_prompt if isinstance(request.raw_prompt, str) else ""
    for text in (raw, *request.stop, *contents, *files):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidOption(
                "The message holds bytes that are not UTF-8 text: convert it to UTF-8 first."
            ) from error


def check_limit(max_tokens: int | None) -> None:
    """Refuse a limit of tokens that leaves no reply.

    Raises:
        InvalidOption: It is below 1.
    """
    if max_tokens is not None and max_tokens < 1:
        raise InvalidOption(
            "The limit of tokens is {max_tokens}, but it must be at least 1.", max_tokens=max_tokens
        )


def opening(request: Generate) -> str:
    """The start of the reply, where the conversation ends with one that is to be continued."""
    return request.messages[-1].content if _continues(request.messages) else ""


def _continues(messages: Sequence[ChatMessage]) -> bool:
    return bool(messages) and messages[-1].role == "assistant" and not messages[-1].calls


def fit_prompt(
    request: Generate, tokenizer: Tokenizer, context: int, emit: Callable[[Event], None]
) -> list[int]:
    """Token ids of the prompt, cut to the context where it is a conversation.

    Args:
        request: One that `check_request` has passed.
        tokenizer: The model's.
        context: Tokens of context, prompt and reply together.
        emit: Takes what the person is told of it.

    Raises:
        PromptTooLong: its last message does not fit even alone.
    """
    if request.raw_prompt is not None:
        raw = request.raw_prompt
        if raw == "":
            prompt = tokenizer.beginning
        else:
            prompt = tokenizer.encode(raw, request.parse_special) if isinstance(raw, str) else list(raw)
        if not prompt:  # characters that no token of the vocabulary stands for
            raise EmptyPrompt("The message is empty: write a question first.")
        check_length(len(prompt), context)
        return prompt
    if tokenizer.template_note:
        emit(Notice(request.request_id, tokenizer.template_note))
    begun = opening(request)
    turns = [
        replace(turn, content=without_thoughts(turn.content)) if turn.role == "assistant" else turn
        for turn in (request.messages[:-1] if _continues(request.messages) else request.messages)
    ]
    known = "" if tokenizer.template is None else tokenizer.template.thinking
    if (request.thinking.on is not None and known != "switch") or (
        request.thinking.effort is not None and known != "effort"
    ):
        emit(Notice(request.request_id, say(_NO_SWITCH)))
    render = partial(tokenizer.render, opening=begun, thinking=request.thinking, tools=request.tools.offered)
    # Where nothing may be left out, room for one token of reply is enough.
    most = 1 if request.whole else request.max_tokens
    found = fit_with_attachments(
        turns, render, lambda text: len(tokenizer.encode(text, control=False)), context, most
    )
    if request.whole and found.messages_left_out:
        check_length(len(render(turns)), context)
    if found.sources:
        emit(Notice(request.request_id, found.sources))
    if found.messages_left_out:
        emit(ContextTrimmed(request.request_id, found.messages_left_out))
    return found.prompt


def prompt_length(request: Generate, tokenizer: Tokenizer) -> int:
    """Number of tokens in the whole prompt of a request that `check_request` has passed."""
    return len(fit_prompt(request, tokenizer, sys.maxsize, lambda event: None))


def begun_thought(prompt: Sequence[int], tokenizer: Tokenizer) -> str:
    """The mark that a template puts at the end of a prompt, so that the model begins with a thought; else empty."""
    end = tokenizer.decode(prompt[-_END_TOKENS:], special=True).rstrip()
    return f"{OPEN}\n" if end.endswith(OPEN) else ""


def _asks(request: Generate) -> bool:
    """True if there is anything to answer: a text, or a file."""
    if request.raw_prompt is not None:
        return request.raw_prompt != ()
    begun = bool(opening(request).strip())
    asked = request.messages[:-1] if _continues(request.messages) and not begun else request.messages
    return bool(asked) and (
        asked[-1].role == "tool"
        or bool(asked[-1].calls)
        or bool(asked[-1].content.strip())
        or any(file.text.strip() for file in asked[-1].attachments)
    )
