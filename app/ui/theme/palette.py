"""The colours of the light and the dark theme, by role. No Qt here, so that a test can compute contrasts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """One theme's colours as ``#RRGGBB``.

    Attributes:
        bg: Transcript, pages, fields.
        side: The conversation list.
        surf: Code, table heads, the status strip.
        raised: Composer, popups, buttons.
        hover: Fill under the pointer.
        press: Fill while pressed; the empty part of a track.
        line: Rules and card edges of 1 px.
        btn: Edge of a button that has a label.
        ctl: Edge of fields.
        text: Text.
        sub: Second lines and labels.
        mute: Placeholders, group heads, keys.
        acc: The accent: primary buttons, links, focus, what is live.
        acc_hover: The primary button under the pointer.
        acc_press: The primary button while pressed.
        onacc: Text on the accent.
        accs: Selected row, own message.
        acct: Text on ``accs``.
        map: Data only: the draft, corrected tokens, the mark of a prediction.
        maps: Fill of a warning.
        mapt: Text of a warning.
        red: Edge and icon of an error.
        reds: Fill of an error.
        g2: Data only: caches.
        g3: Neutral bars.
        keyword: Keywords in code.
        string: Strings in code.
        number: Numbers in code.
        call: Names of functions in code.
        comment: Comments in code.
    """

    dark: bool
    bg: str
    side: str
    surf: str
    raised: str
    hover: str
    press: str
    line: str
    btn: str
    ctl: str
    text: str
    sub: str
    mute: str
    acc: str
    acc_hover: str
    acc_press: str
    onacc: str
    accs: str
    acct: str
    map: str
    maps: str
    mapt: str
    red: str
    reds: str
    g2: str
    g3: str
    keyword: str
    string: str
    number: str
    call: str
    comment: str


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
