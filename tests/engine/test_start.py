"""Imports between the shell and the first token."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from engine.cli.subcommand import read_ahead

ROOT = Path(__file__).resolve().parents[2]


def test_transformers_is_not_imported(llama_folder: Path) -> None:
    """It takes three times as long as all the rest."""
    steps = (
        "import engine.process; code = 0",
        "from app.__main__ import main; code = main(['models', 'list'])",
        "code = main(['ask', 'Hello', '--max-tokens', '2', '--model', sys.argv[1]])",
        "code = main(['plan', '--model', sys.argv[1]])",
    )
    check = "print('\\nimported', sorted({'transformers', 'sympy', 'torch._dynamo'} & set(sys.modules)), code)"
    program = "\n".join(("import sys", *(f"{step}; {check}" for step in steps)))
    command = [sys.executable, "-c", program, str(llama_folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = [line for line in done.stdout.splitlines() if line.startswith("imported ")]
    assert told == ["imported [] 0"] * len(steps), done.stdout + done.stderr


def test_reading_ahead_leaves_a_model_that_is_not_there_to_the_load(llama_folder: Path) -> None:
    for reference in ("nowhere", "", str(llama_folder)):
        read_ahead(reference)
