"""A tree is searched on replies, kept for one model and its heads, and followed by the mode ghidorah."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.drafting.kept_tree import keep_tree, read_tree
from engine.drafting.searched_tree import WIDTHS, parents_of
from engine.hub.installed import cache_folder
from engine.messages import StatisticsUpdated
from engine.training.draft import making
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.engine_client import EngineClient
from tests.support.heads import make_head

PROMPT = "one two three four one two three four one two " * 3
TREE = ((0,), (1,), (0, 0), (2,), (0, 1), (1, 0), (0, 0, 0))


def search(capsys: pytest.CaptureFixture[str], model: Path, heads: Path, *more: str) -> tuple[int, str]:
    arguments = ["train", "tree", "--model", str(model), "--draft", str(heads), "--threads", "1", *more]
    code = main(arguments)
    return code, capsys.readouterr().err


def test_the_command_searches_and_keeps_a_tree(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 64)
    # Heads that know the model's own replies, which are few.
    heads, texts = tmp_path / "heads", str(tmp_path / "texts")
    arguments = ["train", "draft", "--model", str(llama_folder), "--out", str(heads), "--kind", "medusa"]
    arguments += [
        "--generate",
        "4",
        "--minutes",
        "0.2",
        "--texts",
        texts,
        "--threads",
        "1",
        "--vocabulary",
        "0",
    ]
    assert main(arguments) == 0
    capsys.readouterr()
    code, said = search(capsys, llama_folder, heads, "--texts", texts, "--generate", "4")
    assert code == 0
    assert "4 texts were written before" in said
    lines = said.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("rows"))
    table = [[float(figure) for figure in line.split()] for line in lines[head + 1 : head + 1 + len(WIDTHS)]]
    assert [int(row[0]) for row in table] == list(WIDTHS)
    assert table[0][1:] == [1.0] * 4
    for row in table:
        assert row[2] >= row[1]  # what is searched is no worse than greedy
    assert table[-1][3] == table[-1][2]
    tree = read_tree(cache_folder(), Checkpoint(llama_folder).digest(), HeadCheckpoint(heads).digest())
    if "follows the searched tree" in lines[-1]:
        assert len(parents_of(tree)) <= 63
        assert tree
    else:
        assert "follows trees of the heads' own probabilities" in lines[-1]
        assert tree == ()


def test_a_kept_tree_is_that_of_one_model_and_one_set_of_heads(llama_folder: Path, tmp_path: Path) -> None:
    folder = make_head("medusa").write(tmp_path / "heads", True)
    target, heads = Checkpoint(llama_folder).digest(), HeadCheckpoint(folder).digest()
    assert read_tree(cache_folder(), target, heads) == ()
    keep_tree(cache_folder(), target, heads, TREE)
    assert read_tree(cache_folder(), target, heads) == TREE
    assert read_tree(cache_folder(), heads, target) == ()
    # Heads that were trained again in the same folder are others.
    make_head("medusa", seed=2).write(folder, True)
    assert read_tree(cache_folder(), target, HeadCheckpoint(folder).digest()) == ()
    for damaged in ([[0, 0]], [["a"]], 3, [3]):
        keep_tree(cache_folder(), target, heads, damaged)  # type: ignore[arg-type]
        assert read_tree(cache_folder(), target, heads) == ()


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("sampling", [{"temperature": 0.0}, {"temperature": 0.9, "seed": 4}])
@pytest.mark.parametrize("kept", [False, True])
def test_ghidorah_follows_it_and_says_what_the_model_says(
    kept: bool,
    sampling: dict[str, float],
    client: EngineClient,
    llama_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = make_head("medusa-drafted").write(tmp_path / "heads", True)
    if kept:
        digests = Checkpoint(llama_folder).digest(), HeadCheckpoint(heads).digest()
        keep_tree(cache_folder(), *digests, TREE)
    monkeypatch.setattr("engine.decoding.adaptive_budget.AdaptiveBudget._choose", lambda self: 5)
    options = {"weights": "fp32", "max_tokens": 24, **sampling}
    plain = client.answer(PROMPT, llama_folder, mode="plain", **options)
    client.events.clear()
    reply = client.answer(PROMPT, llama_folder, mode="ghidorah", draft=str(heads), **options)
    assert reply.token_ids == plain.token_ids
    assert (reply.mode, reply.draft) == ("ghidorah", str(heads))
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds if record.tokens]
    assert rounds
    shapes = {record.parents for record in rounds[:5]}
    assert (shapes == {parents_of(TREE)[:5]}) == kept


def test_a_model_without_medusa_heads_is_refused_in_a_sentence(
    client: EngineClient, llama_folder: Path, tmp_path: Path
) -> None:
    message = client.failure("a", llama_folder, mode="ghidorah").error.message
    assert message.endswith("It needs Medusa heads as its draft: choose heads that were made for this model.")


def test_what_cannot_be_calibrated_is_refused(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    eagle = make_head("eagle").write(tmp_path / "eagle", True)
    assert search(capsys, llama_folder, eagle)[0] == 2
    heads = make_head("medusa").write(tmp_path / "heads", True)
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"messages": [{"role": "user", "content": "Hello there, how are you?"}]}))
    code, said = search(capsys, llama_folder, heads, "--data", str(data))
    assert code == 2
    assert "There is no reply to calibrate with: give chats with replies" in said
    code, said = search(capsys, llama_folder, heads, "--generate", "0")
    assert (code, "must be at least 1" in said) == (2, True)
