"""The colours of the light and the dark theme, by role. No Qt here, so that a test can compute contrasts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """One theme's colours as ``#RRGGBB``."""

    dark: bool
    bg: str  # transcript, pages, fields
    side: str  # the conversation list
    surf: str  # code, table heads, the status strip
    raised: str  # composer, popups, buttons
    hover: str  # fill under the pointer
    press: str  # fill while pressed; the empty part of a track
    line: str  # rules and card edges of 1 px
    btn: str  # edge of a button that has a label
    ctl: str  # edge of fields
    text: str
    sub: str  # second lines and labels
    mute: str  # placeholders, group heads, keys
    acc: str  # the accent: primary buttons, links, focus, what is live
    acc_hover: str  # the primary button under the pointer
    acc_press: str  # the primary button while pressed
    onacc: str  # text on the accent
    accs: str  # selected row, own message
    acct: str  # text on ``accs``
    map: str  # data only: the draft, corrected tokens, the mark of a prediction
    maps: str  # fill of a warning
    mapt: str  # text of a warning
    red: str  # edge and icon of an error
    reds: str  # fill of an error
    g2: str  # data only: caches
    g3: str  # neutral bars
    keyword: str  # keywords in code
    string: str  # strings in code
    number: str  # numbers in code
    call: str  # names of functions in code
    comment: str  # comments in code


LIGHT = Palette(
    dark=False,
    bg="#FFFFFF",
    side="#F3F5F4",
    surf="#F8F9F9",
    raised="#FFFFFF",
    hover="#E8ECEA",
    press="#DCE2DF",
    line="#DEE3E1",
    btn="#C3CBC8",
    ctl="#86908C",
    text="#191D1C",
    sub="#4F5955",
    mute="#5D6863",
    acc="#0B6B63",
    acc_hover="#095A53",
    acc_press="#074A44",
    onacc="#FFFFFF",
    accs="#DCEFEB",
    acct="#0A5A53",
    map="#B86E14",
    maps="#FCEBD2",
    mapt="#8A4F00",
    red="#B3261E",
    reds="#FCE9E7",
    g2="#4C9A91",
    g3="#85918C",
    keyword="#0B6B63",
    string="#8A4F00",
    number="#7A3E9D",
    call="#1F5FA8",
    comment="#5D6863",
)

DARK = Palette(
    dark=True,
    bg="#191C1B",
    side="#1F2322",
    surf="#222725",
    raised="#282D2B",
    hover="#2B312F",
    press="#343B38",
    line="#323936",
    btn="#47504C",
    ctl="#78837F",
    text="#E9EDEB",
    sub="#AEB8B4",
    mute="#949F9A",
    acc="#4FC2B0",
    acc_hover="#6AD0C0",
    acc_press="#3AA896",
    onacc="#06201C",
    accs="#17403A",
    acct="#9BE3D7",
    map="#E2A456",
    maps="#46351A",
    mapt="#F3C88C",
    red="#FF9187",
    reds="#47231F",
    g2="#33877B",
    g3="#78837F",
    keyword="#6AD0C0",
    string="#F0BE7C",
    number="#C9A4E8",
    call="#8FBFF2",
    comment="#949F9A",
)
