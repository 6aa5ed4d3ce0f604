from __future__ import annotations

from dataclasses import replace

import pytest

from app.chat.machine import Measuring, Stage, fastest, time_left_s
from engine.messages import ModePrediction
from tests.support.machine_scene import plan


def test_nothing_is_told_of_the_time_before_a_reply_is_done() -> None:
    assert time_left_s([1.0, 1.0], 4, 0, 3.0) is None
    assert time_left_s([], 4, 0, 3.0) is None


def test_slow_modes_count_for_more() -> None:
    # Four replies of 1 took 8 s, so four of 3 take 24.
    assert time_left_s([1.0, 3.0], 4, 4, 8.0) == pytest.approx(24.0)
    assert time_left_s([1.0, 3.0], 4, 6, 20.0) == pytest.approx(12.0)
    assert time_left_s([1.0, 3.0], 4, 8, 32.0) == 0.0


def test_the_fastest_is_the_first_that_was_measured() -> None:
    predicted, refused = ModePrediction("dovetail", tokens_per_second=9.0), ModePrediction("ppd", refusal="No draft.")
    fast = ModePrediction("lookup", tokens_per_second=8.0, measured=True)
    slow = ModePrediction("plain", tokens_per_second=5.0, measured=True)
    assert fastest(None) is None
    assert fastest(replace(plan(), modes=(predicted, refused))) is None
    assert fastest(replace(plan(), modes=(predicted, fast, slow, refused))) == fast


def test_it_runs_in_every_stage_but_one() -> None:
    assert [Measuring(stage).running for stage in Stage] == [False, True, True, True]
