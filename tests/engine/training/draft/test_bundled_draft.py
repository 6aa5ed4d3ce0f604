"""The feature draft that ships with the guide: it loads, is small, and is worth its while."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.trees import TreeShape
from engine.model.weight_format import weight_format
from engine.training.draft.acceptance import mean_acceptance_length
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.guide import recipe
from tests.guide.dialogue import Source
from tests.guide.fact import read_facts
from tests.guide.feature_draft import SHIPPED
from tests.guide.vocabulary import Encoder
from tests.support.decoders import load_decoder

GUIDE = recipe.ASSETS / recipe.TARGET_FOLDER
DRAFT = recipe.ASSETS / SHIPPED.name


def test_it_is_a_few_megabytes_of_the_recipe() -> None:
    checkpoint = HeadCheckpoint(DRAFT)
    assert checkpoint.config["num_hidden_layers"] == SHIPPED.blocks
    assert sum(path.stat().st_size for path in DRAFT.iterdir()) < 8e6
    assert (DRAFT / "README.md").is_file()


@pytest.mark.parametrize(("half", "least"), [("guide", 3.0), ("playground", 1.5)])
def test_a_forward_of_the_guide_yields_several_tokens(half: str, least: float) -> None:
    decoder, encoder, rng = load_decoder(GUIDE), Encoder(Path(GUIDE) / "tokenizer.json"), random.Random(5)
    source = Source(*read_facts())
    make = source.guide_turn if half == "guide" else source.playground_turn
    prompts = [encoder.prompt([("user", make(rng).question)]) for _ in range(3)]
    network = load_feature_network(
        HeadCheckpoint(DRAFT), decoder.config, share(decoder.source), weight_format("fp32")
    )
    length = mean_acceptance_length(decoder, network, prompts, {encoder.end}, TreeShape(), 60)
    assert length > least
