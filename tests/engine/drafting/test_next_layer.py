"""The layer that a model comes with to guess a token further (MTP) drafts what the published description says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file

from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.worth import Worth
from engine.drafting.drafter import NoDrafter
from engine.drafting.eagle import ChainDraft, FeatureDraft, ShareChances
from engine.drafting.kinds import read_draft
from engine.drafting.lookup import PromptLookup
from engine.drafting.trees import TreeShape
from engine.errors import DraftMismatch, TensorMismatch, UnsupportedModel
from engine.loaded_model import load_model
from engine.messages import OWN_HEAD, LoadOptions
from engine.model.sampling import Sampler
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel, open_draft
from engine.placement.device import Link
from engine.planning.planner import own_drafts
from engine.run import settle
from tests.support.checkpoints import all_experts, write_checkpoint
from tests.support.decoders import load_decoder, load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.next_layers import (
    FORMS,
    HALVES,
    HYBRIDS,
    WITH_NEXT_LAYER,
    next_layer_drafter,
    next_layer_network,
    write_gguf_with_next_layer,
    write_with_next_layer,
)
from tests.support.replies import run_reply

PROMPT = torch.randint(3, 300, (23,), generator=torch.Generator().manual_seed(4)).tolist()
ROOT = 17
TEXT = "one two three four one two three four one two " * 3


@pytest.mark.parametrize(
    ("variant", "form"),
    [
        *product(WITH_NEXT_LAYER, FORMS),
        *((variant, "qwen") for variant in HYBRIDS),
        *((one, "deepseek") for one in HALVES),
    ],
)
def test_a_chain_is_that_of_the_description(tmp_path: Path, variant: str, form: str) -> None:
    reference = write_with_next_layer(tmp_path / "model", variant, form)
    rows = reference.hidden(PROMPT)
    draft = next_layer_drafter(tmp_path / "model")
    assert draft.hidden_layers == (reference.layers,)
    assert draft.reset(PROMPT) == 0
    draft.observe([ROOT], rows)
    assert list(draft.propose(DraftShape(64)).tokens) == reference.chain([*PROMPT, ROOT], rows, 5)


@pytest.mark.parametrize("beside", [False, True], ids=["inside", "beside"])
@pytest.mark.parametrize("variant", [*WITH_NEXT_LAYER, *HYBRIDS, *HALVES])
def test_a_chain_from_gguf_is_that_of_the_description(tmp_path: Path, variant: str, beside: bool) -> None:
    reference, path = write_gguf_with_next_layer(tmp_path / "model", variant, beside=beside)
    rows = reference.hidden(PROMPT)
    for place in (path, path.parent):
        draft = next_layer_drafter(place)
        draft.reset(PROMPT)
        draft.observe([ROOT], rows)
        assert list(draft.propose(DraftShape(64)).tokens) == reference.chain([*PROMPT, ROOT], rows, 5)


def always_drafts(monkeypatch: pytest.MonkeyPatch, nodes: int) -> None:
    """Draft so many nodes however busy the machine is: the schedule goes by measured times, and might draft nothing."""
    propose = ChainDraft.propose

    def free(chain: ChainDraft, shape: DraftShape) -> Draft:
        return propose(chain, replace(shape, step_worth=0.0) if shape.step_worth < inf else shape)

    monkeypatch.setattr(Worth, "_choose", lambda schedule: nodes)
    monkeypatch.setattr(Worth, "_overdrawn", lambda schedule, **asked: False)
    monkeypatch.setattr(ChainDraft, "_may_pay", lambda chain: True)
    monkeypatch.setattr(ChainDraft, "propose", free)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("variant", [*WITH_NEXT_LAYER, *HYBRIDS, HALVES[1]])
def test_a_reply_is_the_models_own(
    client: EngineClient, tmp_path: Path, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    always_drafts(monkeypatch, 7)
    target = tmp_path / "target"
    write_with_next_layer(target, variant, "qwen" if variant in HYBRIDS else "deepseek", **all_experts(variant))
    settings = {"weights": "fp32", "max_tokens": 40}
    plain = client.answer(TEXT, target, mode="plain", **settings)
    reply = client.answer(TEXT, target, draft="mtp", mode="dovetail", **settings)
    assert reply.token_ids == plain.token_ids
    assert list(reply.token_ids) == reference_greedy(load_reference(target), reply.prompt_ids, 40)
    assert client.answer(TEXT, target, mode="lookup", **settings).token_ids == plain.token_ids
    trees = client.answer(TEXT, target, draft="mtp", mode="dovetail", draft_width=4, **settings)
    assert trees.token_ids == plain.token_ids
    assert trees.timings.draft_n > 0
    following = client.answer(TEXT + reply.text, target, draft="mtp", mode="dovetail", **settings)
    assert following.timings.cache_n > 0


@pytest.mark.parametrize("beside", [False, True], ids=["inside", "beside"])
def test_a_gguf_model_is_loaded_with_its_layer(tmp_path: Path, beside: bool) -> None:
    _, path = write_gguf_with_next_layer(tmp_path / "model", "glm4-moe", beside=beside)
    model = load_model(settle(LoadOptions(model=str(path), drafts=(OWN_HEAD,), weights="fp32")))
    assert [draft.kind for draft in model.drafts] == ["head"]
    model.release()


class Both(ChainDraft):
    """Counts the trees that have both a chain of the layer and a match of lookup."""

    both = 0

    def propose(self, shape: DraftShape) -> Draft:
        match = self._lookup.propose(shape)
        tree = super().propose(shape)
        self.both += bool(match) and tree.steps > 0 and match.tokens[0] in tree.children[0]
        return tree


@pytest.mark.parametrize(
    ("variant", "copies"), [*product((*HYBRIDS, HALVES[1]), (False, True)), *product(WITH_NEXT_LAYER, (True,))]
)
def test_one_tree_of_guesses_and_matches_changes_no_token(tmp_path: Path, variant: str, copies: bool) -> None:
    """Greedy replies are those of transformers, sampled ones those without a draft; the layer knows all or nothing."""
    form = "qwen" if variant in HYBRIDS else "deepseek"
    write_with_next_layer(tmp_path / "model", variant, form, copies=copies, **all_experts(variant))
    network, decoder = next_layer_network(tmp_path / "model", weight_format("fp32")), load_decoder(tmp_path / "model")
    reference, chances, both, accepted = load_reference(tmp_path / "model"), ShareChances(0.7), 0, 0
    prompt = [*PROMPT, *reference_greedy(reference, PROMPT, 20), *PROMPT]
    greedy = reference_greedy(reference, prompt, 24)
    for sampler in (Sampler(), Sampler(temperature=0.7, top_k=3, seed=1), Sampler(temperature=0.3, seed=2)):
        plain, _ = run_reply(TokenSequence(Target(decoder), 200), NoDrafter(), prompt, 24, 0, sampler)
        head = FeatureDraft(network, TreeShape(), 200, Link(torch.device("cpu")), lambda: None, chains=True)
        drafter = Both(head, PromptLookup(), chances)
        drafted, timings = run_reply(TokenSequence(Target(decoder), 200), drafter, prompt, 24, 15, sampler)
        assert drafted == plain
        assert sampler.temperature or plain == greedy
        both, accepted = both + drafter.both, accepted + timings.draft_n_accepted
    assert not copies or (both > 0 and accepted > 20)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("weights", "options", "share"),
    [("fp32", {"draft_width": 1}, 1.0), ("fp32", {}, 0.2), ("q8_0", {}, 0.2)],
    ids=["tree", "chain", "short way"],
)
@pytest.mark.parametrize("variant", [*WITH_NEXT_LAYER, *HYBRIDS, HALVES[1]])
def test_guesses_of_a_model_that_it_knows_hold(
    client: EngineClient,
    tmp_path: Path,
    variant: str,
    weights: str,
    options: dict[str, int],
    share: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All hold in a tree of one branch; a chain has further nodes beside, which do not hold, such as lookup's."""
    always_drafts(monkeypatch, 4)
    write_with_next_layer(tmp_path / "target", variant, "qwen" if variant in HYBRIDS else "deepseek", copies=True)
    settings = {"mode": "dovetail", "weights": weights, "max_tokens": 41, **options}
    reply = client.answer(TEXT, tmp_path / "target", draft="mtp", **settings)
    assert reply.timings.draft_n > 0
    few = 8  # what a machine lets pass that is busy while its first steps are measured
    assert reply.timings.draft_n_accepted >= share * (reply.timings.draft_n - few)


def spoiled(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> OpenedModel:
    write_with_next_layer(folder, "glm4-moe")
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    return OpenedModel("model", folder)


def read(model: OpenedModel) -> None:
    read_draft(open_draft("mtp", model), model.config)


def test_a_layer_of_another_width_is_refused(tmp_path: Path) -> None:
    def widen(tensors: dict[str, torch.Tensor]) -> None:
        tensors["model.layers.3.eh_proj.weight"] = torch.zeros(64, 96)

    with pytest.raises(TensorMismatch, match=r"eh_proj.weight is \(64, 96\) and not \(64, 128\)"):
        read(spoiled(tmp_path / "model", widen))


def test_a_tensor_that_is_missing_is_named(tmp_path: Path) -> None:
    def lose(tensors: dict[str, torch.Tensor]) -> None:
        del tensors["model.layers.3.hnorm.weight"]

    with pytest.raises(TensorMismatch, match=r"1 missing \(model.layers.3.hnorm.weight\)"):
        read(spoiled(tmp_path / "model", lose))


def test_a_layer_that_is_promised_and_not_there_is_told(tmp_path: Path) -> None:
    def leave_out(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if name.startswith("model.layers.3.")]:
            del tensors[name]

    model = spoiled(tmp_path / "model", leave_out)
    with pytest.raises(DraftMismatch, match="names a layer that drafts"):
        read(model)
    assert own_drafts(model) == ()
    with pytest.raises(DraftMismatch, match="comes without a layer that drafts"):
        read(OpenedModel("other", write_checkpoint(tmp_path / "other")))


def test_a_layer_of_another_model_beside_it_is_refused(tmp_path: Path) -> None:
    _, path = write_gguf_with_next_layer(tmp_path / "model", "glm4-moe", beside=True)
    write_gguf_with_next_layer(tmp_path / "other", "deepseek-v3", beside=True)
    beside = path.parent / "mtp-model-BF16.gguf"
    (tmp_path / "other" / beside.name).replace(beside)
    with pytest.raises(DraftMismatch, match=r"mtp-model-BF16\.gguf has no layer that drafts .* Glm4MoeForCausalLM"):
        read(OpenedModel("model", path))
    with pytest.raises(UnsupportedModel, match="the layer that drafts for a model"):
        _ = OpenedModel("model", beside.rename(tmp_path / "renamed.gguf")).checkpoint


@pytest.mark.parametrize("variant", [*WITH_NEXT_LAYER, HALVES[1]])
def test_its_bytes_are_counted(tmp_path: Path, variant: str) -> None:
    _, path = write_gguf_with_next_layer(tmp_path / "model", variant, Kind.Q8_0)
    model = OpenedModel("model", path)
    draft = read_draft(open_draft("mtp", model), model.config)
    assert draft.host_format(dict, kernels=False) == weight_format("fp32")
    for weights in (draft.host_format(dict, kernels=True), weight_format("fp32"), weight_format("q4_1")):
        network = next_layer_network(path, weights)
        counted = draft.size_bytes(weights, 40)
        assert network.weights.size_bytes + network.new_cache(40).bytes == pytest.approx(counted, rel=0.02)
    assert draft.host_format(dict, kernels=True).name == "Q8_0"  # as the file is
