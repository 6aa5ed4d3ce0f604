"""Speed of replies beside that of other checkouts of Tenon: milliseconds for each token, and their ratios.

    python -m tests.benchmarks.versions CHECKOUT [CHECKOUT ...] --model FILE [--mode plain] [--tokens 96] [--runs 12]

Each checkout runs an engine in a process of its own, with the same options. Replies take turns, one of each checkout;
a ratio is the median over neighbouring replies, this checkout's time over the other's: below 1 this one is faster.
This checkout named once more is a control. A reply's time is that of its rounds, as its statistics have it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

PROMPT = "Write a long story about a lighthouse keeper who finds a map.\n\n"
_OWN = Path(__file__).resolve().parents[2]


class Worker:
    """An engine of one checkout, in a process of its own."""

    def __init__(self, checkout: Path, options: argparse.Namespace) -> None:
        self.name = checkout.name
        command = [sys.executable, __file__, "--worker", "--model", options.model, "--mode", options.mode]
        command += ["--tokens", str(options.tokens), "--threads", str(options.threads)]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=checkout
        )

    def milliseconds(self) -> float:
        """Of a token of one reply."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def work(options: argparse.Namespace) -> None:
    """Reply once for each line that comes in; the engine is that of the module path."""
    from engine.engine import Engine
    from engine.messages import Failed, Finished, Generate, LoadOptions, SamplingOptions

    events: queue.Queue[Any] = queue.Queue()
    engine = Engine(events.put)
    load = LoadOptions(model=options.model, context=2048, threads=options.threads)
    try:
        from engine.modes import in_mode
    except ImportError:  # a version whose options have a mode
        load = replace(load, mode=options.mode)  # type: ignore[call-arg]
    else:
        load = in_mode(options.mode, load)
    try:
        for number, _ in enumerate(sys.stdin):
            request = Generate(
                request_id=str(number),
                options=load,
                raw_prompt=PROMPT,
                sampling=SamplingOptions(temperature=0.0),
                max_tokens=options.tokens,
            )
            engine.submit(request)
            while not isinstance(event := events.get(), Finished | Failed):
                pass
            assert isinstance(event, Finished), event
            timings = event.reply.timings
            print(json.dumps(timings.predicted_ms / (timings.predicted_n - 1)), flush=True)
    finally:
        engine.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    workers = [Worker(checkout.resolve(), options) for checkout in (_OWN, *options.checkouts)]
    for worker in workers:
        worker.milliseconds()  # loads, and fills the caches
    times = []
    for run in range(options.runs):
        # Whoever comes first may find the processor otherwise than who comes last, so each is first in turn.
        order = [(run + at) % len(workers) for at in range(len(workers))]
        found = {at: workers[at].milliseconds() for at in order}
        times.append([found[at] for at in range(len(workers))])
    for at, worker in enumerate(workers):
        ratio = statistics.median(each[0] / each[at] for each in times)
        own = statistics.median(each[at] for each in times)
        print(f"{worker.name:24}{own:9.3f} ms   ratio {ratio:.4f}")
        worker.close()


if __name__ == "__main__":
    main()
