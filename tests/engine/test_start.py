"""Imports between the shell and the first token."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli.subcommand import read_ahead

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "program",
    [
        "from app.__main__ import main; code = main(['ask', 'Hello', '--max-tokens', '2', '--model', sys.argv[1]])",
        "from app.__main__ import main; code = main(['plan', '--model', sys.argv[1]])",
        "from app.__main__ import main; code = main(['models', 'list'])",
        "import engine.process; code = 0",
    ],
    ids=["ask", "plan", "models", "engine"],
)
def test_transformers_is_not_imported(program: str, llama_folder: Path) -> None:
    """It takes three times as long as all the rest."""
    check = "; print(sorted({'transformers', 'sympy', 'torch._dynamo'} & set(sys.modules)), code)"
    command = [sys.executable, "-c", f"import sys; {program}{check}", str(llama_folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0", done.stdout + done.stderr


def test_reading_ahead_leaves_a_model_that_is_not_there_to_the_load(llama_folder: Path) -> None:
    for reference in ("nowhere", "", str(llama_folder)):
        read_ahead(reference)
