"""States of a text: what is computed from them is what a fresh reading gives, wherever a text is cut or goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.sequence import Target, TokenSequence
from engine.model.decoder import Decoder, RowRuns
from engine.model.text_states import CHUNK, LEAST_STATES, MOST_KEPT, MOST_STATES, state_bytes
from engine.model.token_tree import Draft
from tests.support import checkpoints
from tests.support.decoders import greedy, load_decoder, load_reference, prefill, reference_greedy

_LINES = "granite-h", "lfm2", "nemotron", "qwen35", "qwen3-n"
VARIANTS = tuple(name for name in checkpoints.VARIANTS if name.startswith(_LINES))
CAPACITY = 6000


@pytest.fixture(params=["granite-hybrid", "lfm2", "nemotron-h-moe", "qwen35"], scope="module")
def decoder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Decoder:
    return load_decoder(checkpoint_of(request.param))


def tokens_of(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed))


def assert_goes_on_as_fresh(sequence: TokenSequence, decoder: Decoder) -> None:
    text = torch.tensor(sequence.token_ids)
    probe, position = torch.tensor([42]), torch.tensor([len(text)])
    ours = decoder.forward(probe, position, sequence.cache).logits
    fresh = decoder.forward(probe, position, prefill(decoder, text, CAPACITY)).logits
    torch.testing.assert_close(ours, fresh, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_text_in_any_pieces_has_the_reference_s_logits(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    folder = checkpoint_of(variant)
    decoder, reference, text = load_decoder(folder), load_reference(folder), tokens_of(240)
    with torch.no_grad():
        expected = reference(text[None]).logits[0]
    cache, found, done = decoder.new_cache(CAPACITY), [], 0
    for count in (100, 1, 1, 15, 16, 2, 70, 33, 1, 1):
        found.append(decoder.forward(text[done : done + count], torch.arange(done, done + count), cache).logits)
        cache.commit(range(count))
        done += count
    torch.testing.assert_close(torch.cat(found), expected, atol=1e-4, rtol=0)
    reply = reference_greedy(reference, text[:40].tolist(), 30)
    assert greedy(decoder, text[:40], len(reply)) == reply


@settings(max_examples=12)
@given(
    steps=st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.integers(0, 40)), min_size=1, max_size=8),
    seed=st.integers(0, 5),
)
def test_any_accepted_path_of_any_draft_is_what_a_fresh_reading_gives(
    decoder: Decoder, steps: list[tuple[int, bool, int]], seed: int
) -> None:
    sequence = TokenSequence(Target(decoder), CAPACITY)
    sequence.prefill(tokens_of(20 + seed, seed).tolist(), lambda: None)
    for at, (nodes, branches, depth) in enumerate(steps):
        tokens = tokens_of(nodes + 1, 100 + at).tolist()
        parents = [max(-1, node - 1 - (branches and node % 3 == 0)) for node in range(nodes)]
        draft = Draft(tuple(tokens[1:]), tuple(parents))
        sequence.verify(tokens[0], draft, lambda: None)
        path = [0]
        while (
            len(path) <= depth
            and (node := next((n for n, p in enumerate(parents) if p == path[-1] - 1), None)) is not None
        ):
            path.append(node + 1)
        sequence.commit([tokens[row] for row in path], path)
    assert_goes_on_as_fresh(sequence, decoder)


def test_the_runs_of_a_layer_leave_what_one_forward_leaves(decoder: Decoder) -> None:
    text = tokens_of(200, 3)
    runs, cache = RowRuns(1e9), decoder.new_cache(CAPACITY)
    cut = decoder.forward(text, torch.arange(200), cache, row_runs=runs).logits
    cache.commit(range(200))
    whole = decoder.forward(text, torch.arange(200), decoder.new_cache(CAPACITY)).logits
    torch.testing.assert_close(cut, whole, atol=1e-4, rtol=0)
    probe, position = torch.tensor([42]), torch.tensor([200])
    ours = decoder.forward(probe, position, cache).logits
    fresh = decoder.forward(probe, position, prefill(decoder, text, CAPACITY)).logits
    torch.testing.assert_close(ours, fresh, atol=1e-4, rtol=0)


def test_a_piece_of_a_prompt_is_kept_whole_or_not_at_all(decoder: Decoder) -> None:
    cache = prefill(decoder, tokens_of(30), CAPACITY)
    probe, position = torch.tensor([42]), torch.tensor([30])
    before = decoder.forward(probe, position, cache).logits
    decoder.forward(tokens_of(100, 1), torch.arange(30, 130), cache)
    with pytest.raises(ValueError, match="3 of 100 rows"):
        cache.commit(range(3))
    cache.commit(())
    assert torch.equal(before, decoder.forward(probe, position, cache).logits)


class Counted:
    """A chat whose rows are counted."""

    def __init__(self, decoder: Decoder) -> None:
        self.sequence, self.decoder = TokenSequence(Target(decoder), 6000), decoder

    def ask(self, prompt: list[int], reply: int = 20) -> int:
        """Read a prompt and write a reply after it; return how many of the prompt's tokens were read."""
        kept = self.sequence.reuse(prompt)
        self.sequence.prefill(prompt, lambda: None)
        for token in tokens_of(reply, len(prompt)).tolist():
            self.sequence.verify(token, Draft(), lambda: None)
            self.sequence.commit([token], [0])
        return len(prompt) - kept

    @property
    def text(self) -> list[int]:
        return list(self.sequence.token_ids)


def test_no_turn_reads_again_what_was_read(decoder: Decoder) -> None:
    chat, head = Counted(decoder), [7, 8, 9]
    chat.ask([*tokens_of(3000).tolist(), *head])
    for turn in range(1, 6):
        new = [*tokens_of(50, turn).tolist(), *head]
        before = chat.text
        assert chat.ask([*before, *new]) == len(new)
        # A regenerated reply, and a thought that later prompts lack, begin at the prompt's end.
        assert chat.ask([*before, *new], 5) <= CHUNK + 8
        assert chat.ask([*before, *new[:-2], *tokens_of(10, 99).tolist()]) <= CHUNK + 10 + 8
        # Another question in its place begins at the end of the reply before.
        other = [*tokens_of(40, 50 + turn).tolist(), *head]
        assert chat.ask([*before, *other]) <= CHUNK + len(other)
    assert_goes_on_as_fresh(chat.sequence, decoder)
    # An early turn that is changed goes on from the kept state before it.
    read = chat.ask([*chat.text[:2500], *tokens_of(10, 98).tolist()])
    assert read <= 2500 - 2048 + 10
    assert_goes_on_as_fresh(chat.sequence, decoder)


def test_states_are_bounded(decoder: Decoder) -> None:
    chat = Counted(decoder)
    sizes = []
    for turn in range(30):
        chat.ask([*chat.text, *tokens_of(60, turn).tolist()], 3)
        sizes.append(chat.sequence.cache.states.bytes)  # type: ignore[union-attr]
    assert sizes[-1] <= max(sizes[:-1]) or decoder.config.delta is None
    config = decoder.config
    layers = sum(map(config.convolves, range(config.layers)))
    assert max(sizes) <= state_bytes(config, MOST_STATES) * layers


@pytest.mark.parametrize("most", [LEAST_STATES, MOST_STATES])
def test_a_piece_of_a_prompt_after_wide_drafts_takes_what_a_plan_counts(decoder: Decoder, most: int) -> None:
    config, sizes = decoder.config, []
    sequence = TokenSequence(Target(decoder), CAPACITY, states=most, ends=(7, 8))
    states = sequence.cache.states
    for turn in range(3):
        prompt = [*sequence.token_ids, *tokens_of(1800, turn).tolist()]
        sequence.reuse(prompt)
        sequence.prefill(prompt, lambda: sizes.append(states.bytes))
        for at in range(20):
            tokens = tokens_of(MOST_KEPT, at).tolist()
            sequence.verify(tokens[0], Draft(tuple(tokens[1:]), tuple(range(-1, MOST_KEPT - 2))), lambda: None)
            sizes.append(states.bytes)
            sequence.commit(tokens[:3], range(3))
    assert_goes_on_as_fresh(sequence, decoder)
    counted = state_bytes(config, most) * sum(map(config.convolves, range(config.layers)))
    assert max(sizes) <= counted
