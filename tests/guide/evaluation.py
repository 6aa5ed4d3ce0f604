"""Quick scores while training: which questions does the network answer word for word?"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from engine.training.llama_network import Network
from tests.guide.corpus import pack
from tests.guide.dialogue import Dialogue, Source, Turn
from tests.guide.fact import read_facts
from tests.guide.vocabulary import Encoder

ROWS = 64


@torch.no_grad()
def exact(network: Network, encoder: Encoder, dialogues: list[Dialogue]) -> list[bool]:
    """For each dialogue, whether greedy decoding gives every reply word for word.

    Greedy text equals the expected text exactly when each expected token is the most likely one after those before
    it, so one pass over question and answer is enough.
    """
    right: list[bool] = []
    rng = random.Random(0)
    for start in range(0, len(dialogues), ROWS):
        rows = [encoder.encode(dialogue, rng) for dialogue in dialogues[start : start + ROWS]]
        batch = pack("guide", rows, encoder.pad)
        tokens, learn = torch.from_numpy(batch.tokens), torch.from_numpy(batch.learn)
        with torch.autocast("cpu", torch.bfloat16):
            guess = network.logits(network(tokens[:, :-1])).argmax(-1)
        right += ((guess == tokens[:, 1:]) | ~learn).all(1).tolist()
    return right


def development_score(encoder: Encoder) -> Callable[[Network], str]:
    """A function that says the share of right answers to wordings kept out of training, and to trained ones."""
    facts, phrases = read_facts(problems=[])
    source, rng = Source(facts, phrases), random.Random(7)
    unseen = [(name, turns[0]) for name, turns in source.dev_questions(rng, per_pattern=3)]
    seen = [(name, source.question(name, rng)) for name in sorted(facts) if facts[name].patterns]

    def dialogues(questions: list[tuple[str, str]]) -> list[Dialogue]:
        return [Dialogue(None, (Turn(question, facts[name].answer, name),)) for name, question in questions]

    def score(network: Network) -> str:
        scores = [exact(network, encoder, dialogues(questions)) for questions in (unseen, seen)]
        shares = [
            f"{sum(right)}/{len(right)} = {100 * sum(right) / max(1, len(right)):.1f} %" for right in scores
        ]
        return f"development: unseen wordings {shares[0]}, trained wordings {shares[1]}"

    return score
