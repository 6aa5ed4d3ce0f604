"""Which message a command of the keyboard is about."""

from __future__ import annotations

from collections.abc import Callable

from app.ui.transcript.message_column import MessageColumn
from app.ui.transcript.message_views import MessageView


def message_in_hand(column: MessageColumn, suits: Callable[[MessageView], bool]) -> MessageView | None:
    """The message in view that has the keyboard's focus, else the lowest in view; None where none suits.

    Args:
        column: The messages.
        suits: Whether what is wanted can be done with a message.
    """
    line = column.fontMetrics().lineSpacing()
    seen = [view for view in column.views if _seen_px(column, view) >= min(line, view.height()) > 0]
    focus = column.window().focusWidget()
    focused = [view for view in seen if focus is not None and view.isAncestorOf(focus)]
    return next((view for view in (*focused, *reversed(seen)) if suits(view)), None)


def _seen_px(column: MessageColumn, view: MessageView) -> int:
    """How much of a message's height is in view."""
    top = column.verticalScrollBar().value()
    bottom = top + column.viewport().height()
    return min(bottom, view.y() + view.height()) - max(top, view.y())
