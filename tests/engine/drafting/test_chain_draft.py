"""Chains of a head and what is beside them: tokens of its trees, the target's own words, no time that is not earned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.worth import Worth
from engine.drafting.drafter import NoDrafter
from engine.drafting.eagle import ChainDraft, FeatureDraft, ShareChances, _drafter
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.fixed_trees import WIDTHS
from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.kind import Drafting
from engine.drafting.lookup import MatchChances, PromptLookup
from engine.drafting.medusa import HeadCalibration
from engine.drafting.trees import TreeShape
from engine.json_text import from_plain
from engine.kernels import library
from engine.messages import RoundRecord
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.packed_loader import load_packed
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.heads import make_head
from tests.support.replies import run_reply

pytestmark = pytest.mark.skipif(library.available() is None, reason="the kernel library was not built")
CONTEXT = 200


@pytest.fixture(scope="module")
def target(llama_folder: Path) -> Decoder:
    checkpoint = Checkpoint(llama_folder)
    config = read_config(checkpoint)
    return Decoder(config, Resident(load_packed(checkpoint, config, weight_format("q8_0"))))


@pytest.fixture(scope="module")
def network(target: Decoder, tmp_path_factory: pytest.TempPathFactory) -> FeatureNetwork:
    folder = make_head("eagle").write(tmp_path_factory.mktemp("head"), safetensors=True)
    shared = share(target.source)
    return load_feature_network(HeadCheckpoint(folder), target.config, shared, weight_format("q4_1"))


def head(network: FeatureNetwork) -> FeatureDraft:
    return FeatureDraft(network, TreeShape(1, 4, 4), CONTEXT, Link(torch.device("cpu")), lambda: None)


class Compared(ChainDraft):
    """Compares each chain with the tree of width 1 of another drafter that has seen the same."""

    compared = beside = 0

    def __init__(self, network: FeatureNetwork) -> None:
        super().__init__(head(network), None, ShareChances(0.25))
        self._trees = head(network)

    def reset(self, prompt: list[int]) -> int:  # type: ignore[override]
        self._trees.reset(prompt)
        return super().reset(prompt)

    def read_prompt(self, end, hidden=None) -> None:  # type: ignore[no-untyped-def]
        assert self.reads_hidden
        self._trees.read_prompt(end, hidden)
        super().read_prompt(end, hidden)

    def observe(self, tokens, hidden, probes=None) -> None:  # type: ignore[no-untyped-def]
        self._trees.observe(tokens, hidden)
        super().observe(tokens, hidden, probes)

    def propose(self, shape: DraftShape) -> Draft:
        chain = super().propose(shape)
        if chain.steps:
            steps = self._trees.propose(shape).tokens
            parent, on_it = ROOT, [ROOT]
            for token in steps:
                parent = chain.children[parent + 1].get(token, len(chain))
                if parent == len(chain):
                    break
                on_it.append(parent)
            assert 1 < len(on_it) <= chain.steps + 1 <= len(steps) + 1
            assert set(chain.parents) <= set(on_it)
            assert all(len(children) <= 3 for children in chain.children)
            assert list(chain.scores) == sorted(chain.scores, reverse=True)
            self.compared += 1
            self.beside += len(chain) > len(on_it) - 1
        return chain


@pytest.mark.parametrize("sampler", [Sampler(), Sampler(temperature=0.7, seed=3)])
def test_chains_are_trees_of_width_1_and_change_no_token(
    target: Decoder, network: FeatureNetwork, sampler: Sampler
) -> None:
    assert head(network).runs_chains
    prompt = torch.randint(3, 300, (40,), generator=torch.Generator().manual_seed(2)).tolist()
    plain, _ = run_reply(TokenSequence(Target(target), CONTEXT), NoDrafter(), prompt, 60, 0, sampler)
    drafter = Compared(network)
    drafted, _ = run_reply(TokenSequence(Target(target), CONTEXT), drafter, prompt, 60, 4, sampler)
    assert drafted == plain
    assert drafter.compared > 20
    assert drafter.beside > 10


@pytest.mark.parametrize("matches", [True, False])
def test_many_nodes_are_trees_that_take_matches_in(
    matches: bool, target: Decoder, network: FeatureNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a target that waits for its weights asks for them; a reply that was there before is known to its end."""
    prompt, count = torch.randint(3, 300, (40,), generator=torch.Generator().manual_seed(2)).tolist(), 60
    plain, _ = run_reply(TokenSequence(Target(target), CONTEXT), NoDrafter(), prompt, count, 0, Sampler())

    class Remembering(PromptLookup):
        def reset(self, prompt: Sequence[int]) -> int:
            super().reset([*prompt, *plain, *prompt])
            return len(prompt)

    monkeypatch.setattr("engine.drafting.eagle.PromptLookup", Remembering)
    wanted = Drafting(TreeShape(nodes=63), MatchChances() if matches else None, False, lambda tokens: None)
    draft = FeatureDraft(network, TreeShape(), CONTEXT, Link(torch.device("cpu")), lambda: None)
    drafter = _drafter(draft, ShareChances(0.25), wanted)
    found, timings = run_reply(TokenSequence(Target(target), CONTEXT), drafter, prompt, count, 63, Sampler())
    assert found == plain
    assert (timings.target_forwards <= count // 6) == matches


def test_rows_that_waited_for_long_are_taken_in_by_the_short_way(target: Decoder, network: FeatureNetwork) -> None:
    text = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(5)).tolist()
    cache = target.new_cache(len(text))
    hidden = target.forward(torch.tensor(text), torch.arange(len(text)), cache).hidden
    late, prompt = head(network), head(network)
    late.reset(text[:30])
    late.observe(text[30:31], hidden[:30])
    for at in range(31, len(text)):
        late.observe(text[at : at + 1], hidden[at - 1 : at])
    prompt.reset(text[:-1])
    prompt.observe(text[-1:], hidden[: len(text) - 1])
    found: list[torch.Tensor] = []
    for drafter in (late, prompt):
        drafter.run_chain(lambda logits: found.append(logits.clone()), lambda logits, tokens: None)
    assert torch.equal(*found)


def test_a_share_is_worth_what_it_was_seen_to_be() -> None:
    chances = ShareChances(0.25)
    assert chances.of_share(0.95) == pytest.approx(0.95)
    for held in (True, False) * 100:
        chances.learn_from([(5, 0.97), (6, 0.02)], 5 if held else 7)
    assert chances.of_share(0.97) == pytest.approx(0.5, abs=0.05)
    assert chances.of_share(0.55) == pytest.approx(0.55, abs=0.05)
    assert chances.of_share(0.01) < 0.01


def test_shares_are_worth_from_the_first_reply_on_what_training_counted() -> None:
    none = [1.0] * len(WIDTHS)
    plain = {"tree": [], "searched": none, "grown": none, "follows": False, "accuracies": [[0.4, 0.5], [0.2, 0.3]]}
    counted = from_plain(HeadCalibration, plain | {"shares": [[0, 1000.0, 100.0]]})
    older = from_plain(HeadCalibration, plain)
    assert ShareChances(0.25, counted).of_share(0.5) < 0.2
    assert ShareChances(0.25, older).of_share(0.5) == ShareChances(0.25).of_share(0.5) == 0.5
    for chances in (ShareChances(0.25, counted), ShareChances(0.25, older)):
        assert (chances.adds(DraftShape(15)), chances.onward) == (0.4, 0.2)
    with pytest.raises(ValueError, match="more guesses hold"):
        from_plain(HeadCalibration, plain | {"shares": [[0, 1.0, 2.0]]})


def test_a_text_in_which_no_guess_holds_is_noticed_before_shares_are_known() -> None:
    chances = ShareChances(0.25)
    for _ in range(4):
        chances.learn_from([(5, 0.6), (6, 0.2)], 7)
    assert chances.of_share(0.35) < 0.2  # of which nothing was seen


def test_steps_that_cost_nothing_are_taken_from_a_head_whose_guesses_never_hold() -> None:
    """With a fixed number of nodes no step has a price."""
    chances = ShareChances(0.25)
    for _ in range(40):
        chances.learn_from([(5, 0.6), (6, 0.2)], 7)
        chances.guessed([(5, 0.6), (6, 0.2)])
    assert chances.adds(DraftShape(15, row_worth=0.5)) >= chances.step_worth == 0.0
    chances.begin()
    assert chances.adds(DraftShape(15, row_worth=0.5)) >= 0.0


def test_what_guesses_add_follows_the_prices_of_rows_of_now() -> None:
    """While other programs run a row may cost more than a token is worth, and nothing a moment later."""
    chances = ShareChances(0.25)
    for _ in range(40):
        chances.guessed([(5, 0.6), (6, 0.2)])
    assert chances.adds(DraftShape(15, row_worth=1.0)) == 0.0
    assert chances.adds(DraftShape(15, row_worth=0.1)) == pytest.approx(0.5 + 0.1, abs=0.05)


@pytest.mark.parametrize("step_ms", [10.0, 40.0])
def test_a_network_whose_drafts_never_hold_is_hardly_asked(step_ms: float) -> None:
    """A plain round takes 100 ms; of 400 tokens no more than two in a hundred are lost, and the network is tried on."""
    drafter = PromptLookup()
    drafter.hidden_layers = (3,)
    schedule, seconds, asked = Worth(drafter, 15), 0.0, 0
    for position in range(400):
        shape = schedule.shape()
        proposed = Draft((7,), (-1,), (-0.2,), steps=1) if shape.step_worth <= 1.0 else Draft()
        asked += proposed.steps
        draft = schedule.choose(proposed)
        draft_ms, verify_ms = step_ms * proposed.steps, 100.0 + 20.0 * len(draft)
        record = RoundRecord(position, draft.tokens, draft.parents, draft.scores, (), (5,), draft_ms, verify_ms)
        schedule.observe(record)
        seconds += (draft_ms + verify_ms) / 1e3
    assert 3 < asked < 60
    assert seconds < 40.0 * 1.025
