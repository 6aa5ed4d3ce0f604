"""Tree forwards: what a node sees, what it does not see, and what a commit leaves behind."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.errors import Cancelled
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from tests.support.decoders import load_decoder, prefill
from tests.support.fast_cases import families

COMMITTED = 50
CAPACITY = 400


FAMILIES = (
    *(
        "llama",
        "qwen3",
        "mistral-window",
        "gemma2",
        "gemma3",
        "phi3-longrope",
        "lfm2",
        "lfm3",
        "gemma4",
        "gemma4-inputs",
    ),
    *(
        "qwen3-moe",
        "gpt-oss",
        "lfm2-moe",
        "granite-hybrid",
        "granite-hybrid-moe",
        "nemotron-h",
        "nemotron-h-moe",
        "qwen35",
        "qwen35-moe",
        "qwen3-next",
        "gemma4-moe",
        "glm4-moe",
        "glm4-moe-lite",
        "deepseek-v2",
        "deepseek-v3",
    ),
)


@pytest.fixture(params=families(FAMILIES), scope="module")
def decoder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Decoder:
    return load_decoder(checkpoint_of(request.param))


def random_tokens(count: int, seed: int) -> torch.Tensor:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed))


class Tree:
    """A random tree: root first, parents before children."""

    def __init__(self, nodes: int, seed: int) -> None:
        chance = random.Random(seed)
        self.parents = [-1] + [chance.randrange(max(0, node - 4), node) for node in range(1, nodes)]
        self.tokens = random_tokens(nodes, seed)
        self.mask = torch.eye(nodes, dtype=torch.bool)
        self.depths = torch.zeros(nodes, dtype=torch.long)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                self.mask[node] |= self.mask[parent]
                self.depths[node] = self.depths[parent] + 1

    def path(self, node: int) -> torch.Tensor:
        """Nodes from the root to this one."""
        return self.mask[node].nonzero()[:, 0]


def run(decoder: Decoder, cache: KVCache, tree: Tree) -> torch.Tensor:
    return decoder.forward(tree.tokens, cache.length + tree.depths, cache, tree.mask).logits


def assert_same_logits(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Rounding is told by the largest logit: products of more rows are added up in another order."""
    torch.testing.assert_close(ours, theirs, atol=1e-5 * float(theirs.abs().max()), rtol=0)


@pytest.mark.parametrize(("nodes", "seed"), [(2, 0), (16, 1), (40, 2), (80, 3)])
def test_each_node_has_the_logits_of_its_path_run_as_a_chain(decoder: Decoder, nodes: int, seed: int) -> None:
    cache = prefill(decoder, random_tokens(COMMITTED, 9), CAPACITY)
    tree = Tree(nodes, seed)
    logits = run(decoder, cache, tree)
    for node in range(nodes):
        path = tree.path(node)
        positions = torch.arange(cache.length, cache.length + len(path))
        chain = decoder.forward(tree.tokens[path], positions, cache, logit_rows=slice(-1, None)).logits[0]
        assert_same_logits(logits[node], chain)


@pytest.mark.parametrize("pieces", [[1, 1, 1], [1, 7, 16], [30, 1], [2, 70]])
def test_a_tree_run_level_by_level_equals_one_forward(decoder: Decoder, pieces: list[int]) -> None:
    cache = prefill(decoder, random_tokens(COMMITTED, 9), CAPACITY)
    nodes = sum(pieces)
    tree = Tree(nodes, 12)
    whole = run(decoder, cache, tree)
    done = 0
    for count in pieces:
        rows = slice(done, done + count)
        output = decoder.forward(
            tree.tokens[rows],
            cache.length + tree.depths[rows],
            cache,
            tree.mask[rows, : done + count],
            uncommitted=done,
        )
        assert_same_logits(output.logits, whole[rows])
        done += count
    path = tree.path(nodes - 1)
    cache.commit(path)
    text = torch.cat((random_tokens(COMMITTED, 9), tree.tokens[path]))
    probe, position = torch.tensor([42]), torch.tensor([len(text)])
    ours = decoder.forward(probe, position, cache).logits
    fresh = decoder.forward(probe, position, prefill(decoder, text, CAPACITY)).logits
    assert_same_logits(ours, fresh)


def test_a_chain_goes_on_behind_uncommitted_rows(decoder: Decoder) -> None:
    text = random_tokens(COMMITTED, 9)
    cache, tokens = prefill(decoder, text, CAPACITY), random_tokens(40, 3)
    positions = COMMITTED + torch.arange(40)
    whole = decoder.forward(tokens, positions, cache).logits
    for start, end in ((0, 30), (30, 31), (31, 40)):
        output = decoder.forward(tokens[start:end], positions[start:end], cache, uncommitted=start)
        assert_same_logits(output.logits, whole[start:end])


def test_a_changed_node_leaves_other_branches_bit_equal(decoder: Decoder) -> None:
    cache = prefill(decoder, random_tokens(COMMITTED, 9), CAPACITY)
    tree = Tree(24, 4)
    before = run(decoder, cache, tree)
    for changed in (3, 11, 23):
        other = Tree(24, 4)
        other.tokens[changed] = (other.tokens[changed] + 1) % 300
        after = run(decoder, cache, other)
        unrelated = ~tree.mask[:, changed]
        if decoder.config.mixture is None:
            assert torch.equal(before[unrelated], after[unrelated])
        else:  # an expert takes all the rows that chose it at once, and torch adds a product of other rows otherwise
            assert_same_logits(before[unrelated], after[unrelated])
        assert not torch.equal(before[changed], after[changed])


def test_commits_of_random_paths_equal_a_fresh_prefill(decoder: Decoder) -> None:
    chance = random.Random(5)
    text = random_tokens(COMMITTED, 9)
    cache = prefill(decoder, text, CAPACITY)
    for step in range(12):
        if chance.random() < 0.25:
            text = text[: cache.truncate(chance.randrange(cache.length // 2, cache.length))]
        room = None if cache.text_limit is None else cache.text_limit - cache.length
        nodes = chance.randrange(1, 20)
        tree = Tree(nodes if room is None else min(nodes, room), 100 + step)
        run(decoder, cache, tree)
        path = tree.path(chance.randrange(len(tree.parents)))
        cache.commit(path)
        text = torch.cat((text, tree.tokens[path]))
        assert cache.length == len(text)
    probe, position = torch.tensor([42]), torch.tensor([len(text)])
    ours = decoder.forward(probe, position, cache).logits
    fresh = decoder.forward(probe, position, prefill(decoder, text, CAPACITY)).logits
    assert_same_logits(ours, fresh)


def test_a_path_is_kept_when_the_cache_grew_for_its_tree(decoder: Decoder) -> None:
    text, tree = random_tokens(250, 9), Tree(20, 8)
    cache = prefill(decoder, text, CAPACITY)
    allocated = cache.bytes
    run(decoder, cache, tree)
    assert cache.bytes > allocated
    path = tree.path(19)
    cache.commit(path)
    text = torch.cat((text, tree.tokens[path]))
    probe, position = torch.tensor([42]), torch.tensor([len(text)])
    ours = decoder.forward(probe, position, cache).logits
    fresh = decoder.forward(probe, position, prefill(decoder, text, CAPACITY)).logits
    assert_same_logits(ours, fresh)


def test_a_forward_without_commit_leaves_no_trace(decoder: Decoder) -> None:
    cache = prefill(decoder, random_tokens(COMMITTED, 9), CAPACITY)
    probe, position = torch.tensor([42]), torch.tensor([COMMITTED])
    before = decoder.forward(probe, position, cache).logits
    run(decoder, cache, Tree(30, 6))
    assert cache.length == COMMITTED
    assert torch.equal(before, decoder.forward(probe, position, cache).logits)


def test_logits_come_for_the_rows_asked_for(decoder: Decoder) -> None:
    cache = prefill(decoder, random_tokens(COMMITTED, 9), CAPACITY)
    tree = Tree(8, 7)
    whole = run(decoder, cache, tree)
    positions = cache.length + tree.depths
    some = decoder.forward(tree.tokens, positions, cache, tree.mask, logit_rows=torch.tensor([5, 2]))
    assert_same_logits(some.logits, whole[[5, 2]])
    assert some.hidden.shape == (8, decoder.config.hidden_size)
    none = decoder.forward(tree.tokens, positions, cache, tree.mask, logit_rows=slice(0, 0))
    assert none.logits.shape == (0, decoder.config.vocabulary_size)
    assert whole.dtype == torch.float32


def test_layer_inputs_are_those_of_the_layers_asked_for(decoder: Decoder) -> None:
    tokens = random_tokens(5, 1)
    output = decoder.forward(tokens, torch.arange(5), decoder.new_cache(5), hidden_layers=(0, 2))
    embedded = decoder.source.embedding(tokens) * (decoder.config.embedding_scale or 1.0)
    assert sorted(output.layer_inputs) == [0, 2]
    torch.testing.assert_close(output.layer_inputs[0], embedded)


def test_cancelling_is_seen_between_layers_and_keeps_the_cache(decoder: Decoder) -> None:
    cache = prefill(decoder, random_tokens(COMMITTED, 9), CAPACITY)
    probe, position = torch.tensor([42]), torch.tensor([COMMITTED])
    before = decoder.forward(probe, position, cache).logits
    looks = []

    def stop_at_the_second_layer() -> None:
        looks.append(None)
        if len(looks) == 2:
            raise Cancelled("")

    with pytest.raises(Cancelled):
        decoder.forward(random_tokens(20, 3), torch.arange(50, 70), cache, check=stop_at_the_second_layer)
    assert cache.length == COMMITTED
    assert torch.equal(before, decoder.forward(probe, position, cache).logits)
