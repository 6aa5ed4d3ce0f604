from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch
from torch import Tensor

from engine.drafting.trees import TreePlan, draw_tree
from engine.messages import Penalties
from engine.model.proposal import Proposal
from engine.model.sampling import Sampler, draw, uniform
from engine.model.token_tree import ROOT, Draft
from engine.verifying.residual_sampling import ResidualSampling
from tests.support.rule_draws import RememberingSampler, sibling_drafts, total_variation, verdicts

VOCABULARY = 10
# The chance error of the distance falls with the root of the draws.
SIZES = [(20_000, 0.02), pytest.param(100_000, 0.01, marks=pytest.mark.slow)]
FILTERED = RememberingSampler(temperature=0.9, top_k=8, top_p=0.95, min_p=0.01, seed=11)
KINDS = [(siblings, kind) for siblings in (1, 3) for kind in ("with", "without")]


def _logits(*seeds: int, size: int = VOCABULARY) -> Tensor:
    rows = [torch.randn(size, generator=torch.Generator().manual_seed(seed)) for seed in seeds]
    return torch.stack(rows) * 1.5


# Row 0 follows the root, and every node is followed by the same row, so that the extra token has one distribution.
TARGET = _logits(1, 2, 2, 2)
Q = torch.softmax(_logits(5)[0].double(), 0)


def _rejected(siblings: int, kind: str, target: Tensor) -> Tensor:
    """(V,) probability that every sibling is refused and then this token comes, by adding up all draws.

    Written apart from the rule: with probabilities in place of noise.
    """
    total = torch.zeros_like(target)
    for drawn in itertools.product(range(VOCABULARY), repeat=siblings):
        if kind == "without" and len(set(drawn)) < siblings:
            continue
        p, q, weight = target.clone(), Q.clone(), 1.0
        for token in drawn:
            weight *= float(q[token] * (1 - min(1.0, float(p[token] / q[token]))))
            if weight == 0.0:
                break
            p = (p - q).clamp(min=0)
            p = p / p.sum()
            if kind == "without":
                q[token] = 0.0
                q = q / q.sum()
        total += weight * p
    return total


@pytest.mark.parametrize(("draws", "limit"), SIZES)
@pytest.mark.parametrize(("siblings", "kind"), KINDS)
def test_what_is_emitted_follows_the_target(siblings: int, kind: str, draws: int, limit: float) -> None:
    """Pitfalls 1 and 2 of the fifteen, apart for the extra token and for a rejection."""
    found = verdicts(ResidualSampling(FILTERED), sibling_drafts(Q, siblings, draws, kind, kind), TARGET)
    first, extra, refused = Counter[int](), Counter[int](), Counter[int]()
    for verdict, count in found.items():
        first[verdict.tokens[0]] += count
        if verdict.nodes:
            extra[verdict.tokens[1]] += count
        else:
            refused[verdict.tokens[0]] += count
    target = FILTERED.distribution(TARGET[0])
    assert total_variation(first, target) < limit
    assert total_variation(extra, FILTERED.distribution(TARGET[1])) < limit
    expected = _rejected(siblings, kind, target)
    assert refused.total() / draws == pytest.approx(float(expected.sum()), abs=limit / 2)
    assert refused.total() / draws * total_variation(refused, expected / expected.sum()) < limit


@pytest.mark.parametrize(("drawn", "said"), [("without", "with"), ("best", "without")])
def test_the_wrong_residual_for_a_proposal_shows(drawn: str, said: str) -> None:
    """Pitfall 2 of the fifteen: the test above would fail."""
    found = verdicts(ResidualSampling(FILTERED), sibling_drafts(Q, 3, 20_000, drawn, said), TARGET)
    first = Counter[int]()
    for verdict, count in found.items():
        first[verdict.tokens[0]] += count
    assert total_variation(first, FILTERED.distribution(TARGET[0])) > 0.03


def test_a_deterministic_draft_is_lossless_too() -> None:
    drafts = sibling_drafts(Q, 3, 20_000, "best", "deterministic")
    first = Counter[int]()
    for verdict, count in verdicts(ResidualSampling(FILTERED), drafts, TARGET).items():
        first[verdict.tokens[0]] += count
    assert total_variation(first, FILTERED.distribution(TARGET[0])) < 0.02


def _after(path: tuple[int, ...], salt: int) -> Tensor:
    """(3,) logits that depend on the path."""
    return _logits(salt + sum((token + 1) * 7**place for place, token in enumerate(path)), size=3)[0]


def _path(draft: Draft, node: int) -> tuple[int, ...]:
    return () if node == ROOT else (*_path(draft, draft.parents[node]), draft.tokens[node])


@pytest.mark.parametrize("kind", ["with", "without", "deterministic"])
def test_pairs_of_tokens_on_a_tree_of_depth_two(kind: str) -> None:
    """Pitfall 3 of the fifteen: every pair of tokens as often as the target alone would say it."""
    draws, sampler = 10_000, Sampler(temperature=1.0, seed=4)
    rule = ResidualSampling(sampler)
    after = {
        path: (sampler.distribution(_after(path, 100)), torch.softmax(_after(path, 200).double(), 0))
        for path in [(), *itertools.product(range(3), repeat=1), *itertools.product(range(3), repeat=2)]
    }
    pairs: Counter[tuple[int, ...]] = Counter()
    fixed = Draft((0, 1, 2, 0), (ROOT, ROOT, 0, 1))
    for at in range(draws):
        draft = fixed
        if kind != "deterministic":
            draft = draw_tree(
                TreePlan((ROOT, ROOT, 0, 0, 1, 1)),
                lambda tokens, parents, nodes: torch.stack(
                    [after[_path(Draft(tuple(tokens), tuple(parents)), node)][1] for node in nodes]
                ),
                kind == "with",
                seed=9,
                position=4 * at,
            )
        rows = torch.stack([_after(_path(draft, node), 100) for node in range(ROOT, len(draft))])
        tokens = rule.verify(draft, rows, 4 * at, []).tokens
        if len(tokens) == 1:
            tokens = (*tokens, draw(after[tokens][0], uniform(77, at)))
        pairs[tokens[:2]] += 1
    distance = sum(
        abs(pairs[one, two] / draws - float(after[()][0][one] * after[one,][0][two]))
        for one, two in itertools.product(range(3), repeat=2)
    )
    assert distance / 2 < 0.02


def test_greedy_is_greedy_match() -> None:
    rule, rows = ResidualSampling(Sampler()), _logits(1, 2, 3, 4)
    best = [int(row.argmax()) for row in rows]
    everything = Draft.chain(best[:3])
    assert rule.verify(everything, rows, 0, []).tokens == tuple(best)
    other = Draft.chain([best[0], (best[1] + 1) % VOCABULARY, best[2]])
    verdict = rule.verify(other, rows, 0, [])
    assert (verdict.tokens, verdict.nodes) == (tuple(best[:2]), (0,))


def test_the_penalty_sees_the_path() -> None:
    logits = torch.tensor([[2.0, 1.9, 0.0], [2.0, 1.9, 0.0]])
    for sampler in (Sampler(repetition_penalty=2.0), Sampler(penalties=Penalties(presence=0.5), begins=1)):
        verdict = ResidualSampling(sampler).verify(Draft.chain([0]), logits, 1, [2])
        assert verdict.tokens == (0, 1)


def test_a_certain_draft_that_agrees_is_always_accepted() -> None:
    """p = q: nothing may be lost to rounding."""
    row = _logits(1)[0]
    target = Sampler(temperature=1.0).distribution(row)
    for at in range(500):
        token = draw(target, uniform(1, at))
        draft = Draft((token,), (ROOT,), proposal=Proposal(True, ((token,), ()), (target, None)))
        rule = ResidualSampling(Sampler(temperature=1.0, seed=2))
        assert rule.verify(draft, row.expand(2, -1), at, []).nodes == (0,)


def test_another_vocabulary_is_refused() -> None:
    q = torch.tensor([0.5, 0.5], dtype=torch.float64)
    draft = Draft((1,), (ROOT,), proposal=Proposal(True, ((1,), ()), (q, None)))
    with pytest.raises(ValueError, match="target's vocabulary"):
        ResidualSampling(Sampler(temperature=1.0)).verify(draft, _logits(1, 2), 0, [])
