"""Prompt tokens ask what transformers says over the same rows, change no token, and bad folders are refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.drafting.fixed_trees import SparseTree, StateTree
from engine.drafting.kinds import kind_of, read_draft
from engine.drafting.prompt_tokens import (
    PromptTokenCalibration,
    PromptTokenDraft,
    PromptTokenDrafter,
    PromptTokens,
    load_prompt_tokens,
)
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, DraftMismatch, TensorMismatch, WeightsMissing
from engine.kernels import blocks
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.packed_loader import load_packed
from engine.model.sampling import Sampler
from engine.model.token_tree import PROBE_MASKS, ROOT, Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder, load_reference
from tests.support.fast_cases import covering
from tests.support.packed_models import PACKED, load
from tests.support.prompt_tokens import write_prompt_tokens
from tests.support.replies import run_reply
from tests.support.waiting import Waiting

PROMPT = torch.randint(3, 300, (23,), generator=torch.Generator().manual_seed(4)).tolist()
ROOT_TOKEN, CONTEXT, TOKENS = 17, 128, 32
TREE = Draft((5, 6, 7, 8), (ROOT, ROOT, 0, 2))
REACHES = (3, 1, 2, 3, 0)
SAMPLERS = {"greedy": Sampler(temperature=0.0), "sampled": Sampler(temperature=1.0, seed=7)}


def tokens_of(folder: Path, **options: Any) -> PromptTokens:
    return load_prompt_tokens(HeadCheckpoint(write_prompt_tokens(folder, **options)))


def seen(mask: str, place: tuple[int, int], other: tuple[int, int]) -> bool:
    """Who sees whom of prompt tokens, by distance and place in the ensemble: figures 4.6 to 4.8 of the report."""
    (distance, member), (other_distance, other_member) = place, other
    if distance == other_distance:
        return {"ensemble": member == other_member, "decoder": other_member <= member, "encoder": True}[mask]
    return other_distance < distance and (mask != "ensemble" or member == other_member)


def reference(folder: Path, text: Sequence[int], tokens: PromptTokens, reach: int) -> Tensor:
    """(reach, V): transformers over a text and prompt tokens behind it, with a 4-D mask."""
    model = load_reference(folder)
    places = [(distance, member) for distance in range(1, reach + 1) for member in range(tokens.members)]
    rows = torch.stack([tokens.embeddings[distance - 1, member] for distance, member in places])
    size = len(text) + len(places)
    mask = torch.ones(size, size, dtype=torch.bool).tril()
    for row, place in enumerate(places):
        mask[len(text) + row, len(text) :] = torch.tensor([seen(tokens.mask, place, other) for other in places])
    positions = torch.tensor([*range(len(text)), *(len(text) + distance - 1 for distance, _ in places)])

    def additive(sees: Tensor) -> Tensor:
        return torch.zeros(size, size).masked_fill(~sees, torch.finfo(torch.float32).min)[None, None]

    masks: Any = additive(mask)
    if "sliding_attention" in (getattr(model.config, "layer_types", None) or ()):
        near = positions[:, None] - positions < model.config.sliding_window
        masks = {"full_attention": masks, "sliding_attention": additive(mask & near)}
    with torch.no_grad():
        embedded = model.get_input_embeddings()(torch.tensor(text))
        logits = model(
            inputs_embeds=torch.cat((embedded, rows))[None],
            attention_mask=masks,
            position_ids=positions[None],
        ).logits[0, len(text) :]
    found: Tensor = logits.view(reach, tokens.members, -1).mean(1)
    return found


@pytest.mark.parametrize(("family", "members", "mask"), covering(["llama", "qwen3", "gemma2"], [1, 3], PROBE_MASKS))
def test_each_node_s_prompt_tokens_say_what_transformers_says(
    family: str, members: int, mask: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint_of(family)
    tokens = tokens_of(tmp_path / "set", members=members, vt_attention_type=mask)
    sequence = TokenSequence(Target(load_decoder(folder)), CONTEXT)
    sequence.prefill(PROMPT, lambda: None)
    draft = Draft(TREE.tokens, TREE.parents, probes=tokens.behind(REACHES))
    sequence.verify(ROOT_TOKEN, draft, lambda: None)
    for node, reach in enumerate(REACHES, ROOT):
        path, above = [], node
        while above != ROOT:
            path.append(TREE.tokens[above])
            above = TREE.parents[above]
        found = sequence.probe_logits(draft.probe_rows(node))
        assert (found is None) == (reach == 0)
        if found is not None:
            expected = reference(folder, [*PROMPT, ROOT_TOKEN, *reversed(path)], tokens, reach)
            torch.testing.assert_close(tokens.average(found), expected, atol=2e-4, rtol=1e-3)


@pytest.fixture(scope="module")
def wide_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of 256 numbers, a block of the widest types."""
    folder = tmp_path_factory.mktemp("wide") / "llama"
    return write_checkpoint(folder, hidden_size=256, intermediate_size=256, num_hidden_layers=2)


@pytest.mark.parametrize(("block", "rows"), covering(blocks.QUANTIZABLE, [12, 65, 128], together=1))
def test_packed_rows_with_probes_have_the_bits_of_those_without(
    block: str, rows: int, instruction_set: str, wide_folder: Path, tmp_path: Path
) -> None:
    config, checkpoint = read_config(Checkpoint(wide_folder)), Checkpoint(wide_folder)
    form = replace(weight_format("q8_0"), kind=blocks.NAMES[block])
    decoder = Decoder(config, Resident(load_packed(checkpoint, config, form)))
    sequence = TokenSequence(Target(decoder), 2 * CONTEXT)
    sequence.prefill(PROMPT, lambda: None)
    chance = random.Random(rows)
    nodes = (rows - 1) // 4
    tree = Draft(
        tuple(chance.randrange(3, 300) for _ in range(nodes)),
        tuple(chance.randrange(ROOT, node) for node in range(nodes)),
    )
    alone = sequence.verify(ROOT_TOKEN, tree, lambda: None).clone()
    for mask in PROBE_MASKS:
        tokens = tokens_of(tmp_path / mask, members=2, hidden_size=256, vt_attention_type=mask)
        reaches = [1] * (1 + nodes)
        while 1 + nodes + 2 * (sum(reaches) + 1) <= rows:
            reaches[chance.choice([at for at, reach in enumerate(reaches) if reach < 3])] += 1
        draft = Draft(tree.tokens, tree.parents, probes=tokens.behind(reaches))
        assert rows - 2 < draft.rows <= rows
        assert torch.equal(sequence.verify(ROOT_TOKEN, draft, lambda: None), alone)
        # Those of a node do not depend on what else is in the forward either.
        found = sequence.probe_logits(draft.probe_rows(0))
        path = Draft(tree.tokens[:1], (ROOT,), probes=tokens.behind((0, reaches[1])))
        sequence.verify(ROOT_TOKEN, path, lambda: None)
        again = sequence.probe_logits(path.probe_rows(0))
        assert found is not None
        assert again is not None
        assert torch.equal(found, again)


@pytest.fixture(params=["llama", "mistral-window", "gemma2", "phi3-longrope", *PACKED, "waiting q8_0"], scope="module")
def decoder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Decoder:
    form = request.param.split()[-1]
    if form not in PACKED:
        return load_decoder(checkpoint_of(form))
    source = Resident(load(checkpoint_of("llama"), form))
    held = Waiting(source, lambda: 1) if " " in request.param else source
    return Decoder(read_config(Checkpoint(checkpoint_of("llama"))), held)


class Knowing(PromptTokenDrafter):
    """As if the model had said after its probes what plain decoding writes, beside tokens that are wrong."""

    def __init__(self, tokens: PromptTokens, truth: Sequence[int]) -> None:
        super().__init__(tokens)
        self._truth = truth

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        super().observe(tokens, hidden, probes)
        if self._said is not None:
            self._said, end = self._said.clone(), len(self._text)
            for place, token in enumerate(self._truth[end : end + len(self._said)]):
                self._said[place, token] = 50.0


@pytest.mark.parametrize(("rows", "sampler"), covering([2, 3, 7, 31, 64], SAMPLERS, together=1))
def test_a_reply_is_plain_s_whatever_the_prompt_tokens_say(
    rows: int, sampler: str, decoder: Decoder, tmp_path: Path
) -> None:
    tokens = tokens_of(tmp_path / "set", members=1 + (rows == 31), hidden_size=decoder.config.hidden_size)

    def reply(drafter: Drafter, context: int = CONTEXT) -> tuple[list[int], Any]:
        return run_reply(TokenSequence(Target(decoder), context), drafter, PROMPT, TOKENS, rows, SAMPLERS[sampler])

    plain, _ = reply(NoDrafter())
    assert reply(PromptTokenDrafter(tokens))[0] == plain
    failed: list[str] = []
    knowing = FallbackDrafter(Knowing(tokens, [*PROMPT, *plain]), Link(torch.device("cpu")), failed.append)
    found, timings = reply(knowing)
    assert found == plain
    assert not failed
    if rows > 2:
        assert timings.draft_n_accepted > 0
    if rows >= 31:
        assert timings.target_forwards <= TOKENS // 2
    # To the end of the context, where there is room for fewer and fewer rows.
    tight = len(PROMPT) + 12
    assert reply(Knowing(tokens, [*PROMPT, *plain]), tight)[0] == reply(NoDrafter(), tight)[0]


def test_drafts_have_a_probe_behind_each_node_and_no_more_rows_than_asked(tmp_path: Path) -> None:
    for members in (1, 2, 5):
        tokens = tokens_of(tmp_path / str(members), members=members)
        drafter = PromptTokenDrafter(tokens)
        for rows in range(65):
            drafter.reset(PROMPT)
            first = drafter.propose(DraftShape(rows))
            assert len(first) == 0
            assert first.rows <= rows + 1
            assert (first.rows > 1) == (rows > 2 * members)
            drafter.observe([3], None, torch.randn(3 * members, 50))
            draft = drafter.propose(DraftShape(rows))
            assert draft.rows <= rows + 1
            assert set(range(ROOT, len(draft))) == set(draft.probes.nodes) or draft == Draft()
            assert (len(draft) > 0) == (rows > 2 * members)
            assert max(draft.row_depths[: len(draft) + 1]) <= 3


def test_drafts_follow_the_tree_of_their_state(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path / "set")
    states = (
        StateTree(((0,), (1,)), (2, 1, 1)),
        StateTree(((0,), (0, 0), (1,)), (1, 1, 1, 1)),
        StateTree(((0,), (0, 0)), (2, 1, 2)),
    )
    calibration = PromptTokenCalibration((7, 15), (SparseTree(states, 1.5), SparseTree(states[::-1], 1.6)))
    drafter = PromptTokenDrafter(tokens, calibration)
    assert drafter.counted == {7: 1.5, 15: 1.6}
    drafter.limits = TreeShape(10, 16, 31, searched=True)
    drafter.reset(PROMPT)
    assert drafter.propose(DraftShape(7)).probes.distances == (1, 2, 3)
    for places, rows, state in ((1, 7, 0), (2, 14, 1), (3, 9, 2), (3, 31, 0)):
        said = torch.randn(places, 50)
        drafter.observe([3], None, said)
        draft = drafter.propose(DraftShape(rows))
        best = said.topk(2).indices.tolist()
        tree = states[state]
        assert draft.tokens == tuple(best[len(path) - 1][path[-1]] for path in tree.nodes)
        assert draft.parents == tree.parents
        assert [draft.probes.nodes.count(node) for node in range(ROOT, len(draft))] == list(tree.reaches)
    drafter.observe([3], None, torch.randn(3, 50))
    assert len(drafter.propose(DraftShape(5))) > 0  # none is so small


@pytest.mark.parametrize("safetensors", [True, False], ids=["safetensors", "bin"])
def test_a_published_folder_is_read(safetensors: bool, llama_folder: Path, tmp_path: Path) -> None:
    folder = write_prompt_tokens(tmp_path / "set", 2, safetensors=safetensors, vt_attention_type=None)
    config = read_config(Checkpoint(llama_folder))
    assert kind_of(OpenedModel("a set", folder)) is PromptTokenDraft
    draft = read_draft(OpenedModel("a set", folder), config)
    draft.check(OpenedModel("model", llama_folder))
    assert draft.layers == 0
    assert draft.size_bytes(draft.host_format(dict, True), 4096) == 3 * 2 * 64 * 4
    tokens = load_prompt_tokens(HeadCheckpoint(folder))
    assert (tokens.count, tokens.members, tokens.mask) == (3, 2, "decoder")
    state = torch.randn(6, 64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(tokens.embeddings[1, 0], state[2])


def test_other_adapters_are_none(tmp_path: Path) -> None:
    folder = write_prompt_tokens(tmp_path / "lora", num_special_tokens=None)
    assert kind_of(OpenedModel("a set", folder)) is not PromptTokenDraft


@pytest.mark.parametrize(
    ("config", "error", "sentence"),
    [
        ({"vt_attention_type": "sideways"}, ConfigInvalid, "mask named 'sideways', and Tenon knows ensemble"),
        ({"use_prefix_tuning": True}, ConfigInvalid, "trained with use_prefix_tuning = True, which Tenon does not run"),
        ({"num_exits": 3}, ConfigInvalid, "trained with num_exits = 3"),
        ({"aggregation_type": "weighted"}, ConfigInvalid, "trained with aggregation_type = weighted"),
        ({"num_special_tokens": 0}, ConfigInvalid, "num_special_tokens in .* is 0, and Tenon runs 1 to 16"),
        ({"num_special_tokens": "3"}, ConfigInvalid, "num_special_tokens in .* is '3'"),
        ({"virtual_tokens_per_special_token": 100}, ConfigInvalid, "is 100, and Tenon runs 1 to 31"),
        ({"token_dim": -1}, ConfigInvalid, "token_dim in .* is -1, and must be a whole number"),
        ({"num_special_tokens": 2}, TensorMismatch, "prompt tokens do not match their adapter_config.json: 1"),
        ({"token_dim": 32}, TensorMismatch, r"prompt_embeddings is \(3, 64\) and not \(3, 32\)"),
        ({"num_layers": 5}, DraftMismatch, "for a model of 5 layers and 4 attention heads, and this one has 3 and 4"),
        ({"num_attention_heads": 8}, DraftMismatch, "of 3 layers and 8 attention heads, and this one has 3 and 4"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    config: dict[str, Any], error: type[Exception], sentence: str, llama_folder: Path, tmp_path: Path
) -> None:
    folder = write_prompt_tokens(tmp_path / "set", **config)
    target = read_config(Checkpoint(llama_folder))
    with pytest.raises(error, match=sentence):
        read_draft(OpenedModel("a set", folder), target).check(OpenedModel("model", llama_folder))


def test_tokens_that_see_each_other_both_ways_are_refused_where_a_state_goes_one_way(
    checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    model = OpenedModel("model", checkpoint_of("qwen35"))
    for members, mask in ((2, "encoder"), (2, "decoder"), (1, "encoder")):
        folder = tmp_path / f"{members} {mask}"
        write_prompt_tokens(folder, members, vt_attention_type=mask, num_layers=None, num_attention_heads=None)
        draft = read_draft(OpenedModel("a set", folder), model.config)
        if (members, mask) == (2, "encoder"):
            with pytest.raises(DraftMismatch, match="see each other, but this model's layers keep a state"):
                draft.check(model)
        else:
            draft.check(model)


def test_a_set_for_another_width_and_one_without_weights_are_refused(llama_folder: Path, tmp_path: Path) -> None:
    target = read_config(Checkpoint(llama_folder))
    folder = write_prompt_tokens(tmp_path / "set", hidden_size=32)
    with pytest.raises(DraftMismatch, match="hidden size 32, and this model's is 64"):
        read_draft(OpenedModel("a set", folder), target).check(OpenedModel("model", llama_folder))
    (folder / "adapter_model.safetensors").unlink()
    with pytest.raises(WeightsMissing):
        read_draft(OpenedModel("a set", folder), target)
