from __future__ import annotations

import itertools

import torch

from engine.messages import Penalties
from engine.model.sampling import Sampler
from engine.model.token_tree import Draft
from engine.verifying import SampleAndMatch

TREE = Draft(tokens=(0, 1, 2, 0), parents=(-1, -1, 0, 1))


def _logits(prefix: tuple[int, ...]) -> torch.Tensor:
    seed = sum((token + 1) * 7**place for place, token in enumerate(prefix))
    return torch.randn(3, generator=torch.Generator().manual_seed(seed))


def _rows(draft: Draft) -> torch.Tensor:
    prefixes: list[tuple[int, ...]] = [()]
    for token, parent in zip(draft.tokens, draft.parents, strict=True):
        prefixes.append((*prefixes[parent + 1], token))
    return torch.stack([_logits(prefix) for prefix in prefixes])


def test_emits_exactly_what_the_target_would_have_sampled_alone() -> None:
    """The noise is keyed by (seed, position), so the path equals one-token sampling, whatever was drafted."""
    for seed in range(300):
        sampler = Sampler(temperature=1.0, seed=seed)
        verdict = SampleAndMatch(sampler).verify(TREE, _rows(TREE), 10, [])
        alone: tuple[int, ...] = ()
        for offset in range(len(verdict.tokens)):
            alone = (*alone, sampler.pick(_logits(alone)[None], 0, 10 + offset))
        assert verdict.tokens == alone


def test_accepted_nodes_are_a_path_with_the_emitted_tokens() -> None:
    for seed in range(100):
        verdict = SampleAndMatch(Sampler(temperature=1.5, seed=seed)).verify(TREE, _rows(TREE), 0, [])
        assert tuple(TREE.tokens[node] for node in verdict.nodes) == verdict.tokens[:-1]
        assert all(TREE.parents[node] == parent for parent, node in itertools.pairwise((-1, *verdict.nodes)))


def test_distribution_of_the_first_two_tokens_is_the_target_s() -> None:
    """Exact enumeration on a depth-2 tree against 20,000 draws (pitfalls 1 and 3 of the fifteen)."""
    draws = 20_000
    rows = _rows(TREE)
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(draws):
        tokens = SampleAndMatch(Sampler(temperature=1.0, seed=seed)).verify(TREE, rows, 0, []).tokens
        if len(tokens) == 1:
            tokens = (*tokens, Sampler(temperature=1.0, seed=seed).pick(_logits(tokens)[None], 0, 1))
        counts[tokens[:2]] = counts.get(tokens[:2], 0) + 1
    distance = 0.0
    for pair in itertools.product(range(3), repeat=2):
        first = torch.softmax(_logits(()), 0)[pair[0]]
        second = torch.softmax(_logits(pair[:1]), 0)[pair[1]]
        distance += abs(counts.get(pair, 0) / draws - float(first * second))
    assert distance / 2 < 0.015


def test_the_penalty_sees_the_path() -> None:
    logits = torch.tensor([[2.0, 1.9, 0.0], [2.0, 1.9, 0.0]])
    for sampler in (Sampler(repetition_penalty=2.0), Sampler(penalties=Penalties(presence=0.5), begins=1)):
        verdict = SampleAndMatch(sampler).verify(Draft.chain([0]), logits, 1, [2])
        assert verdict.tokens == (0, 1)
