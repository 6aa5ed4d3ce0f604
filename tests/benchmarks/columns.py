"""A model divided by output columns between two units: Ghidorah's section III-B, as far as it runs without a GPU.

    python -m tests.benchmarks.columns mlp [--types Q8_0 BF16] [--hidden 4096] [--inner 11008]
    python -m tests.benchmarks.columns operators [--model smollm2] [--threads 2]
    python -m tests.benchmarks.columns simulated --machine REPORT.json [--model FOLDER] [--weights q4_k_m]

``mlp`` runs one MLP on two threads that stand for two units. Divided by columns twice, each unit writes its columns of
the activations, waits for the other one's, and writes its columns of the result. Divided by columns and then by rows,
as for units with memories of their own, neither waits in between, each has a sum over its half of the activations for
every output, and these are added up. Matrices are copied and rotated, so that each is read from memory.

``operators`` is what a forward takes longer where layers run on torch's operators, as divided ones do, than in the
kernel library: a model as it is loaded otherwise, and one divided with nothing on the GPU.

``simulated`` computes, and runs nothing: times of a forward of each width from the speeds in a machine's report, on the
CPU alone, with layers on the GPU, and divided by columns for this width, and the tokens per second with as many tokens
of a round as the paper has for Vicuna-7B on MT-Bench (table I). What a second unit takes in truth was never measured.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.fixed_trees import WIDTHS
from engine.hub.installed import cache_folder, find_model
from engine.json_text import from_plain
from engine.kernels import blocks, library
from engine.kernels.library import Packed
from engine.loaded_model import LoadedModel, load_model
from engine.messages import LoadOptions, MachineReport
from engine.model.converted import Conversion
from engine.model.decoder import Decoder
from engine.model.weight_format import weight_format
from engine.model_file import open_model
from engine.modes import in_mode
from engine.placement import ColumnsPlan, PlacementPlan, ResidentPlan, SplitPlan
from engine.placement.columns import NO_COLUMNS
from engine.placement.device import Link
from engine.placement.plan import Sizes
from engine.placement.source import TargetSource
from engine.planning.cost_model import TargetCost
from engine.planning.machine_speeds import (
    FUSED_LAYER_OPERATORS,
    PACKED_LAYER_OPERATORS,
    machine_speeds,
    read_room,
)
from engine.planning.model_facts import target_facts
from engine.planning.probes.host_speed import operator_seconds
from engine.run import settle
from engine.training.calibration import forward_seconds
from engine.weights.checkpoint import Checkpoint
from tests.support.matrices import matrix

_BEYOND_CACHES_BYTES = 1_500_000_000
_PROMPT_TOKENS = 128
_TURNS = 3
_PAPER_TAU = (1.0, 1.72, 2.28, 2.59, 2.93, 3.19, 3.34)

Unit = Callable[[int], None]


class Halves:
    """Two threads, each with its half of an MLP's matrices.

    Args:
        name: Of the block type.
        hidden: Inputs and outputs.
        inner: Activations.
    """

    def __init__(self, name: str, hidden: int, inner: int) -> None:
        half = inner // 2
        one = [matrix(name, inner, hidden), matrix(name, hidden // 2, inner), matrix(name, hidden, half)]
        count = 1 + _BEYOND_CACHES_BYTES // (2 * (one[0].size_bytes + one[1].size_bytes))
        # For each copy and unit: gate and up, down by columns, and down by rows.
        self.copies = [[[_copy(packed) for packed in one] for _ in range(2)] for _ in range(count)]
        self._hidden, self._inner = hidden, inner
        self._both = threading.Barrier(2)

    def by_columns(self, x: Tensor, copy: int, activations: Tensor, out: Tensor, unit: int) -> None:
        """One unit's part of the MLP by columns and columns."""
        gate_up, down, _ = self.copies[copy][unit]
        half, width = self._inner // 2, self._hidden // 2
        activations[:, unit * half : (unit + 1) * half] = _activated(blocks.matmul(gate_up, x, threads=1))
        self._both.wait()
        out[:, unit * width : (unit + 1) * width] = blocks.matmul(down, activations, threads=1)
        self._both.wait()

    def by_rows(self, x: Tensor, copy: int, sums: list[Tensor], out: Tensor, unit: int) -> None:
        """One unit's part of the MLP by columns and rows, of which it adds up its half."""
        gate_up, _, down = self.copies[copy][unit]
        width = self._hidden // 2
        own = _activated(blocks.matmul(gate_up, x, threads=1))
        sums[unit] = blocks.matmul(down, own, threads=1)
        self._both.wait()
        part = slice(unit * width, (unit + 1) * width)
        torch.add(sums[0][:, part], sums[1][:, part], out=out[:, part])
        self._both.wait()

    def seconds(self, width: int) -> tuple[float, float]:
        """Of an MLP of so many rows by columns, and by columns and rows; medians over all copies, in turns."""
        x = torch.randn(width, self._hidden)
        activations, out = torch.empty(width, self._inner), torch.empty(width, self._hidden)
        sums = [out, out]
        taken: tuple[list[float], list[float]] = ([], [])

        def run(unit: int) -> None:
            torch.set_num_threads(1)
            for _ in range(_TURNS):
                for copy in range(len(self.copies)):
                    for ways, way in zip(taken, (self.by_columns, self.by_rows), strict=True):
                        self._both.wait()
                        begun = time.perf_counter()
                        way(x, copy, activations if way == self.by_columns else sums, out, unit)  # type: ignore[operator]
                        if unit == 0:
                            ways.append(time.perf_counter() - begun)

        units = [threading.Thread(target=run, args=(unit,)) for unit in range(2)]
        for each in units:
            each.start()
        for each in units:
            each.join()
        return median(taken[0]), median(taken[1])


def _copy(packed: Packed) -> Packed:
    return replace(packed, data=packed.data.clone())


def _activated(gate_up: Tensor) -> Tensor:
    gate, up = gate_up.chunk(2, -1)
    return functional.silu(gate) * up


def mlp(names: list[str], hidden: int, inner: int) -> None:
    """Print what an MLP takes, divided in both ways."""
    print(f"{library.available()}, {hidden} of {inner}, two threads")
    print("| type | rows | columns and columns, ms | columns and rows, ms | of it |")
    print("|---|---|---|---|---|")
    for name in names:
        halves = Halves(name, hidden, inner)
        for width in (1, 4, 16, 64):
            columns_s, rows_s = halves.seconds(width)
            print(
                f"| {name} | {width} | {1e3 * columns_s:.2f} | {1e3 * rows_s:.2f} | {columns_s / rows_s:.2f} |",
                flush=True,
            )


def divided(model: LoadedModel, folder: Path) -> Decoder:
    """The same model by columns, with none of them on the GPU."""
    config, weights = model.target.config, model.plan.weights
    conversion = Conversion(Checkpoint(folder), config, weights, cache_folder() / "packed")
    source = TargetSource(conversion, Link(torch.device("cpu")), lambda done, total: None, lambda: None)
    plan = ColumnsPlan.of(Sizes(config, weights, model.plan.context), NO_COLUMNS)
    return Decoder(config, plan.load(source).placement)


def operators(model: str, weights: str, threads: int, count: int) -> None:
    """Print what forwards take in the kernel library and on torch's operators."""
    loaded = load_model(settle(in_mode("plain", LoadOptions(model=model, weights=weights, threads=threads))))
    config, tokens = loaded.target.config, list(range(3, 3 + _PROMPT_TOKENS))
    sequences = []
    for decoder in (loaded.target.decoder, divided(loaded, find_model(model))):
        assert decoder is not None
        sequences.append(TokenSequence(Target(decoder), _PROMPT_TOKENS + WIDTHS[-1]))
        sequences[-1].prefill(tokens, lambda: None)
    turns = [[forward_seconds(sequence, WIDTHS) for sequence in sequences] for _ in range(count)]
    operator_s = operator_seconds(torch.device("cpu"))
    counted_s = (PACKED_LAYER_OPERATORS - FUSED_LAYER_OPERATORS) * config.layers * operator_s
    print(
        f"{loaded.report.name}, {loaded.report.weights}, {library.available()}, {threads} threads; the planner "
        f"counts {1e3 * counted_s:.2f} ms and the rows' own"
    )
    print("| rows | kernel library, ms | operators, ms | longer by, ms | of a layer, us |")
    print("|---|---|---|---|---|")
    for width in WIDTHS:
        fused_s, single_s = (median(turn[at][width] for turn in turns) for at in range(2))
        more_s = single_s - fused_s
        cells = f"{1e3 * fused_s:.2f} | {1e3 * single_s:.2f} | {1e3 * more_s:.2f} | {1e6 * more_s / config.layers:.0f}"
        print(f"| {width} | {cells} |", flush=True)


def simulated(machine: Path, folder: str, weights: str) -> None:
    """Print what a machine's report comes to."""
    report = from_plain(MachineReport, json.loads(machine.read_text(encoding="utf-8")))
    target = target_facts(open_model(folder))
    sizes = Sizes(target.config, weight_format(weights), 4096)
    room = read_room(report, LoadOptions())
    gpu = next(gpu for gpu in report.gpus if gpu.device == room.device)
    speeds = machine_speeds(report, gpu)

    def seconds(plan: PlacementPlan | None, width: int) -> float | None:
        if plan is None:
            return None
        return TargetCost(target, sizes.weights, plan, speeds, position=512).forward_s(width)

    print(f"{machine.stem}, {target.name}, {weights}: computed, not run")
    print(
        "| rows | CPU, ms | layers on the GPU, ms | columns, ms | GPU's share: "
        + "qkv, output, gate and up, down, head; rows of attention | tok/s: CPU | layers | columns |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for width, tau in zip(WIDTHS, _PAPER_TAU, strict=True):
        columns = ColumnsPlan.fit(sizes, replace(room, width=width), target.config.layers)
        plans = (ResidentPlan.fit(sizes, room, 0), SplitPlan.fit(sizes, room, target.config.layers), columns)
        found = [seconds(plan, width) for plan in plans]
        times = " | ".join("" if each is None else f"{1e3 * each:.0f}" for each in found)
        rates = " | ".join("" if each is None else f"{tau / each:.1f}" for each in found)
        shares = "" if columns is None else ", ".join(f"{ratio:.2f}" for ratio in vars(columns.ratios).values())
        rows = "" if columns is None else f"; {columns.boundary.share:.2f}"
        print(f"| {width} | {times} | {shares}{rows} | {rates} |")


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("mlp", "operators", "simulated"))
    parser.add_argument("--types", nargs="+", default=["Q8_0", "BF16"])
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--inner", type=int, default=11008)
    parser.add_argument("--model", default="smollm2", help="of simulated, a folder with a config.json will do")
    parser.add_argument("--weights", default="auto")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=_TURNS)
    parser.add_argument("--machine", type=Path, help="its `tenon doctor --json`")
    options = parser.parse_args()
    if options.what == "mlp":
        mlp(options.types, options.hidden, options.inner)
    elif options.what == "operators":
        operators(options.model, options.weights, options.threads, options.turns)
    else:
        simulated(options.machine, options.model, options.weights)


if __name__ == "__main__":
    main()
