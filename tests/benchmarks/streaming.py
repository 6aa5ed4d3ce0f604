"""A file larger than the memory it may take: streaming, lookup, LLMCad and its parts, beside llama.cpp.

    python -m tests.benchmarks.streaming --work DIR [--parameters 7.6e9] [--budget 0.4] [--json]
    python -m tests.benchmarks.streaming --work DIR --sweep [--json]

The target is the bundled model widened (`tests.benchmarks.widened_model`), 4.8 GB at the default size, so it says what
that says of real prompts. The budget is a share of the file. Each reply is made by a process of its own (`tenon ask
--json`), greedily, so that its peak of memory is its own; where control groups can be made, in one that holds it and
the page cache of what it reads to the budget, 5 % more, and what the engine leaves to other programs.

Rows: the target with all the memory there is; llama.cpp, which maps the same file, in the same group; then Tenon within
the budget: without a draft, with lookup, and with chains of fixed length, with LLMCad's trees, its adaptive fallback
and its drafting ahead added in turn (the paper's figure 15; Xu et al. 2023, section 4). LLMCad's draft is the bundled
model, and the target says what it says: nearly every guess holds, so these rows show what reading and rounds cost, and
no draft of another model has their tau. The prompt's own forward is left out of s/token, and counted in GB read.
``same`` is the share of replies that are the first row's token for token. --sweep has streaming and the whole of LLMCad
at budgets from an eighth of the file to all of it.
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

from engine.hub.installed import find_model
from engine.kernels import library
from tests.benchmarks.lookup_prompts import PROMPTS
from tests.benchmarks.widened_model import widen
from tests.support.memory_cage import enter, memory_cage

RESIDENT, LLAMA_CPP, STREAMING = "resident", "llama.cpp", "streaming"
_LLMCAD = ("--mode", "llmcad")
# Techniques that a row does without.
_WITHOUT = {
    "linear speculation": "branching,adaptive_fallback,draft_ahead",
    "LLMCad: trees": "adaptive_fallback,draft_ahead",
    "LLMCad: trees, fallback": "draft_ahead",
}
#: Tenon's rows: name and options beside those of every row.
TENON_ROWS: dict[str, tuple[str, ...]] = {
    RESIDENT: ("--mode", "plain"),
    STREAMING: ("--mode", "plain"),
    "lookup": ("--mode", "lookup"),
    **dict.fromkeys(_WITHOUT, _LLMCAD),
    "LLMCad whole": _LLMCAD,
}
WHOLE = "LLMCad whole"
SWEEP = (0.125, 0.25, 0.5, 0.75, 1.0)
# Share of the budget that may be taken, as the engine promises, and bytes that it leaves to other programs.
_TOLERANCE = 1.05
_LEFT_BYTES = 300_000_000


@dataclass(frozen=True)
class Figures:
    """One row at one budget, over all prompts.

    Attributes:
        budget: Share of the file; None where there is no limit.
        verifications: Forwards of the target for 100 tokens.
        same: Share of replies that are the resident target's token for token; None where that was not measured.
    """

    row: str
    budget: float | None
    s_per_token: float
    times_streaming: float | None
    read_gb_per_token: float
    tau: float
    verifications: float
    peak_mb: float
    same: float | None


def run(command: Sequence[str], cage_bytes: int | None) -> dict[str, Any]:
    """The JSON that a command prints, run in a memory cage where one can be made.

    Raises:
        RuntimeError: it failed, with the last line it printed.
    """
    with memory_cage(cage_bytes or 1 << 60) as entrance:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            capture_output=True,
            text=True,
            preexec_fn=lambda: enter(entrance if cage_bytes is not None else None),
        )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise RuntimeError(said[-1] if said else f"ended with {done.returncode}, without a word")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def cage_for(allowed_bytes: int) -> int:
    """What a process may take, its own libraries and the page cache of what it reads included."""
    return int(allowed_bytes * _TOLERANCE) + _LEFT_BYTES


def drop_from_page_cache(path: Path) -> None:
    """Pages that another process brought in are charged to its group: a mapping would have them beside its own."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Bench:
    """The models, and what every row is run with."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.target = options.target or options.work / f"widened-{options.parameters:.3g}.gguf"
        if not self.target.exists():
            widen(find_model(options.draft), self.target, options.parameters)
        self.bytes = self.target.stat().st_size
        self.prompts = [PROMPTS[kind][0] for kind in options.kinds]

    def replies(self, row: str, budget: float | None) -> list[dict[str, Any]]:
        """A reply to each prompt.

        Raises:
            RuntimeError: why the row cannot be measured.
        """
        allowed = None if budget is None else int(budget * self.bytes)
        cage = None if allowed is None else cage_for(allowed)
        found = []
        for prompt in self.prompts:
            drop_from_page_cache(self.target)
            found.append(run(self._command(row, prompt, allowed), cage))
        return found

    def _command(self, row: str, prompt: str, allowed: int | None) -> list[str]:
        options = self.options
        common = ["--model", str(self.target), "--max-tokens", str(options.max_tokens)]
        common += ["--threads", str(options.threads)]
        if row == LLAMA_CPP:
            return ["tests.benchmarks.llama_cpp_peer", *common]
        without = _WITHOUT.get(row)
        command = [
            *(["app"] if without is None else ["tests.benchmarks.llmcad_without", without]),
            "ask",
            prompt,
            "--json",
            "--temperature",
            "0",
            "--context",
            "512",
            "--kv-cache",
            "full",
            *common,
        ]
        command += TENON_ROWS[row]
        if "llmcad" in TENON_ROWS[row]:
            command += ["--draft", options.draft]
        return command if allowed is None else [*command, "--ram-budget", str(allowed)]


def figures(
    row: str,
    budget: float | None,
    replies: list[dict[str, Any]],
    resident: list[dict[str, Any]] | None,
    streaming_s: float | None,
) -> Figures:
    """Figures of a row's replies; each prompt counts once."""
    seconds = [_decoded_s(reply) for reply in replies]
    # Not reported where nothing was decoded beyond the first token.
    taus = [reply["timings"]["mean_acceptance_length"] or 1.0 for reply in replies]
    s_per_token, tau = statistics.mean(seconds), statistics.mean(taus)
    read = [reply["memory"]["disk_read_bytes"] / reply["timings"]["predicted_n"] for reply in replies]
    same = None
    if resident is not None and row != LLAMA_CPP:
        pairs = zip(replies, resident, strict=True)
        same = statistics.mean(float(one["token_ids"] == other["token_ids"]) for one, other in pairs)
    return Figures(
        row=row,
        budget=budget,
        s_per_token=s_per_token,
        times_streaming=None if streaming_s is None else streaming_s / s_per_token,
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", metavar="DIR", type=Path, default=Path("."), help="a folder for the target, 5 GB")
    parser.add_argument("--parameters", type=float, default=7.6e9, help="the target's")
    parser.add_argument("--target", metavar="FILE", type=Path, help="one that was widened already")
    parser.add_argument("--draft", metavar="REF", default="smollm2", help="what was widened, and drafts for it")
    parser.add_argument("--budget", type=float, default=0.4, help="share of the target's bytes")
    parser.add_argument("--sweep", action="store_true", help="measure streaming and LLMCad at several budgets")
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="only rows whose names begin so")
    parser.add_argument("--kinds", nargs="+", default=["chat", "code", "quote"], choices=list(PROMPTS))
    parser.add_argument("--max-tokens", type=int, default=24)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench(options)
    table: list[tuple[str, float | None]] = [(RESIDENT, None)]
    if options.sweep:
        table += [(row, budget) for budget in SWEEP for row in (STREAMING, WHOLE)]
    else:
        rows = (STREAMING, LLAMA_CPP, *(row for row in TENON_ROWS if row not in (RESIDENT, STREAMING)))
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
    say(_line("", ("budget", "s/token", "x stream", "GB/token", "tau", "per 100", "peak MB", "same")))
    results: list[Figures] = []
    unmeasured: dict[str, str] = {}
    resident: list[dict[str, Any]] | None = None
    streaming_s: float | None = None
    for row, budget in table:
        try:
            replies = bench.replies(row, budget)
        except RuntimeError as error:
            unmeasured[f"{row} at {budget}"] = str(error)
            say(f"{row}: not measured: {error}")
            continue
        if row == RESIDENT:
            resident = replies
        if row == STREAMING:
            streaming_s = statistics.mean(map(_decoded_s, replies))
        results.append(figures(row, budget, replies, resident, streaming_s))
        say(_figures_line(results[-1]))
    if options.json:
        machine = {"kernels": library.available(), "threads": options.threads, "page cache limited": caged}
        asked = {"target": str(bench.target), "target_bytes": bench.bytes}
        found = [asdict(each) for each in results]
        print(json.dumps({"machine": machine, "asked": asked, "results": found, "unmeasured": unmeasured}))


def _figures_line(each: Figures) -> str:
    return _line(
        each.row,
        (
            "" if each.budget is None else f"{each.budget:.3g}",
            f"{each.s_per_token:.3f}",
            "" if each.times_streaming is None else f"{each.times_streaming:.2f}",
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
