"""Messages between the engine and the process that prepares requests."""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages.commands import Generate
from engine.messages.events import Event
from engine.messages.reports import ErrorReport


@dataclass(frozen=True)
class ToPrepare:
    """A request to prepare.

    Attributes:
        request: The request.
        context: Tokens of context, prompt and reply together.
        formed: The grammar of its reply is wanted too.
        folder: The model.
        cache: Folder of what takes long to make of a tokenizer.
    """

    request: Generate
    context: int
    formed: bool
    folder: str
    cache: str


@dataclass(frozen=True)
class Prepared:
    """A request that was prepared.

    Attributes:
        prompt: Token ids of 4 bytes each, in the machine's order.
        events: Events for the user.
        grammar: Grammar of the reply, in llguidance's words; empty for none.
        mark: Text that the form begins after.
        error: Why there is no prompt; None where there is one.
    """

    prompt: bytes
    events: tuple[Event, ...] = ()
    grammar: str = ""
    mark: str = ""
    error: ErrorReport | None = None
