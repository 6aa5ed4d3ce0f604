"""Checks of a request before anything is loaded for it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import EmptyPrompt, InvalidOption
from engine.messages import Generate
from engine.model.sampling import Sampler
from engine.text.preparation import continues, opening
from engine.text.reasoning import OPEN
from engine.text.tokenizer import Tokenizer
from engine.verifying import DEFAULT_RULE, RULES

# Tokens at a prompt's end that surely hold the mark of a thought, whether it is one token or many.
_END_TOKENS = 12


def last_question(request: Generate) -> str:
    """Return the text that the user wrote last."""
    if request.raw_prompt is not None:
        return request.raw_prompt if isinstance(request.raw_prompt, str) else ""
    return next((turn.content for turn in reversed(request.messages) if turn.role == "user"), "")


def check_request(request: Generate) -> None:
    """Refuse a request that makes no sense, before anything is loaded.

    Raises:
        EmptyPrompt: There is nothing to answer.
        InvalidOption: A value is out of its range, or the text is no text.
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
            about="logprobs" if request.form is None else "form",
            rule=DEFAULT_RULE,
        )
    numbers = {name: value for name, value in vars(request.sampling).items() if value is not None}
    Sampler(**numbers, penalties=request.penalties)
    try:
        "".join((*request.stop, *request.texts)).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidOption("The message holds bytes that are not UTF-8 text: convert it to UTF-8 first.") from error


def check_limit(max_tokens: int | None) -> None:
    """Refuse a limit of tokens that leaves no reply.

    Raises:
        InvalidOption: The limit is below 1.
    """
    if max_tokens is not None and max_tokens < 1:
        raise InvalidOption("The limit of tokens is {max_tokens}, but it must be at least 1.", max_tokens=max_tokens)


def begun_thought(prompt: Sequence[int], tokenizer: Tokenizer) -> str:
    """Return the mark at a prompt's end with which a template begins a thought, or an empty text."""
    end = tokenizer.decode(prompt[-_END_TOKENS:], special=True).rstrip()
    return f"{OPEN}\n" if end.endswith(OPEN) else ""


def _asks(request: Generate) -> bool:
    """Return whether there is anything to answer: a text, a file or a picture."""
    if request.raw_prompt is not None:
        return request.raw_prompt != ()
    begun = bool(opening(request).strip())
    asked = request.messages[:-1] if continues(request.messages) and not begun else request.messages
    return bool(asked) and (
        asked[-1].role == "tool"
        or bool(asked[-1].calls or asked[-1].pictures)
        or bool(asked[-1].content.strip())
        or any(file.text.strip() for file in asked[-1].attachments)
    )
