"""Many replies at once: tokens a second of all together, and each one's time for a token, by the number of replies.

    python -m tests.benchmarks.many --model FOLDER [--weights q8_0] [--replies 1 2 4 8 16] [--ways plain lookup]
    python -m tests.benchmarks.many --model FILE.gguf --ram-gb 0.3        # layers streamed from the disk
    python -m tests.benchmarks.many --model FILE.gguf --llama-cpp         # needs llama-cpp-python
    python -m tests.benchmarks.many --model FILE.gguf --llama-server PATH # llama.cpp's own program

So many replies are always open, until there are no prompts any more (tests/benchmarks/lookup_prompts.py); each has so
many tokens, greedily and whatever ends a text. Throughput is all replies' tokens over all the time, prompts included;
"decoding" is the same of the turns in which all read no prompt any more. Normalised latency is the mean over replies of
the time from the asking to the reply's end over its tokens (Minions, section 5.1). A way is "plain", "lookup" (prompt
lookup; the width of a forward is divided among replies), "adaptive" (the same by sizes, without chances of matches),
"selector" or "fixed K" (K nodes for every reply in every round, the paper's one length for all). A figure is the median
of some runs, in which ways and numbers take turns. llama.cpp decodes the same prompts in the same run, a token of each
sequence in a batch, all prompts first; its server keeps as many requests open as Tenon replies, over HTTP, and tells no
decoding alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from math import nan
from pathlib import Path
from typing import Any

import torch

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.decoding.worth import Worth
from engine.drafting.committee import CommitteeMemory, LengthSelector
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.lookup import PromptLookup
from engine.drafting.schedule import FixedShape, Schedule
from engine.hub.installed import find_model
from engine.loaded_model import LoadedModel, load_model
from engine.messages import ChatMessage, LoadOptions
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.run import settle
from engine.scheduler import Scheduler, Steps
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch
from tests.benchmarks.lookup_prompts import PROMPTS

_PORT = 8379


@dataclass(frozen=True)
class Taken:
    """Seconds of some replies together.

    Attributes:
        all_s: Of all of them.
        decoding_s: Of it, of turns in which no prompt was read and as many as may be were open.
        decoded: Tokens of those.
        tokens: Of all replies.
        latency_s: Normalised.
        forwards: Of the model.
    """

    all_s: float
    decoding_s: float
    decoded: int
    tokens: int
    latency_s: float
    forwards: int = 0


def parts(way: str) -> tuple[Drafter, Schedule]:
    """Drafter and schedule of a way."""
    if way == "plain":
        return NoDrafter(), FixedShape(DraftShape(0))
    if way == "lookup":
        return PromptLookup(), Worth(PromptLookup())
    if way == "selector":
        return PromptLookup(), LengthSelector(12, CommitteeMemory())
    if way == "adaptive":
        return PromptLookup(), Worth(NoDrafter(), 15)
    return PromptLookup(), FixedShape(DraftShape(int(way.removeprefix("fixed "))))


class Replies:
    """Replies of one model, in forwards that they share."""

    def __init__(self, model: LoadedModel, prompts: list[list[int]], tokens: int) -> None:
        self._model = model
        self._prompts = prompts
        self._tokens = tokens

    def run(self, way: str, count: int) -> Taken:
        """All prompts' replies, so many at once."""
        scheduler = Scheduler(lambda: None)
        taken: list[float] = []  # of each reply, per token
        tokens = reading = 0
        full_s = full_tokens = 0.0

        def steps(decoding: Decoding) -> Steps:
            nonlocal reading
            begun, read = time.perf_counter(), False
            while (asked := decoding.ask()) is not None:
                yield asked
                decoding.take(asked)
                if not read and asked.ends_prompt:
                    read, reading = True, reading - 1
            taken.append((time.perf_counter() - begun) / self._tokens)

        def emitted(some: Sequence[int], drafted: int) -> None:
            nonlocal tokens
            tokens += len(some)

        waiting = list(enumerate(self._prompts))
        turns = 0
        begun = time.perf_counter()
        while waiting or len(scheduler):
            while waiting and len(scheduler) < count:
                at, prompt = waiting.pop(0)
                reply = ReplyText(lambda ids: "", frozenset(), (), self._tokens)
                drafter, schedule = parts(way)
                recipe = Recipe(drafter, SampleAndMatch(Sampler(temperature=0.0)), schedule)
                hooks = Hooks(lambda: None, lambda done, total: None, emitted)
                sequence = TokenSequence(self._model.target, len(prompt) + self._tokens + 65)
                decoding = Decoding(sequence, recipe, prompt, reply, ReplyClock(), hooks)
                scheduler.add(str(at), steps(decoding))
                reading += 1
            full, before, began = not reading and len(scheduler) == count, tokens, time.perf_counter()
            scheduler.turn()
            turns += 1
            if full:
                full_s += time.perf_counter() - began
                full_tokens += tokens - before
        all_s = time.perf_counter() - begun
        return Taken(all_s, full_s, int(full_tokens), tokens, statistics.fmean(taken), turns)


class Peer:
    """llama.cpp, in a thread of its own."""

    def __init__(self, path: Path, threads: int, prompts: list[list[int]], tokens: int) -> None:
        from tests.benchmarks.llama_cpp_peer import LlamaCpp

        self._prompts = prompts
        self._tokens = tokens
        self._thread = ThreadPoolExecutor(1)
        room = sum(map(len, prompts)) + len(prompts) * (tokens + 1)
        self._model = self._thread.submit(LlamaCpp, path, threads, room, sequences=len(prompts)).result()

    def run(self, count: int) -> Taken:
        """So many replies at once."""
        prompts = self._prompts[:count]
        read_s, decoding_s = self._thread.submit(self._model.together, prompts, self._tokens).result()
        all_s, tokens = read_s + decoding_s, count * self._tokens
        return Taken(all_s, decoding_s, tokens - count, tokens, all_s / self._tokens)


class Server:
    """llama-server, a process of its own, with as many slots as requests at once."""

    def __init__(self, program: Path, model: Path, threads: int, prompts: list[list[int]], tokens: int) -> None:
        self._command = [str(program), "-m", str(model), "-t", str(threads), "-tb", str(threads)]
        self._command += ["--host", "127.0.0.1", "--port", str(_PORT), "-fa", "on", "--no-webui"]
        self._room = max(map(len, prompts)) + tokens + 1
        self._prompts = prompts
        self._tokens = tokens

    def run(self, count: int) -> Taken:
        """All prompts, so many at once, by a server that is started for it."""
        slots = ["-np", str(count), "-c", str(count * self._room)]
        server = subprocess.Popen([*self._command, *slots], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._await()
            self._ask(self._prompts[0])  # a first one, untimed
            begun = time.perf_counter()
            with ThreadPoolExecutor(count) as pool:
                each_s = list(pool.map(self._ask, self._prompts))
            all_s = time.perf_counter() - begun
        finally:
            server.terminate()
            server.wait()
        return Taken(all_s, 0.0, 0, len(self._prompts) * self._tokens, statistics.fmean(each_s) / self._tokens)

    def _await(self) -> None:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{_PORT}/health") as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("llama-server does not answer")

    def _ask(self, prompt: list[int]) -> float:
        """Seconds of a reply."""
        wanted = {"prompt": prompt, "n_predict": self._tokens, "temperature": 0, "ignore_eos": True}
        body = json.dumps({**wanted, "cache_prompt": False}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{_PORT}/completion", body, {"Content-Type": "application/json"}
        )
        begun = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["tokens_predicted"] == self._tokens
        return time.perf_counter() - begun


def measure(runs: dict[tuple[str, int], Callable[[], Taken]], times: int) -> list[dict[str, Any]]:
    """Medians of runs that take turns."""
    found: defaultdict[tuple[str, int], list[Taken]] = defaultdict(list)
    for turn in range(times):
        for key, run in list(runs.items())[:: 1 - turn % 2 * 2]:
            found[key].append(run())
    rows = []
    for (way, count), taken in found.items():
        rows.append(
            {
                "way": way,
                "replies": count,
                "tokens_per_s": statistics.median(one.tokens / one.all_s for one in taken),
                "decoding_tokens_per_s": statistics.median(
                    one.decoded / one.decoding_s if one.decoded else nan for one in taken
                ),
                "latency_ms": 1e3 * statistics.median(one.latency_s for one in taken),
                "forwards": taken[0].forwards,
            }
        )
    return rows


def prompts_of(model: LoadedModel, count: int) -> list[list[int]]:
    """Tokens of so many different prompts."""
    tokenizer = model.tokenizer
    mixed = [text for some in zip_longest(*PROMPTS.values()) for text in some if text is not None]
    texts = mixed * (1 + count // len(mixed))
    return [tokenizer.render([ChatMessage("user", f"{at + 1}. {text}")]) for at, text in enumerate(texts[:count])]


def main() -> None:
    """Print or dump the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", default="auto")
    parser.add_argument("--replies", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--ways", nargs="+", default=["plain", "lookup"])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--ram-gb", type=float)
    parser.add_argument("--llama-cpp", action="store_true")
    parser.add_argument("--llama-server", type=Path)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    budget = None if chosen.ram_gb is None else int(chosen.ram_gb * 1e9)
    options = LoadOptions(
        model=chosen.model,
        weights=chosen.weights,
        threads=chosen.threads,
        ram_budget_bytes=budget,
        context=1024,
    )
    model = load_model(settle(options))
    prompts = prompts_of(model, chosen.prompts)
    replies = Replies(model, prompts, chosen.tokens)
    runs: dict[tuple[str, int], Callable[[], Taken]] = {}
    for way in chosen.ways:
        for count in chosen.replies:
            runs[way, count] = lambda way=way, count=count: replies.run(way, count)  # type: ignore[misc]
    file = find_model(chosen.model)
    path = file if file.is_file() else next(file.glob("*.gguf"), file)
    if chosen.llama_server is not None:
        server = Server(chosen.llama_server, path, torch.get_num_threads(), prompts, chosen.tokens)
        for count in chosen.replies:
            runs["llama-server", count] = lambda count=count: server.run(count)  # type: ignore[misc]
    if chosen.llama_cpp:
        peer = Peer(path, torch.get_num_threads(), prompts[: max(chosen.replies)], chosen.tokens)
        for count in chosen.replies:
            runs["llama.cpp", count] = lambda count=count: peer.run(count)  # type: ignore[misc]
    next(iter(runs.values()))()  # a first one, untimed
    rows = measure(runs, chosen.runs)
    if chosen.json:
        print(json.dumps(rows))
        return
    print(f"{'way':12}{'replies':>8}{'tokens/s':>10}{'decoding':>10}{'ms/token':>10}{'turns':>7}")
    for row in rows:
        print(
            f"{row['way']:12}{row['replies']:8}{row['tokens_per_s']:10.1f}{row['decoding_tokens_per_s']:10.1f}"
            f"{row['latency_ms']:10.2f}{row['forwards']:7}"
        )


if __name__ == "__main__":
    main()
