"""Whatever a path from outside names: what is no file is refused before it is opened, wherever it comes in."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.settings.settings_file import SettingsFile
from app.storage.files import read_import
from engine.documents.reading import read_attachment
from engine.errors import ImportInvalid, TenonError
from engine.files import open_file, read_text_file
from engine.gguf.header import read_header
from engine.gguf.parts import find_gguf
from engine.hub.local_import import adopt
from engine.hub.record import RECORD, read_record
from engine.text.tokenizer import Tokenizer, read_end_ids, read_templates
from engine.weights.checkpoint import (
    Checkpoint,
    CheckpointOutline,
    read_config_file,
    read_generation_config,
    weight_files,
)
from engine.weights.draft_kind import draft_kind
from engine.weights.safetensors_file import SafetensorsFile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files in folders")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        before = os.getcwd()
        os.chdir(path.parent)  # a socket's path is short
        one.bind(path.name)
        os.chdir(before)


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": make_pipe,
    "device": make_device,
    "folder": Path.mkdir,
    "socket": make_socket,
}


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    return KINDS[request.param]


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """Paths that anything in this process opens meanwhile, by the interpreter's own word."""
    paths: list[str] = []
    watching = [True]

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if watching[0] and event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
            paths.append(os.fsdecode(arguments[0]))

    sys.addaudithook(hear)
    yield paths
    watching[0] = False


def test_only_files_are_opened(make: Callable[[Path], None], tmp_path: Path, opened: list[str]) -> None:
    path = tmp_path / "some.json"
    make(path)
    for read in (open_file, read_text_file):
        with pytest.raises(OSError, match="not a file"):
            read(path)
    with pytest.raises(ImportInvalid, match="it is not a file, but a folder, a pipe or a device"):
        read_import(path)
    with pytest.raises(TenonError, match="not a file"):
        read_attachment(path)
    assert str(path) not in opened


MODEL_FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    RECORD,
)
READERS: tuple[Callable[[Path], object], ...] = (
    Checkpoint,
    CheckpointOutline,
    Tokenizer,
    read_templates,
    read_end_ids,
    read_config_file,
    read_generation_config,
    weight_files,
    draft_kind,
    read_record,
    lambda folder: adopt(folder.parent / "models", folder),
)


@pytest.mark.parametrize("name", MODEL_FILES)
def test_no_part_of_a_model_is_waited_for(
    name: str, make: Callable[[Path], None], tmp_path: Path, llama_folder: Path, opened: list[str]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in llama_folder.iterdir():
        if file.is_file() and file.name != name:
            (folder / file.name).write_bytes(file.read_bytes())
    make(folder / name)
    for read in READERS:
        with suppress(TenonError):
            read(folder)
    assert str(folder / name) not in opened


@pytest.mark.parametrize("name", ["model.gguf", "model.safetensors", "sha256-0123"])
def test_no_model_file_is_waited_for(
    name: str, make: Callable[[Path], None], tmp_path: Path, opened: list[str]
) -> None:
    path = tmp_path / name
    make(path)
    for read in (find_gguf, read_header, SafetensorsFile, Checkpoint, READERS[-1]):
        with suppress(TenonError, OSError):
            read(path)
    assert str(path) not in opened


def test_settings_that_are_no_file_are_said(make: Callable[[Path], None], tmp_path: Path, opened: list[str]) -> None:
    path = tmp_path / "settings.json"
    make(path)
    _, sentences = SettingsFile(tmp_path).read()
    assert len(sentences) == 1
    assert "not a file" in sentences[0]
    assert str(path) not in opened


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffÖl\r\n".encode())
    assert read_text_file(path, "utf-8-sig") == "Öl\n"
