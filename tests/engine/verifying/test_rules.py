"""Properties that every rule of verification has."""

from __future__ import annotations

import itertools

import pytest
import torch

from engine.messages import Generate, LoadOptions
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft
from engine.verifying import RULES

TREE = Draft((0, 1, 2, 0, 3), (ROOT, ROOT, 0, 1, 3))


def _rows(seed: int) -> torch.Tensor:
    return torch.randn(len(TREE) + 1, 5, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", sorted(RULES))
def test_verdicts_are_paths_with_one_token_more(name: str) -> None:
    for seed in range(100):
        rule = RULES[name].verifier(Sampler(temperature=1.5, top_p=0.9, seed=seed))
        verdict = rule.verify(TREE, _rows(seed), 3, [])
        assert tuple(TREE.tokens[node] for node in verdict.nodes) == verdict.tokens[:-1]
        assert all(TREE.parents[node] == parent for parent, node in itertools.pairwise((ROOT, *verdict.nodes)))


@pytest.mark.parametrize("name", sorted(RULES))
def test_an_empty_draft_is_plain_decoding(name: str) -> None:
    """A rule changes nothing where nothing was drafted, so a seed gives plain decoding's token."""
    for seed in range(50):
        sampler = Sampler(temperature=1.2, top_k=4, seed=seed)
        row = _rows(seed)[:1]
        verdict = RULES[name].verifier(sampler).verify(Draft(), row, 9, [])
        assert (verdict.tokens, verdict.nodes) == ((sampler.pick(row, 0, 9),), ())


@pytest.mark.parametrize("name", sorted(RULES))
def test_greedy_rules_agree(name: str) -> None:
    for seed in range(50):
        rows = _rows(seed)
        expected = RULES["sample-and-match"].verifier(Sampler()).verify(TREE, rows, 0, [])
        assert RULES[name].verifier(Sampler()).verify(TREE, rows, 0, []) == expected


def test_names_and_losslessness() -> None:
    assert {name: rule.lossless for name, rule in RULES.items()} == {
        "sample-and-match": True,
        "typical": False,
    }
    assert RULES[Generate("", LoadOptions()).verify].lossless
    assert all(name == rule.name for name, rule in RULES.items())
