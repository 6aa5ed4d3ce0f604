"""Minions: several drafts guess, prompt lookup beside them, and their votes decide what the model checks.

Source: Wang et al. 2024, "Minions: Accelerating Large Language Model Inference with Adaptive and Collective Speculative
Decoding", sections 3.2 and 3.3. The paper verifies the path of the majority; here the merged tree is verified, unless
that is switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.messages import ModeOption, check_order
from engine.modes.mode import DEPTH, LENGTH, WIDTH, Mode, Values, adaptive, nodes
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.drafting.committee import CommitteeMemory, Member
    from engine.drafting.drafter import Drafter
    from engine.drafting.lookup import MatchChances
    from engine.drafting.trees import TreeShape

_VOTE = (
    ModeOption(
        "merged_tree",
        mark("Check the merged tree"),
        mark(
            "Minions: the model checks the best guesses of all drafts; else the one line that most votes are for."
        ),
        default=True,
    ),
    ModeOption(
        "judge_all",
        mark("Judge every draft"),
        mark(
            "Minions: each check changes the weights of all drafts; else only of the one that was voted for."
        ),
        default=True,
    ),
    ModeOption(
        "reward_threshold",
        mark("Reward above"),
        mark("Minions: a draft of whose guesses a larger share is right on average gains weight."),
        default=0.6,
        places=2,
    ),
    ModeOption(
        "punish_threshold",
        mark("Punish below"),
        mark("Minions: a draft of whose guesses a smaller share is right on average loses weight."),
        default=0.3,
        places=2,
        at_most="reward_threshold",
    ),
    ModeOption(
        "reward_factor",
        mark("Reward"),
        mark("Minions: the weight of a draft that is rewarded is multiplied by this."),
        default=1.1,
        least=1,
        most=4,
        places=2,
    ),
    ModeOption(
        "punish_factor",
        mark("Punishment"),
        mark("Minions: the weight of a draft that is punished is multiplied by this."),
        default=0.9,
        least=0.1,
        most=1,
        places=2,
    ),
)


def _growth(values: Values) -> TreeShape:
    from engine.drafting.trees import TreeShape

    # The paper's members give a chain each.
    width = values["draft_width"] if values["merged_tree"] else 1
    return TreeShape(width, values["draft_depth"], values["draft_nodes"])


def _committee(
    values: Values, drafts: Sequence[Member], memory: CommitteeMemory, chances: MatchChances
) -> Drafter:
    from engine.drafting.committee import LOOKUP, MajorityCommittee, Member, MergedCommittee, Rewards
    from engine.drafting.lookup import PromptLookup

    check_order(_VOTE, values.__getitem__)
    members = (Member(LOOKUP, LOOKUP, PromptLookup(chances)), *drafts)
    rewards = Rewards(
        values["reward_threshold"],
        values["punish_threshold"],
        values["reward_factor"],
        values["punish_factor"],
    )
    kind = MergedCommittee if values["merged_tree"] else MajorityCommittee
    return kind(members, rewards, memory, values["judge_all"])


MODE = Mode(
    name=mark("minions"),
    title="Minions",
    help=mark("Several drafts guess and vote, and the model checks what they say together."),
    reason=mark("Minions was chosen: several drafts guess, and the model checks what they say together."),
    schedule=adaptive,
    growth=_growth,
    committee=_committee,
    options=(WIDTH, DEPTH, nodes(15), LENGTH, *_VOTE),
    drafts=("model", "head", "medusa", "prompt-tokens"),
    takes_several=True,
    placements=("resident", "offload", "offload-experts"),
    usual=mark("Auto: several drafts are given, so minions lets them vote."),
)
