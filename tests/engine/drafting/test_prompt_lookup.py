from __future__ import annotations

import random
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafting.drafter import NoDrafter
from engine.drafting.lookup import CLASSES, LONGEST_MATCH, SHORTEST_MATCH, MatchChances, PromptLookup
from engine.model.token_tree import DraftShape

texts = st.lists(st.integers(0, 3), max_size=40)


@given(texts, st.integers(0, 12))
def test_a_draft_follows_an_earlier_match(tokens: list[int], budget: int) -> None:
    drafter = PromptLookup()
    drafter.reset(tokens)
    assert len(drafter.propose(DraftShape(budget))) <= budget
    draft = drafter.after((), budget)
    assert len(draft) <= budget
    assert draft.is_chain
    assert list(draft.scores) == sorted(draft.scores, reverse=True)
    if draft.tokens:
        # A continuation that reaches the end of the text goes on with its own repetition.
        whole = tokens + list(draft.tokens)
        matches = [
            start
            for start in range(SHORTEST_MATCH, len(tokens))
            if tokens[start - SHORTEST_MATCH : start] == tokens[-SHORTEST_MATCH:]
        ]
        assert any(whole[start : start + len(draft)] == list(draft.tokens) for start in matches)


@given(texts, texts)
def test_observing_drafts_as_a_longer_prompt_does(head: list[int], tail: list[int]) -> None:
    grown, whole = PromptLookup(), PromptLookup()
    grown.reset(head)
    for token in tail:
        grown.observe([token])
    whole.reset(head + tail)
    drafts = grown.after((), 8), whole.after((), 8)
    shortest = min(map(len, drafts))
    assert drafts[0].tokens[:shortest] == drafts[1].tokens[:shortest]


def test_the_longest_match_is_followed_and_the_latest_of_those() -> None:
    drafter = PromptLookup()
    drafter.reset([1, 2, 3, 4, 50, 60, 9, 9, 3, 4, 70, 80, 8, 8, 1, 2, 3, 4])
    assert drafter.propose(DraftShape(4)).tokens == (50, 60, 9, 9)
    drafter.reset([3, 4, 50, 7, 3, 4, 70, 6, 3, 4])
    assert drafter.after((), 2).tokens == (70, 6)
    drafter.reset([3, 4, 70, 6, 3, 4, 50, 7, 1, 1, 3, 4, 70, 6, 3, 4])


def test_a_longer_match_is_likelier_to_go_on() -> None:
    text = list(range(100))
    scores = []
    for length in (2, 5, 40):
        drafter = PromptLookup()
        drafter.reset([*text, 999, *text[50 - length : 50]])
        draft = drafter.propose(DraftShape(1))
        assert draft.tokens == (50,)
        scores.append(draft.scores[0])
    assert scores == sorted(scores)
    assert len(set(scores)) == 3


def test_it_learns_from_proposals_that_nobody_asked_for() -> None:
    """Pairs come again, and what followed never does: it is seen without a draft, and no other reply is told."""
    chances = MatchChances()
    drafter = PromptLookup(chances)
    drafter.reset([1, 2, 3])
    before = chances.log_chance(2)
    for token in range(100, 140):
        drafter.observe([1])
        drafter.observe([2])
        drafter.observe([token])
    after = chances.log_chance(2)
    assert after < before - 1.0
    drafter.reset([1, 2, 3])
    assert chances.log_chance(2) == before


def test_nothing_is_drafted_without_a_match() -> None:
    drafter = PromptLookup()
    drafter.reset([1, 2, 3, 4, 5])
    assert len(drafter.propose(DraftShape(8))) == 0
    assert len(NoDrafter().propose(DraftShape(8))) == 0


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.6, 0.9])
def test_chances_are_careful_estimates_that_come_near_the_truth(chance: float) -> None:
    draws = random.Random(0)
    estimates = []
    for _ in range(20):
        chances = MatchChances()
        for _ in range(200):
            chances.learn(3, draws.random() < chance)
        estimates.append(exp(chances.log_chance(3)))
        assert chances.log_chance(2) == MatchChances().log_chance(2)
    mean = sum(estimates) / len(estimates)
    assert chance - 0.12 < mean < chance + 0.06


def test_what_was_kept_stands_in_for_the_next_reply() -> None:
    chances = MatchChances()
    for _ in range(300):
        chances.learn(LONGEST_MATCH + 5, held=False)
    dropped = MatchChances(chances.earlier)
    assert dropped.log_chance(40) == MatchChances().log_chance(40)
    chances.keep()
    assert chances.log_chance(40) < log(0.2)
    assert MatchChances(chances.earlier).log_chance(40) == chances.log_chance(40)
    assert chances.earlier[CLASSES[-1]].seen == 300
