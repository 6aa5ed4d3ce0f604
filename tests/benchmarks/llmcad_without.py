"""``tenon ask`` with techniques of LLMCad switched off, which are fields of `engine.drafting.paced_tree.Pacing`.

python -m tests.benchmarks.llmcad_without branching,draft_ahead ask --mode llmcad PROMPT
"""

from __future__ import annotations

import sys

from engine.cli import main
from engine.drafting.paced_tree import Pacing
from tests.support.modes import changed_mode

if __name__ == "__main__":
    off = dict.fromkeys(sys.argv[1].split(","), False)
    with changed_mode("llmcad", growth=lambda values: Pacing(**off, length=values["draft_depth"])):
        sys.exit(main(sys.argv[2:]))
