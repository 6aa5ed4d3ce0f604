"""A small model learns from a tiny target, and its folder is a model that the engine runs as the target's draft."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.cli import main
from engine.model.decoder import Decoder
from engine.text.pairing import check_pair
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.training import making
from engine.training.examples import is_wrong
from engine.training.features import Example, batch_of
from engine.training.loss import TargetEnds
from engine.training.small_model import SmallNetwork, SmallObjective
from engine.training.trainer import read_draft, write_draft
from engine.weights.draft_kind import draft_kind
from tests.support.decoders import load_decoder

TEXT = tuple(torch.randint(3, 300, (30,), generator=torch.Generator().manual_seed(2)).tolist())


@pytest.fixture
def target(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


def network_for(folder: Path, target: Decoder) -> SmallNetwork:
    torch.manual_seed(1)
    network = SmallNetwork(target.config, Tokenizer(folder, read_end_ids(folder)), 64, 2)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.05 * torch.randn_like(weight)
            weight.copy_(weight.bfloat16())
    return network


def test_what_is_trained_is_what_the_engine_runs(llama_folder: Path, target: Decoder, tmp_path: Path) -> None:
    network = network_for(llama_folder, target)
    write_draft(network, tmp_path / "small")
    assert draft_kind(tmp_path / "small") == "model"
    loaded, tokens = load_decoder(tmp_path / "small"), torch.tensor(TEXT)
    found = loaded.forward(tokens, torch.arange(30), loaded.new_cache(30)).logits
    with torch.no_grad():
        expected = network.model.logits(network.model(tokens[None])[0])
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    again = read_draft(tmp_path / "small", SmallNetwork, lambda ids: network_for(llama_folder, target))
    torch.testing.assert_close(again.model.state_dict(), network.model.state_dict())


def test_its_folder_has_the_targets_tokenizer(llama_folder: Path, target: Decoder, tmp_path: Path) -> None:
    write_draft(network_for(llama_folder, target), tmp_path / "small")
    ours, theirs = (Tokenizer(folder, read_end_ids(folder)) for folder in (llama_folder, tmp_path / "small"))
    check_pair(ours, theirs)
    assert ours.end_ids == theirs.end_ids
    assert (ours.template is None) == (theirs.template is None)


def test_the_loss_is_the_cross_entropy_with_the_targets_distributions(llama_folder: Path, target: Decoder) -> None:
    network = network_for(llama_folder, target)
    learn = tuple(at >= 12 for at in range(30))
    batch = batch_of(target, [Example(TEXT, learn), Example(TEXT[:20], learn[:20])])
    objective = SmallObjective(TargetEnds.of(target), [batch])
    wanted, parts = objective._ends, []
    for row, length in enumerate((30, 20)):
        hidden = network.model(batch.tokens[row : row + 1, : length - 1])[0, 11:]
        said = wanted.logits(batch.features[row, 11 : length - 1]).float().softmax(-1)
        parts.append(-(said * network.model.logits(hidden).log_softmax(-1)).sum(-1))
    expected = torch.cat(parts).mean()
    found = objective.loss(network, batch)
    assert found.item() == pytest.approx(expected.item(), rel=0.02)  # products of 16 bits
    weights = list(network.parameters())
    for one, other in zip(torch.autograd.grad(found, weights), torch.autograd.grad(expected, weights), strict=True):
        scale = other.abs().max().clamp_min(1e-6)
        assert ((one - other).abs().max() / scale).item() < 0.05


def test_scores_are_those_of_greedy_chains(llama_folder: Path, target: Decoder) -> None:
    """On a text that the network says itself every guess holds, until the text ends."""
    network = network_for(llama_folder, target)
    ids = list(TEXT[:6])
    with torch.no_grad():
        while len(ids) < 18:
            ids.append(int(network.model.logits(network.model(torch.tensor([ids])))[0, -1].argmax()))
    own = batch_of(target, [Example(tuple(ids), tuple(at >= 6 for at in range(18)))])
    scores = SmallObjective(TargetEnds.of(target), [own]).score(network)
    # Of 12 tokens the last ones have fewer than four guesses behind them.
    assert scores.tau == pytest.approx(1 + (9 * 4 + 3 + 2 + 1) / 12)
    assert [each[0] for each in scores.accuracies] == [1.0] * 4


@pytest.mark.usefixtures("ticking")
def test_the_command_trains_one_that_drafts_for_its_target(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 48)
    out = tmp_path / "small"
    arguments = ["train", "draft", "--kind", "small", "--model", str(llama_folder), "--threads", "1"]
    arguments += ["--generate", "4", "--width", "64", "--minutes", "0.1", "--out", str(out)]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    assert "a rule tells that they are wrong" in said
    assert "with chains of 4" in said
    assert {path.name for path in out.iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert main(arguments) == 0
    assert f"goes on from the draft in {out}" in capsys.readouterr().err
    asked = [
        "ask",
        "--model",
        str(llama_folder),
        "--draft",
        str(out),
        "--mode",
        "dovetail",
        "--json",
        "Hello",
    ]
    assert main([*asked, "--max-tokens", "8"]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "dovetail"


@pytest.mark.parametrize(
    "reply",
    [
        "12 + 5 = 18",
        "Well, 12 plus 5 is 16.",
        "7 * 8 = 54 and 6 * 7 = 42",
        "9 / 3 = 2",
        "4 / 0 = 0",
        "```python\ndef f(x:\n    return x\n```\nThat is it.",
        '```json\n{"name": "Ursula",}\n```',
    ],
)
def test_a_rule_tells_wrong_answers(reply: str) -> None:
    assert is_wrong(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "12 + 5 = 17",
        "8 - 12 = -4, and 6 x 7 is 42.",
        "1 + 2 + 3 = 6",
        "2 * 3 + 1 = 7",
        "7 / 2 = 3.5",
        "2 + 2 is 4.5 minus 0.5",
        "Chapter 3 - 5 is about tea.",
        "```python\ndef f(x):\n    return x\n```",
        "```python\ndef f(x:",  # cut short, so that nothing can be told
        '```json\n{"name": "Ursula"}\n```',
        "",
    ],
)
def test_what_no_rule_knows_counts_as_right(reply: str) -> None:
    assert not is_wrong(reply)


@pytest.mark.parametrize(("token_ids", "wrong"), [([5, 6, 7, 8] * 20, True), (list(range(80)), False)])
def test_an_answer_in_a_circle_is_wrong(token_ids: Sequence[int], wrong: bool) -> None:
    assert is_wrong("", token_ids) is wrong
