"""Changes of a reply's message by the engine's events."""

from __future__ import annotations

from dataclasses import replace

from app.chat.conversation import Message, MessageState, ReplyStatistics
from app.chat.reply_details import ReplyDetails
from app.chat.stretches import Stretches
from app.chat.troubles import CUT_OFF, INTERNAL, NO_REPLY
from app.words import mark, tr
from engine.messages import (
    ContextTrimmed,
    ErrorReport,
    Event,
    Failed,
    Finished,
    Memory,
    Notice,
    StatisticsUpdated,
    Timings,
)

_LOOPED = mark("The reply was stopped, because it began to repeat itself.")


def reply_after(reply: Message, event: Event, context_limit: int = 0) -> Message:
    """Return the message that follows an event; the same object when the event changes nothing.

    Text in progress (`TokensAdded`) is not handled here: it comes in bursts and is gathered first.

    ``context_limit`` is that of the loaded model in tokens; 0 when not known.
    """
    if isinstance(event, StatisticsUpdated):
        figures = _statistics(
            event.mode, event.timings, event.memory, event.context_used, event.context_limit
        )
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
        details=ReplyDetails.of(result, kept),
        drafted=Stretches.of(
            [
                *(stretch for stretch in reply.drafted if stretch[1] <= kept),
                *((start + kept, end + kept) for start, end in result.drafted_text),
            ]
        ),
    )


def _statistics(
    mode: str, timings: Timings, memory: Memory, context_used: int, context_limit: int
) -> ReplyStatistics:
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
    """Over the time that the model worked, reading the prompt included."""
    worked_ms = timings.prompt_ms + timings.predicted_ms
    return memory.disk_read_bytes / worked_ms * 1000 if worked_ms > 0 else 0.0


def with_notice(reply: Message, sentence: str) -> Message:
    """Return a reply with one more sentence beside it, unless it is there."""
    if sentence in reply.notices:
        return reply
    return replace(reply, notices=(*reply.notices, sentence))
