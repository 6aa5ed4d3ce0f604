"""Actions that a reply offers now."""

from __future__ import annotations

from app.chat.conversation import Message, MessageState
from app.chat.reply import can_continue, looped, trouble_of
from app.ui.transcript.message_actions import Action

_CUT = (MessageState.STOPPED, MessageState.INTERRUPTED)


def reply_actions(reply: Message, last: bool) -> set[Action]:
    """The actions that make sense, the arrows aside; an error that is told has its own button to try again.

    Args:
        reply: The reply as it is now.
        last: Whether nothing follows it.
    """
    if reply.state.unfinished:
        return set()
    possible = {Action.DELETE, Action.COMPARE}
    if reply.content:
        possible |= {Action.COPY, Action.COPY_PLAIN, Action.REGENERATE}
    if last and can_continue(reply):
        possible.add(Action.GO_ON if looped(reply) else Action.CONTINUE)
    if last and not reply.content and reply.state in _CUT and trouble_of(reply) is None:
        possible.add(Action.RETRY)
    return possible
