from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from engine.messages import Penalties
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft
from engine.verifying import DELTA, EPSILON, RULES, TypicalAcceptance, typical_threshold


def _row(*probabilities: float) -> torch.Tensor:
    return torch.tensor(probabilities, dtype=torch.float64).log().float()


FLAT = _row(0.25, 0.25, 0.25, 0.25)
SHARP = _row(0.97, 0.01, 0.01, 0.01)
RULE = TypicalAcceptance(Sampler(temperature=1.0, seed=3))


def test_the_threshold_is_medusa_s() -> None:
    uniform = torch.full((1000,), 1e-3, dtype=torch.float64)
    assert typical_threshold(uniform) == pytest.approx(DELTA / 1000)
    assert typical_threshold(torch.tensor([1.0, 0.0], dtype=torch.float64)) == EPSILON
    third = torch.tensor([0.9, 0.1], dtype=torch.float64)
    entropy = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert typical_threshold(third) == min(EPSILON, DELTA * math.exp(-entropy))


def test_takes_what_is_likely_enough_and_nothing_else() -> None:
    chain = Draft.chain([2, 1, 3])
    verdict = RULE.verify(chain, torch.stack([FLAT, SHARP, FLAT, FLAT]), 0, [])
    assert verdict.nodes == (0,)
    assert len(verdict.tokens) == 2
    assert verdict.tokens[0] == 2


def test_the_deepest_path_wins_then_the_likeliest() -> None:
    tree = Draft((0, 1, 2, 3), (ROOT, ROOT, 1, 1))
    rows = torch.stack([_row(0.6, 0.3, 0.05, 0.05), FLAT, _row(0.1, 0.1, 0.2, 0.6), FLAT, FLAT])
    verdict = RULE.verify(tree, rows, 0, [])
    assert verdict.nodes == (1, 3)
    assert verdict.tokens[:2] == (1, 3)


def test_an_untypical_node_ends_its_branch() -> None:
    """The child of a refused node is never reached, however likely it is after it."""
    verdict = RULE.verify(Draft.chain([1, 0]), torch.stack([SHARP, SHARP, SHARP]), 0, [])
    assert verdict.nodes == ()


def test_it_is_lossy_and_says_so() -> None:
    """The draft is taken every time, though the target would say it one time in four."""
    draft = Draft.chain([2])
    firsts = Counter(RULE.verify(draft, torch.stack([FLAT, FLAT]), position, []).tokens[0] for position in range(200))
    assert firsts == {2: 200}
    assert not RULES["typical"].lossless
    assert "lossy" in RULES["typical"].title


def test_filtered_tokens_are_never_typical() -> None:
    rule = TypicalAcceptance(Sampler(temperature=1.0, top_k=1))
    assert rule.verify(Draft.chain([1]), torch.stack([_row(0.6, 0.4), _row(0.6, 0.4)]), 0, []).tokens == (0,)


def test_greedy_is_greedy_match() -> None:
    rule = TypicalAcceptance(Sampler())
    rows = torch.stack([_row(0.3, 0.7), _row(0.6, 0.4), _row(0.2, 0.8)])
    assert rule.verify(Draft.chain([1, 0]), rows, 0, []).tokens == (1, 0, 1)
    assert rule.verify(Draft.chain([1, 1]), rows, 0, []).tokens == (1, 0)


def test_the_penalty_sees_the_path() -> None:
    logits = torch.tensor([[2.0, 1.9, 0.0], [2.0, 1.9, 0.0]])
    for sampler in (Sampler(repetition_penalty=2.0), Sampler(penalties=Penalties(presence=0.5), begins=1)):
        verdict = TypicalAcceptance(sampler).verify(Draft.chain([0]), logits, 1, [2])
        assert verdict.tokens == (0, 1)
