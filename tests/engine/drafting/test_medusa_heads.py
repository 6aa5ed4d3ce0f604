"""Medusa heads draft what a few lines of torch over the same files say, and follow a reply in the loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.drafting.kinds import kind_of, read_draft
from engine.drafting.medusa import MedusaDraft, MedusaDrafter, MedusaNetwork, load_medusa
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, DraftMismatch, TensorMismatch, WeightsCorrupt, WeightsMissing
from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.decoders import load_decoder, load_reference
from tests.support.heads import MEDUSA_HEADS, MEDUSA_LAYOUTS, Head, make_head, medusa_logits

PROMPT = torch.randint(3, 300, (23,), generator=torch.Generator().manual_seed(4)).tolist()
ROOT_TOKEN = 17
LINK = Link(torch.device("cpu"))


@pytest.fixture(scope="module")
def target(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


def load(target: Decoder, folder: Path, weights: str = "fp32") -> MedusaNetwork:
    source = target.source
    cpu = torch.device("cpu")
    return load_medusa(HeadCheckpoint(folder), source.head, source.dtype, None, weight_format(weights), cpu)


def drafter_of(network: MedusaNetwork, limits: TreeShape | None = None) -> MedusaDrafter:
    drafter = MedusaDrafter(network, 2)
    drafter.limits = limits or drafter.limits
    assert drafter.reset(PROMPT) == len(PROMPT) - 1
    return drafter


def rows(seed: int = 1) -> Tensor:
    return torch.randn(3, 64, generator=torch.Generator().manual_seed(seed))


def reference(head: Head, llama_folder: Path, row: Tensor) -> Tensor:
    with torch.no_grad():
        return medusa_logits(head, row, load_reference(llama_folder).lm_head.weight)


def paths(draft: Draft) -> dict[tuple[int, ...], float]:
    """Each node's tokens from the root on, and its score."""
    found: dict[int, tuple[int, ...]] = {ROOT: ()}
    for node, (token, parent) in enumerate(zip(draft.tokens, draft.parents, strict=True)):
        found[node] = (*found[parent], token)
    return {found[node]: score for node, score in enumerate(draft.scores)}


@pytest.mark.parametrize("safetensors", [True, False], ids=["safetensors", "pt"])
@pytest.mark.parametrize("layout", MEDUSA_LAYOUTS)
def test_the_tree_is_that_of_the_reference(
    target: Decoder, llama_folder: Path, tmp_path: Path, layout: str, safetensors: bool
) -> None:
    """The likeliest of all paths, each worth the product of what the heads give its tokens."""
    head = make_head(layout)
    network = load(target, head.write(tmp_path / layout, safetensors))
    drafter = drafter_of(network, TreeShape(5, MEDUSA_HEADS, 40))
    drafter.observe([ROOT_TOKEN], rows())
    draft = drafter.propose(DraftShape(31))

    values = reference(head, llama_folder, rows()[-1])
    best = values.topk(5)
    expected: dict[tuple[int, ...], float] = {(): 0.0}
    for depth in range(MEDUSA_HEADS):
        level = {path: score for path, score in expected.items() if len(path) == depth}
        children = zip(best.indices[depth].tolist(), best.values[depth].tolist(), strict=True)
        for token, value in list(children):
            expected |= {(*path, token): score + value for path, score in level.items()}
    del expected[()]
    ranked = sorted(expected.items(), key=lambda item: -item[1])
    found = paths(draft)
    assert len(found) == 31
    assert max(map(len, found)) > 1
    for path, score in found.items():
        assert score == pytest.approx(expected[path], abs=1e-4)
    # The tree's nodes are the best, up to those that score alike.
    assert min(found.values()) == pytest.approx(ranked[30][1], abs=1e-4)


def test_a_fixed_tree_is_filled_by_rank(target: Decoder, llama_folder: Path, tmp_path: Path) -> None:
    head = make_head("medusa")
    drafter = drafter_of(load(target, head.write(tmp_path / "heads", True)))
    drafter.observe([ROOT_TOKEN], rows())
    parents = (ROOT, ROOT, 0, 0, 1, 3)
    draft = drafter.propose(DraftShape.tree(parents))
    first, second, third, _ = reference(head, llama_folder, rows()[-1]).topk(2).indices.tolist()
    assert set(paths(draft)) == {
        (first[0],), (first[1],), (first[0], second[0]), (first[0], second[1]), (first[1], second[0]),
        (first[0], second[1], third[0]),
    }  # fmt: skip
    with pytest.raises(DraftMismatch, match=r"The tree is 5 tokens deep and the draft has 4 heads"):
        drafter.propose(DraftShape.tree((ROOT, 0, 1, 2, 3)))


@pytest.mark.skipif(library.available() is None, reason="there is no library")
@pytest.mark.parametrize("layout", MEDUSA_LAYOUTS)
def test_one_row_of_packed_heads_is_that_of_many(target: Decoder, tmp_path: Path, layout: str) -> None:
    network = load(target, make_head(layout).write(tmp_path / layout, True), "q8_0")
    for count in (1, MEDUSA_HEADS):
        many = network.logits(rows(), count).unflatten(0, (count, -1))
        for at, row in enumerate(rows()):
            torch.testing.assert_close(network.logits(row[None], count), many[:, at], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_drafts_ask_few_heads(target: Decoder, tmp_path: Path, count: int) -> None:
    network = load(target, make_head("medusa").write(tmp_path / "heads", True))
    asked: list[int] = []
    logits = network.logits
    network.logits = lambda hidden, count: asked.append(count) or logits(hidden, count)  # type: ignore[assignment,func-returns-value,method-assign]
    drafter = drafter_of(network)
    assert drafter.propose(DraftShape(0)) == Draft()
    drafter.observe([ROOT_TOKEN], rows())
    assert len(drafter.propose(DraftShape(count))) == count
    assert asked == [count]


def test_packed_heads_draft_nearly_the_same(target: Decoder, tmp_path: Path) -> None:
    folder = make_head("medusa").write(tmp_path / "heads", True)
    drafts = []
    for weights in ("fp32", "q8_0"):
        drafter = drafter_of(load(target, folder, weights), TreeShape(10, 1, 10))
        drafter.observe([ROOT_TOKEN], rows())
        drafts.append(set(drafter.propose(DraftShape(10)).tokens))
    assert len(drafts[0] & drafts[1]) >= 8


@pytest.mark.parametrize("layout", MEDUSA_LAYOUTS)
def test_the_planner_counts_their_bytes(llama_folder: Path, tmp_path: Path, layout: str) -> None:
    folder = make_head(layout).write(tmp_path / layout, True)
    assert kind_of(OpenedModel("heads", folder)) is MedusaDraft
    config = read_config(Checkpoint(llama_folder))
    draft = read_draft(OpenedModel("heads", folder), config)
    blocks = MEDUSA_HEADS * (2 if layout == "medusa-deep" else 1)
    maps = {"medusa-shared": 0, "medusa-drafted": 96}.get(layout, MEDUSA_HEADS * 384)
    floats = blocks * 64 * 65 + maps * 64
    assert draft.size_bytes(weight_format("fp32"), 1000) == 4 * floats
    copied = 384 if layout == "medusa-shared" else 0
    assert draft.size_bytes(weight_format("fp32"), 1000, elsewhere=True) == 4 * (floats + copied * 64)
    assert draft.read_elements == blocks * 64 * 64 + (maps or 384) * 64


def test_wide_maps_weigh_what_they_are_said_to(target: Decoder, tmp_path: Path) -> None:
    """Of four heads: 85 % of SmolLM2-135M with maps of their own, one hundredth with the model's."""
    sizes = {"hidden_size": 576, "vocab_size": 49152}
    heads = {}
    for own in (True, False):
        state = {f"{head}.0.linear.weight": torch.empty(576, 576) for head in range(4)}
        state |= {f"{head}.0.linear.bias": torch.empty(576) for head in range(4)}
        if own:
            state |= {f"{head}.1.weight": torch.empty(49152, 576) for head in range(4)}
        folder = Head("medusa", sizes, state).write(tmp_path / str(own), False)
        draft = read_draft(OpenedModel("heads", folder), target.config)
        heads[own] = draft.size_bytes(weight_format("bf16"), 1000) / (2 * 134_515_008)
    assert heads[True] == pytest.approx(0.85, abs=0.01)
    assert heads[False] == pytest.approx(0.01, abs=0.001)


def changed(tmp_path: Path, change: Callable[[Head], Any], layout: str = "medusa") -> Path:
    head = make_head(layout)
    change(head)
    return head.write(tmp_path / "heads", True)


@pytest.mark.parametrize("layout", MEDUSA_LAYOUTS)
def test_every_missing_tensor_is_named(target: Decoder, tmp_path: Path, layout: str) -> None:
    for name in make_head(layout).state:
        path = changed(tmp_path, lambda head, name=name: head.state.pop(name), layout)
        with pytest.raises(TensorMismatch) as caught:
            load(target, path)
        assert name in caught.value.details


def test_heads_in_two_namings_and_other_tensors_are_refused(target: Decoder, tmp_path: Path) -> None:
    path = changed(tmp_path, lambda head: head.state.update({"fc2.weight": torch.zeros(2, 2)}))
    with pytest.raises(TensorMismatch, match=r"1 unexpected \(fc2.weight\)"):
        load(target, path)

    def rename(head: Head) -> None:
        head.state["medusa_head.2.1.weight"] = head.state.pop("2.1.weight")

    with pytest.raises(TensorMismatch, match=r"missing \(.*unexpected \("):
        load(target, changed(tmp_path, rename))


@pytest.mark.parametrize(
    ("size", "layout", "message"),
    [
        ({"hidden_size": 32}, "medusa", "hidden size 32, and this model's is 64"),
        ({"hidden_size": 32}, "medusa-shared", "hidden size 32, and this model's is 64"),
        ({"vocab_size": 500}, "medusa", "vocabulary of 500, and this model's has 384"),
        ({"vocab_size": 500}, "medusa-shared", "vocabulary of 500, and this model's has 384"),
    ],
)
def test_heads_for_another_model_are_refused(
    target: Decoder, llama_folder: Path, tmp_path: Path, size: dict[str, int], layout: str, message: str
) -> None:
    def shrink(head: Head) -> None:
        sizes = {64: size.get("hidden_size", 64), 384: size.get("vocab_size", 384)}
        head.state = {
            name: torch.zeros([sizes[length] for length in value.shape]) for name, value in head.state.items()
        }
        head.config |= {name: value for name, value in size.items() if name in head.config}

    path = changed(tmp_path, shrink, layout)
    draft = read_draft(OpenedModel("heads", path), target.config)
    with pytest.raises(DraftMismatch, match=message):
        draft.check(OpenedModel("model", llama_folder))


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"hidden_size": 32}, TensorMismatch, "of the wrong shape"),
        ({"vocab_size": 400}, TensorMismatch, "of the wrong shape"),
        ({"hidden_size": "many"}, ConfigInvalid, "wrong kind"),
        ({"vocab_size": [384]}, ConfigInvalid, "wrong kind"),
    ],
)
def test_a_config_that_says_otherwise_is_refused(
    target: Decoder, tmp_path: Path, config: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        load(target, changed(tmp_path, lambda head: head.config.update(config)))


def test_a_file_that_holds_more_than_tensors_is_refused(tmp_path: Path) -> None:
    path = make_head("medusa").write(tmp_path / "heads", safetensors=False)
    torch.save({"0.0.linear.weight": Path("x")}, path / "medusa_lm_head.pt")
    with pytest.raises(WeightsCorrupt, match=r"medusa_lm_head\.pt is damaged or holds more than weights"):
        HeadCheckpoint(path)
    (path / "medusa_lm_head.pt").unlink()
    with pytest.raises(WeightsMissing):
        HeadCheckpoint(path)


def test_nothing_can_be_drafted_before_a_token(target: Decoder, tmp_path: Path) -> None:
    drafter = drafter_of(load(target, make_head("medusa").write(tmp_path / "heads", True)))
    with pytest.raises(ValueError, match="before a token"):
        drafter.propose(DraftShape(3))
    assert not drafter.draft_ahead()
