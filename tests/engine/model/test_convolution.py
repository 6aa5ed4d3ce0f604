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
from tests.support.decoders import load_decoder, prefill


def test_rows_before_a_chain_and_before_a_tree() -> None:
    assert previous_rows(1, 0, 3, None, 2).tolist() == [[-1, 0], [0, 1], [1, 2]]
    assert previous_rows(5, 2, 1, None, 3).tolist() == [[4, 5, 6]]
    # 0 is pending; 1 and 2 are its children, 3 is a child of 2, and 4 begins anew.
    tree = torch.tensor([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [0, 0, 0, 0, 1]], dtype=torch.bool)
    assert previous_rows(8, 1, 4, tree, 3).tolist() == [[6, 7, 8], [6, 7, 8], [7, 8, 10], [5, 6, 7]]


@pytest.mark.parametrize("variant", ["lfm2", "lfm2-moe"])
def test_a_text_that_is_cut_goes_on_as_one_that_was_read_anew(
    variant: str, checkpoint_of: Callable[[str], Path]
) -> None:
    decoder = load_decoder(checkpoint_of(variant))
    text, other = torch.randint(3, 300, (2, 50), generator=torch.Generator().manual_seed(5))
    cut = prefill(decoder, text, 60)
    cut.truncate(30)
    fresh = prefill(decoder, text[:30], 60)
    found, expected = (decoder.forward(other[:9], torch.arange(30, 39), cache).logits for cache in (cut, fresh))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_the_cache_is_counted_by_layer(checkpoint_of: Callable[[str], Path]) -> None:
    config = read_config(Checkpoint(checkpoint_of("lfm2")))
    cache = load_decoder(checkpoint_of("lfm2")).new_cache(200)
    assert config.cache_shapes == ((2, 16), (2, 16), (2, 16))
    assert cache.bytes == cache_bytes(config, 200, weight_format("fp32"))


def test_a_convolution_s_inputs_are_not_kept_in_8_bits(checkpoint_of: Callable[[str], Path]) -> None:
    config, weights = read_config(Checkpoint(checkpoint_of("lfm2"))), weight_format("q8_0")
    assert cache_formats(config, weights, "auto") == (weights,)


def test_a_convolution_with_a_bias_is_refused(checkpoint_of: Callable[[str], Path]) -> None:
    checkpoint = Checkpoint(checkpoint_of("lfm2"))
    checkpoint.config["conv_bias"] = True
    with pytest.raises(UnsupportedModel, match="no convolutions with a bias"):
        read_config(checkpoint)
