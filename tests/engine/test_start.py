"""Imports between the shell and the first token."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from engine.cli.subcommand import read_ahead

ROOT = Path(__file__).resolve().parents[2]


def test_what_no_reply_needs_is_not_imported(llama_folder: Path) -> None:
    """Transformers takes three times as long as all the rest; a model that is here needs no HTTP and no secret."""
    slow, of_the_net = {"transformers", "sympy", "torch._dynamo"}, {"httpx2", "keyring"}
    steps = {
        "import engine.process; code = 0": slow | of_the_net,
        "code = main(['ask', 'Hello', '--max-tokens', '2', '--model', sys.argv[1]])": slow | of_the_net,
        "code = main(['models', 'list'])": slow,
        "code = main(['plan', '--model', sys.argv[1]])": slow,
    }
    check = "print('\\nimported', sorted({needless} & set(sys.modules)), code)"
    told = (f"{step}; {check.format(needless=needless)}" for step, needless in steps.items())
    program = "\n".join(("import sys", "from app.__main__ import main", *told))
    command = [sys.executable, "-c", program, str(llama_folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("imported ")]
    assert lines == ["imported [] 0"] * len(steps), done.stdout + done.stderr


def test_reading_ahead_leaves_a_model_that_is_not_there_to_the_load(llama_folder: Path) -> None:
    for reference in ("nowhere", "", str(llama_folder)):
        read_ahead(reference)
