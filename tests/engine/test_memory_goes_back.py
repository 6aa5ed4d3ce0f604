"""Memory of models that are unloaded goes back to the system, with their drafts, contexts and tokenizers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkpoints import reference_model, train_tokenizer, write_checkpoint
from tests.support.gguf_files import Kind, write_gguf

ROOT = Path(__file__).resolve().parents[2]
#: The engine says each two seconds that it is alive, and looks at the model for that.
A_SIGN_OF_LIFE_S = 2.5
SIZES: dict[str, Any] = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 8}
LONG = "The light is on and off. " * 12

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the resident bytes are those of Linux")


def held_bytes(rounds: int, pause_s: float, *models: dict[str, Any]) -> list[int]:
    """Return the resident bytes of an engine at its start and after each unload of these models in turn."""
    texts = [json.dumps({"prompt": "Tell me a story.", **values}) for values in models]
    program = [sys.executable, "-m", "tests.support.memory_rounds", str(rounds), str(pause_s), *texts]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(map(int, done.stdout.split()))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of 150 MB."""
    return str(write_checkpoint(tmp_path_factory.mktemp("models") / "large", **SIZES))


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_checkpoint(tmp_path_factory.mktemp("models") / "draft", seed=1))


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("models") / "file.gguf"
    write_gguf(reference_model("qwen3", **SIZES), path, Kind.Q8_0, train_tokenizer())
    return str(path)


def test_a_model_that_is_unloaded_leaves_nothing(model: str, draft: str) -> None:
    start, end = held_bytes(1, A_SIGN_OF_LIFE_S, {"model": model, "drafts": [draft]})
    assert end < start + (60 << 20)  # modules that the first load imports are 30 MB


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_fifty_models_drafts_and_contexts_leave_nothing(model: str, draft: str, gguf: str, smollm2: Path) -> None:
    kinds: list[dict[str, Any]] = [
        {"model": "smollm2", "drafts": ["smollm2-draft"], "threads": 2},
        {"model": model, "drafts": [draft], "context": 256},
        {"model": gguf, "drafts": ["lookup"], "prompt": LONG},
        {"model": "smollm2", "drafts": ["smollm2-medusa"], "prompt": LONG * 8, "threads": 2},
        {"model": model, "weights": "q8_0", "context": 512, "prompt": LONG},
        {"model": "smollm2", "context": 1024, "drafts": ["smollm2-draft", "lookup"], "kv_cache": "q8_0"},
        {"model": gguf, "drafts": ["off"], "context": 128},
    ]
    held = held_bytes(8, 0.1, *kinds)
    first, later = held[1], held[len(kinds) + 1 :]
    assert max(later) < 1.1 * first, [round(one / 1e6) for one in held]
