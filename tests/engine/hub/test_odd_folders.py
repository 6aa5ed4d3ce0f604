"""Folders that are not as Tenon left them: a sentence, and the next action works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import FileRefused, InvalidOption, ModelNotFound, OutOfDisk, TenonError
from engine.files import file_trouble
from engine.hub.connection import Hub
from engine.hub.installed import find_model
from engine.hub.local_import import adopt
from tests.support.checkpoints import write_checkpoint

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("reference", ["x" * 300, "a/" + "y" * 300, "~/" + "z" * 300, "\ud800", "a\0b"])
def test_a_name_that_no_file_can_have_is_no_model(reference: str) -> None:
    with pytest.raises(ModelNotFound) as caught:
        find_model(reference)
    assert len(caught.value.message) < 1000
    caught.value.message.encode()


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://[",
        "https://",
        "https://a:99999",
        "https://a:b",
        "ftp://a",
        "https://a b",
        "huggingface.co",
        "https://\n",
    ],
)
def test_a_malformed_endpoint_is_said(endpoint: str) -> None:
    with pytest.raises(InvalidOption, match="must look like https://huggingface"):
        Hub(endpoint)


@pytest.mark.parametrize("endpoint", ["http://[", "http://a]b", "https://\u2100"])
def test_an_endpoint_that_cannot_be_parsed_is_said_where_the_library_is_imported(endpoint: str) -> None:
    program = "import sys; from engine.cli import main; sys.exit(main(['models', 'search', 'x']))"
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=ROOT)
    assert done.returncode != 0
    assert "must look like https://huggingface.co" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_in_the_place_of_the_models_is_said(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.write_text("")
    source = write_checkpoint(tmp_path / "mine")
    with pytest.raises(FileRefused, match="models"):
        adopt(models, source)
    with pytest.raises(NotADirectoryError) as caught:
        (models / ".incoming" / "mine").mkdir()
    assert f"{models} stands in the way" in file_trouble(caught.value).message
    models.unlink()
    assert adopt(models, source) == source


def test_a_long_name_is_made_shorter(tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / ("ä" * 127))
    assert adopt(tmp_path / "models", source) == source
    (known,) = (tmp_path / "models").glob("[!.]*")
    assert len(os.fsencode(known.name)) <= 200


@pytest.mark.parametrize("number", [2, 13, 17, 20, 28, 30, 36, 5])
def test_whatever_the_system_says_is_a_sentence(number: int) -> None:
    trouble: TenonError = file_trouble(OSError(number, os.strerror(number), "/some/file"))
    assert "/some/file" in trouble.message
    assert trouble.message.endswith(".")
    assert "Errno" not in trouble.message


@pytest.mark.parametrize(("number", "kind"), [(28, OutOfDisk), (2, FileRefused), (13, FileRefused), (5, FileRefused)])
def test_only_a_full_disk_is_called_one(number: int, kind: type[TenonError]) -> None:
    assert type(file_trouble(OSError(number, os.strerror(number)))) is kind
