"""Dovetail: a draft beside the target grows token trees, on a GPU where there is one; the target stays on the CPU.

Source: Zhang et al. 2024, "Dovetail: A CPU/GPU Heterogeneous Speculative Decoding for LLM Inference". What the draft
leaves of a GPU takes layers of the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.modes.mode import DEPTH, WIDTH, Mode, Values, adaptive, nodes
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.drafting.dynamic_tree import TreeShape


def _growth(values: Values) -> TreeShape:
    from engine.drafting.dynamic_tree import TreeShape

    return TreeShape(values["draft_width"], values["draft_depth"], values["draft_nodes"])


MODE = Mode(
    name=mark("dovetail"),
    title="Dovetail",
    help=mark("A small draft model guesses a tree of tokens, the model checks it at once."),
    reason=mark(
        "Dovetail was chosen: a draft guesses trees of tokens, and the model checks each tree in one pass."
    ),
    schedule=adaptive,
    growth=_growth,
    options=(WIDTH, DEPTH, nodes(15)),
    drafts=("model", "head", "medusa"),
    usual=mark("Auto: a draft is given, so dovetail guesses with it."),
)
