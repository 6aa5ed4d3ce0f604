"""Modes with a draft: lookup, Dovetail, Ghidorah, PPD, Minions and LLMCad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.modes.mode import (
    AS_PUBLISHED,
    DEPTH,
    LOOK_UP,
    WIDTH,
    Mode,
    Values,
    nodes,
    searched_trees,
    worthwhile,
)
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.decoding.costs import Costs
    from engine.drafting.committee import CommitteeMemory, Member
    from engine.drafting.drafter import Drafter
    from engine.drafting.kind import Pacing
    from engine.drafting.lookup import MatchChances
    from engine.drafting.schedule import Schedule
    from engine.drafting.trees import TreeShape


def _drafter(chances: MatchChances) -> Drafter:
    from engine.drafting.lookup import PromptLookup

    return PromptLookup(chances)


def _long_drafts(values: Values, cost: Costs, drafter: Drafter) -> Schedule:
    from engine.decoding.worth import Worth

    return Worth(drafter, _LONGEST, cost)


# Nodes of lookup's drafts: a reply that is said again is known to its end.
_LONGEST = 63
# Prompt lookup: drafts what followed the same words earlier in the text and in other texts, as much of it as pays.
LOOKUP = Mode(
    name=mark("lookup"),
    title=mark("Lookup"),
    help=mark("Guesses the next tokens from the text so far, checks several at once."),
    reason=mark("Prompt lookup was chosen."),
    drafter=_drafter,
    schedule=_long_drafts,
    looks_up=True,
)


def _tree(values: Values) -> TreeShape:
    from engine.drafting.trees import TreeShape

    sizes = values["draft_width"], values["draft_depth"], values["draft_nodes"]
    return TreeShape(*sizes, chains=not values[AS_PUBLISHED.name])


# Dovetail: a draft beside the target guesses tokens ahead, on a GPU where there is one; the target stays on
# the CPU.
#
# Drafts are trees, wherever rows are cheap. A head beside the CPU's target drafts a chain with the second
# likeliest token beside each (`ChainDraft` of `engine.drafting.eagle`), unless width, depth or nodes of its trees are
# asked for. As published, each draft is a tree of all its nodes.
#
# Source: Zhang et al. 2024, "Dovetail: A CPU/GPU Heterogeneous Speculative Decoding for LLM Inference". What
# the draft leaves of a GPU takes layers of the target.
DOVETAIL = Mode(
    name=mark("dovetail"),
    title="Dovetail",
    help=mark("A small draft guesses several tokens ahead, and the model checks them all at once."),
    reason=mark("Dovetail was chosen: a draft guesses several tokens ahead, and the model checks them in one pass."),
    schedule=worthwhile,
    growth=_tree,
    options=(WIDTH, DEPTH, nodes(15), AS_PUBLISHED),
    drafts=("model", "head", "block"),
)

# Ghidorah: Medusa heads guess all tokens of a tree at once, whose shape was searched on the model's own
# replies.
#
# Source: Wei et al. 2025, "Ghidorah: Fast LLM Inference on Edge with Speculative Decoding and Hetero-Core
# Parallelism", section III-C. The schedule settles the width by what forwards take here; of the searched tree
# the first nodes are the best, so that each width has its own. As published the width is fixed.
GHIDORAH = Mode(
    name=mark("ghidorah"),
    title="Ghidorah",
    help=mark("Medusa heads guess several tokens in one step, the model checks a tree of them at once."),
    reason=mark(
        "Ghidorah was chosen: Medusa heads guess several tokens in one step, and the model checks a tree of them in "
        "one pass."
    ),
    schedule=worthwhile,
    growth=searched_trees,
    options=(WIDTH, nodes(63), AS_PUBLISHED),
    drafts=("medusa",),
    needs=mark(
        "It needs Medusa heads that were trained for this very model, and no small model can take their place: "
        "look for some on the Models page, or take Dovetail or lookup."
    ),
)

# Parallel Prompt Decoding: trained embeddings in the model's own forward ask it which tokens come further on.
#
# Source: Chen et al. 2024, "Hardware-Aware Parallel Prompt Decoding for Memory-Efficient Acceleration of LLM
# Inference", and the report of the same name. As published the tree's size is fixed.
PPD = Mode(
    name=mark("ppd"),
    title="PPD",
    help=mark("Trained prompt tokens let the model guess several tokens and check earlier guesses in one pass."),
    reason=mark(
        "PPD was chosen: prompt tokens let the model guess further ahead in the same pass in which it checks its "
        "earlier guesses."
    ),
    schedule=worthwhile,
    growth=searched_trees,
    options=(WIDTH, nodes(31), LOOK_UP, AS_PUBLISHED),
    drafts=("prompt-tokens",),
    placements=("offload", "resident"),
    needs=mark(
        "It needs prompt tokens that were trained for this very model, and no small model can take their place: "
        "look for some on the Models page, or take Dovetail or lookup."
    ),
)


def _member_tree(values: Values) -> TreeShape:
    from engine.drafting.trees import TreeShape

    # The paper's members give a chain each.
    width = 1 if values[AS_PUBLISHED.name] else values["draft_width"]
    return TreeShape(width, values["draft_depth"], values["draft_nodes"])


def _committee(values: Values, drafts: Sequence[Member], memory: CommitteeMemory, chances: MatchChances) -> Drafter:
    from engine.drafting.committee import LOOKUP as GUESSER
    from engine.drafting.committee import Member, MergedCommittee
    from engine.drafting.lookup import PromptLookup
    from engine.drafting.minions import MajorityCommittee

    members = (Member(GUESSER, GUESSER, PromptLookup(chances)), *drafts)
    return (MajorityCommittee if values[AS_PUBLISHED.name] else MergedCommittee)(members, memory)


def _schedule(values: Values, cost: Costs, drafter: Drafter) -> Schedule:
    from engine.drafting.minions import MajorityCommittee

    if isinstance(drafter, MajorityCommittee):
        return drafter.length_selector(values["draft_nodes"])
    return worthwhile(values, cost, drafter)


# Minions: several drafts guess, prompt lookup beside them, and their votes decide what the model checks.
#
# Source: Wang et al. 2024, "Minions: Accelerating Large Language Model Inference with Adaptive and Collective
# Speculative Decoding", sections 3.2 and 3.3. As published, the path of the majority is verified, whose
# weights the voted member's guesses change, and a selector settles its length; else the merged tree is
# verified, as much as pays.
MINIONS = Mode(
    name=mark("minions"),
    title="Minions",
    help=mark("Several drafts guess and vote, and the model checks what they say together."),
    reason=mark("Minions was chosen: several drafts guess, and the model checks what they say together."),
    schedule=_schedule,
    growth=_member_tree,
    committee=_committee,
    options=(WIDTH, DEPTH, nodes(15), AS_PUBLISHED),
    drafts=("model", "head", "medusa", "prompt-tokens"),
    takes_several=True,
    placements=("resident", "offload", "offload-experts"),
)


def _pacing(values: Values) -> Pacing:
    from engine.drafting.kind import Pacing

    return Pacing(draft_beyond=not values[AS_PUBLISHED.name], length=values["draft_depth"])


# LLMCad: the target's layers come from the disk, and a small model in memory drafts while they are on their
# way.
#
# Source: Xu et al. 2023, "LLMCad: Fast and Scalable On-device Large Language Model Inference". A forward that
# waits for the disk takes as long for 64 tokens as for one, and the kernels compute 64 columns at once: hence
# 63 nodes and the root. As published a draft ends at the threshold, without the nodes beyond it that are
# worth their time.
LLMCAD = Mode(
    name=mark("llmcad"),
    title="LLMCad",
    help=mark("For models larger than memory: a draft writes, the model is read from the disk to check."),
    reason=mark(
        "LLMCad was chosen: layers that memory has no room for are read from the disk, and meanwhile a draft guesses "
        "ahead."
    ),
    memory="disk",
    drafts_ahead=True,
    schedule=worthwhile,
    growth=_pacing,
    options=(DEPTH, nodes(63), LOOK_UP, AS_PUBLISHED),
    drafts=("model", "medusa", "prompt-tokens"),
    needs=mark(
        "It needs a small model as its draft, Medusa heads or prompt tokens: choose a model of the same vocabulary, or "
        "what was trained for this one. Other heads cannot guess while the model is read from the disk."
    ),
)
