"""Forwards of a model in its own block types, beside llama.cpp on the same file in alternating runs.

    pip install llama-cpp-python==0.3.36               # optional: without it Tenon is measured alone
    python -m tests.benchmarks.forward --work /tmp/tenon-bench [--kinds Q4_0 Q4_K_M Q6_K Q8_0 BF16] [--runs 7] [--json]
    python -m tests.benchmarks.forward --model FILE.gguf
    python -m tests.benchmarks.forward --work /tmp/tenon-bench --mixture --kinds Q4_K_M --prompts 512 --behind

A row is the median time of one forward of M tokens with logits for each, behind 64 committed tokens; the ratio is
the median of the ratios of neighbouring runs, the other's time over Tenon's: above 1 Tenon is faster. A prompt is read
as a person's is, into an empty cache with logits for the last token: by `TokenSequence.prefill`, which begins with 16
tokens and doubles, and by llama.cpp in batches of 512 with flash attention. "Behind" is decoding one token behind so
many.

The share of bandwidth at M=1 is the median, over runs, of the bytes that a forward reads (all weights but the
embedding) a second, over what plain reads of 1.6 GB reached right before and after it. TENON_CPU_CAP caps Tenon's
instruction set. With both sides capped at AVX2 (the last line must not print AVX512):

    export CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX512=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
    pip wheel --no-cache-dir --no-deps --no-binary llama-cpp-python llama-cpp-python==0.3.36 -w /tmp/llama-avx2
    pip install --no-deps --target /tmp/llama-avx2/site /tmp/llama-avx2/llama_cpp_python-*.whl
    export PYTHONPATH=/tmp/llama-avx2/site TENON_CPU_CAP=avx2 ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2
    python -c "import llama_cpp; print(llama_cpp.llama_print_system_info())"

With -DGGML_AVX_VNNI=ON as well, and TENON_CPU_CAP=avxvnni, both are capped at AVX-VNNI. The two variables after the cap
hold torch's own operators to the same. With AMX, gcc 12 drops stores before llama.cpp's `_tile_loadconfig` and it dies
of an illegal instruction; an empty `__asm__ volatile` that takes the structure's address and clobbers memory, right
before that call in ggml-cpu/amx/mmq.cpp, keeps them.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from engine.decoding.sequence import TokenSequence
from engine.kernels import blocks, library
from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights
from engine.run import settle
from tests.benchmarks.large_model import GLM_FLASH, HYBRIDS, KINDS, LLAMA, QWEN3_MOE, write_gguf
from tests.benchmarks.llama_cpp_peer import LlamaCpp
from tests.benchmarks.memory import ReadRate
from tests.benchmarks.page import keep

COMMITTED = 64
WIDTHS = (1, 4, 8, 16, 32, 64)
PROMPTS = (512, 2000, 8000)
BEHIND = (100, 1000, 4000, 16000)
_PAUSE_S = 0.02

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


def alternate(ours: Timed, theirs: Timed | None, runs: int) -> Row:
    """Median milliseconds of two forwards that take turns, and the median of their neighbours' ratios."""
    pairs = [(ours(), theirs() if theirs else 0.0) for _ in range(runs + 1)][1:]
    row = {"tenon_ms": 1e3 * statistics.median(our for our, _ in pairs)}
    if theirs:
        row["llama_cpp_ms"] = 1e3 * statistics.median(their for _, their in pairs)
        row["ratio"] = statistics.median(their / our for our, their in pairs)
    return row


class Peer:
    """llama.cpp in a thread of its own, whose tiles nobody else touches."""

    def __init__(self, path: Path, threads: int, context: int) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._model = self._thread.submit(LlamaCpp, path, threads, context).result()

    def seconds(self, tokens: int, committed: int, all_logits: bool = True) -> float:
        """See `LlamaCpp.seconds`."""
        return self._thread.submit(self._model.seconds, tokens, committed, all_logits).result()

    def close(self) -> None:
        """Free the model."""
        self._thread.submit(self._model.close).result()
        self._thread.shutdown()


def prompt_of(tokens: int) -> list[int]:
    """The tokens that both engines read."""
    return [3 + row % 1000 for row in range(tokens)]


def read(sequence: TokenSequence, tokens: int) -> float:
    """Seconds that a prompt takes from an empty cache."""
    sequence.reuse([2], (), 1)
    begun = time.perf_counter()
    sequence.prefill(prompt_of(tokens), lambda: None)
    return time.perf_counter() - begun


def measure(sequence: TokenSequence, peer: Peer | None, options: argparse.Namespace) -> dict[str, Row]:
    """Prompts, then each width behind few committed tokens, then one token behind many."""

    def theirs(tokens: int, committed: int, all_logits: bool = True) -> Timed | None:
        return None if peer is None else lambda: peer.seconds(tokens, committed, all_logits)

    def forward(width: int) -> Timed:
        return lambda: sequence.seconds_of_forward(width)

    rows: dict[str, Row] = {}

    def keep_row(name: str, row: Row) -> None:
        rows[name] = row
        if not options.json:
            print(f"  {name:18}" + "  ".join(f"{key} {value:8.2f}" for key, value in row.items()), flush=True)

    for tokens in options.prompts:
        runs = max(1, options.runs * 512 // tokens)

        def ours(tokens: int = tokens) -> float:
            return read(sequence, tokens)

        keep_row(f"prompt {tokens}", alternate(ours, theirs(tokens, 0, False), runs))
    read(sequence, COMMITTED)
    if peer is not None:
        peer.seconds(COMMITTED, 0)
    for width in options.widths:
        their = theirs(width, COMMITTED)
        keep_row(f"M={width}", alternate(settled(forward(width)), settled(their) if their else None, options.runs))
    for tokens in options.behind:
        read(sequence, tokens)
        if peer is not None:
            peer.seconds(tokens, 0, False)
        their = theirs(1, tokens)
        keep_row(f"behind {tokens}", alternate(settled(forward(1)), settled(their) if their else None, options.runs))
    return rows


def share_of_bandwidth(sequence: TokenSequence, read_bytes: float, reads: ReadRate, runs: int) -> dict[str, float]:
    """Bytes a second of forwards of one token, beside plain reads before and after each."""
    shares, rates = [], [reads.bytes_per_s()]
    for _ in range(runs + 1):
        seconds = settled(lambda: sequence.seconds_of_forward(1))()
        rates.append(reads.bytes_per_s())
        shares.append(read_bytes / seconds / max(rates[-2:]))
    return {
        "share": statistics.median(shares[1:]),
        "bandwidth_bytes_per_s": statistics.median(rates),
        "best_bandwidth_bytes_per_s": max(rates),
    }


def read_of_layer(config: ModelConfig, layer: LayerWeights) -> float:
    """Bytes that a forward of one token reads of a layer: of its experts the chosen ones."""
    mixture, experts = config.mixture, layer.experts
    if mixture is None or experts is None:
        return layer.size_bytes
    all_experts = sum(matrix.size_bytes for matrix in (*experts.gate_up, *experts.down))
    return layer.size_bytes - all_experts * (1.0 - mixture.chosen / mixture.experts)


def compare(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Everything about one file."""
    context = max([1024, *options.prompts, *options.behind]) + 1024
    load_options = LoadOptions(model=str(path), weights=options.weights, threads=options.threads, context=context)
    model = load_model(settle(load_options))
    peer = None if options.alone else Peer(path, options.threads, context)
    sequence = model.sequences.open()
    rows = measure(sequence, peer, options)
    if peer is not None:
        peer.close()
    source = model.placement
    read_bytes = source.head.size_bytes + sum(
        read_of_layer(model.target.config, source.layer(index)) for index in range(model.target.config.layers)
    )
    return {
        "rows": rows,
        **share_of_bandwidth(sequence, read_bytes, ReadRate(options.threads), options.runs),
        "load_ms": model.report.load_ms,
    }


def report(name: str, found: dict[str, Any]) -> None:
    """Print a file's share of the memory's bandwidth; its rows were printed as they came."""
    print(
        f"{name}: {found['share']:.0%} of {found['bandwidth_bytes_per_s'] / 1e9:.1f} GB/s at M=1 (best read "
        f"{found['best_bandwidth_bytes_per_s'] / 1e9:.1f}), loaded in {found['load_ms']:.0f} ms"
    )


def write(name: str, found: dict[str, Any]) -> None:
    """Keep a file's ratios for BENCHMARKS.md."""
    for row_name, row in found["rows"].items():
        if "ratio" in row:
            times = f"{row['tenon_ms']:.3g} and {row['llama_cpp_ms']:.3g} ms"
            keep("kernels", f"{name}, {row_name}", row["ratio"], "x llama.cpp", times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="a folder for files of the 1.1 B shape, about 6 GB")
    parser.add_argument("--model", type=Path, help="a GGUF file in their place")
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--mixture", action="store_true", help="files of a 3.2 B mixture of experts in their place")
    others.add_argument("--latents", action="store_true", help="files of a 1.5 B mixture with attention over latents")
    others.add_argument("--hybrid", nargs="?", const="2b", choices=HYBRIDS, help="gated DeltaNet in Qwen3.5's shape")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=[*KINDS, *blocks.NAMES])
    parser.add_argument("--layers", type=int, help="fewer layers in the files of --work")
    parser.add_argument("--widths", nargs="*", type=int, default=list(WIDTHS))
    parser.add_argument("--prompts", nargs="*", type=int, default=list(PROMPTS))
    parser.add_argument("--behind", nargs="*", type=int, default=list(BEHIND))
    parser.add_argument("--weights", default="auto", help="as Tenon's option; bf16 for a BF16 file of over 1 GB")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="without llama.cpp")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="keep the ratios for BENCHMARKS.md")
    options = parser.parse_args()
    if options.model is None and options.work is None:
        parser.error("give --work or --model")
    shape = QWEN3_MOE if options.mixture else GLM_FLASH if options.latents else HYBRIDS.get(options.hybrid, LLAMA)
    shape = replace(shape, layers=options.layers or shape.layers)
    options.alone |= find_spec("llama_cpp") is None
    files = [options.model] if options.model else [write_gguf(options.work, kind, shape) for kind in options.kinds]
    results = {}
    for path in files:
        results[path.name] = compare(path, options)
        if not options.json:
            report(path.name, results[path.name])
        if options.write:
            write(path.name, results[path.name])
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
