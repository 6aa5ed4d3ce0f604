"""A forward in one call of the library gives, bit for bit, what its layers give one by one."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from torch import Tensor

from engine.errors import Cancelled
from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder, TextRows
from engine.model.fused_layer import can_fuse
from engine.model.kv_cache import FIRST_ROWS
from engine.model.layer import LayerWeights
from engine.model.next_rows import NextText
from engine.model.token_tree import Draft
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import VARIANTS, reference_model
from tests.support.fast_cases import families
from tests.support.gguf_files import write_gguf
from tests.support.packed_models import load

pytestmark = pytest.mark.skipif(library.available() is None, reason=library.reason())

TREE = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)


class LayerByLayer(Resident):
    """Does not say that its layers stay."""

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        return ()


def decoders(folder: Path, eight_bits: bool = False) -> tuple[Decoder, Decoder]:
    """The same model, whole and layer by layer."""
    loaded, config = load(folder, "q8_0"), read_config(Checkpoint(folder))
    if eight_bits:
        loaded = replace(loaded, cache=torch.int8)
    return Decoder(config, Resident(loaded)), Decoder(config, LayerByLayer(loaded))


def run(decoder: Decoder, logit_rows: slice | Tensor | None) -> list[Tensor]:
    """A prompt, a tree behind it, and a level below the tree's last rows."""
    found: list[Tensor] = []
    cache = decoder.new_cache(200)
    cache.begin(200)
    wanted = (0, 1, decoder.config.layers)
    prompt = torch.arange(3, 63)
    outputs = [decoder.forward(prompt, torch.arange(60), cache, None, logit_rows, hidden_layers=wanted)]
    cache.commit(range(60))
    positions = torch.tensor([60, 61, 61, 62])
    outputs.append(decoder.forward(torch.tensor([5, 6, 7, 8]), positions, cache, TREE, logit_rows))
    level = torch.tensor([[True, False, True, True, True, False], [True, True, False, False, False, True]])
    outputs.append(
        decoder.forward(
            torch.tensor([9, 9]),
            torch.tensor([63, 62]),
            cache,
            level,
            logit_rows,
            uncommitted=4,
            hidden_layers=wanted,
        )
    )
    for output in outputs:
        found += [output.logits, output.hidden, *(output.layer_inputs[at] for at in output.layer_inputs)]
    return found


@pytest.mark.parametrize("variant", families(VARIANTS))
def test_one_call_gives_the_bits_of_one_for_each_layer(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    sixteen, eight = (decoders(checkpoint_of(variant), eight_bits) for eight_bits in (False, True))
    for pair, logit_rows in (
        (sixteen, None),
        (eight, None),
        (sixteen, slice(-1, None)),
        (sixteen, slice(0, 0)),
        (sixteen, torch.tensor([1, 0])),
    ):
        if pair is eight and not can_fuse(pair[0].config):
            continue
        found, expected = (run(decoder, logit_rows) for decoder in pair)
        assert len(found) == len(expected)
        assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    # Rows that are named one by one go through the head in a call of its own.
    inside, apart = (
        sixteen[0].forward(torch.arange(3, 9), torch.arange(6), sixteen[0].new_cache(6), logit_rows=rows).logits
        for rows in (None, torch.arange(6))
    )
    assert torch.equal(inside, apart)


@pytest.mark.parametrize("variant", families(VARIANTS))
def test_next_tokens_give_the_bits_of_a_forward(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    """Chains and trees, of which some rows are kept, behind the prompt, and where the cache grows."""
    decoder, _ = decoders(checkpoint_of(variant))
    first, second = decoder.new_cache(FIRST_ROWS + 90), decoder.new_cache(FIRST_ROWS + 90)
    prompt = torch.randint(3, 300, (FIRST_ROWS - 5,), generator=torch.Generator().manual_seed(1))
    for cache in (first, second):
        decoder.forward(prompt, torch.arange(len(prompt)), cache)
        cache.commit(range(len(prompt)))
    for parents, kept in (
        ((), (0,)),
        ((-1, 0), (0, 1)),
        ((-1, -1, 0, 1, 1), (0, 2, 4)),
        ((), (0,)),
        (range(-1, 8), (0, 1, 2, 3)),
        ((*[-1] * 10, *range(53)), (0, 3, 13)),
        ((-1,), (0, 1)),
    ):
        draft = Draft(tuple(range(21, 21 + len(parents))), tuple(parents))
        tokens, count = (20, *draft.tokens), draft.rows
        hidden = torch.empty(count, decoder.config.hidden_size)
        if not decoder.most_next:
            pytest.skip("this variant has no shorter way")
        text = NextText(tokens, first, draft.paths, hidden.data_ptr())
        logits = decoder.read_next([text], lambda: None)
        positions = second.length + torch.tensor(draft.row_depths)
        mask = None if draft.paths is None else draft.paths.mask(count)
        output = decoder.forward(torch.tensor(tokens), positions, second, mask=mask)
        assert torch.equal(logits, output.logits)
        assert torch.equal(hidden, output.hidden)
        first.commit(kept)
        second.commit(kept)
    assert decoder.most_next == 64
    with pytest.raises(ValueError, match="cannot stay"):
        first.place(torch.tensor([first.length]), uncommitted=1)


@pytest.mark.parametrize("variant", families(VARIANTS))
def test_rows_of_several_texts_give_the_bits_that_each_gets_alone(
    variant: str, checkpoint_of: Callable[[str], Path]
) -> None:
    """Chains, trees and a prompt's piece, in the shorter way and in the other, behind texts of all lengths."""
    decoder, _ = decoders(checkpoint_of(variant))
    generator = torch.Generator().manual_seed(3)
    lengths = (0, 700, 1, 40, 255, 512)
    parents = ((), (-1, 0, 0, 2), range(-1, 40), (-1, -1, 0, 1, 1), (), (-1, 0))
    alone, drafts = [], []
    caches = [decoder.new_cache(800) for _ in lengths]
    for length, rows, cache in zip(lengths, parents, caches, strict=True):
        if length:
            decoder.forward(torch.randint(3, 300, (length,), generator=generator), torch.arange(length), cache)
            cache.commit(range(length))
        drafts.append(Draft(tuple(range(21, 21 + len(rows))), tuple(rows)))
    texts = []
    for draft, cache in zip(drafts, caches, strict=True):
        positions = cache.length + torch.tensor(draft.row_depths)
        texts.append(TextRows(torch.tensor((20, *draft.tokens)), positions, cache, draft.paths))
        alone.append(decoder.forward_together(texts[-1:]))
    for some in ((0, 1, 2, 3, 4, 5), (5, 3, 1), (4, 0)):
        together = decoder.forward_together([texts[index] for index in some])
        expected = [alone[index] for index in some]
        assert torch.equal(together.logits, torch.cat([one.logits for one in expected]))
        assert torch.equal(together.hidden, torch.cat([one.hidden for one in expected]))
        if not decoder.most_next:
            continue
        hidden = torch.empty_like(together.hidden)
        next_texts, first = [], 0
        for index in some:
            draft, place = drafts[index], hidden[first:].data_ptr()
            next_texts.append(NextText((20, *draft.tokens), caches[index], draft.paths, place))
            first += draft.rows
        assert torch.equal(decoder.read_next(next_texts, lambda: None), together.logits)
        assert torch.equal(hidden, together.hidden)


@pytest.mark.parametrize("kind", [Kind.F32, Kind.Q8_0, Kind.Q4_1])
def test_a_few_rows_of_an_embedding_in_its_file_are_those_of_many(kind: Kind, tmp_path: Path) -> None:
    write_gguf(reference_model("llama", hidden_size=256), tmp_path / "model.gguf", kind)
    embedding = load(tmp_path / "model.gguf", "auto" if kind != Kind.F32 else "q8_0").embedding
    rows, few = embedding(torch.tensor([5, 299, 0])).float(), torch.empty(2, 300)
    for tokens, wanted in (((5,), rows[:1]), ((299, 0), rows[1:]), ((0,), rows[2:])):
        for read in (torch.empty(len(tokens), 256), few[: len(tokens), :256]):
            embedding.read_rows(tokens, read)
            assert torch.equal(read, wanted)
    with pytest.raises(IndexError, match="beyond"):
        embedding.read_rows((300_000,), few[:1, :256])


def test_a_long_call_is_cancelled_between_layers(llama_folder: Path) -> None:
    decoder, _ = decoders(llama_folder)
    calls, count = 0, 3000

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Cancelled("stop")

    cache = decoder.new_cache(count)
    tokens, positions = torch.arange(count) % 300, torch.arange(count)
    with pytest.raises(Cancelled):
        decoder.forward(tokens, positions, cache, logit_rows=slice(-1, None), check=check)
    assert (calls, cache.length) == (2, 0)
    expected = decoder.forward(tokens[:50], positions[:50], decoder.new_cache(count)).logits
    assert torch.equal(decoder.forward(tokens[:50], positions[:50], cache).logits, expected)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signal to a thread")
def test_ctrl_c_in_a_long_call_ends_it(llama_folder: Path) -> None:
    """An interrupt at the library's question would be printed and lost, and the call would go on."""
    decoder, _ = decoders(llama_folder)
    count, asked, this = 6000, threading.Event(), threading.main_thread().ident
    assert this is not None

    def press() -> None:
        asked.wait()
        time.sleep(0.003)  # the library computes, and asks again in 10 ms at the earliest
        signal.pthread_kill(this, signal.SIGINT)

    thread = threading.Thread(target=press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run beside each other it is ignored
    thread.start()
    cache = decoder.new_cache(count)
    tokens, positions = torch.arange(count) % 300, torch.arange(count)
    with pytest.raises(KeyboardInterrupt):
        decoder.forward(tokens, positions, cache, logit_rows=slice(-1, None), check=asked.set)
    thread.join()
    assert cache.length == 0
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
