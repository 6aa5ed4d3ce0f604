"""Loads a model in a process of its own, uses all of its context, and says what was predicted and what it took.

    python -m tests.support.memory_probe FOLDER CONTEXT FORMAT SPARE_BYTES

Prints a JSON object. With spare bytes the budget is the least that streaming needs and so many more; with ``resident``
there is none.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import engine.engine  # noqa: F401  what the engine's process has imported before it loads
from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.model.config import read_config
from engine.model.token_tree import Draft
from engine.model.weight_format import weight_format
from engine.placement.plan import Sizes
from engine.placement.streamed import StreamedPlan
from engine.planning import hardware
from engine.planning.hardware import process_bytes
from engine.run import settle
from engine.weights.checkpoint import Checkpoint

NODES = 64


def peak_bytes() -> int:
    """The most memory that this process has had, mapped files included."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def probe(folder: str, context: int, name: str, spare: str) -> dict[str, object]:
    """Load and run one case."""
    hardware.PREPARERS_BYTES = 0  # the peak is that of this process alone
    baseline = process_bytes()
    config, weights = read_config(Checkpoint(Path(folder))), weight_format(name)
    least = StreamedPlan.least_bytes(Sizes(config, weights, context))
    budget = None if spare == "resident" else baseline + least + int(spare)
    options = LoadOptions(model=folder, weights=name, context=context, ram_budget_bytes=budget, threads=1)
    model = load_model(settle(options))
    predicted = model.plan.host
    text = [5 + index % 300 for index in range(context - NODES - 2)]
    sequence = model.sequences.open()
    sequence.prefill(text, lambda: None)
    chain = Draft((5,) * NODES, tuple(range(-1, NODES - 1)))
    logits = sequence.verify(7, chain, lambda: None)
    logits.softmax(-1).cumsum(-1)
    model.release()
    return {
        "plan": model.plan.placement.as_json(),
        "predicted": asdict(predicted),
        "predicted_bytes": predicted.total,
        "peak_bytes": peak_bytes(),
        "budget_bytes": budget,
    }


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])))
