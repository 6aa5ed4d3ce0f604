"""Layout of the strip and the buttons under a reply."""

from __future__ import annotations

from app.ui.painting import place
from app.ui.theme.theme import Theme
from app.ui.transcript.message_actions import MessageActions
from app.ui.transcript.strip import StatusStrip

_STRIP_GAP_PX = 10
_FOOTER_GAP_PX = 7
_FOOTER_PX = 28
_BETWEEN_PX = 8
_INSET_PX = 6  # the icon, not the button's edge, stands in line with the text


def fit_live_foot(strip: StatusStrip, buttons: MessageActions, width: int, top: int) -> int:
    """Place the strip over the whole width, and the buttons below it; return where they end, in px.

    Args:
        strip: The figures.
        buttons: The row of buttons.
        width: Room for them.
        top: End of the reply; 0 for a reply without a word.
    """
    top += _STRIP_GAP_PX if top else 0
    height = strip.fit(width)
    place(strip, 0, top, width, height, width)
    top += height
    row = buttons.natural_size()
    place(buttons, -_INSET_PX, top, row.width(), row.height(), width)
    return top + row.height()


def fit_finished_foot(theme: Theme, strip: StatusStrip, buttons: MessageActions, width: int, top: int) -> int:
    """Place the strip at the end of the row of buttons, or below it where it does not fit; return where they end."""
    row = buttons.natural_size()
    if row.isEmpty() and not strip.status.text:
        return top
    top += _FOOTER_GAP_PX
    place(buttons, -_INSET_PX, top, row.width(), row.height(), width)
    height = theme.type.px(_FOOTER_PX)
    beside = width - max(row.width() - _INSET_PX, 0) - _BETWEEN_PX
    if strip.natural_width() > beside and not row.isEmpty():
        top, beside = top + height, width
    strip_width = min(strip.natural_width(), beside)
    strip_height = strip.fit(strip_width)
    left = width - strip_width if beside < width else 0
    place(strip, left, top, strip_width, strip_height, width)
    return top + max(height, strip_height)
