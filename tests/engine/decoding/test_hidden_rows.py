"""The rows that the target hands to a drafter are those of a fresh forward, each position's once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import Drafter
from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.packed_loader import load_packed
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import greedy, load_decoder
from tests.support.replies import run_reply

TOKENS = 40


class Recorder(Drafter):
    """Drafts the true continuation with a wrong sibling at each node, and keeps every row that it is given."""

    def __init__(self, layers: tuple[int, ...], truth: Sequence[int]) -> None:
        self.hidden_layers = layers
        self.text: list[int] = []
        self.rows = torch.empty(0)
        self.known = 0
        self._truth = list(truth)

    def reset(self, prompt: Sequence[int]) -> int:
        same = 0
        while same < min(self.known, len(prompt)) and self.text[same] == prompt[same]:
            same += 1
        self.text, self.known = list(prompt), same
        self.rows = self.rows[:same]
        return same

    def propose(self, shape: DraftShape) -> Draft:
        following = self._truth[len(self.text) : len(self.text) + shape.rows // 2]
        tokens: list[int] = []
        parents: list[int] = []
        parent = -1
        for token in following:
            tokens += [(token + 1) % 300, token]
            parents += [parent, parent]
            parent = len(tokens) - 1
        return Draft(tuple(tokens), tuple(parents))

    def observe(self, tokens: Sequence[int], hidden: torch.Tensor | None, probes: torch.Tensor | None = None) -> None:
        self.text += tokens
        if self.hidden_layers:
            self.rows = torch.cat((self.rows.reshape(-1, hidden.shape[1]), hidden))
            self.known = len(self.rows)
            assert self.known == len(self.text) - 1
        else:
            assert hidden is None


@pytest.fixture(scope="module")
def decoder(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


def fresh_rows(decoder: Decoder, text: list[int], layers: tuple[int, ...]) -> torch.Tensor:
    output = decoder.forward(
        torch.tensor(text), torch.arange(len(text)), decoder.new_cache(len(text)), hidden_layers=layers
    )
    if decoder.config.layers in layers:
        assert torch.equal(output.layer_inputs[decoder.config.layers], output.hidden)
    return torch.cat([output.layer_inputs[layer] for layer in layers], 1)


@pytest.mark.parametrize("layers", [(3,), (2, 0, 1)])
def test_rows_of_prompt_and_reply_come_once_and_are_right(decoder: Decoder, layers: tuple[int, ...]) -> None:
    prompt = list(range(3, 40))
    truth = prompt + greedy(decoder, torch.tensor(prompt), TOKENS)
    target, drafter = TokenSequence(Target(decoder), 256), Recorder(layers, truth)
    tokens, timings = run_reply(target, drafter, prompt, TOKENS)
    assert tokens == truth[len(prompt) :]
    assert timings.target_forwards < TOKENS / 3
    text = drafter.text[: drafter.known]
    assert drafter.known > len(prompt) + TOKENS / 2
    torch.testing.assert_close(drafter.rows, fresh_rows(decoder, text, layers), atol=1e-5, rtol=1e-4)


def test_the_next_reply_brings_the_rows_that_the_drafter_misses_and_no_others(decoder: Decoder) -> None:
    prompt = list(range(3, 40))
    truth = prompt + greedy(decoder, torch.tensor(prompt), TOKENS)
    target, drafter = TokenSequence(Target(decoder), 256), Recorder((3,), truth)
    run_reply(target, drafter, prompt, TOKENS)
    longer = [*truth, 7, 8, 9]
    known = drafter.known
    _, timings = run_reply(target, drafter, longer, 4)
    # The last round's rows were left where the target keeps them.
    assert known < timings.cache_n == len(truth) - 1
    text = drafter.text[: drafter.known]
    torch.testing.assert_close(drafter.rows, fresh_rows(decoder, text, (3,)), atol=1e-5, rtol=1e-4)
    # Another text: the drafter knows the first ten, the target is asked again from there.
    other = [*prompt[:10], *range(100, 120)]
    run_reply(target, drafter, other, 4)
    text = drafter.text[: drafter.known]
    torch.testing.assert_close(drafter.rows, fresh_rows(decoder, text, (3,)), atol=1e-5, rtol=1e-4)


def test_a_drafter_that_knows_more_than_the_target_gets_only_what_it_misses(decoder: Decoder) -> None:
    prompt = list(range(3, 40))
    drafter = Recorder((3,), prompt)
    drafter.text, drafter.known = prompt[:20], 20
    drafter.rows = fresh_rows(decoder, prompt[:20], (3,))
    _, timings = run_reply(TokenSequence(Target(decoder), 256), drafter, prompt, 3)
    assert timings.cache_n == 0
    text = drafter.text[: drafter.known]
    torch.testing.assert_close(drafter.rows, fresh_rows(decoder, text, (3,)), atol=1e-5, rtol=1e-4)


def test_without_layers_nothing_is_kept_and_nothing_is_read_again(decoder: Decoder) -> None:
    prompt = list(range(3, 40))
    target, drafter = TokenSequence(Target(decoder), 256), Recorder((), prompt)
    first, _ = run_reply(target, drafter, prompt, 8)
    _, timings = run_reply(target, drafter, [*prompt, *first], 8)
    assert timings.cache_n == len(prompt) + len(first) - 1
    assert target.take_hidden() is None


def test_a_text_that_outgrows_longrope_s_short_kind_brings_each_row_once(
    checkpoint_of: Callable[[str], Path],
) -> None:
    """All of the text is read again then; the rows were handed over before (Recorder counts them)."""
    decoder = load_decoder(checkpoint_of("phi3-longrope"))
    prompt = list(range(3, 60))
    truth = prompt + greedy(decoder, torch.tensor(prompt), 80)
    drafter = Recorder((3,), truth)
    tokens, _ = run_reply(TokenSequence(Target(decoder), 256), drafter, prompt, 80)
    assert tokens == truth[len(prompt) :]
    assert drafter.known > 96
    long = fresh_rows_of_long_text(decoder, drafter.text[: drafter.known])
    torch.testing.assert_close(drafter.rows[100:], long[100:], atol=1e-5, rtol=1e-4)


def fresh_rows_of_long_text(decoder: Decoder, text: list[int]) -> torch.Tensor:
    cache = decoder.new_cache(len(text))
    cache.begin(len(text))
    return decoder.forward(torch.tensor(text), torch.arange(len(text)), cache).hidden


class Late(Recorder):
    """Drafts chains, and wants rows after every fifth round, or never."""

    def __init__(self, layers: tuple[int, ...], truth: Sequence[int], ever: bool) -> None:
        super().__init__(layers, truth)
        self.wants_hidden = False
        self._ever = ever
        self._rounds = 0

    def propose(self, shape: DraftShape) -> Draft:
        self._rounds += 1
        self.wants_hidden = self._ever and self._rounds % 5 == 0
        count = self._rounds % 4
        right = self._truth[len(self.text) : len(self.text) + count]
        return Draft.chain([*right[:-1], 7])

    def observe(self, tokens: Sequence[int], hidden: torch.Tensor | None, probes: torch.Tensor | None = None) -> None:
        if self.wants_hidden:
            super().observe(tokens, hidden)
        else:
            assert hidden is None
            self.text += tokens


@pytest.fixture(scope="module")
def packed(llama_folder: Path) -> Decoder:
    if library.available() is None:
        pytest.skip("the kernel library was not built")
    checkpoint = Checkpoint(llama_folder)
    config = read_config(checkpoint)
    return Decoder(config, Resident(load_packed(checkpoint, config, weight_format("q8_0"))))


def test_rows_that_nobody_wants_yet_stay_where_the_forward_has_put_them(packed: Decoder) -> None:
    """More of them than one piece of memory holds; the next reply needs none of them read again."""
    layers = (packed.config.layers,)
    prompt = list(range(3, 40))
    truth = prompt + greedy(packed, torch.tensor(prompt), 620)
    target, drafter = TokenSequence(Target(packed), 700), Late(layers, truth, ever=True)
    run_reply(target, drafter, prompt, 300)
    never = Late(layers, truth, ever=False)
    never.text, never.rows, never.known = drafter.text, drafter.rows, drafter.known
    # The last rounds' rows were not taken, and are there all the same.
    assert 300 < drafter.known < len(prompt) + 300 - 1
    more = truth[:345]
    _, timings = run_reply(target, never, more, 270)
    assert timings.cache_n == len(prompt) + 300 - 1
    assert never.known == drafter.known
    rows = target.take_hidden()
    text = target.token_ids
    assert never.known + len(rows) == len(text) > 600
    expected = fresh_rows(packed, text, layers)
    assert torch.equal(torch.cat((never.rows, rows)), expected)
