"""Replies: changes of a message by the engine's events, which reply runs and which wait, and what the model reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from app.chat.conversation import Message, MessageState, ReplyDetails, ReplyStatistics, Stretches
from app.chat.troubles import CUT_OFF, INTERNAL, NO_REPLY
from app.words import mark, tr
from engine.errors import PromptTooLong
from engine.messages import (
    MOST_PARTS,
    Attachment,
    ChatMessage,
    ContextTrimmed,
    ErrorReport,
    Event,
    Failed,
    Finished,
    Memory,
    Notice,
    Role,
    StatisticsUpdated,
    Timings,
    ToolCall,
    with_attachments,
)

_LOOPED = mark("The reply was stopped, because it began to repeat itself.")

_THOUGHT = re.compile(r"\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
# Words for the model about calls that were not carried out.
_TOLD = {
    "asks": "The call was not carried out.",
    "runs": "The call was not finished.",
    "refused": "The user did not allow this call.",
}

# A reply cut short is part of what was said; one that failed is not, nor one that is still to come.
_SAID = (MessageState.COMPLETE, MessageState.STOPPED, MessageState.INTERRUPTED)


def reply_after(reply: Message, event: Event, context_limit: int = 0) -> Message:
    """Return the message that follows an event; the same object when the event changes nothing.

    Text in progress (`TokensAdded`) is not handled here: it comes in bursts and is gathered first.

    ``context_limit`` is that of the loaded model in tokens; 0 when not known.
    """
    if isinstance(event, StatisticsUpdated):
        figures = _statistics(event.mode, event.timings, event.memory, event.context_used, event.context_limit)
        return replace(reply, statistics=figures)
    if isinstance(event, ContextTrimmed):
        return with_notice(reply, trimmed_sentence(event.messages_left_out))
    if isinstance(event, Notice):
        return with_notice(reply, event.text)
    if isinstance(event, Finished):
        return _finished(reply, event, context_limit)
    if isinstance(event, Failed):
        if reply.state is MessageState.STOPPED or event.error.kind == "Cancelled":
            return replace(reply, state=MessageState.STOPPED)
        return replace(reply, state=MessageState.FAILED, error=event.error.message, trouble=event.error)
    return reply


def can_continue(message: Message) -> bool:
    """Return True if a reply was cut and holds something to go on from."""
    if message.role != "assistant" or not message.content.strip():
        return False
    cut = message.state in (MessageState.STOPPED, MessageState.INTERRUPTED, MessageState.FAILED)
    at_limit = message.details is not None and message.details.stop_reason == "length"
    return cut or looped(message) or (message.state is MessageState.COMPLETE and at_limit)


def looped(message: Message) -> bool:
    """Return True if a reply was stopped because it repeated itself, and has not gone on since."""
    ended = message.details is not None and message.details.stop_reason == "loop"
    return ended and message.state is MessageState.COMPLETE


def notices_of(message: Message) -> tuple[str, ...]:
    """Return the notes beside a reply: what happened on its way, and why it was stopped."""
    return (*message.notices, tr(_LOOPED)) if looped(message) else message.notices


def trouble_of(message: Message) -> ErrorReport | None:
    """Error in red beside a reply: why it failed or was cut off; None where nothing is wrong."""
    if message.state not in (MessageState.FAILED, MessageState.INTERRUPTED):
        return None
    if message.trouble is not None:
        return message.trouble
    if message.error:
        return ErrorReport(CUT_OFF if message.content else NO_REPLY, message.error)
    return ErrorReport(INTERNAL, tr("The reply failed.")) if message.state is MessageState.FAILED else None


def trimmed_sentence(messages_left_out: int) -> str:
    """Sentence for a conversation that outgrew the context."""
    return tr(
        "The oldest %n message(s) were left out, because the chat is longer than the model's context.",
        messages_left_out,
    )


def _finished(reply: Message, event: Finished, context_limit: int) -> Message:
    result = event.reply
    statistics = _statistics(
        result.mode,
        result.timings,
        result.memory,
        context_used=result.prompt_tokens + (len(result.token_ids) or result.timings.predicted_n),
        context_limit=reply.statistics.context_limit if reply.statistics else context_limit,
    )
    if result.busy:  # other programs took the processor from some rounds more than from others
        statistics = replace(statistics, plain_per_second=None)
    state = MessageState.STOPPED if result.stop_reason == "cancelled" else MessageState.COMPLETE
    kept = reply.kept_characters
    return replace(
        reply,
        content=reply.content[:kept] + result.text,
        state=state,
        statistics=statistics,
        details=ReplyDetails.of(result, kept, reply.steps),
        drafted=Stretches.of(
            [
                *(stretch for stretch in reply.drafted if stretch[1] <= kept),
                *((start + kept, end + kept) for start, end in result.drafted_text),
            ]
        ),
    )


def _statistics(mode: str, timings: Timings, memory: Memory, context_used: int, context_limit: int) -> ReplyStatistics:
    return ReplyStatistics(
        mode=mode,
        tokens=timings.predicted_n,
        tokens_per_second=timings.predicted_per_second,
        time_to_first_token_ms=timings.time_to_first_token_ms,
        acceptance_rate=timings.acceptance_rate,
        mean_acceptance_length=timings.mean_acceptance_length,
        resident_bytes=memory.resident_bytes,
        context_used=context_used,
        context_limit=context_limit,
        disk_bytes_per_second=_disk_bytes_per_second(timings, memory),
        plain_per_second=timings.plain_per_second,
        thought_tokens=timings.thought_n,
    )


def _disk_bytes_per_second(timings: Timings, memory: Memory) -> float:
    """Return the speed over the time that the model worked, reading the prompt included."""
    worked_ms = timings.prompt_ms + timings.predicted_ms
    return memory.disk_read_bytes / worked_ms * 1000 if worked_ms > 0 else 0.0


def with_notice(reply: Message, sentence: str) -> Message:
    """Return a reply with one more sentence beside it, unless it is there."""
    if sentence in reply.notices:
        return reply
    return replace(reply, notices=(*reply.notices, sentence))


@dataclass(frozen=True)
class Ticket:
    """A reply to be written, by its message's id."""

    conversation_id: int
    reply_id: int
    without_tools: bool = False  # its model answers from what tools have told it, and calls none


class ReplyQueue:
    """Queue of replies. It says what to start and starts nothing itself."""

    def __init__(self) -> None:
        # The reply that the engine works on, also while it is being stopped
        self.running: Ticket | None = None
        self.waiting: tuple[Ticket, ...] = ()  # replies after it, in the order that they came
        self.halted = False  # the engine is gone; nothing starts before `resume`
        self.held = False  # the engine is to do something else undisturbed; nothing starts meanwhile

    def add(self, ticket: Ticket) -> None:
        """Queue a reply after all others."""
        self.waiting += (ticket,)

    def start_next(self) -> Ticket | None:
        """Make the first waiting reply the running one; None when one runs, none waits, or all is halted or held."""
        if self.running is not None or self.halted or self.held or not self.waiting:
            return None
        self.running, *rest = self.waiting
        self.waiting = tuple(rest)
        return self.running

    def finish(self, reply_id: int) -> bool:
        """Take a reply off the queue; return False if another one runs (news from before a crash)."""
        if self.running is None or self.running.reply_id != reply_id:
            return False
        self.running = None
        return True

    def take_out(self, conversation_id: int) -> tuple[Ticket, ...]:
        """Remove the waiting replies of a conversation and return them; a running one stays."""
        taken = tuple(ticket for ticket in self.waiting if ticket.conversation_id == conversation_id)
        self.waiting = tuple(ticket for ticket in self.waiting if ticket.conversation_id != conversation_id)
        return taken

    def halt(self) -> Ticket | None:
        """Hold replies back after the engine ended; return the reply that it lost."""
        lost, self.running, self.halted = self.running, None, True
        return lost

    def resume(self) -> None:
        """Let the queue go on after the engine started again."""
        self.halted = False


def history_for(reply_id: int, messages: Iterable[Message], system_prompt: str = "") -> tuple[ChatMessage, ...]:
    """Return the turns that a reply answers, oldest first, up to the user's or the start of the reply.

    Chat templates want the roles to alternate. Where a reply is left out because it failed or stayed empty,
    the prompts around it become one turn, so that nothing that the user wrote is lost. A prompt that was too
    long to be answered is left out. A reply that was stopped because it repeated itself goes as far as it said
    anything new: the rest would pull the next one into its circle.

    Args:
        reply_id: The reply to be written; it and what follows it are left out, but for the part of it that is
            there already when it is continued.
        messages: The conversation, oldest first.
        system_prompt: Comes first when it is not blank.
    """
    turns: list[ChatMessage] = []
    messages = tuple(messages)
    too_long = {message.parent_id for message in messages if message.id != reply_id and _was_too_long(message)}
    for message in messages:
        if message.id == reply_id:
            if message.kept_characters or message.steps:
                turns += _turns_of(replace(message, content=message.content[: message.kept_characters]))
            break
        content = message.content
        if looped(message) and message.details is not None:
            content = content[: message.details.new_characters]
        has_files = any(file.text.strip() or file.picture for file in message.attachments)
        said = bool(content.strip()) or bool(message.steps) or has_files
        if message.state not in _SAID or not said or message.id in too_long:
            continue
        turn, *more = _turns_of(replace(message, content=content))
        if turns and turns[-1].role == turn.role:
            before = turns.pop()
            content = "\n\n".join(text for text in (before.content, turn.content) if text.strip())
            added = (replace(one, at=len(content) - len(turn.content)) for one in turn.pictures)
            files = (*before.attachments, *turn.attachments)
            turn = ChatMessage(turn.role, content, files, (*before.pictures, *added), calls=turn.calls)
        turns += (turn, *more)
    if system_prompt.strip():
        turns.insert(0, ChatMessage("system", system_prompt))
    return tuple(turns)


def _turns_of(message: Message) -> list[ChatMessage]:
    """Return a message as its model reads it: a reply with calls as a turn before each, and their results."""
    content, turns = message.content, list[ChatMessage]()
    thought = _THOUGHT.match(content) if message.steps else None
    start = 0 if thought is None else thought.end()
    for _, group in groupby(message.steps, lambda step: step.turn):
        steps = tuple(group)
        calls = tuple(ToolCall(one.name, one.arguments, f"{one.turn}-{at}") for at, one in enumerate(steps))
        place = max(start, steps[0].place)
        turns.append(ChatMessage(message.role, content[start:place].strip(), calls=calls))
        for call, step in zip(calls, steps, strict=True):
            turns.append(ChatMessage("tool", _TOLD.get(step.state, step.result), answers=call.id))
        start = place
    rest = content[start:]
    if rest.strip() or not turns:
        turns.append(turn_of(message.role, rest, message.attachments))
    return turns


def turn_of(role: Role, content: str, attachments: Sequence[Attachment]) -> ChatMessage:
    """Return a message as the engine takes it: pictures before its text, and apart from the other files."""
    pictures = tuple(one.picture for one in attachments if one.picture is not None)
    return ChatMessage(role, content, tuple(one for one in attachments if one.picture is None), pictures)


def newest(turns: Sequence[ChatMessage]) -> tuple[tuple[ChatMessage, ...], int]:
    """Return as many of the newest turns as a request may have, from a user's on, and the number of older ones."""
    if len(turns) <= MOST_PARTS:
        return tuple(turns), 0
    system = turns[:1] if turns[0].role == "system" else ()
    begin = len(turns) - MOST_PARTS + len(system)
    begin += turns[begin].role != "user"
    return (*system, *turns[begin:]), begin - len(system)


def _was_too_long(reply: Message) -> bool:
    """Return True if a reply failed because what it was to answer does not fit into the context."""
    return reply.trouble is not None and reply.trouble.kind == PromptTooLong.__name__


def text_for(reply_id: int, messages: Iterable[Message]) -> str:
    """Return the text that a reply goes on with: what was written so far, each user's part a paragraph."""
    text = ""
    for turn in history_for(reply_id, messages):
        said = "" if turn.role == "tool" else with_attachments(turn.content, turn.attachments)
        text += f"\n\n{said}" if text and turn.role == "user" else said
    return text
