"""Minions' own choice: the path of the majority, whose length a selector settles; what `--as-published` runs.

Source: Minions (Wang et al. 2024): the vote of section 3.2, and the length of section 3.3 and equation 4, where the
best length s has the least t_LLM(s) / vl(s).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine.drafting.committee import Committee, CommitteeMemory, MergedTree, outcome, with_probes
from engine.drafting.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import ROOT, Draft, DraftShape

# Records kept for each length.
_RECORDS = 64


class MajorityCommittee(Committee):
    """The paper's committee: each member gives a chain, and the majority's path is the draft.

    After verification the acceptance rate of the voted member is averaged, and its weight rewarded or punished.
    """

    _voted: int | None = None  # the member whose chain the last draft was

    def length_selector(self, largest: int) -> LengthSelector:
        """Return the paper's schedule for its drafts, which goes on where earlier replies ended."""
        return LengthSelector(largest, self._memory)

    def propose(self, shape: DraftShape) -> Draft:
        """Draft the majority's path in the merged tree of the members' chains."""
        self._drafts, self._voted = [], None
        if shape.rows < 1:
            return Draft()
        drafts = [member.drafter.propose(shape) for member in self._members]
        tree = MergedTree(drafts)
        path, self._voted = majority(tree, self.weights)
        self._drafts = drafts
        chain = Draft(
            tuple(tree.tokens[node] for node in path),
            tuple(range(ROOT, len(path) - 1)),
            sources=tuple(tree.sources[node] for node in path),
        )
        return with_probes(chain, {node: at for at, node in enumerate(path)}, tree, drafts)

    def _judge(self, tokens: Sequence[int]) -> None:
        if self._voted is None:
            return
        draft = self._drafts[self._voted]
        held, missed = outcome(draft, tokens)
        # If no guess was seen to miss, the rest of the chain was not verified.
        self._votes.judge([(self._voted, held / len(draft) if missed else 1.0)])


def majority(tree: MergedTree, weights: Sequence[float]) -> tuple[list[int], int | None]:
    """Return the majority-approved output: from the root down to a leaf, always the child that weighs most.

    A node's weight is the sum of the weights of its members. If children are equal, the one of the earlier
    member wins.

    Args:
        tree: Tree of the members' chains.
        weights: (m,) of the members.

    Returns:
        Its nodes, and the member whose chain that is (voted_SSM; if several agree, the one that weighs most);
        no nodes and None if nobody guessed anything.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents):
        children.setdefault(parent, []).append(node)
    found: list[int] = []
    at = ROOT
    while at in children:
        at = max(children[at], key=lambda node: sum(weights[member] for member in tree.sources[node]))
        found.append(at)
    if not found:
        return found, None
    return found, max(tree.sources[at], key=lambda member: weights[member])


class LengthSelector(Schedule):
    """Lengthens drafts while t / vl falls with their length, and shortens them while it rises.

    Each round is a record of its length: its seconds, and the tokens that it verified, the target's own included.
    The paper counts only the target's forward, as its pipeline hides the draft's time; here drafts take theirs. The
    average over a length's records is its vl, as in equation 4. Once there are enough records since the last
    change, a line is fitted to t / vl over the lengths around the present one. A slope above 0 says that the
    present length is longer than the best, one below 0 that there is room for more; if no other length was tried
    there is nothing to fit, and a longer one is tried. The paper does not say over what it fits. A fit over time
    would lengthen drafts again whenever a step back was followed by a fall, and the length would never stay where
    it is best.

    Args:
        largest: Longest draft.
        memory: Experience from earlier replies, whose records and last length this one continues.
        length: Length of the first drafts if no earlier reply had any.
        decision_threshold: Records of a length before it is judged.
        s_reward: Tokens that a falling slope adds.
        s_punish: Tokens that a rising slope takes away.
    """

    def __init__(
        self,
        largest: int,
        memory: CommitteeMemory,
        length: int = 4,
        decision_threshold: int = 8,
        s_reward: int = 1,
        s_punish: int = 1,
    ) -> None:
        self._memory = memory
        self.length = min(memory.length or length, largest)  # length of the next draft
        self._largest = largest
        self._threshold = decision_threshold
        self._reward = s_reward
        self._punish = s_punish
        self._records = 0  # since the last change

    def shape(self) -> DraftShape:
        """Return the shape of a draft of the present length."""
        return DraftShape(self.length)

    def observe(self, record: RoundRecord) -> None:
        """Take the round's record, and judge the length once there are enough."""
        if not record.tokens:  # nothing was drafted, or a reply's end left no room
            return
        seconds = (record.draft_ms + record.verify_ms) / 1e3
        records = self._memory.lengths.setdefault(self.length, deque(maxlen=_RECORDS))
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
        self._memory.length = self.length

    def _slope(self) -> float:
        """Return a number with the sign of the slope of t / vl over lengths, each weighted by its records."""
        # The curve of t / vl has a bottom, and is a line over a few lengths only: over fewer, the shorter they are.
        reach = (self.length + 1) // 2
        near = [each for each in self._memory.lengths.items() if abs(each[0] - self.length) <= reach]
        if len(near) == 1:
            return -1.0 if self.length < self._largest else 1.0
        middle = sum(length * len(records) for length, records in near) / sum(len(records) for _, records in near)
        slope = 0.0
        for length, records in near:
            seconds, verified = map(sum, zip(*records, strict=True))
            slope += len(records) * (length - middle) * seconds / verified
        return slope
