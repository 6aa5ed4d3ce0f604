"""Groups of the list of conversations, by the day they were last used. No Qt."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from app.words import mark, tr

GROUPS = (mark("Today"), mark("Yesterday"), mark("Previous 7 days"), mark("Older"))


def age_group(updated_at: float, today: date) -> str:
    """The group's name.

    Args:
        updated_at: Seconds since 1970, UTC.
        today: The local date now.
    """
    day = datetime.fromtimestamp(updated_at).date()
    if day >= today:
        return tr(GROUPS[0])
    if day == today - timedelta(days=1):
        return tr(GROUPS[1])
    if day >= today - timedelta(days=7):
        return tr(GROUPS[2])
    return tr(GROUPS[3])
