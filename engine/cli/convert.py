"""``tenon models convert``: a smaller copy of a model, and what it loses."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.download import ProgressLine
from engine.cli.subcommand import stopped_by_interrupt, tell
from engine.errors import Cancelled
from engine.hub.record import loss_words
from engine.hub.transfer import StopSignal
from engine.quantizing.convert import Copied, CopyRequest, CopyStep, convert
from engine.sentences import readable

_STEPS: dict[CopyStep, str] = {
    "replies": "replies to learn from",
    "reading": "reading the original",
    "writing": "writing the copy",
    "measuring": "measuring what it loses",
}


def run_convert(options: argparse.Namespace) -> int:
    """Write a copy and return the exit code."""
    request = CopyRequest(options.model, options.to.lower(), options.out, options.name, options.calibrate)
    lines: dict[CopyStep, ProgressLine] = {}
    stop = StopSignal()

    def show(step: CopyStep, done: int, total: int) -> None:
        if step not in lines:
            for line in lines.values():
                line.end()
            lines[step] = ProgressLine(_STEPS[step], silent=options.json, steps=step != "writing")
        lines[step].show(done, total)

    try:
        copied = stopped_by_interrupt(lambda: convert(request, show, stop.check), stop)
    except Cancelled:
        print("tenon: Stopped: the same command goes on.", file=sys.stderr)
        return 130
    finally:
        for line in lines.values():
            line.end()
    if options.json:
        print(json.dumps(_as_json(copied), ensure_ascii=False))
        return 0
    for note in copied.notes:
        tell(options, note)
    where = f"in {copied.path}" if options.out is not None else "installed"
    print(f"{copied.name} is {where}: {readable(copied.size_bytes)}, {loss_words(copied.loss)}")
    return 0


def _as_json(copied: Copied) -> dict[str, object]:
    return {
        "name": copied.name,
        "path": str(copied.path),
        "size_bytes": copied.size_bytes,
        "loss": asdict(copied.loss),
        "notes": list(copied.notes),
    }
