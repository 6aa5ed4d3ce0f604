"""A decoder on a chip against transformers, token for token, and its cache and trees against chains."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.graphics.adapters import Chip
from engine.graphics.decoder import MOST_LIKELY, ChipDecoder, can_run
from engine.graphics.layers import MOST_ROWS, ChipLayers
from engine.kernels.sampling import Ranked, likeliest
from engine.model.config import read_config
from engine.model.decoder import Decoder, RowRuns, TextRows
from engine.model.kv_cache import KVCache
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed_layer
from engine.model.weight_format import stored_format, weight_format
from engine.placement.split import ChipSplit
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import muse_glimmer, save, write_checkpoint
from tests.support.decoders import greedy, load_decoder, load_reference, prefill, reference_greedy

#: Families that the shaders compute: Llama; with biases; norms of heads; windows; layers that rotate nothing; queries
#: with factors; factors of sums; projections in one; norms after each half, caps and factors of embeddings; layers of
#: several sizes, which read others' keys and values, or have inputs of their own; gates of attention.
FAMILIES = (
    *("llama", "llama-biased", "llama3-rope", "qwen2", "qwen2-window", "qwen2-yarn", "qwen3", "smollm3"),
    *("mistral-window", "ministral3", "phi3", "phi3-longrope", "granite"),
    *("gemma2", "gemma3", "gemma4", "gemma4-inputs", "muse-glimmer"),
)
#: Layers that are all needed.
FEW: dict[str, dict[str, int]] = {one: {} for one in ("gemma3", "gemma4", "gemma4-inputs")}
FAR = 1e-4


def load(chip: Chip, folder: Path, name: str = "bf16") -> ChipDecoder:
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    weights = weight_format(name)
    assert can_run(config, weights)
    return ChipDecoder(chip, checkpoint, config, weights, config.vocabulary_size, lambda: None)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in made:
            made[family] = tmp_path_factory.mktemp("chip") / family
            if family == "muse-glimmer":
                save(muse_glimmer(final_logit_softcapping=3.0), made[family], torch.bfloat16)
            else:
                changes = FEW.get(family, {"num_hidden_layers": 2})
                write_checkpoint(made[family], family, dtype=torch.bfloat16, **changes)
        return made[family]

    return folder


def read(decoder: ChipDecoder, cache: KVCache, tokens: Sequence[int]) -> Ranked:
    """Run a chain and commit it; return what follows its last row."""
    positions = torch.arange(cache.length, cache.length + len(tokens))
    found = decoder.forward(torch.tensor(tokens), positions, cache, logit_rows=slice(len(tokens) - 1, None))
    cache.commit(range(len(tokens)))
    return found


def check(found: Ranked, logits: Tensor) -> None:
    """Compare the likeliest tokens of rows with (n, V) logits."""
    expected = logits.log_softmax(-1)
    for tokens, shares, row in zip(found.tokens, found.shares, expected, strict=True):
        assert len(set(tokens)) == MOST_LIKELY
        assert torch.allclose(torch.tensor(shares), row[tokens], atol=FAR)
        assert torch.allclose(torch.tensor(shares), row.topk(MOST_LIKELY).values, atol=FAR)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_follows_is_what_transformers_says(chip: Chip, family: str, folders: Callable[[str], Path]) -> None:
    folder = folders(family)
    reference, decoder = load_reference(folder), load(chip, folder)
    reference.generation_config.eos_token_id = None
    prompt = torch.randint(decoder.config.vocabulary_size, (41,), generator=torch.Generator().manual_seed(1))
    cache = decoder.new_cache(512)
    logits = reference(prompt[None]).logits[0].detach()
    check(decoder.forward(prompt, torch.arange(41), cache), logits)
    cache.truncate(0)
    found, written = read(decoder, cache, prompt.tolist()), list[int]()
    while len(written) < 32:
        written.append(likeliest(found, 1)[0][0][0])
        found = read(decoder, cache, written[-1:])
    assert written == reference_greedy(reference, prompt.tolist(), 32)


def test_all_that_is_on_the_chip_is_counted(chip: Chip, folders: Callable[[str], Path]) -> None:
    before, folder = chip.held_bytes, folders("llama")
    decoder = load(chip, folder)
    weights = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    embedding = 2 * decoder.config.vocabulary_size * decoder.config.hidden_size
    assert chip.held_bytes - before > weights - 2 * embedding
    del decoder
    gc.collect()
    assert chip.held_bytes == before


def test_a_prompt_is_submitted_in_pieces(
    chip: Chip, folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, pieces = load(chip, folders("qwen3")), load(chip, folders("qwen3"))
    text = list(range(3, 43))
    expected = read(whole, whole.new_cache(64), text)
    monkeypatch.setattr("engine.graphics.layers._MOST_PRODUCTS", 10**6)
    assert read(pieces, pieces.new_cache(64), text) == expected


@pytest.mark.parametrize("name", ["q8_0", "q4_1"])
def test_quantized_matrices_say_what_their_numbers_say(chip: Chip, name: str, folders: Callable[[str], Path]) -> None:
    folder = folders("qwen3")
    decoder = load(chip, folder, name)
    exact = load_reference(folder)
    with torch.no_grad():
        for parameter in exact.parameters():
            if parameter.dim() == 2 and parameter is not exact.get_input_embeddings().weight:
                parameter.copy_(rounded(parameter, name))
    prompt = torch.arange(1, 20)
    check(decoder.forward(prompt, torch.arange(19), decoder.new_cache(64)), exact(prompt[None]).logits[0].detach())


def rounded(numbers: Tensor, name: str) -> Tensor:
    from engine.kernels import blocks

    type = blocks.NAMES[name.upper()]
    return blocks.unpack(blocks.arrange(type, blocks.quantize(type, numbers), *numbers.shape))


@pytest.fixture(scope="module", params=["qwen2", "gemma3", "gemma4-inputs"])
def one_decoder(request: pytest.FixtureRequest, chip: Chip, folders: Callable[[str], Path]) -> ChipDecoder:
    return load(chip, folders(request.param))


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_node_says_what_its_path_says(one_decoder: ChipDecoder, data: st.DataObject) -> None:
    """Over trees drafted level by level, commits of a path with rows that stay below it, and caches that are cut."""
    decoder = one_decoder
    most = decoder.config.vocabulary_size - 1
    text = data.draw(st.lists(st.integers(0, most), min_size=1, max_size=70))
    cache = decoder.new_cache(600)
    read(decoder, cache, text)
    tokens: list[int] = []
    paths: list[list[int]] = []
    for _ in range(data.draw(st.integers(1, 3))):
        count = data.draw(st.integers(1, 6))
        parents = [data.draw(st.integers(-1, len(tokens) - 1)) for _ in range(count)]
        first = len(tokens)
        for parent in parents:
            paths.append([*(paths[parent] if parent >= 0 else []), len(tokens)])
            tokens.append(data.draw(st.integers(0, most)))
        mask = torch.zeros(count, len(tokens), dtype=torch.bool)
        for row, path in enumerate(paths[first:]):
            mask[row, path] = True
        depths = torch.tensor([len(text) + len(path) - 1 for path in paths[first:]])
        found = decoder.forward(torch.tensor(tokens[first:]), depths, cache, mask, uncommitted=first)
        for row in range(count):
            alone = decoder.new_cache(600)
            chain = read(decoder, alone, [*text, *(tokens[node] for node in paths[first + row])])
            assert torch.allclose(torch.tensor(found.shares[row]), torch.tensor(chain.shares[0]), atol=FAR)
    path = paths[data.draw(st.integers(0, len(paths) - 1))]
    below = [node for node, other in enumerate(paths) if other[: len(path)] == path and len(other) > len(path)]
    cache.commit(path, below)
    text += [tokens[node] for node in path]
    cut = data.draw(st.integers(1, len(text)))
    cache.truncate(cut)
    again = read(decoder, cache, [5, 6])
    alone = decoder.new_cache(600)
    expected = read(decoder, alone, [*text[:cut], 5, 6])
    assert torch.allclose(torch.tensor(again.shares), torch.tensor(expected.shares), atol=FAR)


def test_texts_of_two_threads_do_not_meet(chip: Chip, folders: Callable[[str], Path]) -> None:
    """A reply's draft is made while another's rows are committed."""
    decoder, texts = load(chip, folders("qwen3")), (range(3, 43), range(90, 50, -1))

    def each(text: Sequence[int]) -> list[Ranked]:
        cache = decoder.new_cache(64)
        return [read(decoder, cache, [token]) for token in text]

    expected = list(map(each, texts))
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(each, texts)) == expected


def test_a_cache_grows_and_is_given_back(chip: Chip, folders: Callable[[str], Path]) -> None:
    decoder = load(chip, folders("llama"))
    cache, text = decoder.new_cache(700), [one % 90 for one in range(600)]
    for start in range(0, 600, 200):
        found = read(decoder, cache, text[start : start + 200])
    logits = load_reference(folders("llama"))(torch.tensor([text])).logits[0, -1:].detach()
    check(found, logits)
    cache.release()
    assert cache.length == 0
    check(read(decoder, cache, text[:40]), load_reference(folders("llama"))(torch.tensor([text[:40]])).logits[0, -1:])
    with pytest.raises(ValueError, match="too many"):
        decoder.forward(torch.zeros(MOST_ROWS + 1, dtype=torch.long), torch.arange(MOST_ROWS + 1), cache)


@pytest.mark.parametrize("family", ["llama-gelu", "lfm2", "qwen3-moe", "deepseek-v3", "gpt-oss"])
def test_other_layers_are_left_to_the_processor(family: str, tmp_path: Path) -> None:
    config = read_config(Checkpoint(write_checkpoint(tmp_path / family, family)))
    assert not can_run(config, stored_format(config))


def with_first_on_chip(chip: Chip, folder: Path, count: int) -> Decoder:
    """The model with its first layers on the chip, and the others in torch's float32."""
    checkpoint, cpu, packed = Checkpoint(folder), torch.device("cpu"), weight_format("bf16")
    config = read_config(checkpoint)
    weights = load_weights(checkpoint, config, torch.float32, cpu, wanted=range(count, config.layers))
    each = (load_packed_layer(checkpoint, config, packed, at, lambda: None, arranged=False) for at in range(count))
    return Decoder(config, ChipSplit(weights, ChipLayers(chip, config, each, count)))


@pytest.mark.parametrize(("family", "count"), [("qwen3", 1), ("qwen2-window", 2), ("gemma3", 3), ("gemma4-inputs", 1)])
def test_layers_of_a_target_say_what_transformers_says(
    chip: Chip, family: str, count: int, folders: Callable[[str], Path]
) -> None:
    folder = folders(family)
    reference, decoder = load_reference(folder), with_first_on_chip(chip, folder, count)
    reference.generation_config.eos_token_id = None
    prompt = torch.randint(decoder.config.vocabulary_size, (150,), generator=torch.Generator().manual_seed(1))
    cache = decoder.new_cache(512)
    wanted = tuple(range(decoder.config.layers + 1))
    output = decoder.forward(prompt, torch.arange(150), cache, hidden_layers=wanted, row_runs=RowRuns(0.001))
    told = reference(prompt[None], output_hidden_states=True)
    assert torch.allclose(output.logits.log_softmax(-1), told.logits[0].log_softmax(-1), atol=FAR)
    for layer in wanted:
        assert torch.allclose(output.layer_inputs[layer], told.hidden_states[layer][0], atol=1e-3)
    assert cache.bytes > 0
    assert greedy(decoder, prompt, 32) == reference_greedy(reference, prompt.tolist(), 32)


def test_texts_share_a_forward_and_trees_are_committed(chip: Chip, folders: Callable[[str], Path]) -> None:
    texts = [list(range(4, 30)), list(range(60, 67))]
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)
    results: list[list[Tensor]] = []
    for one in (with_first_on_chip(chip, folders("qwen3"), 1), load_decoder(folders("qwen3"))):
        caches = [prefill(one, torch.tensor(text), 700) for text in texts]
        tree = TextRows(torch.tensor([9, 8, 7, 6]), torch.tensor([26, 27, 27, 28]), caches[0], mask)
        chain = TextRows(torch.tensor([5]), torch.tensor([7]), caches[1])
        found = [one.forward_together([tree, chain]).logits]
        caches[0].commit([0, 2, 3])
        found.append(one.forward(torch.arange(300), torch.arange(29, 329), caches[0]).logits)
        caches[0].truncate(20)
        found.append(one.forward(torch.tensor([3]), torch.tensor([20]), caches[0]).logits)
        results.append(found)
    for own, expected in zip(*results, strict=True):
        assert torch.allclose(own.log_softmax(-1), expected.log_softmax(-1), atol=FAR)
