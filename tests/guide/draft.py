"""Trains the draft: a small network that imitates the target."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.llama_network import Network
from engine.training.trainer import Trainer
from tests.guide import recipe
from tests.guide.corpus import Batch, Supply

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
