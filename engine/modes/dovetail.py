"""Dovetail: a draft beside the target grows token trees, on a GPU where there is one; the target stays on the CPU.

Source: Zhang et al. 2024, "Dovetail: A CPU/GPU Heterogeneous Speculative Decoding for LLM Inference". What the draft
leaves of a GPU takes layers of the target.
"""

from engine.modes.mode import Mode, adaptive
from engine.sentences import mark

MODE = Mode(
    name=mark("dovetail"),
    reason=mark(
        "Dovetail was chosen: a draft guesses trees of tokens, and the model checks each tree in one pass."
    ),
    predict=lambda rounds: rounds.drafted(),
    schedule=adaptive,
    drafts=("model", "head"),
    usual=mark("Auto: a draft is given, so dovetail guesses with it."),
)
