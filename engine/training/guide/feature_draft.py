"""Trains feature drafts for the guide that ships, on the guide's own corpus."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.placement.resident import Resident
from engine.training.draft.features import Example, FeatureBatch, batch_of
from engine.training.draft.network import FusionName, shape_for
from engine.training.draft.supply import KIND, ExampleSupply
from engine.training.draft.training import train, write_draft
from engine.training.guide import recipe
from engine.training.guide.dialogue import Source
from engine.training.guide.fact import read_facts
from engine.training.guide.vocabulary import Encoder
from engine.weights.checkpoint import Checkpoint

# Dialogues of each half, and how many of all are kept aside.
_GUIDE_DIALOGUES, _PLAYGROUND_DIALOGUES = 3000, 2600
_KEPT_ASIDE = 64
_TOKENS_PER_STEP = 4000
_LONGEST = 512


@dataclass(frozen=True)
class Variant:
    """One draft to train: its folder's name, its blocks, its fusion, and how many steps it learns."""

    name: str
    blocks: int
    fusion: FusionName
    steps: int


#: What ships.
SHIPPED = Variant("guide-gated-fusion", 2, "gated", 300)
#: Dovetail's table III: more blocks, and plain concatenation beside the gate.
ABLATION = (
    Variant("concat-1", 1, "concat", 60),
    *(Variant(f"gated-{blocks}", blocks, "gated", 60) for blocks in range(1, 6)),
)


def train_feature_drafts(guide: Path, out: Path, variants: Sequence[Variant], minutes: float | None) -> None:
    """Train drafts one after the other on the same dialogues, and write a folder for each.

    Args:
        guide: The guide's folder.
        out: Where the drafts' folders go.
        variants: What to train.
        minutes: How long, each; None for each one's own number of steps, so that all learn from as much.
    """
    checkpoint = Checkpoint(guide)
    config = read_config(checkpoint)
    decoder = Decoder(config, Resident(load_weights(checkpoint, config, torch.float32, torch.device("cpu"))))
    torch.set_num_threads(1)
    examples = list(_examples(Encoder(guide / "tokenizer.json")))
    aside = examples[:_KEPT_ASIDE]
    supply = ExampleSupply(decoder, examples[_KEPT_ASIDE:], _TOKENS_PER_STEP, recipe.SEED)
    kept_aside: list[FeatureBatch] = [
        batch_of(decoder, KIND, aside[at : at + 32]) for at in range(0, len(aside), 32)
    ]
    for variant in variants:
        print(f"{variant.name}: {variant.fusion}, {variant.blocks} blocks", flush=True)
        shape = shape_for(config, variant.blocks, variant.fusion)
        steps = variant.steps if minutes is None else None
        outcome = train(decoder, shape, supply, kept_aside, minutes or 1.0, recipe.SEED, sys.stdout, steps)
        write_draft(outcome.network, out / variant.name)
        print(f"wrote {out / variant.name} ({outcome.network.parameter_count:,} parameters)", flush=True)
        if outcome.interrupted:
            return


def _examples(encoder: Encoder) -> Iterator[Example]:
    """Dialogues of both halves in turn, with whole replies: a draft is asked for every word of them."""
    source, rng = Source(*read_facts(problems=[])), random.Random(recipe.SEED + 90_000)
    makers = [source.guide] * _GUIDE_DIALOGUES + [source.playground] * _PLAYGROUND_DIALOGUES
    rng.shuffle(makers)
    for make in makers:
        encoded = encoder.encode(replace(make(rng), brief=False), rng)
        yield Example(tuple(encoded.ids[:_LONGEST]), tuple(encoded.learn[:_LONGEST]))
