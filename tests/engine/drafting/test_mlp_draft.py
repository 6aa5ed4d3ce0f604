"""MLP speculators draft what a few lines of torch over the same files say."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from engine.decoding.worth import Worth
from engine.drafting.kinds import kind_of
from engine.drafting.mlp import MlpDraft, MlpDrafter, load_mlp, read_mlp
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.model.config import read_config
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.heads import HIDDEN, VOCABULARY

WIDTH, LEVELS = 32, 4
HOST = torch.device("cpu")
PROMPT = "one two three four one two three four one two " * 3
TEXT = [5, 9, 7]
CONFIG: dict[str, Any] = {
    "architectures": ["MLPSpeculatorPreTrainedModel"],
    "model_type": "mlp_speculator",
    "emb_dim": HIDDEN,
    "inner_dim": WIDTH,
    "n_candidates": 5,
    "n_predict": LEVELS,
    "scale_input": False,
    "tie_weights": False,
    "top_k_tokens_per_head": [4, 3, 2, 2],
    "torch_dtype": "float16",
    "transformers_version": "4.41.2",
    "vocab_size": VOCABULARY,
}


def make_state(tied: bool, copies: bool = False) -> dict[str, Tensor]:
    """Random tensors under the published names; tied ones once, or for each level as some files have them."""
    generator = torch.Generator().manual_seed(0)

    def matrix(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=generator) * (1.5 / math.sqrt(columns))

    state: dict[str, Tensor] = {}
    for level in range(LEVELS):
        own = {
            "emb": torch.randn(VOCABULARY, WIDTH, generator=generator),
            "proj": matrix(WIDTH, WIDTH if level else HIDDEN),
            "head": matrix(VOCABULARY, WIDTH),
            "ln": 1 + 0.1 * torch.randn(WIDTH, generator=generator),
        }
        bias = 0.1 * torch.randn(WIDTH, generator=generator)
        for part, value in own.items():
            first = 1 if part == "proj" else 0
            if tied and level > first:
                if not copies:
                    continue
                value, bias = (
                    state[f"speculator.{part}.{first}.weight"].clone(),
                    state["speculator.ln.0.bias"].clone(),
                )
            state[f"speculator.{part}.{level}.weight"] = value
            if part == "ln":
                state[f"speculator.ln.{level}.bias"] = bias
    return state


def write(folder: Path, state: dict[str, Tensor], **changes: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}), encoding="utf-8")
    save_file(state, folder / "model.safetensors")
    return folder


def chain_of(state: dict[str, Tensor], row: Tensor, root: int, tied: bool, scaled: bool) -> list[int]:
    """The likeliest tokens one after the other."""
    if scaled:
        row = row * torch.rsqrt(row.pow(2).mean() + 1e-6) / 2**0.5
    kept = 0.5 ** (0.5 / LEVELS)
    chain, last = [], root
    for level in range(LEVELS):
        one, mapped = (0, min(level, 1)) if tied else (level, level)
        mixed = state[f"speculator.proj.{mapped}.weight"] @ row
        weight = ((1 - kept**2) * WIDTH / 2) ** 0.5 / kept
        mixed = mixed + weight * state[f"speculator.emb.{one}.weight"][last]
        mixed = mixed * torch.rsqrt(mixed.pow(2).mean() + 1e-6) * state[f"speculator.ln.{one}.weight"]
        row = functional.gelu(mixed + state[f"speculator.ln.{one}.bias"])
        last = int((state[f"speculator.head.{one}.weight"] @ row).argmax())
        chain.append(last)
    return chain


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("tied", "copies"), [(False, False), (True, False), (True, True)])
def test_a_chain_is_that_of_the_reference(tmp_path: Path, tied: bool, copies: bool, scaled: bool) -> None:
    state = make_state(tied, copies)
    folder = write(tmp_path / "draft", state, tie_weights=tied, scale_input=scaled)
    assert draft_kind(folder) == "head"
    assert kind_of(OpenedModel("draft", folder)) is MlpDraft
    drafter = MlpDrafter(load_mlp(HeadCheckpoint(folder), weight_format("fp32"), HOST), 3, Link(HOST))
    rows = torch.randn(4, HIDDEN, generator=torch.Generator().manual_seed(2))
    assert drafter.reset(TEXT) == len(TEXT) - 1
    drafter.limits = TreeShape(1, LEVELS, LEVELS)
    for root, few in ((17, rows[:1]), (23, rows[1:])):
        drafter.observe([root], few)
        assert drafter.propose(DraftShape(LEVELS)).tokens == tuple(chain_of(state, few[-1], root, tied, scaled))


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("tied", [False, True])
def test_a_reply_is_the_models_own(
    client: EngineClient, tmp_path: Path, tied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    model = write_checkpoint(tmp_path / "llama")
    draft = {"draft": str(write(tmp_path / "draft", make_state(tied), tie_weights=tied)), "mode": "dovetail"}
    settings = {"weights": "fp32", "max_tokens": 40}
    reply = client.answer(PROMPT, model, **draft, **settings)
    assert list(reply.token_ids) == reference_greedy(load_reference(model), reply.prompt_ids, 40)
    assert reply.timings.draft_n > 0
    drawn = {"temperature": 0.8, "seed": 3, **settings}
    plain = client.answer(PROMPT, model, mode="plain", **drawn)
    assert client.answer(PROMPT, model, **draft, **drawn).token_ids == plain.token_ids


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_predict": 0}, ConfigInvalid, "n_predict 0"),
        ({"vocab_size": None}, ConfigInvalid, "draft's config.json"),
        ({"inner_dim": 48}, TensorMismatch, "of the wrong shape"),
        ({"n_predict": 5}, TensorMismatch, "speculator.emb.4.weight"),
        ({"n_predict": 3}, TensorMismatch, "unexpected"),
        ({"codebook": 8}, UnsupportedModel, "codebook"),
    ],
)
def test_what_is_not_run_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_mlp(HeadCheckpoint(write(tmp_path / "draft", make_state(False), **change)))


def test_one_for_another_model_is_refused(client: EngineClient, tmp_path: Path) -> None:
    other = write_checkpoint(tmp_path / "other", hidden_size=32)
    draft = write(tmp_path / "draft", make_state(False))
    message = client.failure("a", other, draft=str(draft)).error.message
    assert "for a model with hidden size 64, and this model's is 32" in message


def test_its_bytes_are_counted(tmp_path: Path) -> None:
    target = read_config(Checkpoint(write_checkpoint(tmp_path / "target", tokenizer=False)))
    for tied in (False, True):
        state = make_state(tied)
        folder = write(tmp_path / str(tied), state, tie_weights=tied)
        draft = MlpDraft.read(OpenedModel("a", folder), target)
        stored = sum(tensor.nbytes for tensor in state.values())
        assert draft.size_bytes(weight_format("fp32"), 4096) == stored
        heads = LEVELS * VOCABULARY * WIDTH
        assert draft.read_elements == heads + HIDDEN * WIDTH + (LEVELS - 1) * WIDTH * WIDTH
