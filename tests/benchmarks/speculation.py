"""Ways of decoding beside plain decoding, on the guide inflated to the size of a real model.

    python -m tests.benchmarks.speculation --work DIR [--size 1e9] [--weights q8_0] [--kinds chat code] [--json]

The target says what the guide says and costs what a model of its size costs (`engine.training.inflate`), so the figures
are of true bytes and true acceptance. The small model and the guide's own feature draft are there; others are looked
for in DIR/trained, where these put them for M from 1 to 5:

    tenon train draft --model GUIDE --generate 2000 --blocks M --out DIR/trained/gated-fusion-M
    tenon train draft --model GUIDE --generate 2000 --blocks 1 --fusion eagle --out DIR/trained/concatenation-1

All are inflated with the target: a small model to 7 % of it, a feature draft to what its blocks would weigh there. Each
row runs in a process of its own beside one that decodes plainly; both answer the same prompts in turns. Speedup is the
median of the ratios of neighbouring replies' decoding speed, the prompt left out; ``reply`` is the same for whole
replies, in time over plain's: the figure of "never slower". ``same`` is the share of replies that are plain's token for
token: all of them in fp32, and in the packed formats on the kernel library, where a row depends on its path alone.
transformers has no q8_0 and no q4_k_m and runs in bf16 then: to compare like with like, give --weights fp32 or bf16.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.kernels import library
from tests.benchmarks.measured_reply import Child, MeasuredReply, PeerChild, TenonChild
from tests.benchmarks.prompts import PROMPTS
from tests.benchmarks.speculation_models import TARGET, prepare
from tests.benchmarks.speculation_rows import BLOCKS, PLAIN, Row, rows

Pair = tuple[MeasuredReply, MeasuredReply]
MEAN = "mean"


@dataclass(frozen=True)
class Figures:
    """One row on one kind of prompt, against plain decoding beside it."""

    row: str
    kind: str
    tokens_per_s: float
    plain_tokens_per_s: float
    speedup: float
    tau: float | None
    acceptance_rate: float | None
    reply: float
    same: float
    peak_mb: float


def figures(row: str, kind: str, pairs: list[Pair]) -> Figures:
    """What the replies of plain decoding and of the row, in pairs, come to."""
    plain, own = zip(*pairs, strict=True)
    return Figures(
        row=row,
        kind=kind,
        tokens_per_s=statistics.median(reply.tokens_per_s for reply in own),
        plain_tokens_per_s=statistics.median(reply.tokens_per_s for reply in plain),
        speedup=statistics.median(b.tokens_per_s / a.tokens_per_s for a, b in pairs),
        tau=_mean(reply.tau for reply in own),
        acceptance_rate=_mean(reply.acceptance_rate for reply in own),
        reply=statistics.median(b.reply_s / a.reply_s for a, b in pairs),
        same=statistics.mean(float(a.token_ids == b.token_ids) for a, b in pairs),
        peak_mb=max(reply.peak_bytes for reply in own) / 1e6,
    )


def mean_of(kinds: list[Figures]) -> Figures:
    """A row over all kinds, each counting once, as the paper's table has it."""
    return Figures(
        row=kinds[0].row,
        kind=MEAN,
        tokens_per_s=statistics.mean(each.tokens_per_s for each in kinds),
        plain_tokens_per_s=statistics.mean(each.plain_tokens_per_s for each in kinds),
        speedup=statistics.mean(each.speedup for each in kinds),
        tau=_mean(each.tau for each in kinds),
        acceptance_rate=_mean(each.acceptance_rate for each in kinds),
        reply=statistics.mean(each.reply for each in kinds),
        same=statistics.mean(each.same for each in kinds),
        peak_mb=max(each.peak_mb for each in kinds),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return statistics.mean(there) if there else None


def take_turns(
    plain: Child, own: Child, prompts: tuple[str, ...], rounds: int, max_tokens: int
) -> list[Pair]:
    """Both answer each prompt, ``rounds`` times; in every other pair the row goes first."""
    pairs: list[Pair] = []
    for _ in range(rounds):
        for prompt in prompts:
            replies: dict[bool, MeasuredReply] = {}
            order = (True, False) if len(pairs) % 2 else (False, True)
            for is_own in order:
                time.sleep(0.05)  # the other's worker threads stop spinning
                replies[is_own] = (own if is_own else plain).reply(prompt, max_tokens)
            if replies[True].decoded > 0 and replies[False].decoded > 0:
                pairs.append((replies[False], replies[True]))
    return pairs


def start(row: Row, folders: dict[str, Path], weights: str, threads: int) -> Child:
    """The process of a row, with its model loaded."""
    child: Child
    if row.mode is None:
        assert row.draft is not None
        dtype = "float32" if weights == "fp32" else "bfloat16"
        child = PeerChild(str(folders[TARGET]), str(folders[row.draft]), dtype, threads)
    else:
        child = TenonChild(row.options(folders[TARGET], folders, weights, threads))
    child.reply(PROMPTS["chat"][0], 16)
    return child


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", metavar="DIR", type=Path, required=True, help="a folder for the models, about 8 GB at 1e9"
    )
    parser.add_argument("--size", type=float, default=1e9, help="the target's parameters")
    parser.add_argument("--weights", default="q8_0", choices=("fp32", "bf16", "q8_0", "q4_k_m"))
    parser.add_argument("--kinds", nargs="+", default=list(PROMPTS), choices=list(PROMPTS))
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="only rows whose names begin so")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="M of the rows on verified tokens")
    parser.add_argument("--trained", type=Path, help="the guide's feature drafts (default: DIR/trained)")
    parser.add_argument("--rounds", type=int, default=2, help="how often each prompt is answered")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folders = prepare(options.work, options.size, options.trained or options.work / "trained")
    table = rows(options.blocks)
    if options.rows:
        table = tuple(row for row in table if row.name.startswith(tuple(options.rows)))
    say = (lambda line: None) if options.json else (lambda line: print(line, flush=True))
    say(_line("", "kind", ("tok/s", "plain", "speedup", "tau", "accepted", "reply", "same", "peak MB")))
    results: list[Figures] = []
    unmeasured: dict[str, str] = {}
    start(
        PLAIN, folders, options.weights, options.threads
    ).close()  # packs the target once, outside any figure
    with start(PLAIN, folders, options.weights, options.threads) as plain:
        for row in table:
            reason = row.missing(folders)
            if reason is not None:
                unmeasured[row.name] = reason
                say(f"{row.name}: not measured, {reason}")
                continue
            start(row, folders, options.weights, options.threads).close()  # packs the draft
            with start(row, folders, options.weights, options.threads) as own:
                found = [
                    figures(
                        row.name,
                        kind,
                        take_turns(plain, own, PROMPTS[kind], options.rounds, options.max_tokens),
                    )
                    for kind in options.kinds
                ]
            found.append(mean_of(found))
            results += found
            for each in found:
                say(_figures_line(each))
    if options.json:
        machine = {
            "processor": platform.processor(),
            "kernels": library.available(),
            "threads": options.threads,
        }
        asked = {"size": options.size, "weights": options.weights, "rounds": options.rounds}
        print(
            json.dumps(
                {
                    "machine": machine,
                    "asked": asked,
                    "results": [asdict(each) for each in results],
                    "unmeasured": unmeasured,
                }
            )
        )


def _figures_line(each: Figures) -> str:
    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.0%}"

    return _line(
        each.row,
        each.kind,
        (
            f"{each.tokens_per_s:.2f}",
            f"{each.plain_tokens_per_s:.2f}",
            f"{each.speedup:.2f}",
            "" if each.tau is None else f"{each.tau:.2f}",
            share(each.acceptance_rate),
            f"{each.reply:.2f}",
            share(each.same),
            f"{each.peak_mb:.0f}",
        ),
    )


def _line(row: str, kind: str, cells: tuple[str, ...]) -> str:
    return f"{row:34} {kind:12}" + "".join(f"{cell:>10}" for cell in cells)


if __name__ == "__main__":
    main()
