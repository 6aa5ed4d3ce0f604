"""Division of a forward's rows among the replies that share it."""

from __future__ import annotations

from typing import cast

import pytest

from engine.decoding.sequence import AskedRows, TokenSequence
from engine.decoding.worth import SharedForwards
from engine.model.token_tree import Draft

NOBODY = cast(TokenSequence, None)


def asked(*chances: float) -> AskedRows:
    draft = Draft.chain(range(len(chances)))
    return AskedRows(NOBODY, (1, *draft.tokens), draft, chances=chances)


def measured(fixed_s: float, row_s: float, *widths: int, waited_s: float = 0.0) -> SharedForwards:
    width = SharedForwards()
    for rows in widths * 3:
        width.observe(rows, max(fixed_s + row_s * rows, waited_s), max(waited_s - fixed_s - row_s * rows, 0.0))
    return width


def nodes(*all_: AskedRows) -> list[int]:
    return [len(one.draft or ()) for one in all_]


def test_nodes_are_taken_where_they_gain_most() -> None:
    """Two plain rows give 2 / 1.2 tokens a second, so a row of 0.1 s is worth a chance of a sixth and falling."""
    width = measured(1.0, 0.1, 2, 4, 8, 16)
    likely, unlikely = asked(0.9, 0.8, 0.7, 0.2), asked(0.3, 0.05, 0.04)
    width.divide([likely, unlikely])
    assert nodes(likely, unlikely) == [3, 1]
    assert width.row_s == pytest.approx(0.1, rel=0.2)
    assert likely.tokens == (1, 0, 1, 2)
    assert width.tokens_per_s == pytest.approx(4.7 / width.seconds(6))


def test_the_best_division_of_all_is_found() -> None:
    width = measured(1.0, 0.3, 2, 4, 8, 16)
    offers = ((0.9, 0.6, 0.5, 0.1), (0.7, 0.2), (0.95, 0.94, 0.9, 0.9, 0.1))
    some = [asked(*chances) for chances in offers]
    width.divide(some)
    best = max(
        (
            (3 + sum(sum(chances[:count]) for chances, count in zip(offers, counts, strict=True)))
            / width.seconds(3 + sum(counts)),
            counts,
        )
        for counts in ((a, b, c) for a in range(5) for b in range(3) for c in range(6))
    )
    assert tuple(nodes(*some)) == best[1]


def test_rows_that_cost_as_much_as_a_reply_are_not_drafted() -> None:
    width = measured(0.0, 1.0, 2, 4, 8, 16)
    some = [asked(0.8, 0.5), asked(0.6)]
    width.divide(some)
    assert nodes(*some) == [0, 0]


def test_where_the_disk_takes_the_time_all_nodes_are_taken() -> None:
    width = measured(0.01, 0.001, 2, 8, waited_s=1.0)
    some = [asked(0.5, 0.01), asked(0.02)]
    width.divide(some)
    assert nodes(*some) == [2, 1]


def test_drafts_of_a_fixed_length_and_pieces_of_prompts_stay_whole() -> None:
    width = measured(0.0, 1.0, 2, 4, 8, 16)
    fixed, piece = asked(), AskedRows(NOBODY, [1, 2, 3])
    fixed.draft, fixed.tokens = Draft.chain([4, 5]), (1, 4, 5)
    free = asked(0.2)
    width.divide([piece, fixed, free])
    assert nodes(fixed, free) == [2, 0]
    assert (piece.rows, fixed.rows) == (3, 3)


def test_a_likely_node_is_tried_before_any_width_but_one_was_measured() -> None:
    width = measured(0.5, 0.1, 4)
    some = [asked(0.9, 0.1), *(asked() for _ in range(3))]
    for one in some[1:]:
        one.draft, one.tokens = Draft(), (1,)
    width.divide(some)
    assert nodes(*some) == [1, 0, 0, 0]
