"""Heads in the published layouts draft what a few lines of torch over the same files say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.drafting.eagle import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_loader import SharedWeights, load_feature_network, never_ends, read_shared, share
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, DraftMismatch, TensorMismatch, UnsupportedModel, WeightsCorrupt
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.embedding import Table
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat, weight_format
from engine.placement.device import Link
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder, load_reference
from tests.support.heads import LAYOUTS, Head, is_eagle3, make_head, reference, reference_logits

PROMPT = torch.randint(3, 300, (23,), generator=torch.Generator().manual_seed(4)).tolist()
ROOT = 17


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target with enough layers that EAGLE-3's three are three."""
    return write_checkpoint(tmp_path_factory.mktemp("target") / "llama", num_hidden_layers=7, tokenizer=False)


@pytest.fixture(scope="module")
def target(folder: Path) -> Decoder:
    return load_decoder(folder)


def load(target: Decoder, head_folder: Path, weights: str = "fp32") -> FeatureNetwork:
    shared = share(target.source)
    return load_feature_network(HeadCheckpoint(head_folder), target.config, shared, weight_format(weights))


def hidden_rows(folder: Path, layers: tuple[int, ...], tokens: list[int]) -> torch.Tensor:
    """The target's hidden rows, by transformers."""
    with torch.no_grad():
        output = load_reference(folder).model(torch.tensor([tokens]), output_hidden_states=True)
    return torch.cat([output.hidden_states[layer][0] for layer in layers], -1)


def draft(network: FeatureNetwork, rows: torch.Tensor, width: int, depth: int, nodes: int) -> Draft:
    link = Link(torch.device("cpu"))
    drafter = FeatureDraft(network, TreeShape(width, depth, nodes), 64, link, lambda: None)
    assert drafter.reset(PROMPT) == 0
    drafter.observe([ROOT], rows)
    return drafter.propose(DraftShape(64))


@pytest.mark.parametrize("safetensors", [True, False], ids=["safetensors", "bin"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_chain_and_the_first_level_are_those_of_the_reference(
    folder: Path, target: Decoder, tmp_path: Path, layout: str, safetensors: bool
) -> None:
    head = make_head(layout)
    network = load(target, head.write(tmp_path / layout, safetensors))
    eagle3 = is_eagle3(layout)
    assert network.hidden_layers == ((2, 3, 4) if eagle3 else (7,))
    rows = hidden_rows(folder, network.hidden_layers, PROMPT)
    reference_model = load_reference(folder)
    embedding = reference_model.get_input_embeddings().weight.detach()
    target_head = reference_model.lm_head.weight.detach()

    tokens, drafted, level = [*PROMPT[1:], ROOT], torch.empty(0, rows.shape[-1] // (3 if eagle3 else 1)), None
    chain: list[int] = []
    for _ in range(5):
        hidden = reference(head, rows, torch.tensor(tokens), drafted, embedding)
        log_probabilities = reference_logits(head, hidden[-1:], target_head)[0]
        level = log_probabilities if level is None else level
        chain.append(int(log_probabilities.argmax()))
        tokens.append(chain[-1])
        drafted = torch.cat((drafted, hidden[-1:]))

    assert draft(network, rows, width=1, depth=5, nodes=5).tokens == tuple(chain)
    first = draft(network, rows, width=10, depth=1, nodes=10)
    best = level.topk(10)
    assert set(first.tokens) == set(best.indices.tolist())
    torch.testing.assert_close(torch.tensor(first.scores), level[torch.tensor(first.tokens)], atol=1e-5, rtol=0.0)


def saved(tmp_path: Path, change: Callable[[Head], Any], layout: str = "eagle") -> Path:
    head = make_head(layout)
    change(head)
    return head.write(tmp_path / "head", safetensors=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_missing_tensor_is_named(target: Decoder, tmp_path: Path, layout: str) -> None:
    for name in make_head(layout).state:
        if name.endswith(("embed_tokens.weight", "t2d")):
            continue  # the target has it too; d2t says the same
        path = saved(tmp_path, lambda head, name=name: head.state.pop(name), layout)
        with pytest.raises(TensorMismatch) as caught:
            load(target, path)
        # Without its only tensor of a name, a layout may be taken for its neighbour; the name is told all the same.
        assert name.removeprefix("model.") in caught.value.details


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_is_left_as_it_was_allocated(
    target: Decoder, tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_head(layout).write(tmp_path / "head", safetensors=False)
    empty = torch.empty

    def poisoned(*size: Any, **options: Any) -> torch.Tensor:
        made = empty(*size, **options)
        return made.fill_(torch.nan) if made.is_floating_point() else made

    monkeypatch.setattr(torch, "empty", poisoned)
    network = load(target, path)
    monkeypatch.undo()
    rows = torch.randn(len(PROMPT), len(network.hidden_layers) * 64)
    found = network.run(torch.tensor(PROMPT), torch.arange(len(PROMPT)), network.new_cache(64), target_features=rows)
    assert bool(torch.isfinite(network.logits(found)).all())


def test_an_unexpected_tensor_is_named(target: Decoder, tmp_path: Path) -> None:
    path = saved(tmp_path, lambda head: head.state.update({"fc2.weight": torch.zeros(2, 2)}))
    with pytest.raises(TensorMismatch, match=r"1 unexpected \(fc2.weight\)"):
        load(target, path)


def test_offsets_that_disagree_with_the_drafted_tokens_are_refused(target: Decoder, tmp_path: Path) -> None:
    def absolute(head: Head) -> None:
        head.state["d2t"] = head.state["d2t"] + torch.arange(len(head.state["d2t"]))

    with pytest.raises(TensorMismatch, match="tokens that the model does not have, or one twice"):
        load(target, saved(tmp_path, absolute, "eagle3"))


def test_marks_of_other_tokens_are_refused(target: Decoder, tmp_path: Path) -> None:
    path = saved(tmp_path, lambda head: head.state.update(t2d=~head.state["t2d"]), "eagle3")
    with pytest.raises(TensorMismatch, match="d2t and t2d disagree"):
        load(target, path)


def test_a_cut_vocabulary_without_the_end_token_is_found(tmp_path: Path) -> None:
    head = make_head("eagle3")
    drafted = head.state["d2t"] + torch.arange(len(head.state["d2t"]))
    (others,) = (~head.state["t2d"]).nonzero(as_tuple=True)
    checkpoint = HeadCheckpoint(head.write(tmp_path / "head", safetensors=True))
    assert never_ends(checkpoint, {int(others[0])})
    assert not never_ends(checkpoint, {int(others[0]), int(drafted[1])})
    assert not never_ends(checkpoint, set())
    whole = HeadCheckpoint(make_head("eagle").write(tmp_path / "whole", safetensors=True))
    assert not never_ends(whole, {int(others[0])})


@pytest.mark.parametrize("marked", [True, False])
def test_the_drafted_ids_are_those_that_t2d_marks(target: Decoder, tmp_path: Path, marked: bool) -> None:
    """A file may have no marks: d2t says the same."""
    head = make_head("eagle3")
    marks = head.state["t2d"] if marked else head.state.pop("t2d")
    network = load(target, head.write(tmp_path / "head", safetensors=True))
    ids = network.target_tokens(torch.arange(len(head.state["d2t"])))
    assert bool(marks[ids].all())
    assert marks.sum() == len(ids)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"hidden_size": 32}, "hidden size 32, and this model's is 64"),
        ({"vocab_size": 500}, "vocabulary of 500, and this model's has 384"),
    ],
)
def test_a_head_for_another_model_is_refused(
    target: Decoder, tmp_path: Path, config: dict[str, Any], message: str
) -> None:
    # Its tensors fit its own config.json.
    def shrink(head: Head) -> None:
        size, rows = config.get("hidden_size", 64), config.get("vocab_size", 384)
        sizes = {64: size, 128: 2 * size, 384: rows}
        head.config |= {**config, "num_attention_heads": size // 16, "num_key_value_heads": size // 32}
        for name, value in head.state.items():
            shape = [sizes.get(length, length) for length in value.shape]
            if "k_proj" in name or "v_proj" in name:
                shape[0] = size // 2
            head.state[name] = torch.zeros(shape)

    with pytest.raises(DraftMismatch, match=message):
        load(target, saved(tmp_path, shrink))


def test_layers_that_the_model_does_not_have_are_refused(target: Decoder, tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        lambda head: head.config.update({"eagle_aux_hidden_state_layer_ids": [2, 18, 33]}),
        "speculators",
    )
    with pytest.raises(DraftMismatch, match=r"layers 2, 18, 33 of a model, and this one has 7"):
        load(target, path)


def test_outputs_that_specforge_names_are_the_next_layers_inputs(target: Decoder, tmp_path: Path) -> None:
    named = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [0, 3, 6]}}
    path = saved(tmp_path, lambda head: head.config.update(named), "eagle3")
    assert load(target, path).hidden_layers == (1, 4, 7)


def test_a_whole_model_is_no_head(target: Decoder, folder: Path) -> None:
    assert draft_kind(folder) == "model"
    with pytest.raises(UnsupportedModel, match="whole model and no draft head"):
        load(target, folder)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_recognised(layout: str, tmp_path: Path) -> None:
    for safetensors in (True, False):
        path = make_head(layout).write(tmp_path / str(safetensors), safetensors)
        assert draft_kind(path) == "head"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"num_attention_heads": 3}, ConfigInvalid),
        ({"hidden_size": "many"}, ConfigInvalid),
        ({"rope_scaling": {"rope_type": "unheard-of", "factor": 2.0}}, (UnsupportedModel, ConfigInvalid)),
        ({"hidden_act": "relu6"}, UnsupportedModel),
    ],
)
def test_bad_values_are_refused(target: Decoder, tmp_path: Path, change: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        load(target, saved(tmp_path, lambda head: head.config.update(change)))


@pytest.mark.parametrize(
    "change",
    [
        {"speculators_model_type": "mlp"},
        {"transformer_layer_config": {"model_type": "deepseek_v3"}},
    ],
)
def test_other_kinds_of_speculators_are_refused(target: Decoder, tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedModel):
        load(target, saved(tmp_path, lambda head: head.config.update(change), "speculators"))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"sliding_window": 4096}, "sliding_window = 4096"),
        ({"layer_types": ["linear_attention"]}, "layer_types = linear_attention"),
        ({"logit_scale": 0.5}, "logit_scale"),
        ({"quantization_config": {"bits": 4}}, "quantization_config"),
        ({"mask_token_id": 7}, "mask_token_id = 7"),
        ({"eagle_config": {"use_aux_hidden_state": False}}, "eagle_config.use_aux_hidden_state = False"),
        ({"eagle_config": {"parallel_draft_step": 4}}, "eagle_config.parallel_draft_step = 4"),
        ({"eagle_config": {"use_other_norm": True}}, "use_other_norm"),
    ],
)
def test_what_changes_the_computation_and_is_not_run_is_refused_by_name(
    target: Decoder, tmp_path: Path, change: dict[str, Any], key: str
) -> None:
    path = saved(tmp_path, lambda head: head.config.update(change), "eagle3")
    with pytest.raises(UnsupportedModel, match=f"config.json (says|has) {key}") as caught:
        load(target, path)
    assert "download" not in caught.value.message


def test_values_that_say_nothing_of_the_computation_are_passed_over(target: Decoder, tmp_path: Path) -> None:
    facts = {"sliding_window": 4096, "use_sliding_window": False, "bos_token_id": 1, "max_window_layers": 28}
    path = saved(tmp_path, lambda head: head.config.update(facts), "eagle3")
    assert load(target, path).config.windows == (None,)


def test_a_pickle_that_holds_code_is_refused(target: Decoder, tmp_path: Path) -> None:
    path = make_head("eagle").write(tmp_path / "head", safetensors=False)
    torch.save({"fc.weight": Path("x")}, path / "pytorch_model.bin")
    with pytest.raises(WeightsCorrupt, match="more than weights"):
        HeadCheckpoint(path)


def test_a_draft_elsewhere_gets_copies_of_what_it_shares(folder: Path, target: Decoder, tmp_path: Path) -> None:
    path = make_head("dovetail").write(tmp_path / "head", safetensors=True)
    checkpoint = Checkpoint(folder)
    shared = read_shared(checkpoint, read_config(checkpoint), torch.float32, torch.device("cpu"))
    copied = load_feature_network(HeadCheckpoint(path), target.config, shared, weight_format("fp32"))
    own = load(target, path)
    rows = torch.randn(len(PROMPT), 64)
    assert draft(copied, rows, 4, 3, 12) == draft(own, rows, 4, 3, 12)
    assert copied.weights.size_bytes - own.weights.size_bytes == shared.head.size_bytes


def test_a_head_for_some_tokens_runs_in_16_bits_as_on_a_gpu(target: Decoder, tmp_path: Path) -> None:
    """Its rows of the target's head are copied, and must be of the type that they are multiplied with."""
    head, drafted = make_head("eagle"), torch.arange(0, 384, 4)
    head.config["draft_vocab_size"] = len(drafted)
    head.state |= {
        "d2t": drafted - torch.arange(len(drafted)),
        "t2d": torch.zeros(384, dtype=torch.bool).index_fill(0, drafted, True),
    }
    half = torch.bfloat16
    network = load_feature_network(
        HeadCheckpoint(head.write(tmp_path / "head", safetensors=True)),
        target.config,
        SharedWeights(Table(target.source.embedding(torch.arange(384)).to(half)), target.source.head, half),
        WeightFormat("16 bits", half, half, half),
    )
    tokens = draft(network, torch.randn(len(PROMPT), 64), 4, 3, 12).tokens
    assert len(tokens) == 12
    assert set(tokens) <= set(drafted.tolist())


def test_packed_weights_draft_nearly_the_same(target: Decoder, tmp_path: Path) -> None:
    path = make_head("dovetail").write(tmp_path / "head", safetensors=True)
    rows = torch.randn(len(PROMPT), 64, generator=torch.Generator().manual_seed(1))
    exact, packed = (draft(load(target, path, weights), rows, 10, 1, 10) for weights in ("fp32", "q8_0"))
    assert len(set(exact.tokens) & set(packed.tokens)) >= 8
