"""A model larger than the memory it may take: streaming, LLMCad and its parts, beside what reads layer by layer.

    python -m tests.benchmarks.streaming --work DIR [--size 2.4e9] [--budget 0.25] [--accelerate FOLDER] [--json]
    python -m tests.benchmarks.streaming --work DIR --sweep [--json]

The target is the guide inflated (`engine.training.inflate`), 4.8 GB in bfloat16 at the default size, and the draft its
own, inflated to 7 % of it. The budget is a share of the target's bytes in the weight format. Each reply is made by a
process of its own (`tenon ask --json`, or `tests.benchmarks.layer_by_layer`), greedily, so that its peak of memory is
its own; where control groups can be made, in one that holds it and the page cache of what it reads to the budget, 5 %
more, and what the engine leaves to other programs.

Rows: the target with all the memory there is; ``naive``, which reads every layer for every token, and accelerate's disk
offload, both in bfloat16; then Tenon within the budget: without a draft, with chains of fixed length, and with LLMCad's
trees, its adaptive fallback and its drafting ahead added in turn (the paper's figure 15; Xu et al. 2023, section 4).
The prompt's own forward is left out of s/token, and counted in GB read. ``same`` is the share of replies that are the
first row's token for token. --sweep has the second and the last of Tenon's rows at budgets from an eighth of the model
to all of it.

accelerate is no part of Tenon's requirements: `pip install --no-deps --target FOLDER accelerate`, and name the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.kernels import library
from engine.model.config import read_config
from engine.model.footprint import weight_bytes
from engine.model.weight_format import weight_format
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.prompts import PROMPTS
from tests.benchmarks.speculation_models import SMALL_MODEL, TARGET, prepare_pair
from tests.support.memory_cage import enter, memory_cage

RESIDENT, NAIVE, ACCELERATE, STREAMING = "resident", "naive", "accelerate", "streaming"
_LLMCAD = ("--mode", "llmcad")
#: Tenon's rows: name and options beside those of every row.
TENON_ROWS: dict[str, tuple[str, ...]] = {
    RESIDENT: ("--mode", "plain"),
    STREAMING: ("--mode", "plain"),
    "linear speculation": (*_LLMCAD, "--no-branching", "--no-adaptive-fallback", "--no-draft-ahead"),
    "LLMCad: trees": (*_LLMCAD, "--no-adaptive-fallback", "--no-draft-ahead"),
    "LLMCad: trees, fallback": (*_LLMCAD, "--no-draft-ahead"),
    "LLMCad whole": _LLMCAD,
}
WHOLE = "LLMCad whole"
SWEEP = (0.125, 0.25, 0.5, 0.75, 1.0)
# What the budget may be exceeded by, as the engine promises, and what it leaves to other programs in any group.
_TOLERANCE = 1.05
_LEFT_BYTES = 300_000_000
_MIN_PEER_BYTES = 50_000_000
# What transformers and torch take before a model is loaded, left out of what accelerate may keep in memory.
_PEER_BASELINE_BYTES = 400_000_000


@dataclass(frozen=True)
class Figures:
    """One row at one budget, over all prompts.

    Attributes:
        budget: Share of the target's bytes; None where there is no limit.
        verifications: Forwards of the target for 100 tokens.
        same: Share of replies that are the resident target's token for token; None where that was not measured.
    """

    row: str
    budget: float | None
    s_per_token: float
    speedup_over_naive: float | None
    read_gb_per_token: float
    tau: float
    verifications: float
    peak_mb: float
    same: float | None


def run(command: Sequence[str], cage_bytes: int | None, python_path: str | None = None) -> dict[str, Any]:
    """The JSON that a command prints, run in a memory cage where one can be made.

    Raises:
        RuntimeError: it failed, with the last line it printed.
    """
    environment = dict(os.environ)
    if python_path is not None:
        environment["PYTHONPATH"] = os.pathsep.join([python_path, environment.get("PYTHONPATH", "")])
    with memory_cage(cage_bytes or 1 << 60) as entrance:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            env=environment,
            capture_output=True,
            text=True,
            preexec_fn=lambda: enter(entrance if cage_bytes is not None else None),
        )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise RuntimeError(said[-1] if said else f"ended with {done.returncode}, without a word")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


class Bench:
    """The models, and what every row is run with."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        folders = {TARGET: options.target, SMALL_MODEL: options.draft}
        if options.target is None or options.draft is None:
            folders |= {
                name: folder
                for name, folder in prepare_pair(options.work, options.size).items()
                if folders[name] is None
            }
        self.target, self.draft = folders[TARGET], folders[SMALL_MODEL]
        config = read_config(Checkpoint(self.target))
        self.bytes = weight_bytes(config, weight_format(options.weights))
        self.prompts = [PROMPTS[kind][0] for kind in options.kinds]

    def replies(self, row: str, budget: float | None) -> list[dict[str, Any]]:
        """A reply to each prompt.

        Raises:
            RuntimeError: why the row cannot be measured.
        """
        allowed = None if budget is None else int(budget * self.bytes)
        cage = None if allowed is None else int(allowed * _TOLERANCE) + _LEFT_BYTES
        return [run(self._command(row, prompt, allowed), cage, self._path(row)) for prompt in self.prompts]

    def _path(self, row: str) -> str | None:
        return str(self.options.accelerate) if row == ACCELERATE else None

    def _command(self, row: str, prompt: str, allowed: int | None) -> list[str]:
        options = self.options
        common = ["--model", str(self.target), "--max-tokens", str(options.max_tokens)]
        common += ["--threads", str(options.threads)]
        if row in (NAIVE, ACCELERATE):
            if row == ACCELERATE and options.accelerate is None:
                raise RuntimeError("--accelerate does not say where accelerate is installed")
            kept = max(_MIN_PEER_BYTES, (allowed or 0) - _PEER_BASELINE_BYTES)
            peer = ["tests.benchmarks.layer_by_layer", row, "--prompt", prompt, "--memory", str(kept)]
            return [*peer, *common]
        command = ["app", "ask", prompt, "--json", "--temperature", "0", "--context", "1024", *common]
        command += ["--weights", options.weights, *TENON_ROWS[row]]
        if "llmcad" in TENON_ROWS[row]:
            command += ["--draft", str(self.draft)]
        return command if allowed is None else [*command, "--ram-budget", str(allowed)]


def figures(
    row: str,
    budget: float | None,
    replies: list[dict[str, Any]],
    resident: list[dict[str, Any]] | None,
    naive_s: float | None,
) -> Figures:
    """What the replies of a row come to; each prompt counts once."""
    seconds = [_decoded_s(reply) for reply in replies]
    # Not reported where nothing was decoded beyond the first token.
    taus = [reply["timings"]["mean_acceptance_length"] or 1.0 for reply in replies]
    s_per_token, tau = statistics.mean(seconds), statistics.mean(taus)
    read = [reply["memory"]["disk_read_bytes"] / len(reply["token_ids"]) for reply in replies]
    same = None
    if resident is not None:
        pairs = zip(replies, resident, strict=True)
        same = statistics.mean(float(one["token_ids"] == other["token_ids"]) for one, other in pairs)
    return Figures(
        row=row,
        budget=budget,
        s_per_token=s_per_token,
        speedup_over_naive=None if naive_s is None else naive_s / s_per_token,
        read_gb_per_token=statistics.mean(read) / 1e9,
        tau=tau,
        verifications=statistics.mean(100 / each for each in taus),
        peak_mb=max(reply["memory"]["resident_peak_bytes"] for reply in replies) / 1e6,
        same=same,
    )


def _decoded_s(reply: dict[str, Any]) -> float:
    """Seconds for each token behind the first."""
    timings = reply["timings"]
    seconds: float = timings["predicted_ms"] / 1e3 / max(1, timings["predicted_n"] - 1)
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", metavar="DIR", type=Path, default=Path("."), help="a folder for the models: 15 GB"
    )
    parser.add_argument("--size", type=float, default=2.4e9, help="the target's parameters")
    parser.add_argument("--target", metavar="FOLDER", type=Path, help="one that was inflated already")
    parser.add_argument("--draft", metavar="FOLDER", type=Path, help="a small model for it")
    parser.add_argument("--weights", default="bf16", choices=("fp32", "bf16", "q8_0", "q4_k_m"))
    parser.add_argument("--budget", type=float, default=0.25, help="share of the target's bytes")
    parser.add_argument(
        "--sweep", action="store_true", help="measure streaming and LLMCad at several budgets"
    )
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="only rows whose names begin so")
    parser.add_argument("--kinds", nargs="+", default=list(PROMPTS), choices=list(PROMPTS))
    parser.add_argument("--max-tokens", type=int, default=48)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--accelerate", metavar="FOLDER", type=Path, help="where accelerate is installed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench(options)
    table: list[tuple[str, float | None]] = [(RESIDENT, None)]
    if options.sweep:
        table += [(row, budget) for budget in SWEEP for row in (STREAMING, WHOLE)]
    else:
        rows = (NAIVE, ACCELERATE, *(row for row in TENON_ROWS if row != RESIDENT))
        table += [(row, options.budget) for row in rows]
    if options.rows:
        table = [(row, budget) for row, budget in table if row.startswith(tuple(options.rows))]

    def say(line: str) -> None:
        if not options.json:
            print(line, flush=True)

    with memory_cage(1 << 60) as entrance:
        caged = entrance is not None
    if not caged:
        say("No control group can be made here, so the page cache is not limited.")
    say(_line("", ("budget", "s/token", "x naive", "GB/token", "tau", "per 100", "peak MB", "same")))
    results: list[Figures] = []
    unmeasured: dict[str, str] = {}
    resident: list[dict[str, Any]] | None = None
    naive_s: float | None = None
    for row, budget in table:
        try:
            replies = bench.replies(row, budget)
        except RuntimeError as error:
            unmeasured[f"{row} at {budget}"] = str(error)
            say(f"{row}: not measured: {error}")
            continue
        if row == RESIDENT:
            resident = replies
        if row == NAIVE:
            naive_s = statistics.mean(map(_decoded_s, replies))
        results.append(figures(row, budget, replies, resident, naive_s))
        say(_figures_line(results[-1]))
    if options.json:
        machine = {"kernels": library.available(), "threads": options.threads, "page cache limited": caged}
        asked = {"target": str(bench.target), "target_bytes": bench.bytes, "weights": options.weights}
        found = [asdict(each) for each in results]
        print(json.dumps({"machine": machine, "asked": asked, "results": found, "unmeasured": unmeasured}))


def _figures_line(each: Figures) -> str:
    return _line(
        each.row,
        (
            "" if each.budget is None else f"{each.budget:.3g}",
            f"{each.s_per_token:.3f}",
            "" if each.speedup_over_naive is None else f"{each.speedup_over_naive:.2f}",
            f"{each.read_gb_per_token:.2f}",
            f"{each.tau:.2f}",
            f"{each.verifications:.0f}",
            f"{each.peak_mb:.0f}",
            "" if each.same is None else f"{each.same:.0%}",
        ),
    )


def _line(row: str, cells: tuple[str, ...]) -> str:
    return f"{row:26}" + "".join(f"{cell:>10}" for cell in cells)


if __name__ == "__main__":
    main()
