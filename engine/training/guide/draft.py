"""Trains the draft: a small network that imitates the target, and measures how often the target agrees with it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.guide import recipe
from engine.training.guide.corpus import Batch, Supply
from engine.training.guide.dialogue import Source
from engine.training.guide.vocabulary import Encoder
from engine.training.network import Network
from engine.training.trainer import Trainer

CHAIN = 4
IMITATION_SHARE = 0.7


def imitation_loss(teacher: Network) -> Callable[[Network, Batch], Tensor]:
    """A loss that mixes the divergence from the teacher's distribution with plain cross-entropy."""

    def loss(network: Network, batch: Batch) -> Tensor:
        tokens, learn = torch.from_numpy(batch.tokens), torch.from_numpy(batch.learn)
        with torch.no_grad():
            wanted = teacher.logits(teacher(tokens[:, :-1])[learn]).float().log_softmax(-1)
        guess = network.logits(network(tokens[:, :-1])[learn]).float().log_softmax(-1)
        divergence = functional.kl_div(guess, wanted, reduction="batchmean", log_target=True)
        entropy = functional.nll_loss(guess, tokens[:, 1:][learn])
        return IMITATION_SHARE * divergence + (1 - IMITATION_SHARE) * entropy

    return loss


def train_draft(work: recipe.Work, teacher: Network, minutes: float | None, threads: int) -> Network:
    """Train the draft for ``minutes`` in all, going on from a checkpoint if there is one."""
    torch.manual_seed(recipe.SEED + 1)
    network = Network(recipe.DRAFT)
    work.begin(network, recipe.DRAFT_FOLDER)
    schedule = work.schedule(minutes, recipe.DRAFT_MINUTES, recipe.WARM_DRAFT_MINUTES)
    trainer = Trainer(
        network, schedule, imitation_loss(teacher.eval()), recipe.LOSS_SHARES, work.draft, threads
    )
    supply = Supply(work.tokenizer, recipe.TOKENS_PER_BATCH, recipe.SEED + 50_000 + trainer.progress.step)
    try:
        trainer.run(supply)
    finally:
        supply.close()
    return network


@dataclass(frozen=True)
class Acceptance:
    """How often the target's greedy text holds what the draft guessed, ``CHAIN`` tokens a round.

    Attributes:
        by_position: for each place in the chain, the share accepted of those whose predecessors all were.
        accepted: the mean number of accepted tokens a round.
    """

    by_position: tuple[float, ...]
    accepted: float


@torch.no_grad()
def greedy(network: Network, prompt: list[int], end: int, limit: int) -> list[int]:
    """The network's greedy continuation of ``prompt``, with its end token."""
    ids = list(prompt)
    while len(ids) - len(prompt) < limit:
        ids.append(int(network.logits(network(torch.tensor([ids]))[0, -1]).argmax()))
        if ids[-1] == end:
            break
    return ids[len(prompt) :]


@torch.no_grad()
def acceptance(
    target: Network, draft: Network, encoder: Encoder, source: Source, kind: str, number: int = 40
) -> Acceptance:
    """Acceptance on fresh prompts of one half, "guide" or "playground"."""
    rng = random.Random(97)
    tries, hits, rounds, total = [0] * CHAIN, [0] * CHAIN, 0, 0
    for _ in range(number):
        turn = source.guide_turn(rng) if kind == "guide" else source.playground_turn(rng)
        prompt = encoder.prompt([("user", turn.question)])
        text = greedy(target, prompt, encoder.end, 300)
        guess = (
            draft.logits(draft(torch.tensor([prompt + text]))[0]).argmax(-1)[len(prompt) - 1 : -1].tolist()
        )
        # The chain is compared up to its first miss only, so the draft always guesses after text that the target
        # wrote: one pass over the whole text gives all of its guesses. The first token comes with the prompt.
        place = 1
        while place < len(text):
            kept = 0
            while kept < CHAIN and place + kept < len(text):
                tries[kept] += 1
                if guess[place + kept] != text[place + kept]:
                    break
                hits[kept] += 1
                kept += 1
            rounds, total = rounds + 1, total + kept
            place += kept + 1
    return Acceptance(
        tuple(hit / max(1, tried) for hit, tried in zip(hits, tries, strict=True)), total / max(1, rounds)
    )
