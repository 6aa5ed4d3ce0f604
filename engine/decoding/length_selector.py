"""The schedule of Minions: the draft's length follows the trend of the time that a verified token takes.

Source: Wang et al. 2024, "Minions", section 3.3 and equation 4: the best length has the least t_LLM / vl.
"""

from __future__ import annotations

import statistics

from engine.decoding.round_cost import RoundCost
from engine.decoding.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import DraftShape


class LengthSelector(Schedule):
    """Lengthens drafts while t / vl falls and shortens them when it rises.

    Each round of a length is a record: its seconds over the tokens that it verified, the target's own included. The
    paper counts the target's forward alone, as its pipeline hides the draft's time; here drafts take theirs. Once there
    are enough records since the last change a line is fitted to them and to those of the length before. A slope above 0
    says that the change went too far, one below 0 that there is room for more. At the shortest and the longest draft
    the records of the length before are dropped: a rise that shortening has caused would keep it there for good.

    Args:
        largest: Longest draft.
        cost: Of earlier replies of the same mode and model, whose last length is this one's first; None for none.
        length: Of the first drafts, where no earlier reply had any.
        decision_threshold: Records of a length before it is judged.
        s_reward: Tokens that a falling trend adds.
        s_punish: Tokens that a rising trend takes away.

    Attributes:
        length: Of the next draft.
    """

    def __init__(
        self,
        largest: int,
        cost: RoundCost | None = None,
        length: int = 4,
        decision_threshold: int = 8,
        s_reward: int = 1,
        s_punish: int = 1,
    ) -> None:
        self._cost = RoundCost() if cost is None else cost
        self.length = min(self._cost.length or length, largest)
        self._largest = largest
        self._threshold = decision_threshold
        self._reward = s_reward
        self._punish = s_punish
        # Seconds for each verified token, of the length before the last change and since then.
        self._before: list[float] = []
        self._since: list[float] = []

    def shape(self) -> DraftShape:
        """A draft of the present length."""
        return DraftShape(self.length)

    def observe(self, record: RoundRecord) -> None:
        """Take the round's record, and judge the length once there are enough."""
        if not record.tokens:  # nothing was drafted, or a reply's end left no room
            return
        self._since.append((record.draft_ms + record.verify_ms) / 1e3 / (len(record.accepted) + 1))
        if len(self._since) < self._threshold:
            return
        seconds = [*self._before, *self._since]
        slope = statistics.linear_regression(range(len(seconds)), seconds).slope
        before = self.length
        if slope > 0:
            self.length = max(1, self.length - self._punish)
        elif slope < 0:
            self.length = min(self._largest, self.length + self._reward)
        self._cost.length = self.length
        self._before, self._since = ([] if self.length == before else self._since), []
