"""LLMCad: the target's layers come from the disk, and a small model in memory drafts while they are on their way.

Source: Xu et al. 2023, "LLMCad: Fast and Scalable On-device Large Language Model Inference". A forward that waits for
the disk takes as long for 64 tokens as for one, and the kernels compute 64 columns at once: hence 63 nodes and
the root.
"""

from engine.decoding.adaptive_budget import AdaptiveBudget
from engine.modes.mode import Mode

LLMCAD = Mode(
    "llmcad", drafter=None, schedule=AdaptiveBudget, placement="stream", drafting="branches", nodes=63
)
