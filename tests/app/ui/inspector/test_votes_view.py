"""Drafts that vote, in the inspector: who guessed a token, and the weights over the rounds."""

from __future__ import annotations

from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.chat.reply_trace import Origin, ReplyTrace
from app.ui.inspector.votes_view import MEMBER_COLOURS, VotesView
from app.ui.theme.theme import Theme
from engine.messages import MemberYield, RoundRecord, RoundTexts

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
    assert "Lookup: 75 % held, weight 1" in words
    assert "small: 25 % held, weight 0.5" in words
    assert "heads: nothing verified, weight 0.25" in words
    image = view.grab().toImage()
    seen = {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}
    assert {theme.color(role).name() for role in MEMBER_COLOURS[:3]} <= seen
    before = view.sizeHint().height()
    view.set_votes(MEMBERS[:2], [])
    assert view.sizeHint().height() < before


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
