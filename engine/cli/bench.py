"""``tenon bench``: measure what a model does on this machine in each mode."""

from __future__ import annotations

import argparse
import io
import queue
import sys
from contextlib import closing
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from engine.cli.subcommand import add_json, add_load_options, as_json, load_options, on_interrupt, show_status
from engine.errors import InvalidOption
from engine.messages import Event, LoadOptions
from engine.modes import MODES, in_mode, named_drafts

if TYPE_CHECKING:
    from engine.benchmark import BenchmarkEvent
    from engine.messages import BenchmarkRow

# Replies that heads are calibrated on: most of them, and the time for writing twice over.
_CALIBRATION_TEXTS, _CALIBRATION_MINUTES = 64, 2.0


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    bench = commands.add_parser(
        "bench",
        help="measure what a model does in each mode",
        description="Run the same prompts in every usable mode, say how fast each was, and keep the figures for "
        "predictions. Ctrl+C ends it early.",
    )
    bench.set_defaults(run=_bench)
    add_load_options(bench)
    bench.add_argument(
        "--modes",
        metavar="MODE",
        nargs="+",
        choices=list(MODES),
        help="these modes instead of all that can run here",
    )
    bench.add_argument("--max-tokens", metavar="N", type=int, default=64, help="of each reply (default: %(default)s)")
    bench.add_argument("--threads", metavar="N", type=int, help="CPU threads")
    add_json(bench)


def _bench(options: argparse.Namespace) -> int:
    from engine import Engine
    from engine.benchmark import Benchmark, BenchmarkFinished, BenchmarkProgress
    from engine.planning.hardware import measure_report
    from engine.planning.planner import model_planner
    from engine.request import check_limit

    check_limit(options.max_tokens)
    wanted = load_options(options, threads=options.threads)
    measure_report(lambda what, share: show_status(f"Measuring the machine ({share:.0%}) {what}"))
    if options.modes is None or "ghidorah" in options.modes:
        _calibrate(wanted)
    plan = model_planner(wanted).plan
    planned = {mode.mode: mode.drafts for mode in plan.modes if not mode.refusal}
    # A plan has the drafts of its mode, among those that are there for all modes.
    words = tuple(draft for draft in wanted.drafts if draft not in named_drafts(wanted.drafts))
    modes = {
        name: _asked(name, replace(wanted, drafts=words) if name in planned else wanted, planned.get(name, ()))
        for name in options.modes or planned
    }
    events: queue.Queue[Event] = queue.Queue()
    finished: list[BenchmarkFinished] = []

    def told(event: BenchmarkEvent) -> None:
        if isinstance(event, BenchmarkFinished):
            finished.append(event)
        elif isinstance(event, BenchmarkProgress):
            loading = "" if event.load_share is None else f", loading {event.load_share:.0%}"
            show_status(f"{event.mode}: {event.done} of {event.total} replies{loading}")

    engine = Engine(events.put)
    benchmark = Benchmark(modes, engine.submit, told, max_tokens=options.max_tokens)
    with on_interrupt(benchmark.cancel), closing(engine):
        benchmark.start()
        while not benchmark.over:
            benchmark.take(events.get())
    show_status()
    if not as_json(options, asdict(finished[0])):
        print("\n".join(_table(finished[0].rows)))
    return 130 if finished[0].cancelled else 0


def _asked(mode: str, wanted: LoadOptions, drafts: tuple[str, ...]) -> LoadOptions | str:
    """Return the draft and the memory of a mode, or why it cannot run."""
    try:
        return in_mode(mode, wanted, drafts)
    except InvalidOption as error:
        return error.message


def _calibrate(wanted: LoadOptions) -> None:
    """Calibrate Medusa heads on replies of the model if that was not done with these on this machine."""
    from engine.errors import TenonError
    from engine.planning.planner import model_planner
    from engine.training.calibration import TreeRequest, run

    planner = model_planner(wanted)
    mode = planner.plan.mode("ghidorah")
    if mode.refusal or any(width.measured for width in mode.widths):
        return
    show_status("Trying the Medusa heads on replies of the model: 2 minutes at most ...")
    request = TreeRequest(
        model=wanted.model,
        draft=mode.drafts[0],
        data=None,
        generate=_CALIBRATION_TEXTS,
        minutes=_CALIBRATION_MINUTES,
        threads=wanted.threads,
    )
    try:
        run(request, io.StringIO())  # without its tables, which only a search for trees needs
    except TenonError as error:  # the modes are measured all the same
        print(error.message, file=sys.stderr)


def _table(rows: tuple[BenchmarkRow, ...]) -> list[str]:
    heads = (
        f"{'mode':<15}{'tok/s':>8}{'promised':>16}{'first token':>19}{'memory':>19}{'tokens/round':>14}{'accepted':>10}"
    )
    lines = [heads]
    for row in sorted(rows, key=lambda row: -(row.tokens_per_second or 0.0)):
        if row.refusal is not None:
            lines.append(f"{row.mode:<15}{row.refusal}")
            continue
        first = "" if row.first_token_ms is None else f"{row.first_token_ms / 1e3:.2g} s{_off(row, 'first token')}"
        promised = _figure(row.predicted_per_second) + _off(row, "speed")
        memory = f"{row.peak_bytes / 1e9:.3g} GB{_off(row, 'memory')}"
        accepted = "" if row.acceptance_rate is None else f"{row.acceptance_rate:.0%}"
        busy = "  while other programs kept the machine busy" if row.busy else ""
        lines.append(
            f"{row.mode:<15}{_figure(row.tokens_per_second):>8}{promised:>16}{first:>19}{memory:>19}"
            f"{_figure(row.tokens_per_round):>14}{accepted:>10}{busy}"
        )
    quiet = [row.errors for row in rows if row.errors and not row.busy]
    if quiet:
        worst = (
            f"{what} {max(abs(one[what]) for one in quiet if what in one):.0%}" for what in dict.fromkeys(chain(*quiet))
        )
        lines += ["", f"In brackets: promised too much or too little. At most: {', '.join(worst)}."]
    return lines


def _off(row: BenchmarkRow, what: str) -> str:
    return f" ({row.errors[what]:+.0%})" if what in row.errors else ""


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
