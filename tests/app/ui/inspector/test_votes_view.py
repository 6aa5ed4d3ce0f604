"""Drafts that vote, in the inspector: who guessed a token, and the weights over the rounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.chat.conversation import Message, MessageState, ReplyDetails, ReplyStatistics
from app.chat.reply_trace import Origin, ReplyTrace
from app.ui.inspector.sections import InspectorSection, reply_facts
from app.ui.inspector.tokens import MEMBER_COLOURS, TokenLegend, VotesView
from app.ui.theme.palette import DARK, LIGHT, Palette
from app.ui.theme.theme import Theme
from engine.messages import MemberYield, Promise, RoundRecord, RoundTexts, Timings

MEMBERS = (
    MemberYield("lookup", 1.0, 8, 4, 3, 0.75),
    MemberYield("/models/small", 0.5, 4, 4, 1, 0.25),
    MemberYield("heads", 0.25),
)


def test_each_member_has_its_colour_its_figures_and_its_line(qtbot: QtBot, theme: Theme) -> None:
    view = VotesView(theme)
    qtbot.addWidget(view)
    view.set_votes(MEMBERS, [(1.0, 1.0, 1.0), (1.0, 0.8, 0.5), (1.0, 0.5, 0.25)])
    view.resize(320, view.sizeHint().height())
    words = view.accessibleName()
    assert "Lookup: 75 % accepted, weight 1" in words
    assert "small: 25 % accepted, weight 0.5" in words
    assert "heads: nothing verified, weight 0.25" in words
    image = view.grab().toImage()
    seen = {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}
    assert {theme.color(role).name() for role in MEMBER_COLOURS[:3]} <= seen
    before = view.sizeHint().height()
    view.set_votes(MEMBERS[:2], [])
    assert view.sizeHint().height() < before


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_no_two_members_look_alike(palette: Palette) -> None:
    colours = [QColor(getattr(palette, role)) for role in MEMBER_COLOURS]
    hues = [colour.hslHue() for colour in colours if colour.hslSaturation() > 100]
    assert len(hues) >= len(colours) - 1  # one is grey
    for one, other in combinations(hues, 2):
        assert min(abs(one - other), 360 - abs(one - other)) >= 25


def test_the_legend_of_tokens_names_the_members(qtbot: QtBot, theme: Theme) -> None:
    legend = TokenLegend(theme)
    section = InspectorSection(theme, "Tokens", QLabel("a"), legend)
    qtbot.addWidget(section)
    section.resize(400, 100)
    section.show()
    qtbot.waitUntil(lambda: 0 < legend.y() < section.title.geometry().bottom())  # beside the title
    names = ["Lookup", "a-small-one-with-a-long-name", "heads"]
    legend.set_members(names)
    assert legend.accessibleName() == "Legend: Lookup, a-small-one-with-a-long-name, heads, corrected, plain"
    qtbot.waitUntil(lambda: legend.y() > section.title.geometry().bottom())  # no room for all of it beside that
    assert legend.height() == legend.heightForWidth(legend.width()) > legend.sizeHint().height()
    image = legend.grab().toImage()
    seen = {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}
    assert {theme.color(role).name() for role in MEMBER_COLOURS[:3]} <= seen


def test_the_facts_of_a_reply_name_every_member() -> None:
    message = Message(2, 1, "assistant", "Yes", MessageState.COMPLETE)
    details = ReplyDetails("minions", "", "m", "/models/small, heads", "q4_1")
    assert dict(reply_facts(replace(message, details=details)))["Draft"] == "small, heads"
    voted = replace(details, timings=Timings(members=MEMBERS))
    assert dict(reply_facts(replace(message, details=voted)))["Drafts"] == "Lookup, small, heads"


def test_the_facts_of_a_reply_say_what_was_promised_and_what_came() -> None:
    came = ReplyStatistics("lookup", 60, 36.2, 512.0, None, None, 1_410_000_000, 80, 2048)
    promise = Promise(34.0, 0.48, 1_300_000_000)
    details = ReplyDetails("lookup", "", "m", None, "q4_1", promise=promise)
    message = Message(2, 1, "assistant", "Yes", 1.0, statistics=came, details=details)
    facts = dict(reply_facts(message))
    assert facts["Speed"] == "promised 34.0 tok/s, got 36.2 tok/s"
    assert facts["First token"] == "promised 480 ms, got 512 ms"
    assert facts["Memory"] == "promised 1.3 GB, got 1.4 GB"
    assert "Memory, measured" not in facts
    for rough in (replace(details, promise=replace(promise, rough=True)), replace(details, busy=True)):
        words = dict(reply_facts(replace(message, details=rough)))["Speed"]
        assert words == "promised 34.0 tok/s, got 36.2 tok/s, measured while other programs were busy"
    for unknown in (None, Promise()):
        names = dict(reply_facts(replace(message, details=replace(details, promise=unknown))))
        assert not {"Speed", "First token", "Memory"} & names.keys()


def test_accepted_tokens_know_who_guessed_them() -> None:
    trace = ReplyTrace()
    texts = RoundTexts("a", ("b", "c", "x"), ("b", "c", "d"))
    trace.add(
        RoundRecord(
            5,
            (1, 2, 3),
            (-1, 0, 0),
            (),
            (0, 1),
            (1, 2, 4),
            0.1,
            1.0,
            texts=texts,
            sources=((0, 2), (2,), (1,)),
            weights=(1.0, 0.5, 0.25),
        )
    )
    assert [(token.origin, token.members) for token in trace.tokens] == [
        (Origin.PLAIN, ()),
        (Origin.ACCEPTED, (0, 2)),
        (Origin.ACCEPTED, (2,)),
        (Origin.PLAIN, ()),
    ]
    assert trace.weights() == [(1.0, 0.5, 0.25)]
