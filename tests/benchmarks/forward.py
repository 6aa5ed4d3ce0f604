"""Forwards of a 1.1 B Llama by weight format and width, beside llama.cpp and transformers in alternating runs.

    pip install gguf llama-cpp-python==0.3.36          # optional: without it Tenon is measured alone
    python -m tests.benchmarks.forward --work /tmp/tenon-bench [--formats bf16 q8_0 q4_k_m] [--runs 7] [--json]

A row is the median time of one forward of M tokens with logits for each, behind 64 committed tokens; the ratio is
the median of the ratios of neighbouring runs, the other's time over Tenon's: above 1 Tenon is faster. Prefill is one
forward of 512 tokens into an empty cache with logits for the last. transformers runs in bfloat16 at M=1.

The share of bandwidth at M=1 is the median, over runs, of the bytes that a forward reads (all weights but the
embedding) a second, over what plain reads of 1.6 GB reached right before and after it. Memory is the peak above the
process before the load. TENON_CPU_CAP caps Tenon's instruction set. With both sides capped at AVX2 (the last line
must not print AVX512):

    export CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX512=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
    pip wheel --no-cache-dir --no-deps --no-binary llama-cpp-python llama-cpp-python==0.3.36 -w /tmp/llama-avx2
    pip install --no-deps --target /tmp/llama-avx2/site /tmp/llama-avx2/llama_cpp_python-*.whl
    export PYTHONPATH=/tmp/llama-avx2/site TENON_CPU_CAP=avx2 ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2
    python -c "import llama_cpp; print(llama_cpp.llama_print_system_info())"

The two variables after the cap hold torch's own operators to the same.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from engine.decoding.target import Target
from engine.kernels import library
from engine.loaded_model import LoadedModel
from engine.messages import LoadOptions
from engine.model.config import read_config
from engine.model.footprint import cache_bytes
from engine.model.weight_format import weight_format
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.large_model import HIDDEN, VOCABULARY, write_checkpoint, write_gguf
from tests.benchmarks.llama_cpp_peer import LlamaCpp
from tests.benchmarks.memory import ReadRate, forget_peak, resident_bytes
from tests.benchmarks.transformers_peer import Transformers

COMMITTED = 64
CONTEXT = 1024
WIDTHS = (1, 4, 8, 16, 32, 64)
PREFILL = 512
_PAUSE_S = 0.02
PEERS = {"bf16": "BF16", "q8_0": "Q8_0", "q4_k_m": "Q4_0"}

Row = dict[str, float]
Timed = Callable[[], float]


def settled(timed: Timed) -> Timed:
    """Behind a pause, in which the other engine's threads stop spinning, and an untimed forward of its own.

    A forward follows another of the same engine when text is decoded, and finds its threads awake.
    """

    def run() -> float:
        time.sleep(_PAUSE_S)
        timed()
        return timed()

    return run


def alternate(ours: Timed, theirs: Timed | None, runs: int, their_name: str = "llama_cpp") -> Row:
    """Median milliseconds of two forwards that take turns, and the median of their neighbours' ratios."""
    pairs = [(ours(), theirs() if theirs else 0.0) for _ in range(runs + 1)][1:]
    row = {"tenon_ms": 1e3 * statistics.median(our for our, _ in pairs)}
    if theirs:
        row[f"{their_name}_ms"] = 1e3 * statistics.median(their for _, their in pairs)
        row["ratio"] = statistics.median(their / our for our, their in pairs)
    return row


def measure(target: Target, peer: LlamaCpp | None, widths: Sequence[int], runs: int) -> dict[str, Row]:
    """Prefill, then each width behind the committed tokens."""

    def theirs(tokens: int, committed: int, all_logits: bool = True) -> Timed | None:
        return None if peer is None else lambda: peer.seconds(tokens, committed, all_logits)

    rows = {
        f"prefill {PREFILL}": alternate(
            lambda: target.seconds_of_forward(PREFILL, all_logits=False), theirs(PREFILL, 0, False), runs
        )
    }
    commit(target)
    if peer is not None:
        peer.seconds(COMMITTED, 0)
    for width in widths:

        def ours(width: int = width) -> float:
            return target.seconds_of_forward(width)

        their = theirs(width, COMMITTED)
        rows[f"M={width}"] = alternate(settled(ours), settled(their) if their else None, runs)
    return rows


def commit(target: Target) -> None:
    """Fill the cache with the tokens that every width stands behind."""
    target.prefill(list(range(3, 3 + COMMITTED)), lambda: None, lambda done, total: None)


def share_of_bandwidth(target: Target, read_bytes: int, reads: ReadRate, runs: int) -> dict[str, float]:
    """Bytes a second of forwards of one token, beside plain reads before and after each."""
    shares, rates = [], [reads.bytes_per_s()]
    for _ in range(runs + 1):
        seconds = settled(lambda: target.seconds_of_forward(1))()
        rates.append(reads.bytes_per_s())
        shares.append(read_bytes / seconds / max(rates[-2:]))
    return {
        "share": statistics.median(shares[1:]),
        "bandwidth_bytes_per_s": statistics.median(rates),
        "best_bandwidth_bytes_per_s": max(rates),
    }


def load(folder: Path, weights: str, threads: int) -> LoadedModel:
    """A model as the engine loads it."""
    options = LoadOptions(model=str(folder), weights=weights, threads=threads, context=CONTEXT)
    return LoadedModel(options, lambda done, total: None, lambda: None)


def compare(weights: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Everything about one format."""
    config = read_config(Checkpoint(folder))
    forget_peak()
    idle = resident_bytes("VmRSS")
    model = load(folder, weights, options.threads)
    model.target.seconds_of_forward(PREFILL, all_logits=False)
    peak = resident_bytes("VmHWM") - idle
    peer = None
    if not options.alone:
        peer = LlamaCpp(write_gguf(options.work, PEERS[weights]), options.threads, CONTEXT)
    rows = measure(model.target, peer, options.widths, options.runs)
    if peer is not None:
        peer.close()
    if weights == "bf16" and not options.alone:
        other = Transformers(folder, COMMITTED)
        rows["M=1, transformers"] = alternate(
            settled(lambda: model.target.seconds_of_forward(1)),
            settled(other.seconds_of_one),
            options.runs,
            "transformers",
        )
    read_bytes = (
        model.report.weight_bytes - 2 * VOCABULARY * HIDDEN
    )  # the embedding is looked up in, not read
    return {
        "rows": rows,
        **share_of_bandwidth(model.target, read_bytes, ReadRate(options.threads), options.runs),
        "load_ms": model.report.load_ms,
        "peak_bytes": peak,
        "weights_and_cache_bytes": model.report.weight_bytes
        + cache_bytes(config, CONTEXT, weight_format(weights)),
    }


def report(weights: str, found: dict[str, Any]) -> None:
    """Print a format's figures."""
    print(
        f"{weights}: {found['share']:.0%} of {found['bandwidth_bytes_per_s'] / 1e9:.1f} GB/s at M=1 (best read "
        f"{found['best_bandwidth_bytes_per_s'] / 1e9:.1f}), loaded in {found['load_ms']:.0f} ms, peak "
        f"{found['peak_bytes'] / 1e6:.0f} MB for {found['weights_and_cache_bytes'] / 1e6:.0f} MB of weights and cache"
    )
    for name, row in found["rows"].items():
        print(f"  {name:18}" + "  ".join(f"{key} {value:8.2f}" for key, value in row.items()), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="a folder for the models, about 8 GB")
    parser.add_argument("--formats", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--widths", nargs="+", type=int, default=list(WIDTHS))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="without llama.cpp and transformers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = write_checkpoint(options.work / "model")
    results = {}
    for weights in options.formats:
        results[weights] = compare(weights, folder, options)
        if not options.json:
            report(weights, results[weights])
    if options.json:
        machine = {
            "processor": platform.processor(),
            "kernels": library.available(),
            "torch": torch.__version__,
            "date": time.strftime("%Y-%m-%d"),
        }
        print(json.dumps({"machine": machine, "results": results}))


if __name__ == "__main__":
    main()
