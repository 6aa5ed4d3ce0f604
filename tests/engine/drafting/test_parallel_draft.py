"""P-EAGLE heads draft in one forward what a few lines of torch over the same files say."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.decoding.worth import Worth
from engine.drafting.eagle import ParallelDraft, ParallelDrafter
from engine.drafting.head_layout import read_layout
from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.kinds import kind_of
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, TensorMismatch
from engine.model.decoder import Decoder
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder, load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.heads import HIDDEN, Head, make_head, reference, reference_logits

MASK, DEPTHS = 3, 4
PROMPT = "one two three four one two three four one two " * 3
TEXT = torch.randint(4, 300, (24,), generator=torch.Generator().manual_seed(4)).tolist()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    folder = tmp_path_factory.mktemp("target") / "llama"
    return load_decoder(write_checkpoint(folder, num_hidden_layers=7, tokenizer=False))


def peagle(layout: str = "speculators") -> Head:
    """A head as speculators saves it; or as vLLM reads one without its config."""
    head = make_head(layout)
    head.state["mask_hidden"] = torch.randn(1, 1, 3 * HIDDEN, generator=torch.Generator().manual_seed(1))
    if layout == "speculators":
        head.config |= {
            "speculators_model_type": "peagle",
            "mask_token_id": MASK,
            "speculators_config": {
                "algorithm": "peagle",
                "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": DEPTHS}],
            },
        }
    else:
        head.config["ptd_token_id"] = MASK
    return head


def drafter_of(target: Decoder, folder: Path) -> ParallelDrafter:
    checkpoint = HeadCheckpoint(folder)
    layout = read_layout(checkpoint)
    assert layout.mask_token == MASK
    network = load_feature_network(checkpoint, target.config, share(target.source), weight_format("fp32"))
    return ParallelDrafter(network, MASK, layout.depths, 64, Link(torch.device("cpu")), lambda: None)


@pytest.mark.parametrize("layout", ["speculators", "modelopt"])
def test_all_levels_are_those_of_the_reference(target: Decoder, tmp_path: Path, layout: str) -> None:
    head = peagle(layout)
    folder = head.write(tmp_path / "head", safetensors=True)
    assert draft_kind(folder) == "head"
    assert kind_of(OpenedModel("draft", folder)) is ParallelDraft
    drafter = drafter_of(target, folder)
    rows = torch.randn(len(TEXT) + 3, 3 * HIDDEN, generator=torch.Generator().manual_seed(2))
    embedding = target.source.embedding(torch.arange(384))
    assert drafter.reset(TEXT[:-1]) == 0
    text = list(TEXT)
    drafter.observe(text[-1:], rows[: len(text) - 1])
    drafter.limits = TreeShape(1, DEPTHS, DEPTHS)
    for more in (
        [],
        [5, 9, 7],
    ):  # the second draft goes on from a cache in which nothing of the first may be left
        if more:
            drafter.observe(more, rows[len(text) - 1 : len(text) - 1 + len(more)])
            text += more
        masked = torch.cat((rows[: len(text) - 1], head.state["mask_hidden"][0].expand(DEPTHS - 1, -1)))
        tokens = torch.tensor([*text[1:], *[MASK] * (DEPTHS - 1)])
        hidden = reference(head, masked, tokens, torch.empty(0, HIDDEN), embedding)
        levels = reference_logits(head, hidden[-DEPTHS:], torch.empty(0))
        assert drafter.propose(DraftShape(DEPTHS)).tokens == tuple(levels.argmax(-1).tolist())


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("layout", ["speculators", "modelopt"])
def test_a_reply_is_the_models_own(
    client: EngineClient, tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    model = write_checkpoint(tmp_path / "llama", num_hidden_layers=7)
    draft = peagle(layout).write(tmp_path / "head", safetensors=True)
    settings = {"weights": "fp32", "max_tokens": 40}
    reply = client.answer(PROMPT, model, mode="dovetail", draft=str(draft), **settings)
    assert list(reply.token_ids) == reference_greedy(load_reference(model), reply.prompt_ids, 40)
    assert reply.token_ids == client.answer(PROMPT, model, mode="plain", **settings).token_ids
    assert reply.timings.draft_n > 0


def test_a_missing_row_and_a_missing_token_are_named(target: Decoder, tmp_path: Path) -> None:
    head = peagle()
    row = head.state.pop("mask_hidden")
    with pytest.raises(TensorMismatch, match="mask_hidden"):
        read_layout(HeadCheckpoint(head.write(tmp_path / "row", safetensors=True)))
    head.state["mask_hidden"] = row
    head.config["mask_token_id"] = None
    with pytest.raises(ConfigInvalid, match="mask_token_id is missing"):
        read_layout(HeadCheckpoint(head.write(tmp_path / "token", safetensors=True)))
