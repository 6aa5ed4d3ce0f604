"""The schedule of lookup on texts that are known, where a plain forward takes 1 s."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from statistics import mean

import pytest

from engine.decoding.costs import Costs
from engine.decoding.worth import Worth
from engine.drafting.lookup import MatchChances, PromptLookup
from engine.messages import RoundRecord
from engine.model.token_tree import Draft
from tests.support.replayed_text import Replayed, replay

#: What each further row adds: AMX, this project's AVX2 kernels on a small model, and a processor that gains nothing.
ROWS = [0.02, 0.1, 0.3, 1.0]
#: Forwards are longer by up to this share.
NOISE = [0.0, 0.5]
SEEDS = range(8)


def _text(holds: float, tokens: int, seed: int) -> tuple[list[int], list[int]]:
    """A prompt, and a reply that repeats it, each token with this chance; else it jumps, or says a new token."""
    draws = random.Random(seed)
    prompt = [draws.randrange(50) for _ in range(300)]
    reply, place = [], 0
    for _ in range(tokens):
        if draws.random() >= holds:
            place = draws.randrange(300)
            reply.append(draws.randrange(1000, 2000) if draws.random() < 0.3 else prompt[place])
        else:
            reply.append(prompt[place % 300])
        place += 1
    return prompt, reply


def _decoded(
    prompt: Sequence[int],
    reply: Sequence[int],
    row: float,
    noise: float = 0.0,
    seed: int = 0,
    cost: Costs | None = None,
    chances: MatchChances | None = None,
) -> Replayed:
    return replay(
        prompt,
        reply,
        PromptLookup(chances),
        Worth(PromptLookup(), cost=cost),
        lambda rows: 1.0 + row * (rows - 1),
        noise,
        seed,
    )


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("tokens", [60, 200])
def test_what_is_never_accepted_costs_three_hundredths_at_most(tokens: int, row: float, noise: float) -> None:
    """Each pair of tokens comes again and again, and never with the same token behind it."""
    speedups = []
    for seed in SEEDS:
        text = [token for at in range(200) for token in (1, 2, 1000 + at)]
        speedups.append(_decoded(text[:90], text[90 : 90 + tokens], row, noise, seed).speedup)
        if not noise:
            assert speedups[-1] >= 0.97
    assert mean(speedups) >= 0.97


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("holds", [0.0, 0.2, 0.4, 0.6])
def test_text_of_any_kind_is_at_least_as_fast_as_plain(holds: float, row: float, noise: float) -> None:
    speedups = [_decoded(*_text(holds, 150, seed), row, noise, seed).speedup for seed in SEEDS]
    assert mean(speedups) >= 0.985
    if not noise:
        assert min(speedups) >= 0.97


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("row", "gain"), [(0.02, 1.8), (0.1, 1.5), (0.3, 1.15)])
def test_what_mostly_holds_is_gained(row: float, gain: float, noise: float) -> None:
    """Four of five tokens: runs of five, of which a new one takes two tokens to be found again."""
    assert mean(_decoded(*_text(0.8, 200, seed), row, noise, seed).speedup for seed in SEEDS) > gain


@pytest.mark.parametrize(("row", "gain"), [(0.02, 10.0), (0.1, 4.0), (0.3, 2.0)])
def test_a_quotation_is_gained_at_once(row: float, gain: float) -> None:
    prompt, _ = _text(1.0, 1, 0)
    assert _decoded(prompt, prompt[:200], row).speedup > gain


@pytest.mark.parametrize("row", [0.1, 0.3])
def test_two_unlucky_drafts_do_not_keep_a_quotation_from_being_gained(row: float) -> None:
    cost, chances, speedups = Costs(), MatchChances(), []
    for seed in range(32):
        speedups.append(_decoded(*_text(0.95, 150, seed), row, cost=cost, chances=chances).speedup)
        chances.keep()
    assert min(speedups) > 1.3


def test_no_draft_where_rows_cost_as_much_as_tokens() -> None:
    """But for those that measure it."""
    rounds = _decoded(*_text(0.8, 300, 0), row=1.0).rounds
    assert sum(bool(one.tokens) for one in rounds) < 10


# SmolLM2's replies to the everyday chats of tests/benchmarks/lookup_prompts.py at temperature 0.8, and what its
# forwards took by their rows on 2 cores of a Xeon with AMX.
RECORDED = json.loads((Path(__file__).parent / "recorded" / "smollm2-chats.json").read_text(encoding="utf-8"))


def _recorded_s(rows: int) -> float:
    return min((int(width), ms / 1e3) for width, ms in RECORDED["forward_ms"].items() if int(width) >= rows)[1]


@pytest.mark.parametrize(
    "forward_s", [_recorded_s, lambda rows: 1 + 0.1 * (rows - 1), lambda rows: 1 + 0.3 * (rows - 1)]
)
def test_no_chat_of_a_real_model_is_slower_than_plain(forward_s: Callable[[int], float]) -> None:
    """Each by itself, and one after the other with what the ones before have taught."""
    cost, chances = Costs(), MatchChances()
    assert len(RECORDED["replies"]) >= 18
    for chat in RECORDED["replies"]:
        alone = replay(chat["prompt"], chat["reply"], PromptLookup(), Worth(PromptLookup()), forward_s)
        drafter, schedule = PromptLookup(chances), Worth(PromptLookup(), cost=cost)
        later = replay(chat["prompt"], chat["reply"], drafter, schedule, forward_s)
        chances.keep()
        assert min(alone.speedup, later.speedup) >= 0.97


def test_a_text_that_changes_is_followed() -> None:
    prompt, quoted = _text(1.0, 150, 0)
    _, free = _text(0.0, 150, 1)
    for text in (quoted + free, free + quoted):
        assert _decoded(prompt, text, 0.1).speedup > 1.5


@pytest.mark.parametrize("holds", [0.4, 0.8])
@pytest.mark.parametrize(("row", "hot_row"), [(0.02, 0.04), (0.1, 0.1), (0.1, 0.2), (0.3, 0.6), (0.5, 1.0)])
def test_a_processor_that_halves_its_speed_in_mid_reply_is_followed(row: float, hot_row: float, holds: float) -> None:
    """Heat: from the hundredth forward on each takes twice as long, each further row up to four times."""
    forwards = 0

    def forward_s(rows: int) -> float:
        nonlocal forwards
        forwards += 1
        return 1 + row * (rows - 1) if forwards <= 100 else 2 * (1 + hot_row * (rows - 1))

    prompt, reply = _text(holds, 600, 0)
    rounds = replay(prompt, reply, PromptLookup(), Worth(PromptLookup()), forward_s).rounds[100:]
    plain_s, taken_s = 2 * sum(len(one.emitted) for one in rounds), sum(one.verify_ms for one in rounds) / 1e3
    assert plain_s / taken_s >= (1.2 if holds > 0.5 and hot_row <= 0.2 else 0.97)
    if hot_row == 1.0:  # drafts end, but for those that look again
        assert sum(bool(one.tokens) for one in rounds) <= len(rounds) // 10


def test_plain_decoding_is_measured_now_and_then() -> None:
    prompt, _ = _text(1.0, 1, 0)
    rounds = _decoded(prompt, prompt * 20, row=0.5).rounds
    sizes = [len(one.tokens) for one in rounds]
    assert sizes[:2] == [0, 0]
    assert 2 <= sizes[3:].count(0) <= 2 + len(sizes) // 60


def test_a_reply_need_not_measure_what_an_earlier_one_did() -> None:
    cost = Costs()
    prompt, _ = _text(1.0, 1, 0)
    _decoded(prompt, prompt, 0.1, cost=cost)
    # The first two find nothing: a match has two tokens.
    assert _decoded(prompt, prompt, 0.1, cost=cost).rounds[1].tokens


def test_a_target_that_waits_for_its_weights_verifies_all_that_is_likely() -> None:
    cost = Costs(flat=True)
    schedule = Worth(PromptLookup(), cost=cost)
    draft = Draft((1, 2), (-1, 0), (log(0.2), log(0.05)))
    assert schedule.choose(draft) == draft
    schedule.observe(RoundRecord(0, (1, 2), (-1, 0), draft.scores, (), (9,), 0.0, 2000.0, 1900.0))
    assert schedule.choose(draft) == draft


def test_a_target_on_a_fast_disk_verifies_what_pays_from_its_first_round_on() -> None:
    cost = Costs(flat=True)
    cost.expect_streamed(lambda rows: 0.1 * rows, 0.4)
    schedule = Worth(PromptLookup(), cost=cost)
    chain = Draft(tuple(range(8)), tuple(range(-1, 7)), tuple(log(0.9**place) for place in range(8)))
    # Three rows more are free, and each further one takes a quarter of a round.
    assert len(schedule.choose(chain)) == 8
    unlikely = replace(chain, scores=tuple(log(0.2) for _ in range(8)))
    assert len(schedule.choose(unlikely)) == 3


def test_a_row_that_was_dear_beside_another_program_is_measured_again() -> None:
    """A second guess pays, but in the first tenth of the reply a forward of more than two rows takes double."""
    schedule, sizes = Worth(PromptLookup(), 15), []
    for position in range(100):
        schedule.shape()
        draft = schedule.choose(Draft((7, 8), (-1, -1), (log(0.5), log(0.2))))
        sizes.append(len(draft))
        ms = 200.0 if position < 10 and len(draft) > 1 else 100.0 + 2.0 * len(draft)
        held = (0,) if draft and position % 2 else ()
        emitted = (7, 5)[: 1 + len(held)] if position % 2 else (5,)
        schedule.observe(RoundRecord(position, draft.tokens, draft.parents, draft.scores, held, emitted, 0.0, ms))
    assert 2 in sizes[:10]
    assert sizes[9:12] == [1, 1, 1]
    assert sizes[-20:].count(2) > 15


def test_no_row_is_told_to_gain_time_where_a_plain_forward_was_slow() -> None:
    """The model was expected to wait for its disk, but only its first forward did not find the weights in memory."""
    drafter, costs = PromptLookup(), Costs(flat=True)
    drafter.hidden_layers = (3,)
    for size, seconds in ((0, 4.0), (2, 2.0), (2, 2.0)):
        costs.add_forward(size, seconds)
    shape = Worth(drafter, 15, costs).shape()
    assert len(shape.row_worths) == 8
    assert min(shape.row_worth, *shape.row_worths) == 0.0
    assert shape.gain([0.0]) == 0.0
