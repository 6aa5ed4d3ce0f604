"""Loading a GGUF file as it is: time beside plain reads of the file, and peak memory.

    python -m tests.benchmarks.load --work /tmp/tenon-bench [--kinds Q4_K_M BF16] [--layers 22] [--runs 3]
    python -m tests.benchmarks.load --model FILE.gguf

Every load and every plain read (one thread, blocks of 4 MiB, by the standard library) is in a process of its own, in
turn, on Linux. Cold: the file's pages were dropped from the system's cache first; a virtual disk may still have them.
Memory is what is resident above the same process before the load, when it has imported the whole engine; the first 256
rows of keys and values are in it. The first load on a machine measures its kernels, and is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.run import settle
from tests.benchmarks.large_model import KINDS, LLAMA, write_gguf
from tests.benchmarks.memory import forget_peak, resident_bytes

CONTEXT = 1024
_BLOCK_BYTES = 4 << 20

Figures = dict[str, float]


def drop_pages(path: Path) -> None:
    """Take the file out of the system's page cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def load_here(path: Path, threads: int) -> Figures:
    """Load in this process."""
    torch.ones(512, 512) @ torch.ones(512, 512)  # starts the threads of an engine that has computed before
    forget_peak()
    idle = resident_bytes("VmRSS")
    options = LoadOptions(model=str(path), weights="auto", threads=threads, context=CONTEXT)
    begun = time.perf_counter()
    model = load_model(settle(options))
    taken = time.perf_counter() - begun
    peak = resident_bytes("VmHWM") - idle
    model.release()
    return {"seconds": taken, "share": peak / path.stat().st_size}


def read_here(path: Path) -> Figures:
    """Read the file in this process."""
    buffer = bytearray(_BLOCK_BYTES)
    begun = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return {"seconds": time.perf_counter() - begun}


def in_a_process(what: str, path: Path, threads: int, cold: bool) -> Figures:
    """One of both, in a new process."""
    if cold:
        drop_pages(path)
    command = [sys.executable, "-m", "tests.benchmarks.load", "--child", what, "--model", str(path)]
    done = subprocess.run([*command, "--threads", str(threads)], capture_output=True, text=True, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path(), help="a folder for files of the 1.1 B shape")
    parser.add_argument("--model", type=Path, help="a GGUF file in their place")
    parser.add_argument("--kinds", nargs="+", default=["Q4_K_M", "BF16"], choices=KINDS)
    parser.add_argument("--layers", type=int, default=LLAMA.layers, help="of the shape; 181 make 4.9 GB in Q4_K_M")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", choices=["load", "read"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        found = load_here(options.model, options.threads) if options.child == "load" else read_here(options.model)
        print(json.dumps(found))
        return
    shape = replace(LLAMA, layers=options.layers)
    files = [options.model] if options.model else [write_gguf(options.work, kind, shape) for kind in options.kinds]
    print("| file | MB | pages | load, s | plain read, s | of its speed | peak, times the file |")
    print("|---|---|---|---|---|---|---|")
    for path in files:
        in_a_process("load", path, options.threads, False)
        for cold in (True, False):
            pairs = [
                (in_a_process("load", path, options.threads, cold), in_a_process("read", path, 1, cold))
                for _ in range(options.runs)
            ]
            load_s, read_s, ratio = (
                statistics.median(values)
                for values in zip(
                    *((a["seconds"], b["seconds"], b["seconds"] / a["seconds"]) for a, b in pairs),
                    strict=True,
                )
            )
            share = max(load["share"] for load, _ in pairs)
            print(
                f"| {path.name} | {path.stat().st_size / 1e6:.0f} | {'cold' if cold else 'cached'} "
                f"| {load_s:.2f} | {read_s:.2f} | {ratio:.2f} | {share:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
