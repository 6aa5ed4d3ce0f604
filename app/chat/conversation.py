"""Parts of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from app.chat.conversation_options import ConversationOptions
from app.chat.reply_details import ReplyDetails
from app.chat.stretches import NO_STRETCHES, Stretches
from engine.messages import Attachment, ErrorReport, Role

# A reply shorter than this says little about its mode's speed.
_FEWEST_TOKENS = 48


class MessageState(str, Enum):
    """States of a message; the value is what the database keeps."""

    COMPLETE = "complete"
    QUEUED = "queued"  # after the reply of another conversation
    WAITING = "waiting"  # sent to the engine, no text yet
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user
    INTERRUPTED = "interrupted"  # a crash cut it
    FAILED = "failed"

    @property
    def unfinished(self) -> bool:
        """True if more is to come."""
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
        thought_tokens: Tokens of thoughts before the answer.
        plain_per_second: The speed that plain decoding would have had then, of the same weights in the same format.
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
    plain_per_second: float | None = None
    thought_tokens: int = 0

    @property
    def times_plain(self) -> float | None:
        """Speed as a multiple of plain decoding's; None where that is not known, or says nothing."""
        if self.mode == "plain" or self.tokens < _FEWEST_TOKENS:
            return None
        if not self.plain_per_second or self.tokens_per_second is None:
            return None
        return self.tokens_per_second / self.plain_per_second


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    Attributes:
        id: Unique over all conversations.
        conversation_id: Id of its conversation.
        role: ``user`` or ``assistant``.
        content: Text, as far as it has come.
        created_at: Seconds since 1970, UTC.
        state: State.
        statistics: Figures of a reply, None before the first ones.
        notices: Sentences to read beside it.
        error: One sentence when it failed or was cut off, else empty.
        drafted: The parts of the content that came from accepted drafts; not kept on the disk.
        parent_id: The message that it follows; None for the first. Messages of one parent are alternatives.
        deleted: Hidden until undo or until it is erased; what follows it is shown all the same.
        model: The model that a reply was asked of: a name, a folder or a file; empty where it was not kept.
        details: Facts of the run; None before the reply is complete.
        attachments: Files that the model reads before the content.
        kept_characters: Length of a continued reply's content before it goes on; not kept on
            the disk.
        trouble: The error with details; None where the reply is from a file or an older Tenon.
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
    drafted: Stretches = NO_STRETCHES
    parent_id: int | None = None
    deleted: bool = False
    model: str = ""
    details: ReplyDetails | None = None
    attachments: tuple[Attachment, ...] = ()
    kept_characters: int = 0
    trouble: ErrorReport | None = None


@dataclass(frozen=True)
class Conversation:
    """A conversation without its messages; times in seconds since 1970, UTC.

    Attributes:
        leaf_id: The message at the end of the shown path; None takes the newest one.
        pinned: True if it stands above the others.
        archived: True if it is left out of the list.
        folder: The folder that it lies in; empty for none. A folder is there as long as something lies in it.
        model: The model that its last reply was asked of; empty before the first.
        options: Options that it sets for itself instead of the settings.
    """

    id: int
    title: str
    created_at: float
    updated_at: float
    leaf_id: int | None = None
    pinned: bool = False
    archived: bool = False
    folder: str = ""
    model: str = ""
    options: ConversationOptions = field(default_factory=ConversationOptions)
