"""A draft that fails in mid-reply: the text is the same, and one sentence says what happened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import Drafter
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.errors import Cancelled
from engine.model.token_tree import Draft, DraftShape
from engine.placement.device import Link
from tests.support.decoders import greedy, load_decoder
from tests.support.replies import run_reply

PROMPT = list(range(3, 30))


class Failing(Drafter):
    """Drafts nonsense and fails at the n-th call of one of its methods."""

    def __init__(self, method: str, call: int, error: BaseException) -> None:
        self.hidden_layers: tuple[int, ...] = (1,)
        self._left = {method: call}
        self._error = error
        self.calls = 0

    def _count(self, method: str) -> None:
        self.calls += 1
        if method in self._left:
            self._left[method] -= 1
            if self._left[method] == 0:
                raise self._error

    def reset(self, prompt: Sequence[int]) -> int:
        self._count("reset")
        return 0

    def propose(self, shape: DraftShape) -> Draft:
        self._count("propose")
        return Draft.chain([5, 6, 7])

    def observe(self, tokens: Sequence[int], hidden: torch.Tensor | None, probes: torch.Tensor | None = None) -> None:
        assert hidden is not None
        self._count("observe")


@pytest.mark.parametrize(("method", "call"), [("reset", 1), ("observe", 1), ("observe", 4), ("propose", 3)])
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), "ran out of memory"),
        (MemoryError(), "ran out of memory"),
        (RuntimeError("CUDA error: device lost\nmore"), r"stopped working.*\(CUDA error: device lost\)\."),
    ],
)
def test_the_reply_goes_on_without_it(
    method: str, call: int, error: Exception, sentence: str, llama_folder: Path
) -> None:
    decoder = load_decoder(llama_folder)
    failing = Failing(method, call, error)
    said: list[str] = []
    drafter = FallbackDrafter(failing, Link(torch.device("cpu")), said.append)
    tokens, _ = run_reply(TokenSequence(Target(decoder), 128), drafter, PROMPT, 20)
    assert tokens == greedy(decoder, torch.tensor(PROMPT), 20)
    (only,) = said
    assert re.fullmatch(f"The draft .*{sentence}.*", only)
    assert "goes on without it" in only
    calls = failing.calls
    run_reply(TokenSequence(Target(decoder), 128), drafter, PROMPT, 4)
    assert failing.calls == calls


def test_a_cancel_is_no_failure(llama_folder: Path) -> None:
    said: list[str] = []
    drafter = FallbackDrafter(Failing("propose", 2, Cancelled("")), Link(torch.device("cpu")), said.append)
    with pytest.raises(Cancelled):
        run_reply(TokenSequence(Target(load_decoder(llama_folder)), 128), drafter, PROMPT, 20)
    assert said == []
