"""A small model drafts with prompt tokens of its own: fewer forwards of it, and the text is the target's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.prompt_tokens import PromptTokens
from engine.drafting.small_model import PromptedDraft
from engine.drafting.trees import TreeShape
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape, Probes
from engine.placement.device import Link
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import greedy, load_decoder
from tests.support.replies import run_reply

CONTEXT, COUNT = 256, 60
PROMPT = [*range(3, 30), *range(3, 30)]
TREE, CHAIN = TreeShape(4, 6, 12), TreeShape(1, 6, 6)
LINK = Link(torch.device("cpu"))


class CountedModel(DraftModel):
    """Counts the forwards that drafting takes; its probes say the truth, where one is given."""

    def __init__(self, decoder: Decoder, truth: Sequence[int] = ()) -> None:
        super().__init__(decoder, decoder.config.vocabulary_size, CONTEXT, LINK, lambda: None)
        self.forwards = 0
        self._truth = truth

    def run(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sees: Tensor | None = None,
        uncommitted: int = 0,
        logit_rows: slice | None = None,
        probes: Probes = Probes(),  # noqa: B008
    ) -> Tensor:
        following = super().run(tokens, positions, sees, uncommitted, logit_rows, probes)
        if logit_rows != slice(0, 0):
            self.forwards += 1
        for probe, position in enumerate(positions[len(tokens) :], len(following) - len(probes)):
            if position + 1 < len(self._truth):
                following[probe] = -20.0
                following[probe, self._truth[position + 1]] = 0.0
        return following


def prompt_tokens(decoder: Decoder, members: int = 1) -> PromptTokens:
    generator = torch.Generator().manual_seed(2)
    return PromptTokens(torch.randn(3, members, decoder.config.hidden_size, generator=generator))


def reply(
    decoder: Decoder, drafter: DraftModelDrafter, sampler: Sampler | None = None
) -> tuple[list[int], int]:
    tokens, timings = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter, PROMPT, COUNT, 12, sampler)
    return tokens, timings.target_forwards


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("shape", [TREE, CHAIN])
@pytest.mark.parametrize("family", ["llama", "mistral-window", "gemma2", "phi3-longrope"])
def test_the_text_is_the_target_s(
    family: str, shape: TreeShape, members: int, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    decoder = load_decoder(checkpoint_of(family))
    expected = greedy(decoder, torch.tensor(PROMPT), COUNT)
    other = load_decoder(write_checkpoint(tmp_path / "other", "llama", seed=7))
    for draft in (decoder, other):
        drafter = PromptedDraft(CountedModel(draft), prompt_tokens(draft, members), shape)
        tokens, forwards = reply(decoder, drafter)
        assert tokens == expected
        if draft is decoder:
            # What the draft has run are its own words: the first token of each draft, and one for each forward.
            assert forwards <= COUNT // 2 + 1


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_guesses_that_hold_spare_forwards(family: str, checkpoint_of: Callable[[str], Path]) -> None:
    decoder = load_decoder(checkpoint_of(family))
    truth = [*PROMPT, *greedy(decoder, torch.tensor(PROMPT), COUNT + 10)]
    level_by_level, prompted = CountedModel(decoder), CountedModel(decoder, truth)
    _, usual = reply(decoder, DraftModelDrafter(level_by_level, CHAIN))
    tokens, forwards = reply(decoder, PromptedDraft(prompted, prompt_tokens(decoder), CHAIN))
    assert tokens == truth[len(PROMPT) : len(PROMPT) + COUNT]
    assert forwards <= usual
    assert prompted.forwards / forwards <= 0.6 * level_by_level.forwards / usual


def test_drawn_and_fixed_trees_grow_level_by_level(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    both = [
        DraftModelDrafter(CountedModel(decoder), TREE),
        PromptedDraft(CountedModel(decoder), prompt_tokens(decoder), TREE),
    ]
    for drafter in both:
        drafter.reset(PROMPT[:-1])
        drafter.observe(PROMPT[-1:], None)
    usual, prompted = (drafter.propose(DraftShape.tree((-1, -1, 0, 2))) for drafter in both)
    assert prompted == usual
    assert len(both[1].propose(DraftShape(0))) == 0
