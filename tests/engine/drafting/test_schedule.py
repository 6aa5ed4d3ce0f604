from __future__ import annotations

from engine.drafting.schedule import FixedShape
from engine.model.token_tree import DraftShape
from tests.support.fake_machine import FakeMachine


def test_fixed_is_fixed() -> None:
    assert set(FakeMachine(lambda at: 0.5).run(FixedShape(DraftShape(5)), 50).budgets) == {5}


def test_nothing_is_plain_decoding() -> None:
    plain = FakeMachine(lambda at: 1.0, draft_s=1.0).run(FixedShape(DraftShape(0)), 50)
    assert plain.time_s == plain.tokens == 50
