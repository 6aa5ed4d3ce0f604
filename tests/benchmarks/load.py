"""Loading a 1.1 B Llama by weight format: time and peak memory of the first load and of more.

    python -m tests.benchmarks.load --work /tmp/tenon-bench [--formats bf16 q8_0 q4_k_m] [--runs 3] [--json]

Every load is in a process of its own, on Linux, with the files in the system's page cache. Memory is what is
resident, mapped pages counted, above the same process before the load, when it has imported the whole engine. In the
later loads the peak reaches to the end of a prompt of 64 tokens and 8 forwards of one, in the first to the end of the
load; its share is that of weights and cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from engine.loaded_model import LoadedModel
from engine.messages import LoadOptions
from engine.model.config import read_config
from engine.model.footprint import cache_bytes
from engine.model.weight_format import weight_format
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.large_model import write_checkpoint
from tests.benchmarks.memory import forget_peak, resident_bytes

FORMATS = ("bf16", "q8_0", "q4_k_m")
CONTEXT = 1024
_PROMPT, _FORWARDS = 64, 8

Figures = dict[str, float]


def measure_here(folder: Path, weights: str, threads: int) -> Figures:
    """Load in this process, and use the model a little."""
    torch.ones(512, 512) @ torch.ones(
        512, 512
    )  # starts the threads that an engine has after its first product
    forget_peak()
    idle = resident_bytes("VmRSS")
    options = LoadOptions(model=str(folder), weights=weights, threads=threads, context=CONTEXT)
    begun = time.perf_counter()
    model = LoadedModel(options, lambda done, total: None, lambda: None)
    load_s = time.perf_counter() - begun
    load_peak = resident_bytes("VmHWM") - idle
    model.target.prefill(list(range(3, 3 + _PROMPT)), lambda: None, lambda done, total: None)
    for _ in range(_FORWARDS):
        model.target.seconds_of_forward(1)
    config = read_config(Checkpoint(folder))
    needed = model.report.weight_bytes + cache_bytes(config, CONTEXT, weight_format(weights))
    return {
        "load_s": load_s,
        "idle_bytes": idle,
        "load_peak_bytes": load_peak,
        "peak_bytes": resident_bytes("VmHWM") - idle,
        "weights_and_cache_bytes": needed,
    }


def measure(folder: Path, weights: str, threads: int) -> Figures:
    """The same in a new process."""
    command = [sys.executable, "-m", "tests.benchmarks.load", "--child", str(folder)]
    command += ["--formats", weights, "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def compare(folder: Path, weights: str, runs: int, threads: int) -> dict[str, Figures]:
    """The first load, and the median of a few more."""
    first = measure(folder, weights, threads)
    later = [measure(folder, weights, threads) for _ in range(runs)]
    second = {name: statistics.median(run[name] for run in later) for name in first}
    first["share"] = first["load_peak_bytes"] / first["weights_and_cache_bytes"]
    second["share"] = second["peak_bytes"] / second["weights_and_cache_bytes"]
    return {"first": first, "second": second}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path(), help="a folder for the model, about 7 GB")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=["fp32", *FORMATS])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure_here(options.child, options.formats[0], options.threads)))
        return
    folder = write_checkpoint(options.work / "model")
    results = {name: compare(folder, name, options.runs, options.threads) for name in options.formats}
    if options.json:
        print(json.dumps(results))
        return
    print(
        "| format | load | s | peak above idle, MB | weights and cache, MB | share |\n|---|---|---|---|---|---|"
    )
    for name, loads in results.items():
        for which, row in loads.items():
            peak = row["load_peak_bytes"] if which == "first" else row["peak_bytes"]
            print(
                f"| {name} | {which} | {row['load_s']:.2f} | {peak / 1e6:.0f} | "
                f"{row['weights_and_cache_bytes'] / 1e6:.0f} | {row['share']:.2f} |"
            )


if __name__ == "__main__":
    main()
