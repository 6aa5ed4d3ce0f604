"""Prompt tokens: what they learn, what their trees come to, and how fast a round of each size is on this machine.

    python -m tests.benchmarks.prompt_tokens learn --texts FOLDER --count 1216 [--steps 60] [--only "hard labels"]
    python -m tests.benchmarks.prompt_tokens guess --texts FOLDER --count 1216 [--aside 32] [--set FOLDER]
    python -m tests.benchmarks.prompt_tokens size --texts FOLDER --count 1216 --aside 6 [--weights auto] [--tokens 48]

``TENON_CPU_CAP=avx2`` before it caps the kernels.

``learn`` trains sets from the same beginning for the same steps on texts that ``tenon train draft --texts`` kept, and
scores them on texts that it keeps aside: ensembles of several sizes, hard labels and both divergences, the three masks.
A step has as many rows of prompt tokens whatever the ensemble is, so a larger one has fewer insertions.

``guess`` has the accuracies of a set and of Medusa heads on the texts that a training keeps aside, by place.

``size`` has a line for each number of a round's rows: nodes of the dynamic sparse tree in each of its states and their
input with the root and the probes (the report's table 6.1); T, the seconds of a forward in the loop of a reply, over
that of one row; tokens of a round of that tree, of the full and of a random one, expected by the log of ranks (R(T),
section 5.6) and run; and tokens per second, predicted as the expected ones over T, and run. Trees are counted on texts
that a training keeps aside and run on replies to prompts of four kinds. Replies are equal to plain's, or OTHER
TEXT stands beside them. What Medusa heads come to stands below.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy
import torch
from numpy.typing import NDArray

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.fixed_trees import (
    WIDTHS,
    PathCounts,
    RankLog,
    SparseTree,
    trees_by_rows,
)
from engine.drafting.medusa import MedusaDraft, ranks_of
from engine.drafting.prompt_tokens import (
    PromptTokenCalibration,
    PromptTokenDrafter,
    PromptTokens,
    load_prompt_tokens,
)
from engine.drafting.trees import DEEPEST, TreeShape
from engine.kernels import library
from engine.loaded_model import LoadedModel, load_model
from engine.messages import ChatMessage, LoadOptions
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import ProbeMask
from engine.model_file import OpenedModel, open_model
from engine.modes import in_mode
from engine.run import settle
from engine.training.calibration import Acceptance, replies_with, settled_rounds, width_drafter
from engine.training.features import KIND, Example, ExampleSupply, batch_of
from engine.training.loss import TOPS, TargetEnds
from engine.training.making import TextRequest, begin_ordinary, texts_of
from engine.training.prompt_tokens import LossName, PromptTokenNetwork, PromptTokenObjective
from engine.training.trainer import train
from engine.training.tree_counts import network_of, probe_ranks, replies_in, replies_of
from engine.training.twin import Twin
from tests.benchmarks.lookup_prompts import PROMPTS
from tests.support.sparse_trees import full_tree, random_tree

KINDS = ("chat", "code", "summary", "list")
PLACES = 3
#: Rows of a round: those that may pay where rows are dear, and as many as a draft has.
SIZES = (4, 6, 8, 12, 16, 32, 64)
# Of the report's tables.
_REPORTED = (1, 5, 10)


@dataclass(frozen=True)
class Trial:
    """A way to train."""

    name: str
    members: int = 1
    mask: ProbeMask = "ensemble"
    loss: LossName = "forward"


TRIALS = (
    Trial("1 member"),
    Trial("hard labels", loss="hard"),
    Trial("reverse", loss="reverse"),
    Trial("5 members", 5),
    Trial("5, decoder", 5, "decoder"),
    Trial("5, encoder", 5, "encoder"),
    Trial("20 members", 20),
)


def _texts(options: argparse.Namespace) -> tuple[OpenedModel, Decoder, list[Example], list[Example]]:
    """The model, what to learn, and what is kept aside, as a training divides them."""
    opened = open_model(options.model)
    request = TextRequest(
        model=options.model,
        data=None,
        generate=options.count,
        minutes=1.0,
        texts=options.texts,
        threads=options.threads,
    )
    decoder, examples = texts_of(request, opened, sys.stderr)
    stride = max(1, len(examples) // 32)
    learned = [example for at, example in enumerate(examples) if at % stride]
    return opened, decoder, learned, examples[::stride][: options.aside]


def learn(options: argparse.Namespace) -> None:
    """Print what each trial came to."""
    opened, decoder, learned, aside = _texts(options)
    ends, twin = TargetEnds.of(decoder), Twin(opened.checkpoint)
    batches = [batch_of(decoder, KIND, [example]) for example in aside]
    tops = " / ".join(map(str, TOPS))
    print(f"{options.steps} steps of {options.step_tokens} tokens; places, top {tops}, %")
    print("| set | divergence | " + " | ".join(f"{place + 1}" for place in range(PLACES)) + " |")
    print("|---|---|" + "---|" * PLACES)
    # The same figure for all, whatever each learns from.
    divergence = PromptTokenObjective(twin, ends, batches, "forward")
    for trial in TRIALS:
        if options.only and trial.name not in options.only:
            continue
        torch.manual_seed(1)
        network = PromptTokenNetwork(decoder.config, PLACES, trial.members, trial.mask)
        begin_ordinary(network, decoder, learned)
        objective = PromptTokenObjective(twin, ends, batches, trial.loss)
        supply = ExampleSupply(decoder, learned, options.step_tokens, 1)
        outcome = train(network, objective, supply, 1.0, io.StringIO(), options.steps)
        shares = [" / ".join(f"{100 * share:.1f}" for share in place) for place in outcome.scores.accuracies]
        print(f"| {' | '.join([trial.name, f'{divergence.mean(outcome.network):.2f}', *shares])} |", flush=True)


def guess(options: argparse.Namespace) -> None:
    """Print accuracies by place, beside those of Medusa heads."""
    _, decoder, _, aside = _texts(options)
    spoken = list(replies_in(aside))
    heads = _heads(options.draft, decoder)
    logs = {
        "prompt tokens": [probe_ranks(decoder, tokens, *reply) for tokens in (_set(options),) for reply in spoken],
        "Medusa": [ranks_of(heads.network, *reply)[:, :PLACES] for reply in replies_of(decoder, aside)],
    }
    print(f"{len(spoken)} replies, {sum(len(reply) - 1 for _, reply in spoken)} places; top {_REPORTED}, %")
    shares = {name: _accuracies(found) for name, found in logs.items()}
    for name, by_place in shares.items():
        cells = [" / ".join(f"{100 * share:.1f}" for share in place) for place in by_place]
        print(f"| {name} | {' | '.join(cells)} |")
    times = [
        " / ".join(f"{ours / theirs:.2f}" for ours, theirs in zip(*pair, strict=True))
        for pair in zip(*shares.values(), strict=True)
    ]
    print(f"| times | {' | '.join(times)} |")


def _accuracies(log: Sequence[NDArray[numpy.uint8]]) -> list[list[float]]:
    ranks = numpy.concatenate(log)
    return [[float((column < top).mean()) for top in _REPORTED] for column in ranks.T]


class _Heads:
    """Medusa heads, as they are when they draft."""

    def __init__(self, name: str, decoder: Decoder) -> None:
        self.draft = MedusaDraft.read(open_model(name), decoder.config)
        self.network = network_of(self.draft, decoder)


def _heads(name: str, decoder: Decoder) -> _Heads:
    return _Heads(name, decoder)


def _set(options: argparse.Namespace) -> PromptTokens:
    return load_prompt_tokens(open_model(str(options.set)).head)


def _prompts(model: LoadedModel, options: argparse.Namespace) -> list[list[int]]:
    return [
        model.tokenizer.render([ChatMessage("user", text)])
        for kind in KINDS
        for text in PROMPTS[kind][: options.prompts]
    ]


def size(options: argparse.Namespace) -> None:
    """Print times, tokens and speeds by rows."""
    model = load_model(
        settle(in_mode("plain", LoadOptions(model=options.model, weights=options.weights, threads=options.threads)))
    )
    decoder, ends = model.target.decoder, model.tokenizer.end_ids
    assert decoder is not None
    spoken = list(replies_in(_texts(options)[3]))
    prompts = _prompts(model, options)
    tokens, sampler = _set(options), Sampler(temperature=options.temperature, seed=1)
    log = RankLog(tuple(probe_ranks(decoder, tokens, *reply) for reply in spoken))
    counts, chance = PathCounts(log), random.Random(1)
    kinds: dict[str, dict[int, SparseTree | None]] = {
        "dynamic": dict(trees_by_rows(counts, [rows - 1 for rows in options.sizes], tokens.members)),
        "full": {rows - 1: full_tree(counts, rows - 1, tokens.members) for rows in options.sizes},
        "random": {rows - 1: random_tree(counts, rows - 1, chance) for rows in options.sizes},
    }
    drafters = {kind: _drafter(tokens, trees) for kind, trees in kinds.items()}
    heads = _heads(options.draft, decoder)
    counted = heads.draft.beside
    assert counted is not None, "heads with their trees"
    medusa = width_drafter(heads.network, decoder, counted, counted.follows)

    def replies(drafter: Drafter, rows: int) -> Acceptance:
        return replies_with(decoder, drafter, prompts, ends, rows - 1, options.tokens, sampler=sampler)

    sequence = TokenSequence(Target(decoder), len(prompts[0]) + 40 * PLACES + 2 * SIZES[-1])
    plain = replies(NoDrafter(), 1)
    seconds: dict[int, list[float]] = {rows: [] for rows in (1, *options.sizes)}
    speeds: dict[tuple[str, int], list[float]] = {}
    for _ in range(options.turns):
        # In turns, so that what disturbs one size disturbs all.
        for rows, each in seconds.items():
            rounds = settled_rounds(sequence, drafters["dynamic"], prompts[0], rows - 1, 5)
            each += [one.verify_ms / 1e3 for one in rounds if rows == 1 or one.tokens]
            found = replies(drafters["dynamic"], rows)
            speeds.setdefault(("dynamic", rows), []).append(found.tokens / found.seconds)
            if rows in WIDTHS:
                found = replies(medusa, rows)
                speeds.setdefault(("Medusa", rows), []).append(found.tokens / found.seconds)
    forward_s = {rows: median(each) for rows, each in seconds.items()}
    plain_per_s, threads = median(speeds["dynamic", 1]), torch.get_num_threads()
    print(f"{library.available()}, {model.report.weights}, {threads} threads, plain {plain_per_s:.1f} tok/s")
    head = ["rows", "nodes by state", "input", "T(w)/T(1)"]
    head += [f"{kind}, {how}" for kind in kinds for how in ("expected", "run")]
    head += ["tok/s predicted", "run", "of plain"]
    print(f"| {' | '.join(head)} |\n|" + "---|" * len(head))
    for rows in options.sizes:
        dynamic = kinds["dynamic"].get(rows - 1)
        states = dynamic.states if dynamic else ()
        cells = [f"{rows}", ", ".join(f"{len(state.nodes)}" for state in states)]
        cells.append(", ".join(f"{1 + state.rows(tokens.members)}" for state in states))
        cells.append(f"{forward_s[rows] / forward_s[1]:.2f}")
        for kind, trees in kinds.items():
            tree = trees.get(rows - 1)
            found = replies(drafters[kind], rows) if tree else plain
            other = "" if found.ids == plain.ids else " OTHER TEXT"
            cells += [f"{tree.tokens:.2f}", f"{found.length:.2f}{other}"] if tree else ["", ""]
        predicted = plain_per_s * (dynamic.tokens if dynamic else 1.0) * forward_s[1] / forward_s[rows]
        run = median(speeds["dynamic", rows])
        print(
            f"| {' | '.join([*cells, f'{predicted:.1f}', f'{run:.1f}', f'{run / plain_per_s:.2f}'])} |",
            flush=True,
        )
    by_rows = {rows: median(each) for (kind, rows), each in speeds.items() if kind == "Medusa" and rows > 1}
    print("Medusa, of plain: " + ", ".join(f"{rows} rows {each / plain_per_s:.2f}" for rows, each in by_rows.items()))


def _drafter(tokens: PromptTokens, trees: Mapping[int, SparseTree | None]) -> PromptTokenDrafter:
    known = {rows: tree for rows, tree in trees.items() if tree is not None}
    drafter = PromptTokenDrafter(tokens, PromptTokenCalibration(tuple(known), tuple(known.values())))
    drafter.limits = TreeShape(10, DEEPEST, SIZES[-1] - 1, searched=True)
    return drafter


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("learn", "guess", "size"))
    parser.add_argument("--texts", type=Path, help="a folder that a training keeps")
    parser.add_argument("--count", type=int, help="of its texts")
    parser.add_argument("--aside", type=int, default=32, help="texts to score or count on")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--set", default="smollm2-prompt-tokens")
    parser.add_argument("--draft", default="smollm2-medusa", help="heads to stand beside")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--step-tokens", type=int, default=320)
    parser.add_argument("--only", nargs="+", help="trials by name")
    parser.add_argument("--weights", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--prompts", type=int, default=1, help="of each kind")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, choices=SIZES, help="rows of a round")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    parser.add_argument("--tokens", type=int, default=48, help="of a reply, at most")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    {"learn": learn, "guess": guess, "size": size}[options.what](options)


if __name__ == "__main__":
    main()
