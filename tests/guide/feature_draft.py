"""Trains feature drafts for the guide that ships, on the guide's own corpus."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.trees import TreeShape
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.training.draft.acceptance import mean_acceptance_length
from engine.training.draft.features import Example, FeatureBatch, batch_of
from engine.training.draft.loss import FeatureObjective, TargetEnds
from engine.training.draft.network import DraftNetwork, FusionName, shape_for
from engine.training.draft.supply import KIND, ExampleSupply
from engine.training.draft.training import train, write_draft
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.guide import recipe
from tests.guide.dialogue import Source
from tests.guide.fact import read_facts
from tests.guide.vocabulary import Encoder

# Dialogues of each half, and how many of all are kept aside.
_GUIDE_DIALOGUES, _PLAYGROUND_DIALOGUES = 3000, 2600
_KEPT_ASIDE = 64
_TOKENS_PER_STEP = 4000
_LONGEST = 512

# Fresh prompts of each half to score on, and the longest reply.
_SCORE_PROMPTS, _SCORE_TOKENS, _SCORE_SEED = 12, 100, 97
_HALVES, _SHAPES = ("guide", "playground"), ("chain of 4", "tree of 16")
_CHAIN = TreeShape(width=1, depth=4, nodes=4)


@dataclass(frozen=True)
class Variant:
    """One draft to train: its folder's name, its blocks, its fusion, and how many steps it learns."""

    name: str
    blocks: int
    fusion: FusionName
    steps: int


#: What ships.
SHIPPED = Variant("guide-gated-fusion", 2, "dovetail", 300)
#: Dovetail's table III: more blocks, and plain concatenation beside the gate.
ABLATION = (
    Variant("concatenation-1", 1, "eagle", 240),
    *(Variant(f"gated-fusion-{blocks}", blocks, "dovetail", 240) for blocks in range(1, 6)),
)


def train_feature_drafts(guide: Path, out: Path, variants: Sequence[Variant], minutes: float | None) -> None:
    """Train drafts one after the other on the same dialogues, and write a folder for each.

    Args:
        guide: The guide's folder.
        out: Parent of the drafts' folders.
        variants: Drafts to train.
        minutes: Minutes for each; None for each one's own number of steps, so that all learn from as much.
    """
    decoder = _load(guide)
    ends = TargetEnds.of(decoder)
    examples = list(_examples(Encoder(guide / "tokenizer.json")))
    aside = examples[:_KEPT_ASIDE]
    supply = ExampleSupply(decoder, examples[_KEPT_ASIDE:], _TOKENS_PER_STEP, recipe.SEED)
    kept_aside: list[FeatureBatch] = [
        batch_of(decoder, KIND, aside[at : at + 32]) for at in range(0, len(aside), 32)
    ]
    for variant in variants:
        print(f"{variant.name}: {variant.fusion}, {variant.blocks} blocks", flush=True)
        shape = shape_for(decoder.config, variant.blocks, variant.fusion)
        steps = variant.steps if minutes is None else None
        torch.manual_seed(recipe.SEED)
        network = DraftNetwork(shape)
        outcome = train(
            network, FeatureObjective(ends, kept_aside), supply, minutes or 1.0, sys.stdout, steps
        )
        write_draft(outcome.network, out / variant.name)
        print(f"wrote {out / variant.name} ({outcome.network.parameter_count:,} parameters)", flush=True)
        if outcome.interrupted:
            return


def score_feature_drafts(guide: Path, out: Path) -> None:
    """Print what each draft in a folder is worth on fresh prompts, with chains and with trees, as table rows."""
    decoder, encoder = _load(guide), Encoder(guide / "tokenizer.json")
    source = Source(*read_facts(problems=[]))
    rng = random.Random(_SCORE_SEED)
    halves = [
        [encoder.prompt([("user", make(rng).question)]) for _ in range(_SCORE_PROMPTS)]
        for make in (source.guide_turn, source.playground_turn)
    ]
    shapes = (_CHAIN, TreeShape())
    print(f"| draft | weights | {' | '.join(f'{half}, {shape}' for half in _HALVES for shape in _SHAPES)} |")
    print("|---|---|---|---|---|---|", flush=True)
    for folder in sorted(
        path.parent for path in out.glob("*/config.json") if draft_kind(path.parent) == "head"
    ):
        checkpoint, shared = HeadCheckpoint(folder), share(decoder.source)
        network = load_feature_network(checkpoint, decoder.config, shared, weight_format("fp32"))
        number = sum(math.prod(shape) for shape in checkpoint.shapes.values())
        lengths = [
            mean_acceptance_length(decoder, network, prompts, {encoder.end}, shape, _SCORE_TOKENS)
            for prompts in halves
            for shape in shapes
        ]
        figures = " | ".join(f"{length:.2f}" for length in lengths)
        print(f"| {folder.name} | {number / 1e6:.2f} M | {figures} |", flush=True)


def _load(guide: Path) -> Decoder:
    """The guide in float32, on one thread: at its size more would wait for each other."""
    checkpoint = Checkpoint(guide)
    config = read_config(checkpoint)
    torch.set_num_threads(1)
    return Decoder(config, Resident(load_weights(checkpoint, config, torch.float32, torch.device("cpu"))))


def _examples(encoder: Encoder) -> Iterator[Example]:
    """Dialogues of both halves in turn, with whole replies: a draft is asked for every word of them."""
    source, rng = Source(*read_facts(problems=[])), random.Random(recipe.SEED + 90_000)
    makers = [source.guide] * _GUIDE_DIALOGUES + [source.playground] * _PLAYGROUND_DIALOGUES
    rng.shuffle(makers)
    for make in makers:
        encoded = encoder.encode(replace(make(rng), brief=False), rng)
        yield Example(tuple(encoded.ids[:_LONGEST]), tuple(encoded.learn[:_LONGEST]))
