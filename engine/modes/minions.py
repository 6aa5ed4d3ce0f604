"""Minions: several drafts guess, prompt lookup beside them, and their votes decide what the model checks.

Source: Wang et al. 2024, "Minions: Accelerating Large Language Model Inference with Adaptive and Collective Speculative
Decoding", sections 3.2 and 3.3. As published, the path of the majority is verified, whose weights the
voted member's guesses change, and a selector settles its length; else the merged tree is verified, as much as pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.modes.mode import AS_PUBLISHED, DEPTH, WIDTH, Mode, Values, adaptive, nodes
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.decoding.round_cost import RoundCost
    from engine.decoding.schedule import Schedule
    from engine.drafting.committee import CommitteeMemory, Member
    from engine.drafting.drafter import Drafter
    from engine.drafting.lookup import MatchChances
    from engine.drafting.trees import TreeShape


def _growth(values: Values) -> TreeShape:
    from engine.drafting.trees import TreeShape

    # The paper's members give a chain each.
    width = 1 if values[AS_PUBLISHED.name] else values["draft_width"]
    return TreeShape(width, values["draft_depth"], values["draft_nodes"])


def _committee(
    values: Values, drafts: Sequence[Member], memory: CommitteeMemory, chances: MatchChances
) -> Drafter:
    from engine.drafting.committee import LOOKUP, MajorityCommittee, Member, MergedCommittee
    from engine.drafting.lookup import PromptLookup

    members = (Member(LOOKUP, LOOKUP, PromptLookup(chances)), *drafts)
    return (MajorityCommittee if values[AS_PUBLISHED.name] else MergedCommittee)(members, memory)


def _schedule(values: Values, cost: RoundCost, drafter: Drafter) -> Schedule:
    from engine.decoding.schedule import LengthSelector

    if values[AS_PUBLISHED.name]:
        return LengthSelector(values["draft_nodes"], cost)
    return adaptive(values, cost, drafter)


MODE = Mode(
    name=mark("minions"),
    title="Minions",
    help=mark("Several drafts guess and vote, and the model checks what they say together."),
    reason=mark("Minions was chosen: several drafts guess, and the model checks what they say together."),
    schedule=_schedule,
    growth=_growth,
    committee=_committee,
    options=(WIDTH, DEPTH, nodes(15), AS_PUBLISHED),
    drafts=("model", "head", "medusa", "prompt-tokens"),
    takes_several=True,
    placements=("resident", "offload", "offload-experts"),
    usual=mark("Auto: several drafts are given, so minions lets them vote."),
)
