"""Choice of the messages that a command of the keyboard is about."""

from __future__ import annotations

from app.ui.transcript.message_column import MessageColumn
from app.ui.transcript.message_views import MessageView


def messages_in_hand(column: MessageColumn) -> list[MessageView]:
    """The messages in view, those to be taken first in front: the one with the keyboard's focus, then the lowest."""
    line = column.fontMetrics().lineSpacing()
    seen = [view for view in column.views if _seen_px(column, view) >= min(line, view.height()) > 0]
    focused = [view for view in seen if has_focus(view)]
    return [*focused, *(view for view in reversed(seen) if view not in focused)]


def has_focus(view: MessageView) -> bool:
    """True if the keyboard is in a message, or was there before a menu opened."""
    focus = view.window().focusWidget()
    return focus is not None and view.isAncestorOf(focus)


def _seen_px(column: MessageColumn, view: MessageView) -> int:
    """Height of the part of a message that is in view, in px."""
    top = column.verticalScrollBar().value()
    bottom = top + column.viewport().height()
    return min(bottom, view.y() + view.height()) - max(top, view.y())
