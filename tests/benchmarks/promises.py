"""Promises of plans beside what came: speed, time to the first token, and memory.

    python -m tests.benchmarks.promises --folder FOLDER [--models NAME[+DRAFT] ...] [--modes NAME ...]
        [--budgets SHARE ...] [--disk GB_PER_S]

A piece is a model in a mode with all memory (1) or with a share of its file. It has a cache folder of its own and two
processes: the first has no profile, and the second has what the first one's replies taught. A process loads with a
short reply, whose promise is compared with replies to a prompt of each standard kind and to a long one. The folder
keeps the machine's speeds and what was measured, so that a call goes on where the last one ended. Replies that other
programs disturbed are left out, and pieces that have such are measured again by the next call. So are processes that
ran while the memory was faster or slower than it was measured to be, by more than a tenth (other guests of a virtual
machine's host take its speed, and no program sees them): the last lines are of all processes, and of the steady
ones alone.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import numpy

from engine.benchmark import STANDARD_PROMPTS, promise_errors
from engine.engine import Engine
from engine.hub.bundled import bundled_drafts
from engine.hub.installed import find_model
from engine.messages import ChatMessage, Event, Failed, Finished, Generate, LoadOptions, Reply, SamplingOptions
from engine.modes import AUTO, MODES, in_mode
from engine.planning.hardware import measure_report, process_bytes
from engine.planning.probes.host_speed import memory_bytes_per_s
from tests.support.fetched import folder
from tests.support.slow_disk import slow_down

TEXT = (Path(__file__).parent / "texts" / "handbook.txt").read_text(encoding="utf-8")
CONTEXT = 3072
PHASES = ("fresh", "taught")
FIGURES = ("speed", "first token", "memory")
BUFFER_BYTES, STEADY = 256 * 2**20, 0.1
#: Models; behind a plus sign the draft of one for which none is bundled.
MODELS = (
    "smollm2",
    "gemma-3-270m-q4_k_m.gguf",
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf+qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
)


def replies(model: str, mode: str, share: float, phase: str, tokens: int, long: int) -> list[Reply]:
    """Return the reply that loads, and those that its promise is compared with."""
    events: queue.Queue[Event] = queue.Queue()
    model, *named = model.split("+")
    drafts = tuple(_place(draft) for draft in named if mode == AUTO or MODES[mode].drafts)
    options = LoadOptions(_place(model), drafts=drafts, context=CONTEXT)
    if share < 1:
        budget = process_bytes() + int(share * Path(find_model(options.model)).stat().st_size)
        options = LoadOptions(options.model, drafts=drafts, context=CONTEXT, ram_budget_bytes=budget)
    own = [texts[PHASES.index(phase)] for texts in STANDARD_PROMPTS.values()]
    asked = ["Hello!", *own, TEXT[PHASES.index(phase) * long :][:long]]
    found = []
    with closing(Engine(events.put)) as engine:
        for number, text in enumerate(asked):
            request = Generate(
                str(number),
                in_mode(mode, options),
                messages=(ChatMessage("user", text),),
                max_tokens=tokens if number else 12,
                sampling=SamplingOptions(temperature=0.0, repetition_penalty=1.0),
            )
            engine.submit(request)
            while not isinstance(event := events.get(), Finished | Failed):
                pass
            if isinstance(event, Failed):
                raise SystemExit(event.error.message)
            found.append(event.reply)
    return found


def errors(found: list[Reply], disturbed: bool) -> dict[str, Any]:
    """Return the errors of a process: of the first promise's speed, and of each reply's first token and memory."""
    first, *others = found
    quiet = [reply for reply in others if disturbed or not reply.busy]
    promise = first.plan.promise
    spent_ms = sum(reply.timings.predicted_ms for reply in quiet)
    speed = 1e3 * sum(reply.timings.predicted_n - 1 for reply in quiet) / spent_ms if quiet else 0.0
    return {
        "busy": len(others) - len(quiet),
        "rough": promise.rough,
        "promised": promise.tokens_per_second,
        "came": speed,
        "speed": [(promise.tokens_per_second or 0.0) / speed - 1.0] if quiet else [],
        "first token": [promise_errors(reply)["first token"] for reply in quiet],
        "memory": [promise_errors(reply)["memory"] for reply in others],
        "replies": [
            (reply.timings.prompt_n, reply.timings.time_to_first_token_ms, reply.timings.predicted_per_second,
             reply.memory.resident_bytes, reply.memory.resident_peak_bytes,
             reply.plan.promise and reply.plan.promise.memory_bytes)
            for reply in others
        ],
    }  # fmt: skip


def _place(model: str) -> str:
    return str(folder() / model) if model.endswith(".gguf") else model  # a whole path stays


def _measured(options: argparse.Namespace, piece: tuple[str, str, str], read: float) -> dict[str, Any]:
    """Run a piece's two processes and return their errors by phase.

    Args:
        options: Of the command line.
        piece: Model, mode and share of the file.
        read: Bytes per second that the memory was measured to have.
    """
    cache = options.folder / "cache"
    speeds = cache / "hardware-speeds.json"
    fresh = speeds.read_bytes()
    shutil.rmtree(cache / "profiles", ignore_errors=True)
    found = {}
    for phase in PHASES:
        program = [sys.executable, "-m", "tests.benchmarks.promises", "--folder", ".", "--one", *piece, phase]
        before = memory_bytes_per_s(BUFFER_BYTES, lambda: None) / read
        program += ["--tokens", str(options.tokens), "--long", str(options.long), "--disk", str(options.disk)]
        program += ["--disturbed"] * options.disturbed
        ran = subprocess.run(program, capture_output=True, text=True, check=False)
        if ran.returncode:
            return {phase: {"refused": ran.stderr.strip().splitlines()[-1]}}
        after = memory_bytes_per_s(BUFFER_BYTES, lambda: None) / read
        found[phase] = json.loads(ran.stdout) | {"memory read": (round(before, 2), round(after, 2))}
    speeds.write_bytes(fresh)  # without this model's error, which others would take
    return found


def steady(one: dict[str, Any]) -> bool:
    """Return whether the memory had its measured speed before and after a process."""
    return all(abs(times - 1.0) <= STEADY for times in one.get("memory read", (0.0,)))


def table(known: dict[str, Any]) -> list[str]:
    """Return a line for each piece and phase, and one for each figure over all of them."""
    lines = [f"{'model, mode, share, phase':<62}{'tok/s':>8}{'speed':>8}{'first token':>12}{'memory':>8}"]
    every: dict[str, list[float]] = {}
    for piece, phases in known.items():
        for phase, one in phases.items():
            if "came" not in one:
                lines.append(f"{piece} {phase}: {one}")
                continue
            lines.append(
                f"{piece + ' ' + phase:<62}{one['came']:>8.3g}"
                + "".join(
                    f"{f'{median(one[what]):+.0%}' if one[what] else '':>{width}}"
                    for what, width in zip(FIGURES, (8, 12, 8), strict=True)
                )
                + (f"  rough or busy ({one['busy']})" if one["rough"] or one["busy"] else "")
                + ("" if steady(one) else f"  memory read at {one.get('memory read')} of its measured speed")
            )
            for what in FIGURES:
                for group in (what, f"{what}, {phase}", *([f"{what}, steady"] if steady(one) else [])):
                    every.setdefault(group, []).extend(map(abs, one[what]))
    for what, off in filter(lambda item: item[1], every.items()):
        lines.append(
            f"{what:<22} median {median(off):.0%}, 95 of 100 within {numpy.quantile(off, 0.95):.0%} ({len(off)})"
        )
    return lines


def main() -> None:
    """Measure what is not known yet, and print all that is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--modes", nargs="*", default=["plain", "lookup", "dovetail", "llmcad"])
    parser.add_argument("--budgets", nargs="*", default=["1", "0.6"])
    parser.add_argument("--again", action="store_true", help="measure what is known already")
    parser.add_argument("--disturbed", action="store_true", help="count replies beside which others ran, after these")
    parser.add_argument("--most", type=int, default=1000, help="pieces of this call")
    parser.add_argument("--tokens", type=int, default=48, help="of a reply")
    parser.add_argument("--long", type=int, default=2400, help="characters of the long prompt")
    parser.add_argument("--disk", type=float, default=0.0, help="GB/s that the disk is held to; a folder for each")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.disk:
        slow_down(options.disk)
    if options.one:
        model, mode, share, phase = options.one
        print(
            json.dumps(
                errors(replies(model, mode, float(share), phase, options.tokens, options.long), options.disturbed)
            )
        )
        return
    os.environ["TENON_CACHE_DIR"] = str(options.folder.resolve() / "cache")
    speeds = measure_report().speeds
    print("speeds measured", "while the machine was busy" if speeds.busy else "at rest")
    kept = options.folder / "promises.json"
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    left = options.most
    for model in options.models:
        for mode in options.modes:
            for share in options.budgets:
                name = f"{model} {mode} {share}"
                drafts = "+" in model or bundled_drafts(model)
                wanted = mode == AUTO or not MODES[mode].drafts or drafts
                wanted = wanted and mode != ("llmcad" if share == "1" else "dovetail")
                done = name in known and all(
                    "refused" in one or (not one["busy"] and steady(one)) for one in known[name].values()
                )
                if not wanted or (done and not options.again) or not left:
                    continue
                left -= 1
                known[name] = _measured(options, (model, mode, share), speeds.host.memory_bytes_per_s)
                kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
    print("\n".join(table(known)))


if __name__ == "__main__":
    main()
