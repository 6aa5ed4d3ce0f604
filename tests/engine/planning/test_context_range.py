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


@pytest.mark.parametrize("tokens", [None, 16, 10_000])
def test_a_context_that_the_model_has_is_taken(config: ModelConfig, tokens: int | None) -> None:
    check_context(config, tokens)
    assert usual_context(config) == 8192


@pytest.mark.parametrize(("tokens", "nearest"), [(1 << 24, 10_000), (10_001, 10_000), (15, 8192)])
def test_another_one_is_refused_with_what_would_do(config: ModelConfig, tokens: int, nearest: int) -> None:
    with pytest.raises(InvalidOption, match=rf"{tokens:,} tokens, but this model takes 16 to 10,000") as refused:
        check_context(config, tokens)
    assert refused.value.allowed == Allowed("context", nearest)
    check_context(config, nearest)
