"""Ghidorah: Medusa heads guess all tokens of a tree at once, whose shape was searched on the model's own replies.

Source: Wei et al. 2025, "Ghidorah: Fast LLM Inference on Edge with Speculative Decoding and Hetero-Core Parallelism",
section III-C. The schedule settles the width by what forwards take here; of the searched tree the first nodes are the
best, so that each width has its own. As published the width is fixed.
"""

from __future__ import annotations

from engine.modes.mode import AS_PUBLISHED, WIDTH, Mode, adaptive, nodes, searched_trees
from engine.sentences import mark

MODE = Mode(
    name=mark("ghidorah"),
    title="Ghidorah",
    help=mark("Medusa heads guess several tokens in one step, the model checks a tree of them at once."),
    reason=mark(
        "Ghidorah was chosen: Medusa heads guess several tokens in one step, and the model checks a tree of them in "
        "one pass."
    ),
    schedule=adaptive,
    growth=searched_trees,
    options=(WIDTH, nodes(63), AS_PUBLISHED),
    drafts=("medusa",),
    wrong_draft=mark("It needs Medusa heads as its draft: choose heads that were made for this model."),
)
