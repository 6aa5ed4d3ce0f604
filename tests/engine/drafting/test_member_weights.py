"""The paper's rule: the vote of Minions' figure 5, and rewards and punishments by the average acceptance rate."""

from __future__ import annotations

import pytest

from engine.drafting.committee import MemberWeights, MergedTree, Rewards
from engine.drafting.minions import majority
from engine.model.token_tree import Draft

# Figure 5: behind "I" the first two models say "like", the third "likes"; then "apple", "pear" and "apple".
LIKE, LIKES, APPLE, PEAR = 2, 3, 4, 5
CHAINS = (Draft.chain((LIKE, APPLE)), Draft.chain((LIKE, PEAR)), Draft.chain((LIKES, APPLE)))


def test_equal_beginnings_of_chains_are_one_path_of_the_tree() -> None:
    tree = MergedTree(CHAINS)
    assert tree.tokens == [LIKE, APPLE, PEAR, LIKES, APPLE]
    assert tree.parents == [-1, 0, 0, -1, 3]
    assert tree.sources == [(0, 1), (0,), (1,), (2,), (2,)]
    assert tree.places == [[0, 1], [0, 2], [3, 4]]


@pytest.mark.parametrize(
    ("weights", "said", "voted"),
    [
        ((3.0, 2.0, 4.0), [LIKE, APPLE], 0),  # w1 + w2 > w3, then w1 > w2: S_u4
        ((2.0, 3.0, 4.0), [LIKE, PEAR], 1),
        ((1.0, 1.0, 4.0), [LIKES, APPLE], 2),  # one member that weighs more than all others decides alone
        ((1.0, 1.0, 1.0), [LIKE, APPLE], 0),  # of equals the earlier one
    ],
)
def test_the_heaviest_child_is_followed_from_the_root(weights: tuple[float, ...], said: list[int], voted: int) -> None:
    tree = MergedTree(CHAINS)
    path, member = majority(tree, weights)
    assert [tree.tokens[node] for node in path] == said
    assert member == voted


def test_a_longer_chain_goes_on_where_a_heavier_one_ends() -> None:
    tree = MergedTree((Draft.chain((LIKE,)), Draft.chain((LIKE, PEAR)), Draft()))
    path, member = majority(tree, (5.0, 1.0, 9.0))
    assert [tree.tokens[node] for node in path] == [LIKE, PEAR]
    assert member == 1  # whose chain that is
    assert majority(MergedTree((Draft(), Draft())), (1.0, 1.0)) == ([], None)
    assert majority(MergedTree((Draft.chain((LIKE,)),) * 2), (1.0, 3.0)) == ([0], 1)  # of two that agree the heavier


def test_rates_are_averaged_over_the_rounds_in_which_a_member_was_judged() -> None:
    # Figure 5: o_SSM1 = {o1, o3, o4}.
    weights = MemberWeights(3, Rewards(0.6, 0.3, reward_factor=2.0, punish_factor=0.5))
    for member, rate in ((0, 1.0), (1, 0.5), (0, 0.25), (0, 0.25)):  # 1.0, then 0.62, then 0.5
        weights.judge([(member, rate)])
    assert weights.weights == (1.0, 0.25, 0.25)


def test_weights_are_multiplied_beyond_the_thresholds_and_left_between_them() -> None:
    weights = MemberWeights(3, Rewards(0.6, 0.3, reward_factor=2.0, punish_factor=0.5))
    weights.judge([(0, 0.6), (1, 0.3), (2, 0.29)])
    assert weights.weights == (1.0, 1.0, 0.5)
    weights.judge([(0, 1.0)])  # 0.8 on average; the largest weight is 1
    assert weights.weights == (1.0, 0.5, 0.25)
    weights.judge([(0, 0.0)])  # 0.53
    assert weights.weights == (1.0, 0.5, 0.25)


def test_a_punished_member_is_heard_again_once_it_does_well() -> None:
    weights = MemberWeights(2, Rewards(0.6, 0.3, reward_factor=2.0, punish_factor=0.1))
    for _ in range(40):
        weights.judge([(0, 0.5), (1, 0.0)])
    assert 0.0 < weights.weights[1] < 0.01
    for _ in range(400):
        weights.judge([(0, 0.5), (1, 1.0)])
    assert weights.weights[1] > weights.weights[0]


def test_one_good_verdict_does_not_outweigh_many_bad_ones() -> None:
    weights = MemberWeights(2, Rewards(0.6, 0.3, reward_factor=2.0, punish_factor=0.5))
    for rate in (0.4, 0.4, 0.4, 1.0):  # 0.55 on average
        weights.judge([(0, rate), (1, 0.5)])
    assert weights.weights == (1.0, 1.0)


def test_however_long_a_member_was_bad_it_is_heard_again_soon() -> None:
    weights = MemberWeights(2, Rewards(0.6, 0.3, reward_factor=2.0, punish_factor=0.1))
    for _ in range(40):
        weights.judge([(0, 0.5), (1, 0.0)])
    assert weights.weights[1] == 1e-3
    for _ in range(61 + 11):  # until the average is above the threshold, and ten doublings
        weights.judge([(0, 0.5), (1, 1.0)])
    assert weights.weights[1] > weights.weights[0]
