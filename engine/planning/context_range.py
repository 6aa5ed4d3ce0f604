"""Range of the context's length."""

from __future__ import annotations

from engine.errors import Allowed, InvalidOption
from engine.model.config import ModelConfig
from engine.sentences import figure

DEFAULT_CONTEXT = 8192
"""A larger context has to be asked for: its cache is memory that most conversations never use."""
SMALLEST_CONTEXT = 256
"""One that was not asked for shrinks no further than this, so that a model fits."""
_LEAST = 16


def default_context(config: ModelConfig) -> int:
    """The tokens of context that a model gets where none are asked for and memory allows them."""
    return min(DEFAULT_CONTEXT, config.context_length)


def check_context(config: ModelConfig, context: int | None) -> None:
    """Refuse a context that the model does not have.

    Raises:
        InvalidOption: with what it takes, and which of that is nearest to what is of use.
    """
    if context is None or _LEAST <= context <= config.context_length:
        return
    nearest = config.context_length if context > config.context_length else default_context(config)
    raise InvalidOption(
        "The context is {context} tokens, but this model takes {least} to {context_length}: "
        "choose a length between these, or none for the model's own.",
        context=figure(context, ","),
        least=_LEAST,
        context_length=figure(config.context_length, ","),
        allowed=Allowed("context", nearest),
    )
