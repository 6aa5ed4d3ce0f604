"""Parts of a GGUF model: missing, renamed, doubled; and files that hold something else than a model."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGUFWriter

from engine.cli import main
from engine.errors import ModelNotFound, UnsupportedModel, WeightsCorrupt, WeightsMissing
from engine.gguf.parts import all_parts, find_gguf
from engine.hub.installed import find_model
from engine.hub.local_import import adopt, import_model, look_at
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.fast_cases import covering
from tests.support.gguf_files import finish, write_gguf

FIRST, SECOND, THIRD = (f"NAME-0000{number}-of-00003.gguf" for number in (1, 2, 3))

ACTIONS = ["ask", "plan", "serve", "import", "adopt", "look"]
PIECES = [("part{}of3", "123"), ("part-{}", "abc"), ("split-{}", "abc"), ("{:03}", (1, 2, 3))]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a model in three parts."""
    folder = tmp_path_factory.mktemp("parts")
    write_gguf(reference_model("qwen3"), folder / "NAME.gguf", tokenizer=train_tokenizer(), split_max_tensors=16)
    assert sorted(path.name for path in folder.iterdir()) == [FIRST, SECOND, THIRD]
    return folder


def laid_out(parts: Path, folder: Path, **names: str) -> Path:
    """A copy of the parts under other names; a part without one is left out."""
    folder.mkdir()
    for part, name in names.items():
        shutil.copy(parts / {"first": FIRST, "second": SECOND, "third": THIRD}[part], folder / name)
    return folder


def logits(path: Path) -> torch.Tensor:
    decoder = load_decoder(path)
    tokens = torch.arange(20)
    return decoder.forward(tokens, tokens, decoder.new_cache(20)).logits


def refusal(action: str, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a place where something is missing, by one of those who load."""
    if action in ("ask", "plan", "serve"):
        options = {"ask": ["hi"], "plan": [], "serve": ["--port", "0"]}[action]
        assert main([action, "--model", str(place), *options]) == 2
        return capsys.readouterr().err.removeprefix("tenon: ").removesuffix("\n")
    act: Callable[[], Any] = {
        "import": lambda: import_model(tmp_path / "models", [place]),
        "adopt": lambda: adopt(tmp_path / "models", place),
        "look": lambda: look_at(tmp_path / "models", [place]),
    }[action]
    with pytest.raises(WeightsMissing) as caught:
        act()
    return caught.value.message


@pytest.mark.parametrize(("there", "action"), covering(["first", "second", "folder"], ACTIONS, together=1))
def test_a_missing_part_is_named_by_all_who_load(
    there: str, action: str, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = laid_out(parts, tmp_path / "model", first=FIRST, third=THIRD)
    missing = "NAME-00002-of-00003.gguf is not there (1 of 3 parts are missing); download the model again."
    if there == "second":
        folder = laid_out(parts, tmp_path / "other", second=SECOND)
        missing = missing.replace("00002-of", "00001-of").replace("(1 of", "(2 of")
    place = folder if there == "folder" else folder / (FIRST if there == "first" else SECOND)
    assert refusal(action, place, tmp_path, capsys) == missing


@pytest.mark.parametrize(("names", "there", "action"), covering(PIECES, [0, 1, "folder"], ACTIONS))
def test_pieces_of_a_file_are_named_and_how_to_join_them(
    names: tuple[str, Any],
    there: Any,
    action: str,
    parts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    whole = (parts / FIRST).read_bytes()
    pieces = [folder / f"M.Q8_0.gguf.{names[0].format(one)}" for one in names[1]]
    for at, piece in enumerate(pieces):
        piece.write_bytes(whole[at * 5000 : (at + 1) * 5000])
    chosen, named = (folder, pieces[0]) if there == "folder" else (pieces[there], pieces[there])
    told = f"{named.name} is one piece of the GGUF file M.Q8_0.gguf, which was cut up: join all of its pieces"
    assert refusal(action, chosen, tmp_path, capsys).startswith(told)


def test_a_file_of_ollama_is_found_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "sha256-0123"
    write_gguf(reference_model("qwen3"), file, tokenizer=train_tokenizer())
    assert find_model(str(file)) == file
    assert find_gguf(file) == file
    for other in ("M.gguf.bak", "notes.txt"):
        (tmp_path / other).write_text("a")
        with pytest.raises(ModelNotFound, match="is a file: give the model folder"):
            find_model(str(tmp_path / other))


@pytest.mark.parametrize(
    "names",
    [
        ("NAME.part1.gguf", "NAME.part2.gguf", "NAME.part3.gguf"),
        (FIRST, "NAME-00002-of-00003 (1).gguf", THIRD),
        ("NAME-00001-of-00003 (1).gguf", SECOND, "NAME-00003-of-00003 (2).gguf"),
        ("c.gguf", "a.gguf", "b.gguf"),
        ("NAME-00003-of-00003.gguf", "NAME-1.gguf", "x-00001-of-00002.gguf"),
    ],
    ids=str,
)
def test_renamed_parts_are_one_model(names: tuple[str, str, str], parts: Path, tmp_path: Path) -> None:
    folder = laid_out(parts, tmp_path / "model", first=names[0], second=names[1], third=names[2])
    expected = logits(parts)
    for place in (folder, *(folder / name for name in names)):
        assert find_gguf(place) == folder / names[0]
        assert torch.equal(logits(place), expected)
        assert len(Checkpoint(place).files) == 3
    record = import_model(tmp_path / "models", [folder], copy=True)
    assert torch.equal(logits(tmp_path / "models" / record.name), expected)


def test_a_part_that_is_there_twice_is_taken_once(parts: Path, tmp_path: Path) -> None:
    folder = laid_out(parts, tmp_path / "model", first=FIRST, second=SECOND, third=THIRD)
    shutil.copy(folder / SECOND, folder / "NAME-00002-of-00003 (1).gguf")
    shutil.copy(folder / FIRST, folder / "NAME-00001-of-00003 - Copy.gguf")
    for place in (folder, folder / "NAME-00002-of-00003 (1).gguf"):
        assert torch.equal(logits(place), logits(parts))


def test_renamed_parts_of_two_models_are_told_apart(parts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name, seed in (("good", 0), ("other", 1)):
        write_gguf(reference_model("qwen3", seed), folder / f"{name}.gguf", split_max_tensors=16)
        for number in (1, 2, 3):
            (folder / f"{name}-0000{number}-of-00003.gguf").rename(folder / f"{name}.part{number}.gguf")
    assert [path.name for path in all_parts(folder / "other.part2.gguf")] == [
        f"other.part{number}.gguf" for number in (1, 2, 3)
    ]
    assert not torch.equal(logits(folder / "good.part1.gguf"), logits(folder / "other.part1.gguf"))


def test_a_renamed_part_without_the_others_says_so(parts: Path, tmp_path: Path) -> None:
    folder = laid_out(parts, tmp_path / "model", first="NAME.part1.gguf", third="NAME.part3.gguf")
    for place in (folder, folder / "NAME.part1.gguf", folder / "NAME.part3.gguf"):
        with pytest.raises(WeightsMissing, match=r"part 2 is not there \(1 of 3 parts are missing\)"):
            Checkpoint(place)


def test_parts_of_two_models_are_no_model(parts: Path, tmp_path: Path) -> None:
    folder = laid_out(parts, tmp_path / "model", first=FIRST, third=THIRD)
    shutil.copy(parts / THIRD, folder / SECOND)
    with pytest.raises(WeightsCorrupt, match="not of one model"):
        Checkpoint(folder)


def other_file(kind: str, path: Path) -> Path:
    writer = GGUFWriter(str(path), {"mmproj": "clip", "vector": "controlvector"}.get(kind, "llama"))
    if kind in ("adapter", "imatrix", "mmproj"):
        writer.add_type(kind)
    if kind == "vocabulary":
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(["a", "b"])
    else:
        names = {
            "adapter": "blk.0.attn_q.weight.lora_a",
            "untyped adapter": "blk.0.attn_q.weight.lora_a",
            "imatrix": "blk.0.attn_q.weight.in_sum2",
            "mmproj": "v.blk.0.attn_q.weight",
            "vector": "direction.1",
        }
        writer.add_tensor(names[kind], np.ones((32, 32), np.float32))
    finish(writer)
    return path


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("untyped adapter", "holds a LoRA adapter"),
        ("imatrix", "holds an importance matrix"),
        ("mmproj", "reads images or sound"),
        ("vocabulary", "holds a vocabulary and no weights"),
        ("vector", "holds a control vector"),
    ],
)
def test_what_is_no_model_is_called_what_it_is(
    kind: str, said: str, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model").mkdir()
    file = other_file(kind, tmp_path / "model" / "thing.gguf")
    for place in (file, file.parent):
        for act in (
            lambda: import_model(tmp_path / "models", [place]),  # noqa: B023
            lambda: adopt(tmp_path / "models", place),  # noqa: B023
            lambda: look_at(tmp_path / "models", [place]),  # noqa: B023
            lambda: Checkpoint(place),  # noqa: B023
        ):
            with pytest.raises(UnsupportedModel, match=said):
                act()
    for command in (["ask", "hi"], ["plan"]):
        assert main([command[0], "--model", str(file), *command[1:]]) == 2
        problem = capsys.readouterr().err
        assert said in problem
        assert "download" not in problem
    # Beside a model it leaves no choice.
    for name in (FIRST, SECOND, THIRD):
        shutil.copy(parts / name, file.parent / name)
    assert torch.equal(logits(file.parent), logits(parts))
