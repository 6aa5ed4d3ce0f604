"""The tree alone, with probabilities that are written down here."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from engine.drafting.paced_tree import BranchTree
from engine.kernels.library import NotFinite

VOCABULARY = 12


def after(**probabilities: float) -> Tensor:
    """Log-probabilities; ``t3=0.5`` is token 3's, and what is left is spread over the others."""
    named = {int(name[1:]): value for name, value in probabilities.items()}
    rest = (1 - sum(named.values())) / (VOCABULARY - len(named))
    return torch.tensor([named.get(token, rest) for token in range(VOCABULARY)]).log()


def tree_of_two() -> BranchTree:
    """Token 1 (0.6) and token 2 (0.35) below the root; below 1 token 3 (0.9), and below it token 4 (0.5)."""
    tree = BranchTree(0.3, 3)
    tree.begin(after(t1=0.6, t2=0.35))
    (one,) = tree.behind(1, 9)
    tree.extend([one], after(t3=0.9)[None])
    three = tree.likeliest_ends(1, 9)
    tree.extend(three, after(t4=0.5, t5=0.29)[None])
    return tree


def test_the_likeliest_token_lengthens_and_others_above_the_threshold_open() -> None:
    tree = tree_of_two()
    draft = tree.draft(4)
    assert draft.tokens == (1, 2, 3, 4)
    assert draft.parents == (-1, -1, 0, 2)
    assert [math.exp(score) for score in draft.scores] == pytest.approx([0.6, 0.35, 0.54, 0.27])
    assert (tree.size, tree.longest, tree.rows) == (4, 3, 2)
    # The branches end in 2 and 4.
    assert tree.confidence == pytest.approx(0.35)


def test_tokens_that_opened_no_branch_are_drafted_too() -> None:
    tree = tree_of_two()
    assert tree.draft(5).tokens == (1, 2, 3, 4, 5)
    assert tree.draft(3).tokens == (1, 2, 3)
    assert tree.draft(63, branches_only=True).tokens == (1, 2, 3, 4)
    whole = tree.draft(63)
    assert len(whole) == 9
    assert all(parent < node for node, parent in enumerate(whole.parents))


def test_a_forward_sees_its_own_branch_only() -> None:
    tree = tree_of_two()
    two, four = tree.likeliest_ends(2, 9)
    tokens, depths, sees = tree.level([two, four])
    assert (tokens, depths) == ([2, 4], [1, 3])
    assert sees.tolist() == [[False, False, True, False], [True, True, False, True]]


def test_nothing_deeper_than_allowed_is_run() -> None:
    tree = tree_of_two()
    assert tree.level(tree.behind(4, 2))[0] == [2]
    assert 4 not in tree.level(tree.likeliest_ends(9, 2))[0]
    assert tree.likeliest_ends(9, 0) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([1, 3, 4, 9], (3, 3)),
        ([1, 3, 9], (3, 2)),
        ([1, 3, 5], (3, 2)),
        ([1, 9], (3, 1)),
        ([2, 9], (1, 1)),
        ([9], (3, 0)),
    ],
)
def test_how_the_best_branch_fared(said: list[int], expected: tuple[int, int]) -> None:
    """Token 5 opened no branch: where it is right, a branch was wrong all the same."""
    tree = tree_of_two()
    assert tree.outcome(said) == (0, 0)
    tree.draft(63)
    assert tree.outcome(said) == expected


def test_what_was_drafted_below_the_text_is_kept() -> None:
    tree = tree_of_two()
    tree.draft(63)
    (two,) = (node for node in tree.likeliest_ends(9, 9) if tree.level([node])[0] == [2])
    tree.extend([two], after(t6=0.8)[None])
    rows, kept, rest = tree.follow([1])
    assert (rows, kept) == ([0], [1])
    assert rest.begun
    draft = rest.draft(2)
    assert draft.tokens == (3, 4)
    assert [math.exp(score) for score in draft.scores] == pytest.approx([0.9, 0.45])
    assert rest.guess() == [3, 4]
    assert rest.outcome([3, 9]) == (2, 1)
    # A further forward sees the kept row as its first.
    assert rest.level(rest.behind(1, 9))[2].tolist() == [[True, True]]


def test_a_possible_token_becomes_the_root_of_branches() -> None:
    tree = tree_of_two()
    (five,) = (node for node in tree.likeliest_ends(9, 9) if tree.level([node])[0] == [5])
    tree.extend([five], after(t7=0.7)[None])
    assert tree.size == 4
    rows, kept, rest = tree.follow([1, 3, 5])
    assert (rows, kept) == ([0, 1, 2], [])
    assert rest.draft(1).tokens == (7,)


@pytest.mark.parametrize(
    ("said", "rows", "begun"), [([1, 3, 4], [0, 1], False), ([1, 8], [0], False), ([8], [], False)]
)
def test_what_was_not_foreseen_begins_anew(said: list[int], rows: list[int], begun: bool) -> None:
    found, kept, rest = tree_of_two().follow(said)
    assert (found, kept) == (rows, [])
    assert (rest.begun, rest.size, rest.rows) == (begun, 0, 0)


def test_impossible_tokens_are_never_drafted() -> None:
    tree = BranchTree(0.3, 3)
    following = torch.full((VOCABULARY,), -torch.inf)
    following[4] = 0.0
    tree.begin(following)
    assert tree.draft(63).tokens == (4,)
    with pytest.raises(NotFinite):
        tree.extend(tree.behind(1, 9), torch.full((1, VOCABULARY), torch.nan))
    assert tree.draft(63).tokens == (4,)
