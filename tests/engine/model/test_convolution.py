"""Short convolutions: each row takes those before it on its own path, wherever they lie in the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.errors import UnsupportedModel
from engine.model.block import previous_rows
from engine.model.config import read_config
from engine.model.footprint import cache_bytes
from engine.model.weight_format import weight_format
from engine.planning.load_plan import cache_formats
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import load_decoder


def test_rows_before_a_chain_and_before_a_tree() -> None:
    assert previous_rows(1, 0, 3, None, 2).tolist() == [[-1, 0], [0, 1], [1, 2]]
    assert previous_rows(5, 2, 1, None, 3).tolist() == [[4, 5, 6]]
    # 0 is pending; 1 and 2 are its children, 3 is a child of 2, and 4 begins anew.
    tree = torch.tensor([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [0, 0, 0, 0, 1]], dtype=torch.bool)
    assert previous_rows(8, 1, 4, tree, 3).tolist() == [[6, 7, 8], [6, 7, 8], [7, 8, 10], [5, 6, 7]]


def test_the_cache_is_counted_by_layer(checkpoint_of: Callable[[str], Path]) -> None:
    config = read_config(Checkpoint(checkpoint_of("lfm2")))
    cache = load_decoder(checkpoint_of("lfm2")).new_cache(200)
    assert config.cache_shapes == (None, (2, 16), None)
    assert 0.1 * cache_bytes(config, 200, weight_format("fp32")) < cache.bytes
    assert cache.bytes < cache_bytes(config, 200, weight_format("fp32"))


def test_a_convolution_s_inputs_are_not_kept_in_8_bits(checkpoint_of: Callable[[str], Path]) -> None:
    config, weights = read_config(Checkpoint(checkpoint_of("lfm2"))), weight_format("q8_0")
    assert cache_formats(config, weights, "auto") == (weights,)


def test_a_convolution_with_a_bias_is_refused(checkpoint_of: Callable[[str], Path]) -> None:
    checkpoint = Checkpoint(checkpoint_of("lfm2"))
    checkpoint.config["conv_bias"] = True
    with pytest.raises(UnsupportedModel, match="no convolutions with a bias"):
        read_config(checkpoint)
