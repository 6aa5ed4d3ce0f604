from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Allowed, InvalidOption
from engine.model.config import ModelConfig, read_config
from engine.planning.load_plan import check_context, usual_context
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint


@pytest.fixture
def config(tmp_path: Path) -> ModelConfig:
    return read_config(Checkpoint(write_checkpoint(tmp_path / "model", max_position_embeddings=10_000)))


@pytest.mark.parametrize(
    ("asked", "taken"), [(None, None), (16, 16), (10_000, 10_000), (10_001, 10_000), (1 << 24, 10_000)]
)
def test_a_context_is_taken_as_far_as_the_model_has_it(config: ModelConfig, asked: int | None, taken: int) -> None:
    assert check_context(config, asked) == taken
    assert usual_context(config) == 8192


def test_a_shorter_one_is_refused_with_what_would_do(config: ModelConfig) -> None:
    with pytest.raises(InvalidOption, match="15 tokens, but it must be at least 16") as refused:
        check_context(config, 15)
    assert refused.value.allowed == Allowed("context", 8192)
