"""Weights of a committee's members: rewarded while the target accepts what they guess, punished while it does not.

Source: Minions (Wang et al. 2024), section 3.2, after the weighted majority algorithm (Littlestone and Warmuth 1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# A weight is never less than this share of the largest, so that a member which does well again is heard again.
_LEAST = 1e-3


@dataclass(frozen=True)
class Rewards:
    """Thresholds of acceptance, and the factors by which weights change beyond them.

    Attributes:
        reward_threshold: A member whose average acceptance rate is above it is rewarded.
        punish_threshold: One whose rate is below it is punished.
        reward_factor: Multiplies the weight of a member that is rewarded.
        punish_factor: Multiplies the weight of one that is punished.
    """

    reward_threshold: float = 0.6
    punish_threshold: float = 0.3
    reward_factor: float = 1.1
    punish_factor: float = 0.9


class MemberWeights:
    """Weights of some members, and the average acceptance rate (ACR) of each, equation 1.

    The largest weight is 1: only their relations count in a vote, and products of factors would have no end.

    Args:
        members: Number of members.
        rewards: Thresholds and factors.

    Attributes:
        weights: (m,) of each member.
    """

    def __init__(self, members: int, rewards: Rewards) -> None:
        self.weights = (1.0,) * members
        self._rewards = rewards
        self._rates = [0.0] * members
        self._judged = [0] * members

    def rate(self, member: int) -> float | None:
        """A member's average acceptance rate; None before it was judged."""
        return self._rates[member] / self._judged[member] if self._judged[member] else None

    def judge(self, rates: Sequence[tuple[int, float]]) -> None:
        """Take in what a verdict shows.

        Args:
            rates: Members that are judged by it, and of each the share of its output that the target accepted.
        """
        weights, rewards = list(self.weights), self._rewards
        for member, rate in rates:
            self._rates[member] += rate
            self._judged[member] += 1
            average = self._rates[member] / self._judged[member]
            if average > rewards.reward_threshold:
                weights[member] *= rewards.reward_factor
            elif average < rewards.punish_threshold:
                weights[member] *= rewards.punish_factor
        most = max(weights, default=1.0)
        self.weights = tuple(max(weight / most, _LEAST) for weight in weights)
