"""Several texts on one model: each gets the reply that it gets alone, however their rounds take turns."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.lookup import PromptLookup
from engine.drafting.schedule import FixedShape
from engine.drafting.trees import TreeShape
from engine.errors import Cancelled
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import load_decoder
from tests.support.fast_cases import chosen
from tests.support.packed_models import load

CONTEXT, TOKENS = 300, 40


@dataclass
class Asked:
    """A request: its prompt, how it is sampled and drafted, and when it is stopped."""

    prompt: list[int]
    sampler: Sampler
    drafter: Callable[[], Drafter]
    stop_after: int = TOKENS

    def reply(self, sequence: TokenSequence) -> tuple[ReplyText, Iterator[None]]:
        """A reply that was not begun yet."""
        reply = ReplyText(lambda ids: "", frozenset(), (), TOKENS)

        def check() -> None:
            if len(reply.token_ids) >= self.stop_after:
                raise Cancelled("")

        hooks = Hooks(check, lambda done, total: None, lambda *emitted: None)
        recipe = Recipe(self.drafter(), SampleAndMatch(self.sampler), FixedShape(DraftShape(7)))
        return reply, Decoding(sequence, recipe, self.prompt, reply, ReplyClock(), hooks)


@pytest.fixture(params=chosen(["llama", "gemma2", "q8_0"], ("llama", "q8_0")), scope="module")
def decoder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Decoder:
    if request.param != "q8_0":
        return load_decoder(checkpoint_of(request.param))
    folder = checkpoint_of("llama")
    return Decoder(read_config(Checkpoint(folder)), Resident(load(folder)))


@pytest.fixture
def asked(decoder: Decoder, draft: Path) -> list[Asked]:
    small = load_decoder(draft)

    def drafter() -> Drafter:
        model = DraftModel(small, 320, CONTEXT, Link(torch.device("cpu")), lambda: None)
        return DraftModelDrafter(model, TreeShape(3, 3, 7))

    greedy, sampled = Sampler(temperature=0.0), Sampler(temperature=1.0, seed=11)
    words = [5, 6, 7, 8, 5, 6, 7, 9] * 6
    return [
        Asked(list(range(3, 150)), greedy, NoDrafter),
        Asked(list(range(20, 60)), sampled, NoDrafter),
        Asked(words, sampled, PromptLookup),
        Asked(list(range(90, 200)), greedy, drafter),
        Asked([7, *words], greedy, drafter),
        Asked(list(range(60, 130)), sampled, PromptLookup, stop_after=9),
    ]


def alone(decoder: Decoder, asked: Asked) -> list[int]:
    reply, steps = asked.reply(TokenSequence(Target(decoder), CONTEXT))
    run([steps], random.Random(0))
    return reply.token_ids


def run(steps: Sequence[Iterator[None]], chance: random.Random) -> list[int]:
    """Step replies in random turns until all have ended; returns whose turn it was."""
    turns, left = [], dict(enumerate(steps))
    while left:
        at = chance.choice(list(left))
        turns.append(at)
        try:
            next(left[at])
        except (StopIteration, Cancelled):
            del left[at]
    return turns


@pytest.mark.parametrize("seed", chosen(range(3), (0,)))
def test_replies_are_those_that_each_gets_alone(decoder: Decoder, asked: list[Asked], seed: int) -> None:
    expected = [alone(decoder, one) for one in asked]
    assert all(len(ids) >= TOKENS for one, ids in zip(asked, expected, strict=True) if one.stop_after == TOKENS)
    target = Target(decoder)
    sequences = [TokenSequence(target, CONTEXT) for _ in asked]
    replies = [one.reply(sequence) for one, sequence in zip(asked, sequences, strict=True)]
    turns = run([steps for _, steps in replies], random.Random(seed))
    assert sum(one != other for one, other in pairwise(turns)) > len(turns) / 2
    assert [reply.token_ids for reply, _ in replies] == expected
    # Each cache holds its own text still.
    chance = random.Random(seed)
    for one, sequence in zip(asked, sequences, strict=True):
        kept = sequence.token_ids[:]
        longer = Asked([*kept, chance.randrange(3, 300)], one.sampler, NoDrafter)
        assert sequence.reuse(longer.prompt) == len(kept)
        reply, steps = longer.reply(sequence)
        run([steps], chance)
        assert reply.token_ids == alone(decoder, longer)


def test_a_device_that_fails_moves_every_sequence(asked: list[Asked], llama_folder: Path) -> None:
    class Failing(Decoder):
        forwards = 0

        def forward_together(self, *arguments: object, **values: object) -> object:  # type: ignore[override]
            Failing.forwards += 1
            if Failing.forwards > 12:
                raise RuntimeError("device lost")
            return super().forward_together(*arguments, **values)  # type: ignore[arg-type]

    whole = load_decoder(llama_folder)
    fallen: list[str] = []

    def fallback(error: RuntimeError) -> Decoder:
        fallen.append(str(error))
        return whole

    target = Target(Failing(whole.config, whole.source), fallback)
    some = asked[:2]
    replies = [one.reply(TokenSequence(target, CONTEXT)) for one in some]
    run([steps for _, steps in replies], random.Random(1))
    assert [reply.token_ids for reply, _ in replies] == [alone(whole, one) for one in some]
    assert fallen == ["device lost"]
