"""A second model drafts: the text stays the target's, and the draft's cache never lags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.trees import TreeShape
from engine.errors import Cancelled
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.placement.device import Link
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import chosen, covering
from tests.support.replies import run_reply

CONTEXT = 256
TREE, CHAIN = TreeShape(4, 5, 12), TreeShape(1, 5, 5)
PROMPT = [*range(3, 30), *range(3, 30)]
FAMILIES = ["llama", "mistral-window", "qwen3", "gemma2", "gemma3", "phi3-longrope"]


def drafter_for(
    decoder: Decoder, shape: TreeShape, check: Callable[[], None] = lambda: None, context: int = CONTEXT
) -> DraftModelDrafter:
    link = Link(torch.device("cpu"))
    return DraftModelDrafter(DraftModel(decoder, decoder.config.vocabulary_size, context, link, check), shape)


def noisy(folder: Path, amount: float) -> Decoder:
    """The same model with its first matrix disturbed: right often, wrong often."""
    decoder = load_decoder(folder)
    noise = torch.randn(
        (decoder.config.vocabulary_size, decoder.config.hidden_size),
        generator=torch.Generator().manual_seed(1),
    )
    for part in decoder.source.layer(0).parts():
        weight = getattr(part, "weight", None)
        if weight is not None:
            weight.add_(amount * weight.std() * noise.flatten()[: weight.numel()].reshape(weight.shape))
            break
    return decoder


@pytest.fixture(params=chosen(FAMILIES, ("gemma3", "phi3-longrope")), scope="module")
def folder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Path:
    return checkpoint_of(request.param)


@pytest.mark.parametrize("shape", [TREE, CHAIN])
def test_a_model_that_drafts_for_itself_is_always_right(folder: Path, shape: TreeShape) -> None:
    """Pitfall 11: the cache never lags, so acceptance is 100 % over many rounds, and each round gives all it can."""
    decoder = load_decoder(folder)
    target = TokenSequence(Target(decoder), CONTEXT)
    drafter = drafter_for(decoder, shape)
    tokens, timings = run_reply(target, drafter, PROMPT, 120)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 120)
    assert timings.acceptance_rate == 1.0
    if shape.width == 1:
        # One round more where the text outgrows LongRoPE's short kind in its midst.
        assert timings.target_forwards <= -(-119 // 6) + (folder.name == "phi3-longrope")


@pytest.mark.parametrize(("shape", "other"), covering([TREE, CHAIN], [False, True], together=1), ids=str)
def test_another_model_s_draft_changes_nothing_of_the_text(
    folder: Path, shape: TreeShape, other: bool, tmp_path: Path
) -> None:
    decoder = load_decoder(folder)
    draft = load_decoder(write_checkpoint(tmp_path / "other", "llama", seed=7)) if other else noisy(folder, 0.3)
    tokens, timings = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter_for(draft, shape), PROMPT, 60)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 60)
    assert timings.draft_n > 0


def test_a_disturbed_model_is_sometimes_right(llama_folder: Path) -> None:
    target = TokenSequence(Target(load_decoder(llama_folder)), CONTEXT)
    _, timings = run_reply(target, drafter_for(noisy(llama_folder, 0.3), TREE), PROMPT, 60)
    assert timings.acceptance_rate is not None
    assert 0.1 < timings.acceptance_rate < 1.0


def test_a_seed_gives_one_text_with_and_without_the_draft(llama_folder: Path) -> None:
    decoder, draft = load_decoder(llama_folder), noisy(llama_folder, 0.3)
    for seed in range(4):
        sampler = Sampler(temperature=0.8, top_p=0.9, repetition_penalty=1.1, seed=seed)
        texts = [
            run_reply(TokenSequence(Target(decoder), CONTEXT), drafter_for(draft, TREE), PROMPT, 40, nodes, sampler)[0]
            for nodes in (0, 12)
        ]
        assert texts[0] == texts[1]


def test_the_next_reply_reads_only_what_is_new(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    counted = Counted(decoder)
    drafter = drafter_for(counted, CHAIN)
    target = TokenSequence(Target(decoder), CONTEXT)
    tokens, _ = run_reply(target, drafter, PROMPT, 20)
    longer = [*PROMPT, *tokens, 5, 6, 7]
    counted.rows = 0
    again, timings = run_reply(target, drafter, longer, 12)
    assert counted.rows < 12 + 20
    assert timings.acceptance_rate == 1.0
    assert again == greedy(decoder, torch.tensor(longer), 12)
    # A text that shares only the first tokens.
    other = [*PROMPT[:9], *range(50, 90)]
    tokens, timings = run_reply(target, drafter, other, 30)
    assert tokens == greedy(decoder, torch.tensor(other), 30)
    assert timings.acceptance_rate == 1.0


def test_each_token_is_run_once(llama_folder: Path) -> None:
    """Levels compute their own nodes only, and accepted rows are kept: a chain of 5 costs 4 nodes and 2 text tokens."""
    decoder = load_decoder(llama_folder)
    counted = Counted(decoder)
    _, timings = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter_for(counted, CHAIN), PROMPT, 61)
    assert timings.target_forwards == 10
    assert counted.rows == len(PROMPT) + 1 + 4 + 9 * 6


class Counted(Decoder):
    """A decoder that counts the rows that it computes."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__(decoder.config, decoder.source)
        self.rows = 0

    def forward(self, tokens: torch.Tensor, *arguments: object, **options: object) -> object:  # type: ignore[override]
        self.rows += len(tokens)
        return super().forward(tokens, *arguments, **options)  # type: ignore[arg-type]


def test_rounds_without_a_draft_are_caught_up_with(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    drafter = drafter_for(decoder, CHAIN)
    text = [*PROMPT, *greedy(decoder, torch.tensor(PROMPT), 40)]
    drafter.reset(PROMPT)
    end = len(PROMPT)
    for step in (1, 1, 1, 7, 2, 1):
        drafter.observe(text[end : end + step], None)
        end += step
        assert len(drafter.propose(DraftShape(0))) == 0
    draft = drafter.propose(DraftShape(5))
    assert list(draft.tokens) == text[end : end + 5]
    drafter.observe(text[end : end + 6], None)
    assert list(drafter.propose(DraftShape(5)).tokens) == text[end + 6 : end + 11]


def test_a_path_that_was_run_but_not_proposed_is_kept_too(llama_folder: Path) -> None:
    """The target may go where the tree was cut: the next draft is still that of a fresh cache."""
    decoder = load_decoder(llama_folder)
    shape = TreeShape(6, 4, 3)
    drafter = drafter_for(decoder, shape)
    drafter.reset(PROMPT)
    drafter.observe([40], None)
    wide = drafter_for(decoder, TreeShape(6, 4, 64))
    wide.reset(PROMPT)
    wide.observe([40], None)
    drafter.propose(DraftShape(3))
    tree = wide.propose(DraftShape(64))
    assert len(tree.children[0]) > 1
    for token in tree.children[0]:
        path = [token, *([next(iter(tree.children[tree.children[0][token] + 1]), 9)])]
        for each in (drafter, wide):
            each.reset(PROMPT)
            each.observe([40], None)
            each.propose(DraftShape(3))
            each.observe(path, None)
        fresh = drafter_for(decoder, shape)
        fresh.reset([*PROMPT, 40])
        fresh.observe(path, None)
        assert drafter.propose(DraftShape(3)).tokens == fresh.propose(DraftShape(3)).tokens


def test_a_text_longer_than_the_draft_s_context_is_not_drafted(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    drafter = drafter_for(decoder, CHAIN, context=len(PROMPT) + 12)
    tokens, timings = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter, PROMPT, 40)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 40)
    assert 0 < timings.draft_n < 15
    drafter.reset(list(range(3, 100)))
    drafter.observe([7], None)
    assert len(drafter.propose(DraftShape(5))) == 0


def test_reading_a_prompt_can_be_cancelled(llama_folder: Path) -> None:
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise Cancelled("")

    decoder = load_decoder(llama_folder)
    drafter = drafter_for(decoder, CHAIN, check)
    drafter.reset(PROMPT)
    with pytest.raises(Cancelled):
        drafter.observe([5], None)
    tokens, timings = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter, PROMPT, 20)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 20)
    assert timings.acceptance_rate == 1.0


def test_padding_rows_are_never_drafted(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    link = Link(torch.device("cpu"))
    drafter = DraftModelDrafter(DraftModel(decoder, 10, CONTEXT, link, lambda: None), TreeShape(8, 3, 32))
    drafter.reset(PROMPT)
    drafter.observe([5], None)
    draft = drafter.propose(DraftShape(32))
    assert len(draft) > 8
    assert max(draft.tokens) < 10
