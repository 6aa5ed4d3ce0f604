"""Trains the target: the guide model itself."""

from __future__ import annotations

import random
import shutil

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.llama_network import Network
from engine.training.trainer import Trainer
from tests.guide import recipe
from tests.guide.corpus import Batch, Supply
from tests.guide.dialogue import Source
from tests.guide.evaluation import development_score
from tests.guide.fact import read_facts
from tests.guide.vocabulary import Encoder, corpus_texts, learn


def answer_loss(network: Network, batch: Batch) -> Tensor:
    """Mean cross-entropy, in nats, of the tokens that are to be predicted."""
    tokens = torch.from_numpy(batch.tokens)
    learn = torch.from_numpy(batch.learn)
    hidden = network(tokens[:, :-1])[learn]
    return functional.cross_entropy(network.logits(hidden).float(), tokens[:, 1:][learn])


def make_tokenizer(work: recipe.Work) -> None:
    """Learn the vocabulary, unless the work folder has one: it must not change under a checkpoint."""
    if work.tokenizer.exists():
        return
    if work.start_from is not None:
        work.folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(work.start_from / recipe.TARGET_FOLDER / "tokenizer.json", work.tokenizer)
        return
    source, rng = Source(*read_facts(problems=[])), random.Random(recipe.SEED)
    work.folder.mkdir(parents=True, exist_ok=True)
    learn(corpus_texts(source, rng, guide=30_000, playground=15_000), recipe.VOCABULARY_SIZE).save(
        str(work.tokenizer)
    )


def train_target(work: recipe.Work, minutes: float | None, threads: int) -> Network:
    """Train the target for ``minutes`` in all, going on from a checkpoint if there is one."""
    torch.manual_seed(recipe.SEED)
    network = Network(recipe.TARGET)
    work.begin(network, recipe.TARGET_FOLDER)
    schedule = work.schedule(minutes, recipe.TARGET_MINUTES, recipe.WARM_TARGET_MINUTES)
    trainer = Trainer(network, schedule, answer_loss, recipe.LOSS_SHARES, work.target, threads)
    supply = Supply(work.tokenizer, recipe.TOKENS_PER_BATCH, recipe.SEED + trainer.progress.step)
    try:
        trainer.run(supply, development_score(Encoder(work.tokenizer)))
    finally:
        supply.close()
    return network
