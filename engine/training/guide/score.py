"""Scores the shipped files with transformers: right answers by category, with the gate off and on."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.text.gate import Gate
from engine.training.guide.dialogue import Source
from engine.training.guide.fact import REFUSE, Fact
from engine.training.guide.heldout import HeldOut

ROWS = 48
NEW_TOKENS = 160


@dataclass(frozen=True)
class Answer:
    """The model's reply to the last question of a chat, with the lowest probability of its tokens."""

    held: HeldOut
    text: str
    confidence: float


class Answering(Protocol):
    """Whatever answers chats greedily."""

    def reply(self, chats: list[list[dict[str, str]]]) -> list[tuple[str, float]]:
        """The reply to each chat and the lowest probability among its tokens."""
        ...


class Speaker:
    """A model folder, loaded as anybody would by transformers, that answers chats greedily in float32."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.tokenizer.padding_side = "left"
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    @torch.inference_mode()
    def reply(self, chats: list[list[dict[str, str]]]) -> list[tuple[str, float]]:
        """The reply to each chat and the lowest probability among its tokens."""
        texts = [
            self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
            for chat in chats
        ]
        inputs = self.tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        inputs.pop("token_type_ids", None)
        out = self.model.generate(
            **inputs,
            max_new_tokens=NEW_TOKENS,
            do_sample=False,
            return_dict_in_generate=True,
            output_logits=True,
        )
        new = out.sequences[:, inputs["input_ids"].shape[1] :]
        chances = torch.stack([step.softmax(-1).max(-1).values for step in out.logits], dim=1)
        chances[new == self.tokenizer.pad_token_id] = 1.0
        replies = self.tokenizer.batch_decode(new, skip_special_tokens=True)
        return list(zip(replies, chances.min(1).values.tolist(), strict=True))


def answer_all(speaker: Answering, chats: Iterable[HeldOut]) -> list[Answer]:
    """The model's answers; earlier replies of a chat are the model's own."""
    waiting = sorted(chats, key=lambda held: (len(held.questions), len(held.questions[-1])))
    answers: list[Answer] = []
    for start in range(0, len(waiting), ROWS):
        group = waiting[start : start + ROWS]
        histories: list[list[dict[str, str]]] = [[] for _ in group]
        for turn in range(max(len(held.questions) for held in group)):
            active = [place for place, held in enumerate(group) if turn < len(held.questions)]
            for place in active:
                histories[place].append({"role": "user", "content": group[place].questions[turn]})
            replies = speaker.reply([histories[place] for place in active])
            for place, (text, confidence) in zip(active, replies, strict=True):
                histories[place].append({"role": "assistant", "content": text})
                if turn == len(group[place].questions) - 1:
                    answers.append(Answer(group[place], text, confidence))
    return answers


def is_right(answer: Answer, facts: dict[str, Fact]) -> bool:
    """Whether an answer follows the key rule of a fact that was expected."""
    return any(name in facts and facts[name].answered_by(answer.text) for name in answer.held.facts)


def category(held: HeldOut, facts: dict[str, Fact]) -> str:
    """The topic of a question: its facts file, "refuse", or "multi-turn"."""
    if len(held.questions) > 1:
        return "multi-turn"
    first = held.facts[0]
    return REFUSE if first == REFUSE else facts[first].topic if first in facts else "unknown fact"


def table(answers: list[Answer], facts: dict[str, Fact], gate: Gate) -> str:
    """A Markdown table of scores by category, with the gate off and on."""
    rows: dict[str, Counter[str]] = {}
    for answer in answers:
        right = is_right(answer, facts)
        verdict = gate.judge(answer.held.questions[-1], answer.text, answer.confidence)
        refused = REFUSE not in answer.held.facts and facts[REFUSE].answered_by(answer.text)
        suggested = any(topic.name in answer.held.facts for topic in verdict.topics)
        marks = {
            "all": 1, "right": right, "false refusals": refused, "passed": not verdict.replaced,
            "passed right": right and not verdict.replaced,
            "helped": suggested or (right and not verdict.replaced),
        }  # fmt: skip
        for name in (category(answer.held, facts), "total"):
            rows.setdefault(name, Counter()).update({mark: int(value) for mark, value in marks.items()})
    lines = [
        "| questions | number | right, gate off | false refusals | gate on: reply shown | of these right | "
        "right or offered |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted(rows, key=lambda name: (name == "total", name)):
        row = rows[name]
        lines.append(
            f"| {name} | {row['all']} | {_share(row['right'], row['all'])} | "
            f"{_share(row['false refusals'], row['all'])} | "
            f"{_share(row['passed'], row['all'])} | {_share(row['passed right'], row['passed'])} | "
            f"{_share(row['helped'], row['all'])} |"
        )
    return "\n".join(lines)


def best_threshold(speaker: Speaker, source: Source, gate: Gate) -> float:
    """The threshold that serves development questions best.

    A right answer counts 1, a list of topics with the right one 0.4, one without it -0.2, a wrong answer -1. Half of
    the questions come from patterns kept out of training and half from trained ones, as people will ask both; the
    held-out questions play no part.
    """
    rng = random.Random(23)
    chats = [
        HeldOut((name,), tuple(questions)) for name, questions in source.dev_questions(rng, per_pattern=3)
    ]
    names = [name for name, fact in source.facts.items() if fact.patterns]
    chats += [HeldOut((name,), (source.question(name, rng),)) for name in rng.choices(names, k=len(chats))]
    answers = answer_all(speaker, chats)

    def value(threshold: float) -> float:
        trial = Gate(threshold, gate.topics)
        total = 0.0
        for answer in answers:
            verdict = trial.judge(answer.held.questions[-1], answer.text, answer.confidence)
            offered = any(topic.name in answer.held.facts for topic in verdict.topics)
            if is_right(answer, source.facts) and not verdict.replaced:
                total += 1.0
            else:
                total += 0.4 if offered else -0.2 if verdict.replaced else -1.0
        return total

    return max((round(0.3 + 0.05 * step, 2) for step in range(14)), key=value)


def score(folder: Path, chats: list[HeldOut], facts: dict[str, Fact]) -> tuple[str, list[Answer]]:
    """The table of scores of a model folder on some chats, and the answers."""
    started = time.monotonic()
    gate = Gate.read(folder)
    if gate is None:
        raise FileNotFoundError(f"{folder} has no topics file: run --stage target first")
    answers = answer_all(Speaker(folder), chats)
    print(f"{len(answers)} questions in {time.monotonic() - started:.0f} s", flush=True)
    return table(answers, facts, gate), answers


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "-"
