"""Dovetail: a draft beside the target guesses tokens ahead, on a GPU where there is one; the target stays on the CPU.

Drafts are trees, wherever rows are cheap. A head beside the CPU's target drafts a chain with the second likeliest token
beside each (`engine.drafting.chain_draft`), unless width, depth or nodes of its trees are asked for. As published,
each draft is a tree of all its nodes.

Source: Zhang et al. 2024, "Dovetail: A CPU/GPU Heterogeneous Speculative Decoding for LLM Inference". What the draft
leaves of a GPU takes layers of the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.modes.mode import AS_PUBLISHED, DEPTH, WIDTH, Mode, Values, adaptive, nodes
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.drafting.trees import TreeShape


def _growth(values: Values) -> TreeShape:
    from engine.drafting.trees import TreeShape

    sizes = values["draft_width"], values["draft_depth"], values["draft_nodes"]
    return TreeShape(*sizes, chains=not values[AS_PUBLISHED.name])


MODE = Mode(
    name=mark("dovetail"),
    title="Dovetail",
    help=mark("A small draft guesses several tokens ahead, and the model checks them all at once."),
    reason=mark(
        "Dovetail was chosen: a draft guesses several tokens ahead, and the model checks them in one pass."
    ),
    schedule=adaptive,
    growth=_growth,
    options=(WIDTH, DEPTH, nodes(15), AS_PUBLISHED),
    drafts=("model", "head", "medusa", "block"),
    usual=mark("Auto: a draft is given, so dovetail guesses with it."),
)
