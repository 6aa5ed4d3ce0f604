"""What each weight format costs the bundled guide: perplexity, greedy replies beside float32's, right answers.

    python -m tests.benchmarks.quality [--json]

Held-out text is of two kinds: the held-out questions with their reference answers, as the chat template lays them out,
and playground exchanges from a seed that training did not use. Replies' tokens are what the model learned to
predict; "all tokens" adds the questions and the template's own. The error is the standard error of the perplexity's
ratio to float32's, whose tokens are the same.

Agreement compares greedy replies to the same prompts. Where two replies part, the gap is float32's own: its best
logit minus its logit of the token that the other format chose. All are counted, and those with the widest gaps are
listed with their text (all of them with --json).
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.hub.installed import find_model
from engine.loaded_model import LoadedModel
from engine.messages import ChatMessage, LoadOptions
from engine.model.token_tree import Draft
from engine.model.weight_format import FORMAT_NAMES
from engine.text.gate import Gate
from engine.training.guide import playground
from engine.training.guide.fact import REFUSE, Fact, read_facts
from engine.training.guide.heldout import HeldOut, read_heldout
from engine.training.guide.score import Answer, answer_all, is_right

CONTEXT = 2048
NEW_TOKENS = 160
EXCHANGES = 100
_SEED = 20_261_121
_LISTED = 5


@dataclass(frozen=True)
class Sample:
    """A text to predict: its ids, and where the reply begins."""

    kind: str
    ids: tuple[int, ...]
    reply_begin: int


@dataclass(frozen=True)
class Parting:
    """Where a format's greedy reply leaves float32's.

    Attributes:
        position: Of the first token that differs, in the reply.
        gap: float32's best logit minus its logit of the other token.
        exact: float32's reply.
        other: The format's reply.
    """

    position: int
    gap: float
    exact: str
    other: str


class Speaker:
    """A model in Tenon's own engine that answers chats greedily, and remembers what it said to which prompt."""

    def __init__(self, folder: Path, weights: str, threads: int) -> None:
        options = LoadOptions(model=str(folder), weights=weights, threads=threads, context=CONTEXT)
        self.model = LoadedModel(options, lambda done, total: None, lambda: None)
        self.replies: dict[tuple[int, ...], tuple[int, ...]] = {}

    def logits(self, ids: Sequence[int]) -> Tensor:
        """(n, V) float32: what the model expects behind each token of a text, in one forward."""
        target = self.model.target
        target.reuse(ids[:1])
        target.token_ids.clear()
        return target.verify(ids[0], Draft.chain(ids[1:]), lambda: None)

    def reply(self, chats: list[list[dict[str, str]]]) -> list[tuple[str, float]]:
        """The reply to each chat, and the lowest probability among its tokens."""
        return [
            self._reply([ChatMessage(turn["role"], turn["content"]) for turn in chat])  # type: ignore[arg-type]
            for chat in chats
        ]

    def _reply(self, chat: list[ChatMessage]) -> tuple[str, float]:
        target, tokenizer = self.model.target, self.model.tokenizer
        prompt = tokenizer.render(chat)
        target.reuse(prompt)
        logits = target.prefill(prompt, lambda: None, lambda done, total: None)
        reply: list[int] = []
        confidence = 1.0
        while len(reply) < NEW_TOKENS:
            token = int(logits.argmax())
            confidence = min(confidence, float(logits.softmax(-1)[token]))
            if token in tokenizer.end_ids:
                break
            reply.append(token)
            logits = target.verify(token, Draft(), lambda: None)[0]
            target.commit([token], [0])
        self.replies[tuple(prompt)] = tuple(reply)
        return tokenizer.decode(reply), confidence


def samples(speaker: Speaker, chats: list[HeldOut], facts: dict[str, Fact]) -> list[Sample]:
    """The held-out text. Earlier replies of a chat are the speaker's."""
    tokenizer = speaker.model.tokenizer
    (end,) = tokenizer.end_ids

    def sample(kind: str, turns: list[ChatMessage], reply: str) -> Sample:
        prompt = tokenizer.render(turns)
        return Sample(kind, (*prompt, *tokenizer.encode(reply), end), len(prompt))

    found = []
    for chat in chats:
        if chat.facts[0] not in facts:
            continue
        turns: list[dict[str, str]] = []
        for question in chat.questions[:-1]:
            turns.append({"role": "user", "content": question})
            turns.append({"role": "assistant", "content": speaker.reply([turns])[0][0]})
        messages = [ChatMessage(turn["role"], turn["content"]) for turn in turns]  # type: ignore[arg-type]
        messages.append(ChatMessage("user", chat.questions[-1]))
        found.append(sample("answers", messages, facts[chat.facts[0]].answer))
    rng = random.Random(_SEED)
    for _ in range(EXCHANGES):
        exchange = playground.write(rng)
        found.append(sample("playground", [ChatMessage("user", exchange.request)], exchange.reply))
    return found


def losses(speaker: Speaker, texts: list[Sample]) -> dict[str, Tensor]:
    """Negative log-probabilities of each text's tokens but the first, by the name of what they are."""
    found: dict[str, list[Tensor]] = {}
    for text in texts:
        ids = torch.tensor(text.ids)
        chances = speaker.logits(text.ids)[:-1].log_softmax(-1)
        each = -chances.gather(1, ids[1:, None])[:, 0].double()
        found.setdefault(f"{text.kind}: replies' tokens", []).append(each[text.reply_begin - 1 :])
        found.setdefault(f"{text.kind}: all tokens", []).append(each)
    return {name: torch.cat(parts) for name, parts in found.items()}


def perplexities(here: dict[str, Tensor], exact: dict[str, Tensor]) -> dict[str, dict[str, float]]:
    """Perplexity by kind of text, and its ratio to float32's with the ratio's standard error."""
    rows = {}
    for name, each in here.items():
        more = each - exact[name]
        ratio = float(more.mean().exp())
        error = ratio * float(more.std()) / len(more) ** 0.5
        rows[name] = {
            "tokens": len(each),
            "perplexity": float(each.mean().exp()),
            "ratio": ratio,
            "error": error,
        }
    return rows


def partings(exact: Speaker, other: Speaker) -> tuple[int, list[Parting]]:
    """How many prompts both answered, and where replies to the same prompt part, widest gap first."""
    decode = exact.model.tokenizer.decode
    (end,) = exact.model.tokenizer.end_ids
    both = exact.replies.keys() & other.replies.keys()
    found = []
    for prompt in both:
        ours, theirs = (*exact.replies[prompt], end), (*other.replies[prompt], end)
        if ours == theirs:
            continue
        position = next(
            at for at, (left, right) in enumerate(zip(ours, theirs, strict=False)) if left != right
        )
        logits = exact.logits([*prompt, *ours[:position]])[-1]
        gap = float(logits.max() - logits[theirs[position]])
        found.append(Parting(position, gap, decode(ours[:-1]), decode(theirs[:-1])))
    return len(both), sorted(found, key=lambda parting: -parting.gap)


def score(answers: list[Answer], facts: dict[str, Fact], gate: Gate) -> dict[str, int]:
    """Right answers with the gate off; replies that the gate lets through, and how many of these are right."""
    shown = [
        answer
        for answer in answers
        if not gate.judge(answer.held.questions[-1], answer.text, answer.confidence).replaced
    ]
    return {
        "questions": len(answers),
        "right": sum(is_right(answer, facts) for answer in answers),
        "shown": len(shown),
        "shown_right": sum(is_right(answer, facts) for answer in shown),
        "refused": sum(
            REFUSE not in answer.held.facts and facts[REFUSE].answered_by(answer.text) for answer in answers
        ),
    }


def measure(folder: Path, threads: int) -> dict[str, dict[str, object]]:
    """Everything, by format."""
    facts, _ = read_facts()
    chats = read_heldout()
    exact = Speaker(folder, "fp32", threads)
    gate = exact.model.gate
    assert gate is not None, f"{folder} has no topics file"
    texts = samples(exact, chats, facts)
    exact_losses = losses(exact, texts)
    results: dict[str, dict[str, object]] = {}
    for name in FORMAT_NAMES:
        speaker = exact if name == "fp32" else Speaker(folder, name, threads)
        answers = answer_all(speaker, chats)
        compared, parted = partings(exact, speaker)
        results[name] = {
            "perplexity": perplexities(losses(speaker, texts), exact_losses),
            "score": score(answers, facts, gate),
            "replies": compared,
            "parted": [asdict(parting) for parting in parted],
        }
    return results


def report(results: dict[str, dict[str, object]]) -> None:
    """Print Markdown tables."""
    kinds = list(results["fp32"]["perplexity"])  # type: ignore[call-overload]
    print("| format | " + " | ".join(kinds) + " |\n|---" * 1 + "|---" * len(kinds) + "|")
    for name, row in results.items():
        cells = []
        for kind in kinds:
            figures = row["perplexity"][kind]  # type: ignore[index]
            change = f" ({figures['ratio'] - 1:+.2%} ± {figures['error']:.2%})" if name != "fp32" else ""
            cells.append(f"{figures['perplexity']:.4f}{change}")
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(
        "\n| format | right, gate off | gate on: shown | of these right | false refusals |\n|---|---|---|---|---|"
    )
    for name, row in results.items():
        marks = row["score"]
        print(
            f"| {name} | {marks['right']} of {marks['questions']} | {marks['shown']} | "  # type: ignore[index]
            f"{marks['shown_right']} | {marks['refused']} |"  # type: ignore[index]
        )
    print(
        "\n| format | replies equal to float32's | first difference at token (median) | gap: median | largest |"
    )
    print("|---|---|---|---|---|")
    for name, row in results.items():
        parted, compared = row["parted"], row["replies"]
        assert isinstance(parted, list)
        assert isinstance(compared, int)
        if parted:
            gaps = [parting["gap"] for parting in parted]
            middle = statistics.median(parting["position"] for parting in parted)
            tail = f"{middle:.0f} | {statistics.median(gaps):.3f} | {max(gaps):.3f}"
        else:
            tail = "- | - | -"
        print(f"| {name} | {compared - len(parted)} of {compared} | {tail} |")
    for name, row in results.items():
        for parting in row["parted"][:_LISTED]:  # type: ignore[index]
            print(f"\n{name}, token {parting['position']}, gap {parting['gap']:.3f}:")
            print(f"    float32: {parting['exact'][:160]!r}\n    {name}: {parting['other'][:160]!r}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        # Packed files go next to a model, and the bundled one is to stay as it is.
        folder = shutil.copytree(find_model("guide"), Path(place) / "guide")
        results = measure(Path(folder), options.threads)
    if options.json:
        print(json.dumps(results))
    else:
        report(results)


if __name__ == "__main__":
    main()
