"""A tree is searched on replies, kept for one model and its heads, and followed by the mode ghidorah."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli import bench, main
from engine.drafting.fixed_trees import WIDTHS, parents_of
from engine.drafting.medusa import (
    FILE,
    HeadCalibration,
    MedusaDraft,
    calibration_beside,
    keep_calibration,
    read_calibration,
    write_beside,
)
from engine.hub.installed import cache_folder
from engine.messages import LoadOptions, Notice, StatisticsUpdated
from engine.model.config import read_config
from engine.model_file import OpenedModel
from engine.modes import in_mode
from engine.planning.planner import model_planner
from engine.planning.profile import Profile
from engine.training import calibration, making
from engine.training.features import Example
from engine.training.generation import Writer
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import covering
from tests.support.heads import make_head
from tests.support.stand_in import use_gpu, use_speeds

PROMPT = "one two three four one two three four one two " * 3
TREE = ((0,), (1,), (0, 0), (2,), (0, 1), (1, 0), (0, 0, 0))
KEPT = HeadCalibration(TREE, (1.0, 1.2, 1.4, 1.6, 1.7, 1.8, 1.9), (1.0,) * 7, follows=True, places=100)


def search(capsys: pytest.CaptureFixture[str], model: Path, heads: Path, *more: str) -> tuple[int, str]:
    arguments = ["train", "tree", "--model", str(model), "--draft", str(heads), "--threads", "1", *more]
    code = main(arguments)
    return code, capsys.readouterr().err


@pytest.mark.usefixtures("ticking", "measured_once")
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
    kept = read_calibration(
        HeadCalibration, cache_folder(), Checkpoint(llama_folder).digest(), HeadCheckpoint(heads).digest()
    )
    assert 1 <= len(kept.tree) <= 63
    assert list(kept.searched) == pytest.approx([row[3] for row in table], abs=0.01)
    assert kept.follows == ("follows the searched tree" in lines[-1])
    assert len(kept.accuracies) == 4
    # The planner predicts from it and from the times, which no reply has measured yet.
    options = in_mode("ghidorah", LoadOptions(model=str(llama_folder), drafts=(str(heads),)))
    plan = model_planner(options).plan.mode("ghidorah")
    assert [each.rows for each in plan.widths] == list(WIDTHS)
    assert all(each.measured for each in plan.widths)
    assert plan.draft_nodes + 1 in WIDTHS
    # Other heads have none of it.
    other = str(make_head("medusa", seed=3).write(tmp_path / "other", True))
    widths = model_planner(replace(options, drafts=(other,))).plan.mode("ghidorah").widths
    assert not any(each.measured for each in widths)


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
def test_bench_calibrates_heads_that_were_not_and_no_others(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 64)
    monkeypatch.setattr(bench, "_CALIBRATION_TEXTS", 4)
    heads = str(make_head("medusa-drafted").write(tmp_path / "heads", True))
    command = ["bench", "--model", str(llama_folder), "--draft", heads, "--max-tokens", "3", "--modes"]
    options, searches = LoadOptions(model=str(llama_folder), drafts=(heads,)), []
    search_tree = calibration.run
    monkeypatch.setattr(calibration, "run", lambda *asked: searches.append(asked) or search_tree(*asked))
    for mode, searched in (("plain", 0), ("ghidorah", 1), ("ghidorah", 1)):
        assert main([*command, mode]) == 0
        said = capsys.readouterr()
        assert mode in said.out
        assert "places" not in said.err  # the search's tables are not printed
        assert len(searches) == searched
    assert any(width.measured for width in model_planner(options).plan.mode("ghidorah").widths)


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
def test_ctrl_c_while_the_model_writes_ends_the_search_and_the_bench(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts so far are kept for the next search; a benchmark measures no further mode."""
    monkeypatch.setattr(making, "_LONGEST", 64)
    write = Writer.write

    def interrupted(self: Writer, *arguments: Any) -> Iterator[Example]:
        texts = write(self, *arguments)
        yield next(texts)
        raise KeyboardInterrupt

    monkeypatch.setattr(Writer, "write", interrupted)
    heads, texts = make_head("medusa-drafted").write(tmp_path / "heads", True), str(tmp_path / "texts")
    code, said = search(capsys, llama_folder, heads, "--generate", "4", "--texts", texts)
    assert (code, said) == (130, "tenon: Stopped; the tree is as it was before.\n")
    assert main(["bench", "--model", str(llama_folder), "--draft", str(heads), "--modes", "ghidorah"]) == 130
    assert capsys.readouterr().out == ""
    code, said = search(capsys, llama_folder, heads, "--generate", "4", "--texts", texts)
    assert "texts were written before" in said


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
def test_both_units_are_busy_where_both_will_be(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 64)
    use_gpu(monkeypatch)
    use_speeds(monkeypatch, 0.6)
    kept: list[Profile] = []
    monkeypatch.setattr("engine.planning.planner.keep_profile", lambda path, found: kept.append(found))
    heads = make_head("medusa-drafted").write(tmp_path / "heads", True)
    code, said = search(capsys, llama_folder, heads, "--generate", "4", "--minutes", "0.2")
    assert (code, "Planned are" in said) == (0, True)
    (placement,) = kept[-1].calibrated
    assert placement.startswith("columns 0.")


def test_a_kept_tree_is_that_of_one_model_and_one_set_of_heads(llama_folder: Path, tmp_path: Path) -> None:
    folder = make_head("medusa").write(tmp_path / "heads", True)
    target, heads = Checkpoint(llama_folder).digest(), HeadCheckpoint(folder).digest()
    assert read_calibration(HeadCalibration, cache_folder(), target, heads) is None
    keep_calibration(cache_folder(), target, heads, KEPT)
    assert read_calibration(HeadCalibration, cache_folder(), target, heads) == KEPT
    assert KEPT.tokens[7] == 1.6
    assert replace(KEPT, follows=False).followed == ()
    assert read_calibration(HeadCalibration, cache_folder(), heads, target) is None
    # Heads that were trained again in the same folder are others.
    make_head("medusa", seed=2).write(folder, True)
    assert read_calibration(HeadCalibration, cache_folder(), target, HeadCheckpoint(folder).digest()) is None


def test_a_calibration_that_came_with_the_heads_stands_in_until_one_is_made_here(
    llama_folder: Path, tmp_path: Path
) -> None:
    folder = make_head("medusa").write(tmp_path / "heads", True)
    target, config = Checkpoint(llama_folder).digest(), read_config(Checkpoint(llama_folder))
    assert MedusaDraft.read(OpenedModel("heads", folder), config).counted(target) == {}
    write_beside(folder, KEPT)
    heads = MedusaDraft.read(OpenedModel("heads", folder), config)
    assert heads.counted(target) == KEPT.tokens
    own = replace(KEPT, searched=(1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6))
    keep_calibration(cache_folder(), target, heads.digest, own)
    assert heads.counted(target) == own.tokens
    assert heads.counted("another model") == KEPT.tokens
    kept = (folder / FILE).read_text()
    parts = (kept.replace("1.9", '"a"'), kept.replace('"accuracies": []', '"accuracies": [[]]'))
    for damaged in ("", "{", "[]", '{"tree": [[0, 0]]}', *parts):
        (folder / FILE).write_text(damaged)
        assert calibration_beside(HeadCalibration, folder) is None


def test_a_tree_for_more_heads_than_there_are_is_left_alone_and_said(
    client: EngineClient, llama_folder: Path, tmp_path: Path
) -> None:
    folder = make_head("medusa").write(tmp_path / "heads", True)
    write_beside(folder, replace(KEPT, tree=tuple((0,) * length for length in range(1, 7))))
    options = {"weights": "fp32", "max_tokens": 8}
    expected = client.answer(PROMPT, llama_folder, mode="plain", vram_budget_bytes=0, **options)
    client.events.clear()
    reply = client.answer(PROMPT, llama_folder, mode="ghidorah", draft=str(folder), vram_budget_bytes=0, **options)
    assert (reply.mode, reply.token_ids) == ("ghidorah", expected.token_ids)
    notices = [event.text for event in client.seen(Notice)]
    assert any("calibration.json" in notice and "their tree is not used" in notice for notice in notices)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("kept", "sampling"), covering([False, True], [{"temperature": 0.0}, {"temperature": 0.9, "seed": 4}], together=1)
)
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
        keep_calibration(cache_folder(), *digests, KEPT)
    monkeypatch.setattr("engine.decoding.worth.Worth._choose", lambda self: 5)
    options = {"weights": "fp32", "max_tokens": 24, **sampling}
    plain = client.answer(PROMPT, llama_folder, mode="plain", **options)
    client.events.clear()
    reply = client.answer(PROMPT, llama_folder, mode="ghidorah", draft=str(heads), **options)
    assert reply.token_ids == plain.token_ids
    assert (reply.mode, reply.drafts) == ("ghidorah", (str(heads),))
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds if record.tokens]
    assert rounds
    shapes = {record.parents for record in rounds[:5]}
    assert (shapes == {parents_of(TREE)[:5]}) == kept


def test_a_model_without_medusa_heads_is_refused_in_a_sentence(client: EngineClient, llama_folder: Path) -> None:
    message = client.failure("a", llama_folder, mode="ghidorah").error.message
    assert "It needs Medusa heads that were trained for this very model" in message


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
