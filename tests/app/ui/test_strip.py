"""The strip of figures under a reply."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.chat.conversation import Message, MessageState
from app.ui.theme.theme import Theme
from app.ui.transcript.message_column import COLUMN_PX
from app.ui.transcript.status_strip import ReplyStatus, StatusStrip, reply_status
from tests.support.scripted_workspace import READY, statistics


def status(state: MessageState = MessageState.STREAMING, **changes: object) -> ReplyStatus:
    figures = statistics(1_234, mode="dovetail", **changes)
    return reply_status(Message(1, 1, "assistant", "", 0.0, state, statistics=figures), READY, None)


@pytest.fixture
def strip(qtbot: QtBot, theme: Theme) -> StatusStrip:
    strip = StatusStrip(theme, status())
    qtbot.addWidget(strip)
    return strip


def row_px(strip: StatusStrip) -> int:
    return strip.fit(1 << 20)


def test_a_column_of_full_width_has_one_line_whatever_runs(strip: StatusStrip) -> None:
    assert strip.fit(COLUMN_PX) == row_px(strip)
    strip.set_status(status(disk_bytes_per_second=1.24e9, tokens_per_second=0.4))
    assert strip.fit(COLUMN_PX) == row_px(strip)


@pytest.mark.parametrize("width", [160, 240, 348, 480])
def test_a_narrow_one_has_two_lines_at_most(strip: StatusStrip, width: int) -> None:
    one, two = row_px(strip), strip.fit(width)
    assert one <= two < 2 * one
    assert all(left >= 0 and left + needed <= width for left, needed in strip.places())


def test_what_matters_least_is_left_out_first_and_the_tool_tip_has_all(strip: StatusStrip) -> None:
    shown = []
    for width in range(COLUMN_PX, 100, -4):
        strip.fit(width)
        shown.append(strip.shown)
    ranks = {figure.text: figure.rank for figure in strip.status.figures}
    assert len(shown[0]) > len(shown[-1]) >= 1
    for texts in shown:
        left_out = [rank for text, rank in ranks.items() if text not in texts]
        assert min(left_out, default=99) > max(ranks[text] for text in texts)
    assert all(text in strip.toolTip() for text in ranks)


@pytest.mark.parametrize("state", [MessageState.COMPLETE, MessageState.STOPPED])
def test_under_a_finished_reply_it_is_one_line(strip: StatusStrip, state: MessageState) -> None:
    strip.set_status(status(state))
    one = row_px(strip)
    assert strip.fit(200) == one
    assert all(left + needed <= 200 for left, needed in strip.places())
