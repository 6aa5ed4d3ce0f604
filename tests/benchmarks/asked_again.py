"""Questions that were asked before, word for word, edited or nearly so: lookup beside llama.cpp's `ngram-mod`.

    python -m tests.benchmarks.asked_again --model FILE --server PATH [--mode auto] [--tokens 128] [--temperature 0]

Each question is asked in a new chat, then again, edited, and in other words, of both programs in turn, which remember
what they said before: `ngram-mod` is the kind that shares its table with all chats. Speeds are those of decoding, of
all tokens after the first; the ratios are geometric means. ``--record FILE`` writes Tenon's prompts and replies, and
``--replay FILE`` computes from them, the same in each run, what lookup gains where a further row of a forward takes a
tenth of a plain one's time.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from engine.decoding.costs import Costs
from engine.decoding.worth import Worth
from engine.drafting.lookup import EarlierTexts, MatchChances, PromptLookup
from engine.messages import EarlierReplies, LoadOptions
from engine.model.kv_cache import shared_tokens
from tests.benchmarks.measured_reply import TenonChild
from tests.support.llama_server import chat_timings, llama_server
from tests.support.replayed_text import replay

STEPS = ("first", "again", "edited", "near")
_ROW_SHARE, _NODES = 0.1, 63
# Each question, the same one edited, and one that is near to it
QUESTIONS = (
    (
        "Explain how a bicycle stays upright while it is ridden.",
        "Explain how a bicycle stays upright while it is ridden, for a child of ten.",
        "What keeps a bicycle from falling over when somebody rides it?",
    ),
    (
        "Write a Python function that reads a CSV file and returns the mean of each numeric column.",
        "Write a Python function that reads a CSV file and returns the median of each numeric column.",
        "In Python, compute the average of every numeric column of a CSV file.",
    ),
    (
        "Write a SQL table for the books of a library, with authors and loans, and a query for all late loans.",
        "Write a SQL table for the books of a library, with authors and loans, and a query for all loans of this week.",
        "Design SQL tables for a library's books, authors and loans. Which query finds the loans that are late?",
    ),
    (
        "List the eight planets with their diameter and their distance from the sun, as a table.",
        "List the eight planets with their diameter and their number of moons, as a table.",
        "Make a table of all planets of the solar system with diameters and distances from the sun.",
    ),
    (
        "Write a short letter to a landlord: the heating has been broken for a week.",
        "Write a short letter to a landlord: the heating has been broken for two weeks, and I want less rent.",
        "My heating has not worked for a week. Please draft a short letter to my landlord.",
    ),
    (
        "A train leaves at 8:15 and travels 210 km at 84 km/h. When does it arrive? Go step by step.",
        "A train leaves at 9:40 and travels 210 km at 84 km/h. When does it arrive? Go step by step.",
        "Step by step: at what time does a train arrive that starts at 8:15 and goes 210 km at 84 km/h?",
    ),
)


def _theirs(address: str, options: argparse.Namespace, question: str, seed: int) -> float:
    timings = chat_timings(address, question, options.tokens, options.temperature, seed)
    return float((timings["predicted_n"] - 1) / timings["predicted_ms"] * 1e3)


def measure(options: argparse.Namespace) -> None:
    """Print the speeds of both programs, and write Tenon's texts if that is asked for."""
    ratios: dict[str, list[float]] = {step: [] for step in STEPS}
    texts = []
    kind = ("--spec-type", options.theirs, "-c", "4096", "-t", str(options.threads), "-np", "1")
    load, earlier = LoadOptions(options.model, threads=options.threads, context=4096), EarlierReplies("chats")
    with TenonChild(load) as child, llama_server(options.server, Path(options.model), *kind) as address:
        print(f"{'':7}{'Tenon':>8} {options.theirs:>8}", flush=True)  # both programs are loaded
        child.sampled("Say hello.", 8, options.mode)
        _theirs(address, options, "Say hello.", 0)
        for first, edited, near in (QUESTIONS[number - 1] for number in options.questions):
            for seed, (step, question) in enumerate(zip(STEPS, (first, first, edited, near), strict=True)):
                reply = child.sampled(question, options.tokens, options.mode, options.temperature, seed, earlier)
                ours = reply.tokens_per_s
                theirs = _theirs(address, options, question, seed)
                ratios[step].append(ours / theirs)
                busy = " on a busy machine" if reply.busy else ""
                print(
                    f"{step:7}{ours:8.1f} {theirs:8.1f} tok/s {ours / theirs:6.2f}  "
                    f"tau {reply.tau or 1:5.2f}  {question[:50]!r}{busy}",
                    flush=True,
                )
                texts.append((step, reply.prompt_ids, reply.token_ids))
                if options.record:
                    Path(options.record).write_text(json.dumps(texts))
    for step, found in ratios.items():
        print(f"{step:7} {statistics.geometric_mean(found):.2f} times {options.theirs}")


def shared_table_s(table: dict[tuple[int, ...], int], prompt: Sequence[int], reply: Sequence[int]) -> float:
    """Return the time that a reply takes with drafts as `ngram-mod`'s defaults have them, in plain forwards.

    The token after each 24 is in a table that all replies share, and a draft has 48 to 64 tokens or none.
    """
    text, at, known, seconds = [*prompt, *reply], len(prompt) + 1, 0, 0.0
    while at < len(text):
        for end in range(max(known, 24), at):
            table[tuple(text[end - 24 : end])] = text[end]
        known = at
        drafted = text[at - 24 : at]
        while len(drafted) < 24 + 64 and (token := table.get(tuple(drafted[-24:]))) is not None:
            drafted.append(token)
        draft = drafted[24:] if len(drafted) >= 24 + 48 else []
        seconds += 1.0 + _ROW_SHARE * len(draft)
        at += shared_tokens(draft, text[at:-1]) + 1
    return seconds


def replayed(path: str) -> None:
    """Print what lookup gains on recorded texts, without earlier replies and with them, and what `ngram-mod` does."""
    gains: dict[tuple[str, str], list[float]] = {}
    others, chances, table = EarlierTexts(), {"alone": MatchChances(), "lookup": MatchChances()}, {}
    costs = {name: Costs() for name in chances}  # known from one reply to the next
    for step, prompt, reply in json.loads(Path(path).read_text()):
        for name, known in chances.items():
            own = known.of_another_reply(others if name == "lookup" else None)
            drafter = PromptLookup(own)
            found = replay(
                prompt, reply, drafter, Worth(drafter, _NODES, costs[name]), lambda rows: 1.0 + _ROW_SHARE * (rows - 1)
            )
            own.keep()
            gains.setdefault((step, name), []).append(found.speedup)
        gains.setdefault((step, "ngram-mod"), []).append((len(reply) - 1) / shared_table_s(table, prompt, reply))
        others.add(others.chat("1"), [*prompt, *reply])
    for step in STEPS:
        means = (f"{name} {statistics.geometric_mean(gains[step, name]):.3f}" for name in (*chances, "ngram-mod"))
        print(f"{step:7}", "  ".join(means))


def main() -> None:
    """Measure, or replay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a GGUF file")
    parser.add_argument("--server", help="llama.cpp's llama-server")
    parser.add_argument("--theirs", default="ngram-mod", help="its kind of speculation")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=0.0)
    every = range(1, len(QUESTIONS) + 1)
    parser.add_argument("--questions", type=int, nargs="+", choices=every, default=every, help="by number")
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--replay", metavar="FILE")
    options = parser.parse_args()
    if options.replay:
        replayed(options.replay)
    else:
        measure(options)


if __name__ == "__main__":
    main()
