"""LLMCad's drafter: the text is the target's, and what is kept of a draft is what a fresh one says."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.draft_model import DraftModel
from engine.drafting.kind import Pacing
from engine.drafting.paced_tree import PacedTree
from engine.errors import Cancelled
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import Draft, DraftShape
from engine.placement.device import Link
from tests.engine.drafting.test_draft_model_drafter import Counted, noisy
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import chosen, covering
from tests.support.replies import run_reply
from tests.support.waiting import Waiting

CONTEXT = 256
PROMPT = [*range(3, 30), *range(3, 30)]
FAMILIES = ["llama", "mistral-window", "gemma3", "phi3-longrope"]
#: Random models are unsure of everything: with this threshold they draft a few tokens all the same.
UNSURE = 1e-4
WHOLE = Pacing(UNSURE)
ALL = [
    *(
        Pacing(UNSURE, branching, adaptive, ahead, length=5)
        for branching, adaptive, ahead in product((False, True), repeat=3)
    ),
    *(Pacing(UNSURE, True, adaptive, draft_beyond=False, length=5) for adaptive in (False, True)),
]
#: Each combination with one family, the whole of it with each.
CASES = [*(("llama", pacing) for pacing in ALL), *((family, WHOLE) for family in FAMILIES[1:])]


def drafter_for(decoder: Decoder, pacing: Pacing = WHOLE, context: int = CONTEXT) -> PacedTree:
    link = Link(torch.device("cpu"))
    model = DraftModel(decoder, decoder.config.vocabulary_size, context, link, lambda: None)
    return PacedTree(model, pacing)


def waiting(decoder: Decoder, seed: int, most: int = 4) -> Decoder:
    """The same target, each of whose layers is a random while on its way."""
    draw = random.Random(seed)
    return Decoder(decoder.config, Waiting(decoder.source, lambda: draw.randint(0, most)))


# Of the eight combinations, four are a covering array.
@pytest.mark.parametrize(
    ("family", "pacing", "other"),
    chosen(
        [(*case, other) for case in CASES for other in (False, True)],
        [*(("llama", ALL[at], at % 2 == 0) for at in (0, 3, 5, 6, 9)), ("gemma3", WHOLE, True)],
    ),
)
def test_the_text_is_the_target_s_with_any_draft(
    family: str, pacing: Pacing, other: bool, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint_of(family)
    decoder = load_decoder(folder)
    expected = greedy(decoder, torch.tensor(PROMPT), 60)
    target = TokenSequence(Target(waiting(decoder, seed=3)), CONTEXT)
    draft = load_decoder(write_checkpoint(tmp_path / "other", "llama", seed=7)) if other else noisy(folder, 0.3)
    tokens, timings = run_reply(target, drafter_for(draft, pacing), PROMPT, 60, nodes=24)
    assert tokens == expected
    assert timings.draft_n > 0


@pytest.mark.parametrize(("family", "pacing"), chosen(CASES, [("llama", ALL[7]), ("llama", ALL[0]), ("gemma3", WHOLE)]))
def test_a_model_that_drafts_for_itself_is_always_right(
    family: str, pacing: Pacing, checkpoint_of: Callable[[str], Path]
) -> None:
    """Rows of the cache are never stale: over many rounds, drafted ahead or not, nothing that was drafted is wrong."""
    decoder = load_decoder(checkpoint_of(family))
    target = TokenSequence(Target(waiting(decoder, seed=5)), CONTEXT)
    tokens, timings = run_reply(target, drafter_for(decoder, pacing), PROMPT, 90, nodes=24)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 90)
    assert timings.acceptance_rate == 1.0


@pytest.mark.parametrize(("seed", "pacing"), covering(range(2), [ALL[0], ALL[3], ALL[-1], WHOLE], together=1), ids=str)
def test_a_seed_gives_one_text_whatever_is_drafted(seed: int, pacing: Pacing, llama_folder: Path) -> None:
    decoder, draft = load_decoder(llama_folder), noisy(llama_folder, 0.3)
    sampler = Sampler(temperature=0.8, top_p=0.9, repetition_penalty=1.1, seed=seed)
    plain, _ = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter_for(draft), PROMPT, 40, 0, sampler)
    target = TokenSequence(Target(waiting(decoder, seed)), CONTEXT)
    assert run_reply(target, drafter_for(draft, pacing), PROMPT, 40, 24, sampler)[0] == plain


@pytest.mark.parametrize(("family", "seed"), covering(FAMILIES, range(3), together=1))
def test_what_is_kept_of_a_draft_made_ahead_is_what_a_fresh_one_says(
    family: str, seed: int, checkpoint_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pitfall 14: after any verdict, each node that was kept has the probability of a cache made anew."""
    # The worth of a step depends on the clock, and with it the part that is kept.
    monkeypatch.setattr(PacedTree, "_is_worth", lambda self, confidence: True)
    draw = random.Random(seed)
    decoder = load_decoder(checkpoint_of(family))
    drafter = drafter_for(decoder)
    fresh = drafter_for(decoder)
    drafter.reset(PROMPT)
    text = [*PROMPT, 40]
    drafter.observe([40], None)
    kept = 0
    for _ in range(12):
        drafter.propose(DraftShape(24))
        for _ in range(draw.randint(0, 6)):
            drafter.draft_ahead()
        emitted = walk(drafter, draw)
        drafter.observe(emitted, None)
        text += emitted
        kept += drafter._tree.rows
        if not drafter._tree.begun:
            continue
        for path, score in paths(drafter._tree.draft(10_000)):
            assert score == pytest.approx(log_probability(fresh, text, path), abs=1e-3)
    assert kept > 0


def walk(drafter: PacedTree, draw: random.Random) -> list[int]:
    """Tokens that a target might say: some way down the tree, and now and then beside it."""
    tree = drafter._tree.draft(10_000)
    tokens: list[int] = []
    row = 0
    for _ in range(draw.randint(1, 4)):
        children = tree.children[row]
        if not children or draw.random() < 0.15:
            return [*tokens, 50]
        token = draw.choice(list(children))
        tokens.append(token)
        row = children[token] + 1
    return tokens


def paths(tree: Draft) -> list[tuple[list[int], float]]:
    found: list[list[int]] = []
    for token, parent in zip(tree.tokens, tree.parents, strict=True):
        found.append([*(found[parent] if parent >= 0 else []), token])
    return list(zip(found, tree.scores, strict=True))[:: max(1, len(found) // 8)]


def log_probability(drafter: PacedTree, text: list[int], path: list[int]) -> float:
    model = drafter._model
    model.reset([*text, *path[:-1]])
    model._cached.clear()
    model._cache.truncate(0)
    following = [model.run(model.text, range(len(model.text)))[len(text) - 1 :]]
    return sum(float(following[0][at, token]) for at, token in enumerate(path))


def test_drafts_made_ahead_are_not_computed_again(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    counted = Counted(decoder)
    drafter = drafter_for(counted, Pacing(UNSURE, branching=False))
    drafter.reset(PROMPT)
    drafter.observe([40], None)
    first = drafter.propose(DraftShape(4))
    while drafter.draft_ahead():
        pass
    path = drafter._tree.guess()
    assert tuple(path[: len(first)]) == first.tokens
    counted.rows = 0
    drafter.observe(path[: len(first) + 1], None)
    after = drafter.propose(DraftShape(4))
    assert counted.rows == 0
    assert list(after.tokens) == path[len(first) + 1 :][:4]


def test_nothing_is_drafted_ahead_without_an_end(llama_folder: Path) -> None:
    drafter = drafter_for(load_decoder(llama_folder))
    assert not drafter.draft_ahead()
    drafter.reset(PROMPT)
    drafter.observe([40], None)
    drafter.propose(DraftShape(0))
    assert not drafter.draft_ahead()
    drafter.propose(DraftShape(10))
    steps = sum(1 for _ in iter(drafter.draft_ahead, False))
    assert 0 < steps <= 40
    assert drafter._tree.rows <= 40


def test_the_prompt_is_read_while_the_target_reads_it(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    counted = Counted(decoder)
    for pacing, rows in ((Pacing(UNSURE), 1), (Pacing(UNSURE, draft_ahead=False), len(PROMPT))):
        drafter = drafter_for(counted, pacing)
        drafter.reset(PROMPT)
        assert drafter.draft_ahead() == pacing.draft_ahead
        counted.rows = 0
        drafter.observe([40], None)
        assert counted.rows == rows


def begun(decoder: Decoder, pacing: Pacing) -> PacedTree:
    """A drafter that has read the prompt."""
    drafter = drafter_for(decoder, pacing)
    drafter.reset(PROMPT)
    drafter.observe([40], None)
    return drafter


def test_confidence_ends_a_draft(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    sizes = []
    for threshold in (1.0, 1e-2, 1e-4):
        drafter = begun(decoder, Pacing(threshold, branching=False))
        draft = drafter.propose(DraftShape(63))
        assert draft.is_chain
        assert draft.scores[-1] < torch.tensor(threshold).log() <= (*draft.scores, 0.0)[len(draft) - 2]
        sizes.append(len(draft))
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    assert sizes[2] > 1


@pytest.mark.parametrize("adaptive", [True, False])
def test_without_what_goes_beyond_the_paper_a_draft_is_its_branches(
    adaptive: bool, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little further nodes would cost, and whatever places are left."""
    monkeypatch.setattr(PacedTree, "_is_worth", lambda self, confidence: True)
    decoder = load_decoder(llama_folder)
    drafts = {}
    for beyond in (True, False):
        drafter = begun(decoder, Pacing(1e-3, True, adaptive, draft_beyond=beyond, length=3))
        drafts[beyond] = drafter.propose(DraftShape(63))
        if not beyond:
            assert len(drafts[beyond]) == drafter._tree.size
            if adaptive:
                assert drafter._confidence < 1e-3
            else:
                assert max(drafts[beyond].row_depths) == 3
    assert len(drafts[False]) < len(drafts[True])


def test_nodes_beyond_the_threshold_must_be_worth_their_time(llama_folder: Path) -> None:
    """By what the reply makes in a second, and by what drafts that were sure have kept; unknown, it is nothing."""
    decoder = load_decoder(llama_folder)

    def beyond(tokens_per_s: float, wrong: int = 0) -> int:
        drafter = drafter_for(decoder, Pacing(1e-3))
        drafter.reset(PROMPT)
        drafter.observe([40], None)
        for _ in range(wrong):
            guess = drafter.propose(DraftShape(63)).tokens[0]
            drafter.observe([guess + 1 if guess < 90 else guess - 1], None)
        return len(drafter.propose(DraftShape(63, second_worth=tokens_per_s)))

    assert beyond(1e-9) > beyond(1e9) == beyond(0.0)
    # Confidences that promised tokens and kept none are worth less, and 0.0 runs nothing beyond.
    assert beyond(1e-9, wrong=8) >= beyond(1e9, wrong=8)


def test_a_draft_of_fixed_length_has_it(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    for branching, length in product((False, True), (1, 4)):
        drafter = drafter_for(decoder, Pacing(UNSURE, branching, adaptive_fallback=False, length=length))
        drafter.reset(PROMPT)
        drafter.observe([40], None)
        assert max(drafter.propose(DraftShape(63)).row_depths) >= length
        assert len(drafter.propose(DraftShape(2))) <= 2


def test_a_text_longer_than_the_draft_s_context_is_not_drafted(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    drafter = drafter_for(decoder, context=len(PROMPT) + 12)
    tokens, timings = run_reply(TokenSequence(Target(waiting(decoder, 1)), CONTEXT), drafter, PROMPT, 40)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 40)
    assert timings.draft_n > 0
    drafter.reset(list(range(3, 100)))
    drafter.observe([7], None)
    assert len(drafter.propose(DraftShape(5))) == 0
    assert not drafter.draft_ahead()


def test_a_cancel_while_drafting_ahead_leaves_both_caches_right(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        if steps == 30:
            raise Cancelled("")
        return 3

    slow = Decoder(decoder.config, Waiting(decoder.source, step))
    target, drafter = TokenSequence(Target(slow), CONTEXT), drafter_for(decoder)
    with pytest.raises(Cancelled):
        run_reply(target, drafter, PROMPT, 60)
    tokens, timings = run_reply(target, drafter, PROMPT, 60)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 60)
    assert timings.acceptance_rate == 1.0
