from __future__ import annotations

from engine.decoding.schedule import FixedLength
from tests.support.fake_machine import FakeMachine


def test_fixed_is_fixed() -> None:
    assert set(FakeMachine(lambda at: 0.5).run(FixedLength(5), 50).budgets) == {5}


def test_nothing_is_plain_decoding() -> None:
    plain = FakeMachine(lambda at: 1.0, draft_s=1.0).run(FixedLength(0), 50)
    assert plain.time_s == plain.tokens == 50
