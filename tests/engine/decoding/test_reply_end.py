"""Pitfall 12 of the fifteen: nothing is emitted or committed behind the end of a reply, wherever in a path it comes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import Drafter
from engine.drafting.schedule import FixedShape
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.text.stop import ReplyText
from engine.verifying import RULES
from tests.support.decoders import greedy, load_decoder

PROMPT = (5, 90, 200, 17)
NODES = 8


class Oracle(Drafter):
    """Drafts the true continuation, with a wrong sibling beside each node."""

    hidden_layers: tuple[int, ...] = ()

    def __init__(self, truth: Sequence[int]) -> None:
        self._truth = truth
        self._known = 0

    def reset(self, prompt: Sequence[int]) -> int:
        self._known = 0
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: torch.Tensor | None = None, probes: object = None) -> None:
        self._known += len(tokens)

    def propose(self, shape: DraftShape) -> Draft:
        tokens: list[int] = []
        parents: list[int] = []
        parent = ROOT
        for token in self._truth[self._known : self._known + shape.rows // 2]:
            tokens += [(token + 1) % 300, token]
            parents += [parent, parent]
            parent = len(tokens) - 1
        return Draft(tuple(tokens), tuple(parents))


@pytest.fixture(scope="module")
def decoder(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


@pytest.fixture(scope="module")
def truth(decoder: Decoder) -> list[int]:
    return greedy(decoder, torch.tensor(PROMPT), 40)


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("limit", [2, 11, 23, None])
def test_ends_at_the_very_token(rule: str, limit: int | None, decoder: Decoder, truth: list[int]) -> None:
    # A token that comes once: the reply ends where it does.
    place = next(at for at in range(12, 24) if truth.index(truth[at]) == at)
    reply = ReplyText(lambda ids: "", {truth[place]}, (), limit)
    sequence, clock = TokenSequence(Target(decoder), 128), ReplyClock()
    recipe = Recipe(Oracle(truth), RULES[rule].verifier(Sampler()), FixedShape(DraftShape(NODES)))
    hooks = Hooks(lambda: None, lambda *_: None, lambda *_: None)
    for _ in Decoding(sequence, recipe, PROMPT, reply, clock, hooks):
        pass
    count = place + 1 if limit is None or limit > place else limit
    assert reply.token_ids == truth[:count]
    assert reply.stop_reason == ("end" if count == place + 1 else "length")
    # The newest token is the root of a round that never comes, so it has no row.
    assert sequence.token_ids == [*PROMPT, *truth[: count - 1]]
    timings = clock.timings()
    assert timings.predicted_n == count
    assert count == 2 or timings.target_forwards < (count - 1) / 2
