"""The feature draft as a drafter: its rows follow the target's commits, and its trees are its chains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import LeftAlone, NoDrafter
from engine.drafting.eagle import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.trees import TreeShape
from engine.model.decoder import Decoder
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.placement.device import Link
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.decoders import load_decoder
from tests.support.heads import make_head
from tests.support.replies import run_reply

CONTEXT = 200
SHAPE = TreeShape(width=4, depth=4, nodes=14)


@pytest.fixture(scope="module")
def target(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


@pytest.fixture(params=["dovetail", "eagle"], scope="module")
def network(
    request: pytest.FixtureRequest, target: Decoder, tmp_path_factory: pytest.TempPathFactory
) -> FeatureNetwork:
    folder = make_head(request.param).write(tmp_path_factory.mktemp("head"), safetensors=True)
    return load_feature_network(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))


def drafter_of(network: FeatureNetwork, shape: TreeShape = SHAPE, context: int = CONTEXT) -> FeatureDraft:
    return FeatureDraft(network, shape, context, Link(torch.device("cpu")), lambda: None)


def random_text(count: int, seed: int) -> list[int]:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def hidden_rows(target: Decoder, tokens: list[int]) -> torch.Tensor:
    """The target's features of a whole text."""
    cache = target.new_cache(len(tokens))
    return target.forward(torch.tensor(tokens), torch.arange(len(tokens)), cache, logit_rows=slice(0, 0)).hidden


def fresh(network: FeatureNetwork, target: Decoder, text: list[int], shape: TreeShape = SHAPE) -> Draft:
    """Draft of a drafter that has just read this text; its last token is the root."""
    drafter = drafter_of(network, shape)
    drafter.reset(text[:-1])
    drafter.observe(text[-1:], hidden_rows(target, text[:-1]))
    return drafter.propose(DraftShape(shape.nodes))


def assert_same(one: Draft, other: Draft) -> None:
    assert (one.tokens, one.parents) == (other.tokens, other.parents)
    torch.testing.assert_close(torch.tensor(one.scores), torch.tensor(other.scores), atol=1e-4, rtol=1e-4)


def test_each_node_scores_what_its_path_scores_as_a_chain(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(21, 1)
    tree = fresh(network, target, text, TreeShape(width=3, depth=5, nodes=30))
    assert len(tree) == 30
    assert max(tree.row_depths) > 2
    rows = hidden_rows(target, text[:-1])
    for node in range(len(tree)):
        path, at = [], node
        while at != ROOT:
            path.insert(0, at)
            at = tree.parents[at]
        cache = network.new_cache(CONTEXT)
        outputs = network.run(torch.tensor(text[1:]), torch.arange(20), cache, target_features=rows)
        cache.commit(range(20))
        score = 0.0
        for step, at in enumerate(path):
            token = tree.tokens[at]
            score += float(network.logits(outputs[-1:]).log_softmax(-1)[0, token])
            outputs = network.run(torch.tensor([token]), torch.tensor([20 + step]), cache, features=outputs[-1:])
            cache.commit(range(1))
        assert tree.scores[node] == pytest.approx(score, abs=1e-4)


def test_after_each_round_it_drafts_what_a_fresh_one_drafts(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(60, 2)
    rows = hidden_rows(target, text)
    drafter = drafter_of(network)
    assert drafter.reset(text[:20]) == 0
    drafter.observe(text[20:21], rows[:20])
    known = 20
    # One token, several, and rounds in which nothing was asked of it.
    for emitted, budget in ((1, 14), (5, 14), (3, 0), (2, 0), (7, 14), (1, 14)):
        drafter.propose(DraftShape(budget))
        drafter.observe(text[known + 1 : known + 1 + emitted], rows[known : known + emitted])
        known += emitted
        if budget:
            assert_same(drafter.propose(DraftShape(14)), fresh(network, target, text[: known + 1]))


def test_a_proposal_leaves_no_trace(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(21, 3)
    drafter = drafter_of(network)
    drafter.reset(text[:-1])
    drafter.observe(text[-1:], hidden_rows(target, text[:-1]))
    assert drafter.propose(DraftShape(14)) == drafter.propose(DraftShape(14))
    assert len(drafter.propose(DraftShape(3))) == 3
    assert drafter.propose(DraftShape(0)) == Draft()


@pytest.mark.parametrize("drafted", [True, False], ids=["drafted before", "only observed before"])
@pytest.mark.parametrize("shared", [0, 1, 9, 24, 25, 30])
def test_the_next_prompt_needs_rows_from_where_it_differs(
    network: FeatureNetwork, target: Decoder, shared: int, drafted: bool
) -> None:
    first = random_text(32, 4)
    second = first[:shared] + random_text(32, 5)[shared:]
    drafter = drafter_of(network)
    drafter.reset(first[:20])
    rows = hidden_rows(target, first[:26])
    drafter.observe(first[20:21], rows[:20])
    if drafted:
        drafter.propose(DraftShape(8))
    drafter.observe(first[21:26], rows[20:25])
    known = drafter.reset(second[:29])
    reusable = min(shared, 26)
    assert reusable - 1 <= known <= reusable
    drafter.observe(second[29:30], hidden_rows(target, second[:29])[known:])
    assert_same(drafter.propose(DraftShape(14)), fresh(network, target, second[:30]))


def test_the_same_prompt_again_needs_its_last_row(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(21, 6)
    rows = hidden_rows(target, text[:-1])
    drafter = drafter_of(network)
    drafter.reset(text[:-1])
    drafter.observe(text[-1:], rows)
    before = drafter.propose(DraftShape(14))
    assert drafter.reset(text[:-1]) == 19
    drafter.observe(text[-1:], rows[19:])
    assert_same(drafter.propose(DraftShape(14)), before)


def test_a_long_prompt_is_taken_in_by_pieces(
    network: FeatureNetwork, target: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = random_text(50, 7)
    whole = fresh(network, target, text)
    monkeypatch.setattr("engine.drafting.eagle.CHUNK_ROWS", 16)
    assert_same(fresh(network, target, text), whole)


def test_the_prompt_is_read_with_the_target(
    network: FeatureNetwork, target: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row is left for the first draft: that of the last token, whose next one the target has not said."""
    text = random_text(50, 7)
    rows = hidden_rows(target, text[:-1])
    drafter = drafter_of(network)
    assert drafter.reset(text[:-1]) == 0
    for start in range(0, 49, 10):
        drafter.read_prompt(min(start + 10, 49), rows[start : start + 10])
    ran: list[int] = []
    run = network.run

    def counted(tokens: torch.Tensor, *given: Any, **named: Any) -> torch.Tensor:
        ran.append(len(tokens))
        return run(tokens, *given, **named)

    monkeypatch.setattr(network, "run", counted)
    drafter.observe(text[-1:], rows[:0])
    assert_same(drafter.propose(DraftShape(14)), fresh(network, target, text))
    assert ran[0] == 1
    # A prompt that was left in its midst goes on where it was.
    drafter.reset(random_text(40, 8))
    other = random_text(40, 9)
    assert drafter.reset(other) == 0
    rows = hidden_rows(target, other)
    drafter.read_prompt(20, rows[:20])
    assert drafter.reset(other[:30]) == 20
    drafter.read_prompt(30, rows[20:30])
    drafter.observe(other[30:31], rows[:0])
    assert_same(drafter.propose(DraftShape(14)), fresh(network, target, other[:31]))


def test_a_prompt_that_takes_longer_than_it_can_save_is_not_read(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(190, 10)
    rows = hidden_rows(target, text)
    drafter = drafter_of(network)
    drafter.reset(text)
    drafter.reading_s = 0.0
    drafter.read_prompt(100, rows[:100])  # which shows the time
    with pytest.raises(LeftAlone, match=r"it would take . s to read the prompt's 89 tokens"):
        drafter.read_prompt(190, rows[100:])


def test_it_drafts_up_to_the_end_of_the_context(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(60, 8)
    drafter = drafter_of(network, SHAPE, 60)
    drafter.reset(text[:-1])
    drafter.observe(text[-1:], hidden_rows(target, text[:-1]))
    assert len(drafter.propose(DraftShape(14))) == 14


def test_rows_that_do_not_fit_the_text_are_refused(network: FeatureNetwork, target: Decoder) -> None:
    text = random_text(21, 9)
    drafter = drafter_of(network)
    drafter.reset(text[:-1])
    with pytest.raises(ValueError, match="19 hidden rows for 21 tokens"):
        drafter.observe(text[-1:], hidden_rows(target, text[:-2]))


def test_a_reply_is_the_same_text_and_the_draft_follows_it(network: FeatureNetwork, target: Decoder) -> None:
    drafter, reader = drafter_of(network), TokenSequence(Target(target), CONTEXT)
    prompt = random_text(20, 10)
    plain, _ = run_reply(TokenSequence(Target(target), CONTEXT), NoDrafter(), prompt, 60)
    for _ in range(2):  # the second time with caches that hold the prompt and more
        drafted, timings = run_reply(reader, drafter, prompt, 60)
        assert drafted == plain
        assert timings.draft_n > 0
    # A longer prompt, which holds the reply.
    following = [*prompt, *plain, *random_text(9, 11)]
    again, timings = run_reply(reader, drafter, following, 20)
    assert timings.cache_n > len(prompt)
    assert again == run_reply(TokenSequence(Target(target), CONTEXT), NoDrafter(), following, 20)[0]


def test_nothing_can_be_drafted_before_a_token(network: FeatureNetwork) -> None:
    drafter = drafter_of(network)
    with pytest.raises(ValueError, match="before it has observed"):
        drafter.propose(DraftShape(4))
