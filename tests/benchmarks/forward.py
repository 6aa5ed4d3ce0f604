"""Forwards of a 1.1 B Llama by weight format and width, beside llama.cpp in alternating runs.

    pip install gguf llama-cpp-python==0.3.36          # optional: without it Tenon is measured alone
    python -m tests.benchmarks.forward --work /tmp/tenon-bench [--formats bf16 int8 int4] [--runs 7] [--json]

A row is the median time of one forward of M tokens with logits for each, behind 64 committed tokens; the ratio is
the median of the ratios of neighbouring runs, llama.cpp's time over Tenon's: above 1 Tenon is faster. TENON_CPU_CAP
caps Tenon's instruction set. With both sides capped at AVX2 (the last line must not print AVX512):

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
from pathlib import Path

import torch

from engine.decoding.target import Target
from engine.kernels import library
from engine.loaded_model import LoadedModel
from engine.messages import LoadOptions
from tests.benchmarks.large_model import write_checkpoint, write_gguf
from tests.benchmarks.llama_cpp_peer import LlamaCpp

COMMITTED = 64
WIDTHS = (1, 4, 8, 16, 32, 64)
PEERS = {"bf16": "BF16", "int8": "Q8_0", "int4": "Q4_0"}


def measure(
    target: Target, peer: LlamaCpp | None, widths: tuple[int, ...], runs: int
) -> list[dict[str, float]]:
    """Median seconds and ratios by width; Tenon and the peer take turns."""
    target.prefill(list(range(3, 3 + COMMITTED)), lambda: None, lambda done, total: None)
    if peer is not None:
        peer.seconds(COMMITTED, 0)
    rows = []
    for width in widths:
        ours, theirs = [], []
        for _ in range(runs + 1):
            ours.append(target.seconds_of_forward(width))
            if peer is not None:
                theirs.append(peer.seconds(width, COMMITTED))
        row = {"width": float(width), "tenon_ms": 1e3 * statistics.median(ours[1:])}
        if peer is not None:
            row["llama_cpp_ms"] = 1e3 * statistics.median(theirs[1:])
            row["ratio"] = statistics.median(
                their / our for our, their in zip(ours[1:], theirs[1:], strict=True)
            )
        rows.append(row)
    return rows


def memory_bandwidth_bytes_per_s(threads: int) -> float:
    """Best of a few reads of 1 GiB, which no cache holds."""
    torch.set_num_threads(threads)
    block = torch.ones(1 << 28, dtype=torch.float32)
    best = 0.0
    for _ in range(5):
        begun = time.perf_counter()
        block.sum()
        best = max(best, block.nbytes / (time.perf_counter() - begun))
    return best


def load(folder: Path, weights: str, threads: int) -> LoadedModel:
    """A model as the engine loads it."""
    options = LoadOptions(model=str(folder), weights=weights, threads=threads, context=1024)
    return LoadedModel(options, lambda done, total: None, lambda: None)


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
    parser.add_argument("--alone", action="store_true", help="without llama.cpp")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = write_checkpoint(options.work / "model")
    bandwidth = memory_bandwidth_bytes_per_s(options.threads)
    results = {}
    for weights in options.formats:
        peer = None
        if not options.alone:
            peer = LlamaCpp(write_gguf(options.work, PEERS[weights]), options.threads, 1024)
        model = load(folder, weights, options.threads)
        rows = measure(model.target, peer, tuple(options.widths), options.runs)
        read = model.report.weight_bytes - 32000 * 2048 * 2  # the embedding is looked up, not read
        share = read / (rows[0]["tenon_ms"] / 1e3) / bandwidth
        results[weights] = {"rows": rows, "share_of_bandwidth_at_1": share, "load_ms": model.report.load_ms}
        if not options.json:
            print(
                f"{weights}: {share:.0%} of {bandwidth / 1e9:.1f} GB/s at M=1, loaded in {model.report.load_ms:.0f} ms"
            )
            for row in rows:
                print("  " + "  ".join(f"{name} {value:8.2f}" for name, value in row.items()), flush=True)
        del model
        if peer is not None:
            peer.close()
    if options.json:
        machine = {"processor": platform.processor(), "kernels": library.available(), "bandwidth": bandwidth}
        print(json.dumps({"machine": machine, "results": results}))


if __name__ == "__main__":
    main()
