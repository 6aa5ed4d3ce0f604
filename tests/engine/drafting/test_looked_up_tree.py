"""Trees of heads or prompt tokens with the continuation of a match in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import TokenSequence
from engine.decoding.target import Target
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.kind import Drafting
from engine.drafting.level_drafter import LevelDrafter
from engine.drafting.looked_up_tree import LookedUpTree, join
from engine.drafting.match_chances import MatchChances
from engine.drafting.prompt_lookup import PromptLookup
from engine.drafting.prompt_token_draft import PromptTokenDrafter
from engine.drafting.prompt_tokens import load_prompt_tokens
from engine.messages import Timings
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.decoders import load_decoder
from tests.support.packed_models import load
from tests.support.prompt_tokens import write_prompt_tokens
from tests.support.replies import run_reply

TEXT = [5, 6, 7, 8, 9, 10, 11, 12, 5, 6, 7, 8]
SAID = torch.zeros(3, 50)
SAID[0, 9], SAID[0, 20], SAID[1, 30], SAID[2, 40] = 5.0, 4.0, 3.0, 3.0


def wanted(looks_up: bool = True) -> Drafting:
    return Drafting(TreeShape(4, 3, 63), MatchChances(), looks_up, lambda tokens: None)


def made(folder: Path, members: int) -> LevelDrafter:
    return PromptTokenDrafter(load_prompt_tokens(HeadCheckpoint(write_prompt_tokens(folder, members))))


def paths(draft: Draft) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for token, parent in zip(draft.tokens, draft.parents, strict=True):
        found.append((*(found[parent] if parent != ROOT else ()), token))
    return found


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("rows", [3, 7, 15, 31, 64])
def test_one_tree_has_the_match_and_the_guesses(rows: int, members: int, tmp_path: Path) -> None:
    drafter = made(tmp_path / "set", members).for_reply(wanted())
    assert isinstance(drafter, LookedUpTree)
    drafter.reset(TEXT[:-1])
    assert drafter.propose(DraftShape(rows)).rows <= rows + 1
    drafter.observe(TEXT[-1:], None, SAID.repeat_interleave(members, 0))
    draft = drafter.propose(DraftShape(rows))
    assert draft.rows <= rows + 1
    found = paths(draft)
    assert len(set(found)) == len(found)  # no node twice
    if rows <= 2 * members:
        assert not found
        return
    assert (9,) in found
    assert set(draft.probes.nodes) == set(range(ROOT, len(draft)))  # each says what comes behind it
    if rows >= 31 * members:
        assert {(20,), (9, 30)} <= set(found)
        match = tuple(TEXT[4:8])
        assert match[:3] in found
        # As far behind the end of the match as there are prompt tokens.
        end = max(node for node, path in enumerate(found) if path == match[: len(path)])
        assert draft.probes.nodes.count(end) == 3 * members


def test_a_match_that_is_unlikely_leaves_the_rows_to_the_tree(tmp_path: Path) -> None:
    drafter = made(tmp_path / "set", 1).for_reply(wanted())
    alone = made(tmp_path / "set", 1).for_reply(wanted(looks_up=False))
    for each in (drafter, alone):
        each.reset([1, 2, 3])
        each.observe([4], None, SAID)
    assert drafter.propose(DraftShape(15)) == alone.propose(DraftShape(15))


class Remembering(PromptLookup):
    """Has read the reply before."""

    def __init__(self, reply: Sequence[int]) -> None:
        super().__init__()
        self._reply = reply

    def reset(self, prompt: Sequence[int]) -> int:
        super().reset([*prompt, *self._reply, *prompt])
        return len(prompt)


@pytest.mark.parametrize("form", ["fp32", "q8_0"])
@pytest.mark.parametrize("sampler", [Sampler(temperature=0.0), Sampler(temperature=1.0, seed=7)], ids=str)
def test_the_reply_is_plain_s(form: str, sampler: Sampler, llama_folder: Path, tmp_path: Path) -> None:
    if form == "fp32":
        decoder = load_decoder(llama_folder)
    else:
        decoder = Decoder(read_config(Checkpoint(llama_folder)), Resident(load(llama_folder, "q8_0")))
    prompt, count = list(range(3, 40)), 40

    def reply(drafter: Drafter, rows: int) -> tuple[list[int], Timings]:
        return run_reply(TokenSequence(Target(decoder), 128), drafter, prompt, count, rows, sampler)

    plain, _ = reply(NoDrafter(), 0)
    found, timings = reply(LookedUpTree(made(tmp_path / "set", 1), Remembering(plain)), 31)
    assert found == plain
    assert timings.target_forwards <= count // 3


def test_trees_are_joined_where_they_agree() -> None:
    chain = Draft.chain([9, 10, 11])
    tree = Draft((9, 20, 10, 5, 11), (ROOT, ROOT, 0, 0, 1))
    joined, place = join(chain, tree)
    assert paths(joined) == [(9,), (9, 10), (9, 10, 11), (20,), (9, 5), (20, 11)]
    assert place == [ROOT, 0, 3, 1, 4, 5]
    assert not joined.scores
    scored = Draft(chain.tokens, chain.parents, (-0.1, -0.2, -0.3))
    assert join(scored, Draft((20,), (ROOT,), (-1.0,)))[0].scores == (-0.1, -0.2, -0.3, -1.0)
    assert join(scored, Draft()) == (scored, [ROOT])
