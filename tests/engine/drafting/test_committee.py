"""A committee: rows and columns for each member, drafts that say whose they are, and members that fail."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.drafting.committee import (
    LOOKUP,
    PROMPT_TOKENS,
    CommitteeMemory,
    Member,
    MemberWeights,
    MergedCommittee,
)
from engine.drafting.drafter import Drafter
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.drafting.minions import MajorityCommittee
from engine.model.token_tree import Draft, DraftShape, Probes
from engine.placement.device import Link


class Scripted(Drafter):
    """Says what it is told to."""

    def __init__(self, draft: Draft | None = None, layers: tuple[int, ...] = (), begins: int | None = None) -> None:
        self.draft = draft or Draft()
        self.hidden_layers = layers
        self.begins = begins
        self.asked = 0
        self.heard: list[tuple[list[int], Tensor | None, Tensor | None]] = []

    def reset(self, prompt: Sequence[int]) -> int:
        return len(prompt) if self.begins is None else self.begins

    def propose(self, shape: DraftShape) -> Draft:
        self.asked += 1
        return self.draft

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        self.heard.append((list(tokens), hidden, probes))


def members(*drafters: Drafter, kinds: Sequence[str] = ()) -> list[Member]:
    kinds = kinds or ("model",) * len(drafters)
    return [Member(f"m{at}", kind, one) for at, (kind, one) in enumerate(zip(kinds, drafters, strict=True))]


def rows(first: int, count: int, columns: int) -> Tensor:
    """Numbers that tell their position and column: 10 * position + column."""
    return 10.0 * torch.arange(first, first + count)[:, None] + torch.arange(columns)


def test_each_member_gets_its_own_columns_from_its_own_first_position() -> None:
    early, late = Scripted(layers=(1, 4), begins=2), Scripted(layers=(4,), begins=3)
    committee = MajorityCommittee(members(early, Scripted(), late), CommitteeMemory())
    assert committee.hidden_layers == (1, 4)
    assert committee.reset([1, 2, 3, 4]) == 2
    assert committee.wants_hidden
    committee.observe([5], rows(2, 2, 4))  # two numbers of each layer, of positions 2 and 3
    committee.observe([6, 7], rows(4, 2, 4))
    assert [len(heard[1]) for heard in early.heard if heard[1] is not None] == [2, 2]
    assert early.heard[0][1] is not None
    assert early.heard[0][1].tolist() == rows(2, 2, 4).tolist()
    assert [heard[1].tolist() for heard in late.heard if heard[1] is not None] == [
        [[32.0, 33.0]],
        [[42.0, 43.0], [52.0, 53.0]],
    ]


def test_rows_that_a_member_does_not_want_come_with_later_ones() -> None:
    keen, shy = Scripted(layers=(3,), begins=0), Scripted(layers=(3,), begins=0)
    shy.wants_hidden = False
    committee = MajorityCommittee(members(keen, shy), CommitteeMemory())
    committee.reset([1, 2])
    committee.observe([3], rows(0, 2, 1))
    assert shy.heard[0][1] is None
    shy.wants_hidden = True
    committee.observe([4], rows(2, 1, 1))
    assert shy.heard[1][1] is not None
    assert shy.heard[1][1].tolist() == [[0.0], [10.0], [20.0]]


def test_the_majority_goes_to_the_target_and_its_member_is_judged() -> None:
    chains = (Draft.chain((2, 4)), Draft.chain((2, 5)), Draft.chain((3, 4)))
    committee = MajorityCommittee(members(*map(Scripted, chains)), CommitteeMemory())
    committee.reset([1])
    draft = committee.propose(DraftShape(2))
    assert (draft.tokens, draft.parents, draft.sources) == ((2, 4), (-1, 0), ((0, 1), (0,)))
    committee.observe([2, 4, 9], None)  # all of it held
    for weights in ((1.0, 1 / 1.1, 1 / 1.1),) * 3 + ((0.99, 1.0, 1.0),):  # a half held on average, a third, a quarter
        assert committee.weights == pytest.approx(weights)
        committee.propose(DraftShape(2))
        committee.observe([7], None)


def test_the_merged_tree_has_the_likeliest_nodes_first_and_says_whose_they_are() -> None:
    sure = Draft((2, 4), (-1, 0), (math.log(0.8), math.log(0.4)))
    unsure = Draft((3, 2), (-1, -1), (math.log(0.3), math.log(0.2)))
    drafters = [Scripted(sure), Scripted(unsure)]
    for drafter in drafters:
        drafter.gives_chances = True
    committee = MergedCommittee(members(*drafters), CommitteeMemory())
    committee.reset([1])
    draft = committee.propose(DraftShape(8))
    assert draft.tokens == (2, 4, 3)
    assert draft.parents == (-1, 0, -1)
    assert draft.sources == ((0, 1), (0,), (1,))
    # Either of two may be right: 1 - 0.2 * 0.8, and half of it behind.
    assert [math.exp(score) for score in draft.scores] == pytest.approx([0.84, 0.42, 0.3])
    assert committee.propose(DraftShape(1)).tokens == (2,)


def test_confidence_is_calibrated_by_what_came() -> None:
    boastful = Scripted(Draft((2, 3), (-1, -1), (math.log(0.95), math.log(0.04))))
    committee = MergedCommittee(members(boastful), CommitteeMemory())
    committee.reset([1])
    for _ in range(60):
        committee.propose(DraftShape(4))
        committee.observe([9], None)
    draft = committee.propose(DraftShape(4))
    assert math.exp(draft.scores[draft.tokens.index(2)]) < 0.2


def test_a_member_that_is_wrong_throughout_a_text_gets_no_nodes_from_the_one_that_is_right() -> None:
    """And is heard again, after as few rounds, in a text of its own kind."""
    chains = (Draft.chain((2, 3, 4, 5)), Draft.chain((6, 7, 8, 9)))
    committee = MergedCommittee(members(*map(Scripted, chains)), CommitteeMemory())
    committee.reset([1])
    for right in (0, 1):
        for _ in range(12):
            draft = committee.propose(DraftShape(4))
            committee.observe([*chains[right].tokens, 11], None)
        assert draft.tokens == chains[right].tokens


def test_a_member_that_costs_more_than_it_adds_is_left_alone_and_tried_again() -> None:
    lookup = Scripted(Draft((2,), (-1,), (math.log(0.4),)))
    lookup.gives_chances = True
    echo = Scripted(Draft((2,), (-1,), (math.log(0.4),)))
    committee = MergedCommittee(members(lookup, echo, kinds=(LOOKUP, "medusa")), CommitteeMemory())
    committee.reset([1])
    shape = DraftShape(8, step_worth=0.2, second_worth=1e9, row_worth=0.1)
    for _ in range(60):
        committee.propose(shape)
        committee.observe([2], None)
    assert lookup.asked == 60
    assert echo.asked < 10
    for _ in range(60):
        committee.propose(shape)
        committee.observe([2], None)
    assert 4 < echo.asked < 20


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=30, max_size=30))
def test_rows_wait_while_a_member_is_left_alone_and_are_all_there_once_it_is_asked(
    rounds: list[tuple[int, int]],
) -> None:
    """Of each round how many rows the schedule allows, and how many of the drafted tokens hold."""
    memory, slow = CommitteeMemory(), Scripted(Draft.chain((7,)), layers=(3,), begins=0)
    lookup = Scripted(Draft((2, 4, 6), (-1, 0, 1), (math.log(0.4),) * 3))
    lookup.gives_chances = True
    both = members(lookup, slow, kinds=(LOOKUP, "medusa"))
    memory.standings(both)[1].alone = 20
    committee = MergedCommittee(both, memory)
    committee.reset([1])
    wanted, taken_until, read, emitted = committee.wants_hidden, 0, 1, 1
    assert not wanted
    for allowed, held in rounds:
        hidden = rows(taken_until, read - taken_until, 1) if wanted else None
        taken_until = read if wanted else taken_until
        committee.observe([9] * emitted, hidden)
        draft = committee.propose(DraftShape(allowed, step_worth=0.2, second_worth=1e-9, row_worth=0.1))
        taken = [float(row) for _, own, _ in slow.heard if own is not None for row in own[:, 0]]
        if slow.asked:
            assert taken == [10.0 * position for position in range(read)]
            return
        wanted, emitted = committee.wants_hidden, 1 + min(held, len(draft))
        read += emitted
    assert all(allowed == 0 for allowed, _ in rounds[20:])


def test_a_member_that_is_left_alone_is_not_asked_while_replies_share_the_target() -> None:
    memory, slow = CommitteeMemory(), Scripted(Draft.chain((7,)), layers=(3,), begins=0)
    both = members(Scripted(Draft.chain((2,))), slow, kinds=(LOOKUP, "medusa"))
    memory.standings(both)[1].alone = 64
    committee = MergedCommittee(both, memory)
    committee.reset([1])
    assert not committee.wants_hidden
    committee.observe([9], None)
    committee.propose(DraftShape(4, step_worth=0.5))
    assert slow.asked == 0


def test_none_that_takes_time_is_asked_where_plain_rounds_are_measured() -> None:
    lookup, network = Scripted(Draft.chain((2,))), Scripted(Draft.chain((3,)))
    committee = MergedCommittee(members(lookup, network, kinds=(LOOKUP, "model")), CommitteeMemory())
    committee.reset([1])
    assert committee.propose(DraftShape(8, step_worth=math.inf)).tokens == (2,)
    assert network.asked == 0


def test_probes_follow_their_nodes_and_their_answers_reach_prompt_tokens_alone() -> None:
    embeddings = torch.arange(6.0).reshape(3, 2)
    probes = Probes((-1, 0, 1), (1, 1, 1), (0, 0, 0), embeddings)
    asking = Scripted(Draft((5, 2), (-1, -1), (math.log(0.3), math.log(0.5)), probes=probes))
    other = Scripted(Draft((2,), (-1,), (math.log(0.6),)))
    committee = MergedCommittee(members(asking, other, kinds=(PROMPT_TOKENS, "model")), CommitteeMemory())
    committee.reset([1])
    draft = committee.propose(DraftShape(8))
    assert draft.tokens == (2, 5)
    assert draft.probes.nodes == (-1, 1, 0)
    assert draft.probes.embeddings.tolist() == embeddings.tolist()
    said = torch.zeros(1, 4)
    committee.observe([2], None, said)
    assert asking.heard[-1][2] is said
    assert other.heard[-1][2] is None


class Failing(Scripted):
    """Fails when it drafts."""

    def propose(self, shape: DraftShape) -> Draft:
        raise RuntimeError("device lost")


@pytest.mark.parametrize("kind", [MajorityCommittee, MergedCommittee])
def test_a_member_that_fails_is_left_behind(kind: type[MajorityCommittee] | type[MergedCommittee]) -> None:
    told: list[str] = []
    failing = FallbackDrafter(Failing(layers=(2,), begins=0), Link(torch.device("cpu")), told.append)
    committee = kind(members(failing, Scripted(Draft.chain((4,)))), CommitteeMemory())
    committee.reset([1])
    for _ in range(3):
        committee.observe([1], rows(0, 1, 1))
        draft = committee.propose(DraftShape(4))
        assert (draft.tokens, draft.sources) == ((4,), ((1,),))
    assert len(told) == 1


def test_what_replies_have_shown_stays_for_the_next() -> None:
    memory = CommitteeMemory()
    for said, weights in ((4, (1.0, 1.0)), (9, (1.0, 1 / 1.1)), (9, (1.0, 1 / 1.1))):  # 1.0 on average, then 0.5
        committee = MajorityCommittee(members(Scripted(Draft.chain((4,))), Scripted(Draft.chain((5,)))), memory)
        assert committee.weights == pytest.approx(weights)
        committee.reset([1])
        committee.propose(DraftShape(1))
        committee.observe([said], None)


def guessing(chance: float) -> Scripted:
    """A member whose guess holds as often as it says."""
    drafter = Scripted(Draft((2,), (-1,), (math.log(chance),)))
    drafter.gives_chances = True
    return drafter


@pytest.mark.parametrize(("chance", "asked"), [(0.45, 1), (0.49, 1), (0.51, 0), (0.6, 0), (0.95, 0)])
def test_a_guess_that_more_likely_holds_than_not_is_verified_without_asking_another_one(
    chance: float, asked: int
) -> None:
    free, network = guessing(chance), Scripted(Draft.chain((3,)))
    committee = MergedCommittee(members(free, network, kinds=(LOOKUP, "model")), CommitteeMemory())
    committee.reset([1])
    committee.propose(DraftShape(8, step_worth=0.2, second_worth=1e-9, row_worth=0.1))
    assert network.asked == asked


def test_a_head_that_judges_its_steps_is_asked_before_a_faster_network() -> None:
    faster, head = guessing(0.6), guessing(0.7)
    faster.gives_chances = False
    memory, both = CommitteeMemory(), members(faster, head, kinds=("medusa", "head"))
    for standing, seconds in zip(memory.standings(both), (0.001, 0.002), strict=True):
        standing.took(seconds)
    committee = MergedCommittee(both, memory)
    committee.reset([1])
    committee.propose(DraftShape(8, step_worth=0.2, second_worth=1e-9, row_worth=0.1))
    assert (faster.asked, head.asked) == (0, 1)


@pytest.mark.parametrize(("second_row", "asked"), [(0.5, 4), (0.1, 60)])
def test_a_member_whose_guesses_stand_in_rows_that_do_not_pay_is_left_alone(second_row: float, asked: int) -> None:
    lookup, other = guessing(0.4), Scripted(Draft((3,), (-1,), (math.log(0.3),)))
    committee = MergedCommittee(members(lookup, other, kinds=(LOOKUP, "medusa")), CommitteeMemory())
    committee._standings[1].chances.known = True  # nothing is learned about its guess
    committee.reset([1])
    shape = DraftShape(8, step_worth=0.2, second_worth=1e-9, row_worth=0.1, row_worths=(0.0, second_row))
    for _ in range(60):
        committee.propose(shape)
        committee.observe([2], None)
    assert other.asked == asked


def test_thresholds_are_those_of_the_paper_where_nobody_says_otherwise() -> None:
    for rate, relation in ((0.7, 1.1), (0.61, 1.1), (0.59, 1.0), (0.31, 1.0), (0.29, 0.9), (0.2, 0.9)):
        votes = MemberWeights(2)
        votes.judge([(0, rate), (1, 0.45)])
        assert votes.weights[0] / votes.weights[1] == pytest.approx(relation)


def test_a_member_that_does_not_pay_is_left_alone_twice_as_long_each_time() -> None:
    """It is judged after four drafts; its pause is counted in tokens, and is 1024 of them at most."""
    lookup, echo = guessing(0.4), guessing(0.4)
    echo.gives_chances = False
    committee = MergedCommittee(members(lookup, echo, kinds=(LOOKUP, "medusa")), CommitteeMemory())
    committee.reset([1])
    asked: list[int] = []
    for tokens in range(5000):
        before = echo.asked
        committee.propose(DraftShape(8, step_worth=0.2, second_worth=1e9, row_worth=0.1))
        asked += [tokens] * (echo.asked - before)
        committee.observe([2], None)
    pauses = [later - earlier for earlier, later in itertools.pairwise(asked) if later - earlier > 1]
    assert pauses[:6] == [65, 129, 257, 513, 1025, 1025]
    assert len(asked) == 4 * (len(pauses) + 1)


@pytest.mark.parametrize(("own", "asked"), [(0.9, 60), (0.2, 4)])
def test_prompt_tokens_are_left_alone_while_their_rows_cost_more_than_they_add(own: float, asked: int) -> None:
    lookup = guessing(0.4)
    probes = Probes((-1, 0, 0), (1, 1, 2), (0, 0, 0), torch.zeros(3, 2))
    asking = Scripted(Draft((3,), (-1,), (math.log(own),), probes=probes))
    asking.gives_chances, asking.counted = True, {4: 3.0}
    committee = MergedCommittee(members(lookup, asking, kinds=(LOOKUP, PROMPT_TOKENS)), CommitteeMemory())
    committee.reset([1])
    for _ in range(60):
        committee.propose(DraftShape(8, step_worth=0.2, second_worth=1e9, row_worth=0.1))
        committee.observe([2], None)
    assert asking.asked == asked


def test_a_pause_is_of_tokens_and_not_of_rounds() -> None:
    lookup, echo = guessing(0.4), Scripted(Draft((2,), (-1,), (math.log(0.4),)))
    committee = MergedCommittee(members(lookup, echo, kinds=(LOOKUP, "medusa")), CommitteeMemory())
    committee.reset([1])
    rounds = 0
    while echo.asked < 5:
        committee.propose(DraftShape(8, step_worth=0.2, second_worth=1e9, row_worth=0.1))
        committee.observe([2, 9], None)
        rounds += echo.asked >= 4
    assert 64 / 2 - 1 <= rounds <= 64 / 2 + 2
