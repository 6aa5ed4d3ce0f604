"""Crossings between host and device, proven with a second logical device: an operation that mixes sides fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.drafter import Drafter
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.drafting.trees import TreeShape
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import Side
from engine.model.loader import load_layers, load_weights
from engine.model.token_tree import Draft, DraftShape
from engine.placement.split import DeviceLayers, Split
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import VARIANTS
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import chosen
from tests.support.replies import run_reply
from tests.support.sides import DEVICE, HOST, GuardedLink, Sides, weights_of

CONTEXT = 200
PROMPT = list(range(3, 40))
CPU = torch.device("cpu")


def split_decoder(folder: Path, leading: int, link: GuardedLink, dtype: torch.dtype = torch.float32) -> Decoder:
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    host = load_weights(checkpoint, config, torch.float32, CPU, wanted=range(leading, config.layers))
    layers = load_layers(checkpoint, config, range(leading), dtype, CPU)
    return Decoder(config, Split(host, DeviceLayers(dict(enumerate(layers))), Side("device", CPU, dtype, dtype), link))


def test_mixing_sides_is_noticed() -> None:
    """The mode that the other tests rely on can fail."""
    sides = Sides()
    link = GuardedLink(sides)
    weight = torch.ones(4, 4)
    sides.mark(iter([weight]), DEVICE)
    with sides:
        rows = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
        with pytest.raises(AssertionError, match="mixes"):
            torch.mm(rows, weight)
        mapped = torch.mm(link.to_device(rows), weight)
        with pytest.raises(AssertionError, match="mixes"):
            mapped + rows
        total = link.to_host(mapped) + rows
    assert total.tolist() == [[11.0, 12.0, 13.0, 14.0]]
    assert (link.to_device_bytes, link.to_host_bytes) == (16, 16)


def test_a_small_model_on_the_device_gets_token_ids_and_the_shape_of_trees(llama_folder: Path) -> None:
    sides = Sides()
    link = GuardedLink(sides)
    decoder, draft = load_decoder(llama_folder), load_decoder(llama_folder)
    shape = TreeShape(3, 4, 10)
    drafter = DraftModelDrafter(DraftModel(draft, draft.config.vocabulary_size, CONTEXT, link, lambda: None), shape)
    target = TokenSequence(Target(decoder), CONTEXT)
    run_reply(target, drafter, PROMPT, 60)  # tables and caches grow once
    sides.mark(weights_of(decoder.source), HOST)
    sides.mark(weights_of(draft.source), DEVICE)
    link.to_device_bytes = 0
    link.crossings.clear()
    with sides:
        tokens, timings = run_reply(target, drafter, [*PROMPT[:20], 7], 30)
    assert tokens == greedy(decoder, torch.tensor([*PROMPT[:20], 7]), 30)
    assert timings.acceptance_rate == 1.0
    assert min(sides.operations.values()) > 1000
    assert 0 < link.to_device_bytes < timings.target_forwards * 1000
    # Ids and positions of at most a chunk of text or a level, and masks: nothing that is as wide as a hidden state.
    assert {dtype for _, dtype in link.crossings} == {torch.int64, torch.bool}
    assert all(len(size) == 1 for size, dtype in link.crossings if dtype == torch.int64)


class FeatureReader(Drafter):
    """Drafts what a matrix on the device makes of the newest hidden row, as a feature draft would."""

    def __init__(self, width: int, layers: tuple[int, ...]) -> None:
        self.hidden_layers = layers
        self.matrix = torch.randn(width * len(layers), 300, generator=torch.Generator().manual_seed(1))
        self.rows = 0
        self._newest = torch.zeros(1, width * len(layers))

    def reset(self, prompt: Sequence[int]) -> int:
        self.rows = 0
        return 0

    def observe(self, tokens: Sequence[int], hidden: torch.Tensor | None, probes: torch.Tensor | None = None) -> None:
        self.rows += len(hidden)
        self._newest = hidden[-1:]

    def propose(self, shape: DraftShape) -> Draft:
        return Draft.chain(torch.mm(self._newest, self.matrix).topk(min(shape.rows, 3)).indices[0].tolist())


@pytest.mark.parametrize("layers", [(3,), (0, 1, 2)])
def test_hidden_rows_of_committed_positions_cross_once(layers: tuple[int, ...], llama_folder: Path) -> None:
    sides = Sides()
    link = GuardedLink(sides)
    decoder = load_decoder(llama_folder)
    target, width = TokenSequence(Target(decoder), CONTEXT), decoder.config.hidden_size
    run_reply(target, FeatureReader(width, layers), PROMPT, 40)
    reader = FeatureReader(width, layers)
    failures: list[str] = []
    sides.mark(weights_of(decoder.source), HOST)
    sides.mark(iter([reader.matrix]), DEVICE)
    text = [*PROMPT, 90, 91]
    with sides:
        tokens, _ = run_reply(target, FallbackDrafter(reader, link, failures.append), text, 30)
    assert (failures, tokens) == ([], greedy(decoder, torch.tensor(text), 30))
    assert len(text) <= reader.rows < len(text) + 30
    assert link.to_device_bytes == reader.rows * width * len(layers) * 4
    assert link.to_host_bytes == 0


@pytest.mark.parametrize(
    ("variant", "leading"),
    [
        *chosen(
            product(sorted({*VARIANTS} - {"gemma4-inputs"}), (1, 2)),
            {("deepseek-v3", 1), ("gpt-oss", 2), ("lfm2", 1), ("llama", 2)},
        ),
        ("gemma4-inputs", 1),  # keys begin after it that the last layers read
    ],
)
def test_first_layers_on_the_device_change_nothing_and_rows_alone_cross(
    variant: str, leading: int, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    sides = Sides()
    link = GuardedLink(sides)
    whole, split = load_decoder(folder), split_decoder(folder, leading, link)
    target = TokenSequence(Target(split), CONTEXT)
    draft = DraftModelDrafter(
        DraftModel(whole, whole.config.vocabulary_size, CONTEXT, GuardedLink(sides), lambda: None),
        TreeShape(3, 3, 6),
    )
    expected = greedy(whole, torch.tensor(PROMPT), 80)
    assert run_reply(target, draft, PROMPT, 80)[0] == expected
    source = split.source
    assert isinstance(source, Split)
    sides.mark(weights_of(source), HOST)
    sides.mark(weights_of([source._on_device.layer(index) for index in range(leading)]), DEVICE)
    link.to_device_bytes = link.to_host_bytes = 0
    link.crossings.clear()
    other = [*PROMPT[:5], *range(60, 80)]
    tokens = torch.tensor(other)
    cache = split.new_cache(64)
    with sides:
        logits = split.forward(tokens, torch.arange(len(other)), cache).logits
        cache.commit(range(len(other)))
        tree = split.forward(torch.tensor([5, 6, 7]), torch.tensor([25, 26, 26]), cache, torch.eye(3).bool())
        cache.commit([0, 2])
    reference = whole.forward(tokens, torch.arange(len(other)), whole.new_cache(64)).logits
    torch.testing.assert_close(logits, reference, atol=1e-5, rtol=1e-4)
    assert tree.logits.shape == (3, whole.config.vocabulary_size)
    width = whole.config.hidden_size * 4
    shapes = whole.config.cache_shapes[:leading]
    positions, mask, moved = 8 * (25 + 3), 9, 8 * (shapes.count(None) + any(shape is not None for shape in shapes))
    assert link.to_host_bytes == (25 + 3) * width
    entering = (25 + 3) * leading * whole.config.input_width * 4
    sent = link.to_device_bytes - ((25 + 3) * width + positions + mask + moved + entering)
    if whole.config.convolution:  # which rows of what is kept each one follows
        assert 0 <= sent < 4096
    else:
        assert sent == 0


def test_layers_in_sixteen_bits_send_half_as_much(llama_folder: Path) -> None:
    sides = Sides()
    link = GuardedLink(sides)
    split = split_decoder(llama_folder, 2, link, torch.bfloat16)
    tokens, cache = torch.tensor(PROMPT), split.new_cache(64)
    logits = split.forward(tokens, torch.arange(len(tokens)), cache, hidden_layers=(1,))
    whole = load_decoder(llama_folder)
    reference = whole.forward(tokens, torch.arange(len(tokens)), whole.new_cache(64))
    assert link.to_device_bytes == len(tokens) * (2 * whole.config.hidden_size + 8)
    assert logits.layer_inputs[1].dtype == torch.float32
    assert logits.logits.dtype == torch.float32
    distance = (logits.logits - reference.logits).abs().max()
    assert 0 < distance < 0.2 * reference.logits.abs().max()
