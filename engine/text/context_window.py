"""Fitting a conversation into the context: the oldest turns go first, the system prompt stays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.errors import PromptTooLong
from engine.messages import ChatMessage
from engine.sentences import figure, mark

# Room for the reply, as a share of the context. Leaving out more than the bare minimum also means that the turns
# after this one still fit, so that they find their prefix in the cache instead of shifting it each time.
_REPLY_SHARE = 4
_REPLY_TOKENS = 1024

_TOO_LONG = mark(
    "The message is {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or load the "
    "model with a larger context if it has one."
)
_MUCH_TOO_LONG = mark(
    "The message is more than {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or "
    "load the model with a larger context if it has one."
)

#: What messages are rendered to; its length is its number of tokens.
Prompt = TypeVar("Prompt", bound=Sized)


class CutShort(list[int]):
    """Token ids of the beginning of a text that has many more than it may have."""


@dataclass(frozen=True)
class FittedPrompt(Generic[Prompt]):
    """A prompt that fits."""

    prompt: Prompt  # the messages that have room, rendered
    messages_left_out: int  # number of messages that had no room
    # Sentence about the passages that answer the last question; empty where whole files do, or none
    sources: str = ""


def fit_conversation(
    messages: Sequence[ChatMessage],
    render: Callable[[Sequence[ChatMessage]], Prompt],
    context: int,
    max_tokens: int | None = None,
) -> FittedPrompt[Prompt]:
    """Leave out as many of the oldest turns as it takes.

    Args:
        messages: The conversation, an optional system message first, ending with the person's turn.
        render: Messages to a prompt as long as it has tokens.
        context: Tokens of context, prompt and reply together.
        max_tokens: The reply's limit, where it has one.

    Raises:
        PromptTooLong: the last message does not fit even alone.
    """
    prompt = render(messages)
    reply = min(context // _REPLY_SHARE, _REPLY_TOKENS, max_tokens or _REPLY_TOKENS)
    if len(prompt) + reply <= context:
        return FittedPrompt(prompt, 0)
    head = list(messages[:1]) if messages and messages[0].role == "system" else []
    turns = list(messages[len(head) :])
    # A conversation opens with the person's turn, so a question leaves together with its answer.
    starts = [at for at, turn in enumerate(turns) if at and turn.role == "user"] or [0]

    def overflows(start: int) -> bool:
        return len(render([*head, *turns[start:]])) + reply > context

    first_fit = bisect_left(starts, True, key=lambda start: not overflows(start))
    left_out = starts[min(first_fit, len(starts) - 1)]
    prompt = render([*head, *turns[left_out:]])
    check_length(len(prompt), context, isinstance(prompt, CutShort))
    return FittedPrompt(prompt, left_out)


def check_length(prompt_tokens: int, context: int, at_least: bool = False) -> None:
    """Refuse a prompt that leaves no room for a single token of reply.

    Args:
        prompt_tokens: Tokens of the prompt.
        context: Tokens of context, prompt and reply together.
        at_least: The prompt has more: it was not counted to its end.

    Raises:
        PromptTooLong: with both numbers.
    """
    if prompt_tokens >= context:
        raise PromptTooLong(
            _MUCH_TOO_LONG if at_least else _TOO_LONG,
            prompt_tokens=figure(prompt_tokens, ","),
            context=figure(context, ","),
        )
