from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import pytest

from engine.json_text import from_plain


@dataclass(frozen=True)
class Inner:
    value: float


@dataclass(frozen=True)
class Outer:
    name: str
    kind: Literal["a", "b"]
    inner: Inner
    many: tuple[Inner, ...] = ()
    table: dict[str, int] | None = None
    flag: bool = False


def test_the_way_there_and_back() -> None:
    value = Outer("x", "b", Inner(1.0), (Inner(2.0),), {"y": 3}, True)
    plain = asdict(value) | {"many": [{"value": 2}], "newer": 1}
    assert from_plain(Outer, plain) == value
    assert from_plain(Outer, {"name": "x", "kind": "a", "inner": {"value": 1}}) == Outer("x", "a", Inner(1.0))


@pytest.mark.parametrize(
    "change",
    [
        {"name": 1},
        {"kind": "c"},
        {"inner": None},
        {"inner": {"value": True}},
        {"many": 3},
        {"table": {"y": "z"}},
        {"table": {"y": True}},
        {"flag": 1},
    ],
)
def test_another_type_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"another type|instead of an object"):
        from_plain(Outer, {"name": "x", "kind": "a", "inner": {"value": 1}} | change)
