"""Parallel Prompt Decoding: trained embeddings in the model's own forward ask it which tokens come further on.

Source: Chen et al. 2024, "Hardware-Aware Parallel Prompt Decoding for Memory-Efficient Acceleration of LLM Inference",
and the report of the same name. As published the tree's size is fixed.
"""

from __future__ import annotations

from engine.modes.mode import AS_PUBLISHED, LOOK_UP, WIDTH, Mode, adaptive, nodes, searched_trees
from engine.sentences import mark

MODE = Mode(
    name=mark("ppd"),
    title="PPD",
    help=mark(
        "Trained prompt tokens let the model guess several tokens and check earlier guesses in one pass."
    ),
    reason=mark(
        "PPD was chosen: prompt tokens let the model guess further ahead in the same pass in which it checks its "
        "earlier guesses."
    ),
    schedule=adaptive,
    growth=searched_trees,
    options=(WIDTH, nodes(31), LOOK_UP, AS_PUBLISHED),
    drafts=("prompt-tokens",),
    placements=("offload", "resident"),
    wrong_draft=mark("It needs prompt tokens as its draft: choose a set that was trained for this model."),
)
