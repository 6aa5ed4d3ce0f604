from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.__main__ import are_files, main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ask").mkdir()
    (tmp_path / "a model.gguf").touch()
    (tmp_path / "chats.json").touch()
    return tmp_path


def test_files_are_for_the_window(here: Path) -> None:
    assert are_files(["a model.gguf"])
    assert are_files(["chats.json", str(here / "ask"), "./ask"])


@pytest.mark.parametrize(
    "arguments",
    [["ask"], ["ask", "a model.gguf"], ["--help"], ["gone.gguf"], ["./gone"], ["a model.gguf", "-v"]],
)
def test_anything_else_is_for_the_command_line(here: Path, arguments: list[str]) -> None:
    assert not are_files(arguments)


@pytest.mark.parametrize("path", ["gone.gguf", "./gone", "Gone.GGUF"])
def test_a_file_that_is_not_there_is_one_sentence(here: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path]) == 2
    assert capsys.readouterr().err == f"tenon: There is nothing at {path}: check the path.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of descriptors")
def test_the_limit_of_descriptors_is_raised_at_the_start() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource\n"
            "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))\n"
            "from app.__main__ import main\n"
            "main(['--version'])\n"
            "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], hard, 10_240)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    raised, hard, most_of_macos = map(int, done.stdout.splitlines()[-1].split())
    assert raised == (most_of_macos if sys.platform == "darwin" and hard < 0 else hard)
