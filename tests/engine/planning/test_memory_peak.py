"""What planning predicts of memory, against what a process of its own has taken at its peak."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkpoints import write_checkpoint

ROOT = Path(__file__).resolve().parents[3]
CONTEXT = 640
# The packed files are written first, which counts too.
CASES = (("fp32", "resident"), ("int8", "resident"), ("fp32", "20000000"), ("bf16", "60000000"))


def measured(folder: Path) -> dict[tuple[str, str], Any]:
    """What the probe says of each case, all of them at once."""
    children = {}
    for case in CASES:
        program = [sys.executable, "-m", "tests.support.memory_probe", str(folder), str(CONTEXT), *case]
        children[case] = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    printed = {case: child.communicate(timeout=120)[0] for case, child in children.items()}
    return {case: json.loads(text) for case, text in printed.items()}


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_the_peak_is_as_predicted_and_within_the_budget(tmp_path: Path) -> None:
    folder = write_checkpoint(
        tmp_path / "model",
        hidden_size=512,
        intermediate_size=2816,
        num_hidden_layers=10,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=1024,
    )
    found = measured(folder)
    for (_, spare), one in found.items():
        assert one["plan"]["kind"] == ("resident" if spare == "resident" else "stream")
        if one["budget_bytes"] is not None:
            assert one["peak_bytes"] < 1.05 * one["budget_bytes"]
        assert one["peak_bytes"] == pytest.approx(one["predicted_bytes"], rel=0.1), one
