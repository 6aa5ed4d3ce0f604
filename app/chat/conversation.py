"""What a conversation is made of."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import Any

from engine.messages import Role


class MessageState(str, Enum):
    """How far a message has come; the value is what the database keeps."""

    COMPLETE = "complete"
    QUEUED = "queued"  # behind the reply of another conversation
    WAITING = "waiting"  # sent to the engine, no text yet
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the person
    INTERRUPTED = "interrupted"  # a crash cut it
    FAILED = "failed"

    @property
    def unfinished(self) -> bool:
        """Whether more is to come."""
        return self in (MessageState.QUEUED, MessageState.WAITING, MessageState.STREAMING)


@dataclass(frozen=True)
class ReplyStatistics:
    """The figures shown under a reply; None where one does not apply.

    Attributes:
        mode: The mode that ran, by its ``--mode`` name.
        tokens: Tokens of the reply so far.
        tokens_per_second: Speed of generation.
        time_to_first_token_ms: From the request to the first token.
        acceptance_rate: Share of drafted tokens that the model agreed with, 0 to 1.
        mean_acceptance_length: Tokens per forward pass of the model.
        resident_bytes: Memory that the engine's process holds.
        context_used: Tokens of the context in use, prompt and reply.
        context_limit: Tokens of context there are; 0 when not known.
        disk_bytes_per_second: Weights read from the disk, in the middle over the reply; 0 for a model in memory.
    """

    mode: str
    tokens: int
    tokens_per_second: float | None
    time_to_first_token_ms: float | None
    acceptance_rate: float | None
    mean_acceptance_length: float | None
    resident_bytes: int
    context_used: int
    context_limit: int
    disk_bytes_per_second: float = 0.0

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ReplyStatistics | None:
        """Read `to_json`'s text; None when it is not that (statistics are not worth losing a chat over)."""
        try:
            values: Any = json.loads(text)
            # A figure that came later is missing in older replies, and has a default.
            known = {field.name for field in fields(cls) if field.name in values}
            return cls(**{name: values[name] for name in known})
        except (ValueError, TypeError, KeyError):
            return None


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    Attributes:
        id: Unique over all conversations; later messages have greater ones.
        conversation_id: Where it belongs.
        role: ``user`` or ``assistant``.
        content: Its text, as far as it has come.
        created_at: Seconds since 1970, UTC.
        state: How far it has come.
        statistics: Figures of a reply, None before the first ones.
        notices: Sentences to read beside it.
        error: One sentence when it failed or was cut off, else empty.
        drafted: (start, end) of each stretch of the content that came from accepted drafts; not kept on the disk.
    """

    id: int
    conversation_id: int
    role: Role
    content: str
    created_at: float
    state: MessageState = MessageState.COMPLETE
    statistics: ReplyStatistics | None = None
    notices: tuple[str, ...] = ()
    error: str = ""
    drafted: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Conversation:
    """A conversation without its messages; times in seconds since 1970, UTC."""

    id: int
    title: str
    created_at: float
    updated_at: float
