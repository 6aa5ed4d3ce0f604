"""The schedule of Minions: the draft's length follows the slope of the time that a verified token takes.

Source: Wang et al. 2024, "Minions", section 3.3 and equation 4: the best length s has the least t_LLM(s) / vl(s).
"""

from __future__ import annotations

from collections import deque

from engine.decoding.round_cost import RoundCost
from engine.decoding.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import DraftShape

# Records that are kept of a length.
_KEPT = 64


class LengthSelector(Schedule):
    """Lengthens drafts where t / vl falls with their length and shortens them where it rises.

    Each round is a record of its length: its seconds, and the tokens that it verified, the target's own included. The
    paper counts the target's forward alone, as its pipeline hides the draft's time; here drafts take theirs. Of each
    length vl is the average, as in equation 4. Once there are enough records since the last change a line is fitted to
    t / vl over the lengths around the present one. A slope above 0 says that it is longer than the best, one below 0
    that there is room for more; where no other length was tried there is nothing to fit, and a longer one is tried.

    The paper does not say over what it fits. Over time a fall behind a step back would lengthen drafts again, and the
    length would never stay where it is best.

    Args:
        largest: Longest draft.
        cost: Of earlier replies of the same mode and model, whose records and last length this one goes on with; None
            for none.
        length: Of the first drafts, where no earlier reply had any.
        decision_threshold: Records of a length before it is judged.
        s_reward: Tokens that a falling slope adds.
        s_punish: Tokens that a rising slope takes away.

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
        self._records = 0  # since the last change

    def shape(self) -> DraftShape:
        """A draft of the present length."""
        return DraftShape(self.length)

    def observe(self, record: RoundRecord) -> None:
        """Take the round's record, and judge the length once there are enough."""
        if not record.tokens:  # nothing was drafted, or a reply's end left no room
            return
        seconds = (record.draft_ms + record.verify_ms) / 1e3
        records = self._cost.lengths.setdefault(self.length, deque(maxlen=_KEPT))
        records.append((seconds, len(record.accepted) + 1))
        self._records += 1
        if self._records < self._threshold:
            return
        self._records = 0
        slope = self._slope()
        if slope > 0:
            self.length = max(1, self.length - self._punish)
        elif slope < 0:
            self.length = min(self._largest, self.length + self._reward)
        self._cost.length = self.length

    def _slope(self) -> float:
        """A number with the sign of the slope of t / vl over lengths, each of which weighs as much as its records."""
        # The curve of t / vl has a bottom, and is a line for a few lengths only: the fewer, the shorter they are.
        reach = (self.length + 1) // 2
        near = [each for each in self._cost.lengths.items() if abs(each[0] - self.length) <= reach]
        if len(near) == 1:
            return -1.0 if self.length < self._largest else 1.0
        middle = sum(length * len(records) for length, records in near) / sum(
            len(records) for _, records in near
        )
        slope = 0.0
        for length, records in near:
            seconds, verified = map(sum, zip(*records, strict=True))
            slope += len(records) * (length - middle) * seconds / verified
        return slope
