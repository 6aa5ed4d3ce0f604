"""Medusa heads by the width of a round: Ghidorah's table I, and its figure 9, on this machine.

    python -m tests.benchmarks.ghidorah tau [--model smollm2] [--draft smollm2-medusa] [--prompts 5] [--tokens 112]
    python -m tests.benchmarks.ghidorah speed [--threads 1 2] [--weights auto] [--prompts 2] [--tokens 64]
    TENON_CPU_CAP=avx2 python -m tests.benchmarks.ghidorah speed

``tau`` counts the tokens of a round on the model's own greedy replies to four kinds of prompts, by width: with the tree
of the largest products of accuracies, with the searched tree, and with trees of the heads' own probabilities. Trees are
calibrated on the first kind and used on all. It takes no times, so that its figures are the same in each run.

``speed`` decodes the same replies with each width in every round: T(w)/T(1) is the time of a round's forward behind the
first prompt, the drawing of its tokens included, over that of a single row, both in the loop of a reply. The last
columns are tok/s, for each kind of tree followed by the share of tau T(1)/T(w) times plain's speed that it comes to.
Replies are equal to plain's, or OTHER TEXT stands beside them.
"""

from __future__ import annotations

import argparse

import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.fixed_trees import WIDTHS, RankLog, greedy_tree
from engine.drafting.medusa import MedusaDraft, MedusaNetwork, ranks_of
from engine.kernels import library
from engine.loaded_model import LoadedModel, load_model
from engine.messages import ChatMessage, LoadOptions
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model_file import open_model
from engine.modes import in_mode
from engine.run import settle
from engine.training.calibration import Acceptance, replies_with, round_times, width_drafter
from engine.training.generation import Turn, Writer
from engine.training.tree_counts import Replies, count_trees, grown_tokens, network_of, replies_of
from tests.benchmarks.lookup_prompts import PROMPTS

KINDS = ("chat", "code", "summary", "list")


class Bench:
    """A model, its heads, and its prompts by kind."""

    def __init__(self, model: str, draft: str, weights: str, prompts: int, tokens: int) -> None:
        self.model: LoadedModel = load_model(settle(in_mode("plain", LoadOptions(model=model, weights=weights))))
        decoder = self.model.target.decoder
        assert decoder is not None
        self.decoder: Decoder = decoder
        self.heads = MedusaDraft.read(open_model(draft), decoder.config)
        self.network: MedusaNetwork = network_of(self.heads, decoder)
        self.tokens = tokens
        render = self.model.tokenizer.render
        self.prompts = {
            kind: [render([ChatMessage("user", text)]) for text in PROMPTS[kind][:prompts]] for kind in KINDS
        }

    def replies(self, kind: str) -> Replies:
        """Greedy replies with their hidden rows."""
        asked = [[Turn(tuple(prompt), Sampler(), self.tokens)] for prompt in self.prompts[kind]]
        longest = max(map(len, self.prompts[kind])) + self.tokens + 1
        writer = Writer(self.decoder, self.model.tokenizer.end_ids, longest, len(asked))
        return list(replies_of(self.decoder, [*writer.write(iter(asked)), *writer.unfinished()]))


def taus(bench: Bench) -> None:
    """Print the tokens of a round by kind of prompt, tree and width."""
    replies = {kind: bench.replies(kind) for kind in KINDS}
    count = count_trees(bench.network, bench.decoder, replies[KINDS[0]])
    tree = count.calibration.tree
    print(f"trees of {KINDS[0]}: {count.calibration.places} places", *count.lines(), sep="\n", flush=True)
    first = RankLog(tuple(ranks_of(bench.network, *reply) for reply in replies[KINDS[0]]))
    print("| kind | tree |" + "".join(f" {width} |" for width in WIDTHS))
    print("|---|---|" + "---|" * len(WIDTHS))
    for kind, found in replies.items():
        log = RankLog(tuple(ranks_of(bench.network, *reply) for reply in found))
        rows = {
            "accuracies": [log.tau(greedy_tree(first.accuracies, width - 1)) for width in WIDTHS],
            "searched": [log.tau(tree[: width - 1]) for width in WIDTHS],
            "dynamic": grown_tokens(bench.network, bench.decoder, found),
        }
        for name, row in rows.items():
            print(f"| {kind} | {name} |" + "".join(f" {tau:.2f} |" for tau in row), flush=True)


def speeds(bench: Bench, threads: int) -> None:
    """Print forwards and speeds by width, with so many threads."""
    torch.set_num_threads(threads)
    decoder, ends = bench.decoder, bench.model.tokenizer.end_ids
    prompts = [prompt for kind in KINDS for prompt in bench.prompts[kind]]
    calibration = bench.heads.beside or count_trees(bench.network, decoder, bench.replies(KINDS[0])).calibration
    drafters = {kind: width_drafter(bench.network, decoder, calibration, kind) for kind in (True, False)}
    sequence = TokenSequence(Target(decoder), len(prompts[0]) + 4 * WIDTHS[-1])
    forward_s, _ = round_times(sequence, drafters[True], prompts[0])

    def run(kind: bool, width: int) -> Acceptance:
        return replies_with(decoder, drafters[kind], prompts, ends, width - 1, bench.tokens)

    plain = run(True, 1)
    plain_per_s = plain.tokens / plain.seconds
    print(f"{threads} threads, {library.available()}, {bench.model.report.weights}, plain {plain_per_s:.1f} tok/s")
    print("| rows | T, ms | T(w)/T(1) | tau, searched | tok/s | of tau T(1)/T(w) | tau, dynamic | tok/s | of it |")
    print("|---|---|---|---|---|---|---|---|---|")
    for width in WIDTHS:
        cells = [f"{width}", f"{1e3 * forward_s[width]:.2f}", f"{forward_s[width] / forward_s[1]:.2f}"]
        for kind in (True, False):
            found = run(kind, width)
            other = "" if found.ids == plain.ids else " OTHER TEXT"
            per_s = found.tokens / found.seconds
            ideal = found.length * forward_s[1] / forward_s[width] * plain_per_s
            cells += [f"{found.length:.2f}", f"{per_s:.1f}{other}", f"{per_s / ideal:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tau", "speed"))
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--draft", default="smollm2-medusa")
    parser.add_argument("--weights", default="auto")
    parser.add_argument("--prompts", type=int, default=2, help="of each kind")
    parser.add_argument("--tokens", type=int, default=64, help="of a reply, at most")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    bench = Bench(options.model, options.draft, options.weights, options.prompts, options.tokens)
    if options.what == "tau":
        taus(bench)
    else:
        for threads in options.threads:
            speeds(bench, threads)


if __name__ == "__main__":
    main()
