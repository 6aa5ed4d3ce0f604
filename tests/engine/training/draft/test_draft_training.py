"""A draft learns from a tiny target, and its folder is one that the engine loads."""

from __future__ import annotations

import io
import itertools
import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from engine.cli import main
from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import NoDrafter
from engine.drafting.eagle import TOKENS, FeatureDraft, HeadDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.medusa import FILE, HeadCalibration, calibration_beside, load_medusa
from engine.drafting.medusa import MedusaNetwork as EngineHeads
from engine.drafting.schedule import FixedShape
from engine.drafting.trees import TreeShape
from engine.errors import InvalidOption, OutOfDisk
from engine.kernels import library
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel, open_model
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.text.stop import ReplyText
from engine.text.tokenizer import Tokenizer
from engine.training import examples as requests_module
from engine.training import making, trainer
from engine.training.draft_networks import STEPS, DraftNetwork, FusionName, MedusaNetwork, shape_for
from engine.training.examples import requests
from engine.training.features import Example, ExampleSupply, batch_of, features_of
from engine.training.generation import Turn, Writer
from engine.training.loss import FeatureObjective, Scores, TargetEnds, draft_loss, guesses, score
from engine.training.making import TextRequest, TrainRequest
from engine.training.trainer import Trainer, optimizers, read_draft, train, write_draft
from engine.verifying import SampleAndMatch
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.decoders import load_decoder
from tests.support.fast_cases import chosen, covering
from tests.support.packed_models import load as load_packed_weights
from tests.support.replies import run_reply


@pytest.fixture(scope="module")
def target(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


def load(target: Decoder, folder: Path) -> FeatureNetwork:
    return load_feature_network(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))


def load_medusa_heads(target: Decoder, folder: Path) -> EngineHeads:
    source, fp32 = target.source, weight_format("fp32")
    return load_medusa(HeadCheckpoint(folder), source.head, source.dtype, None, fp32, torch.device("cpu"))


def random_text(count: int, seed: int) -> list[int]:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def replies_of(target: Decoder, count: int) -> list[Example]:
    """Texts of the target itself after random prompts."""
    found = []
    for seed in range(count):
        prompt = random_text(6, seed)
        reply = greedy_reply(target, prompt, 24)
        found.append(Example((*prompt, *reply), (False,) * 6 + (True,) * 24))
    return found


def greedy_reply(target: Decoder, prompt: list[int], count: int) -> list[int]:
    return run_reply(TokenSequence(Target(target), 64), NoDrafter(), prompt, count)[0]


@pytest.mark.parametrize(("blocks", "fusion", "vocabulary"), covering([1, 3], ["dovetail", "eagle"], [None, 90]))
def test_what_is_trained_is_what_the_engine_runs(
    target: Decoder, tmp_path: Path, blocks: int, fusion: FusionName, vocabulary: int | None
) -> None:
    torch.manual_seed(1)
    drafted = None if vocabulary is None else torch.randperm(384)[:vocabulary].sort().values
    network = DraftNetwork(shape_for(target.config, blocks, fusion), drafted)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.05 * torch.randn_like(weight)
            weight.copy_(weight.bfloat16())
    write_draft(network, tmp_path / "draft")
    loaded = load(target, tmp_path / "draft")
    tokens, features = torch.tensor(random_text(20, 1)), torch.randn(20, 64)
    ours = loaded.run(tokens, torch.arange(20), loaded.new_cache(20), target_features=features)
    with torch.no_grad():
        theirs = network(target.source.embedding(tokens)[None], features[None])[0]
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    logits = TargetEnds.of(target, drafted).logits(theirs)
    torch.testing.assert_close(loaded.logits(ours), logits, atol=1e-3, rtol=1e-3)
    if drafted is not None:
        assert torch.equal(loaded.target_tokens(torch.arange(90)), drafted)


@pytest.mark.parametrize(
    ("blocks", "own", "vocabulary"),
    chosen(
        [(*shape, vocabulary) for shape in ((1, False), (2, False), (1, True)) for vocabulary in (None, 90)],
        {(2, False, None), (1, True, 90), (1, False, 90)},
    ),
)
def test_medusa_heads_that_are_trained_are_those_that_the_engine_runs(
    target: Decoder, tmp_path: Path, blocks: int, own: bool, vocabulary: int | None
) -> None:
    """Head k says from the feature of a position what is k + 2 tokens behind it, in the loss as in the loop."""
    torch.manual_seed(1)
    drafted = None if vocabulary is None else torch.randperm(384)[:vocabulary].sort().values
    network = MedusaNetwork(target.config, 3, blocks, own, drafted)
    ends = TargetEnds.of(target, drafted)
    network.begin_as(ends.head)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.05 * torch.randn_like(weight)
            weight.copy_(weight.bfloat16())
    write_draft(network, tmp_path / "heads")
    loaded = load_medusa_heads(target, tmp_path / "heads")
    batch = batch_of(target, [Example(tuple(random_text(20, 1)), (True,) * 20)])
    with torch.no_grad():
        found, _, _ = guesses(network, ends, batch)
    for place in (0, 7, 14):
        logits = loaded.logits(batch.features[0, place : place + 1], 3)
        for head in range(3):
            own_map = network.maps[head] if own else None
            theirs = ends.logits(found[head][0, place + head], own_map)
            torch.testing.assert_close(logits[head], theirs, atol=1e-3, rtol=1e-3)
    assert read_draft(tmp_path / "heads", MedusaNetwork, partial(MedusaNetwork, target.config, 3, blocks, own))
    assert not read_draft(tmp_path / "heads", MedusaNetwork, partial(MedusaNetwork, target.config, 2, blocks, own))


@pytest.mark.parametrize(("own", "soft_cap"), covering([False, True], [None, 5.0], together=1))
def test_gradients_of_the_loss_are_those_of_autograd(target: Decoder, own: bool, soft_cap: float | None) -> None:
    torch.manual_seed(1)
    network = MedusaNetwork(target.config, 3, 1, own)
    ends = replace(TargetEnds.of(target), soft_cap=soft_cap)
    network.begin_as(ends.head)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.05 * torch.randn_like(weight)
    batch = batch_of(target, replies_of(target, 6))
    ours = torch.autograd.grad(draft_loss(network, ends, batch), list(network.parameters()))

    found, features, learn = guesses(network, ends, batch)
    wanted = learn.clone()
    wanted[:, :2] = False
    loss = torch.zeros(())
    for head, each in enumerate(found):
        logits = ends.logits(each[wanted], network.maps[head] if own else None)
        entropy = -(ends.logits(features[wanted]).softmax(-1) * logits.log_softmax(-1)).sum(-1).mean()
        loss = loss + 0.8**head * entropy
    expected = torch.autograd.grad(loss / (1 + 0.8 + 0.64), list(network.parameters()))
    torch.testing.assert_close(ours, expected, atol=1e-6, rtol=1e-3)


@pytest.mark.parametrize("blocks", [1, 2])
def test_guesses_of_guesses_are_those_of_a_drafted_chain(target: Decoder, tmp_path: Path, blocks: int) -> None:
    """Training sees what the engine's draft computes behind any place of a text, step after step."""
    torch.manual_seed(1)
    network = DraftNetwork(shape_for(target.config, blocks, "eagle"))
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.05 * torch.randn_like(weight)
            weight.copy_(weight.bfloat16())
    write_draft(network, tmp_path / "draft")
    loaded = load(target, tmp_path / "draft")
    batch = batch_of(target, [Example(tuple(random_text(20, 1)), (True,) * 20)])
    with torch.no_grad():
        steps, _, _ = guesses(network, TargetEnds.of(target), batch)
    tokens, features = batch.tokens[0, 1:], batch.features[0]
    for root in (3, 9):
        cache = loaded.new_cache(32)
        rows = torch.arange(root + 1)
        found = loaded.run(tokens[rows], rows, cache, target_features=features[rows])[-1:]
        for step in range(STEPS):
            torch.testing.assert_close(found[0], steps[step][0, root + step], atol=1e-4, rtol=1e-4)
            cache.commit(rows.tolist() if step == 0 else [0])
            place = torch.tensor([root + step + 1])
            found = loaded.run(tokens[place], place, cache, features=found)


def test_texts_side_by_side_have_the_features_that_they_have_alone(
    checkpoint_of: Callable[[str], Path],
) -> None:
    for variant in ("llama", "mistral-window", "gemma3", "lfm2", "qwen35", "granite-hybrid", "nemotron-h"):
        decoder = load_decoder(checkpoint_of(variant))
        texts = [random_text(count, count) for count in (40, 3, 90, 130, 200)]
        for text, found in zip(texts, features_of(decoder, texts), strict=True):
            alone = decoder.forward(torch.tensor(text), torch.arange(len(text)), decoder.new_cache(len(text)))
            torch.testing.assert_close(found, alone.hidden, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("variant", "packed"),
    [
        *(("llama", False), ("llama", True), ("gemma3", False), ("phi3-longrope", True)),
        *(("qwen35", False), ("qwen35", True), ("lfm2", True), ("granite-hybrid", True), ("nemotron-h", True)),
    ],
)
def test_texts_that_are_written_together_are_those_that_are_written_alone(
    variant: str, packed: bool, checkpoint_of: Callable[[str], Path]
) -> None:
    """More texts than are written at once, of two turns each, and one of them with a long request."""
    decoder = load_decoder(checkpoint_of(variant))
    if packed:
        if library.available() is None:
            pytest.skip(library.reason())  # torch's products of several texts round otherwise than those of one
        decoder = Decoder(decoder.config, Resident(load_packed_weights(checkpoint_of(variant))))
    samplers = [Sampler(), Sampler(temperature=0.9, top_k=40, top_p=0.95, repetition_penalty=1.1, seed=3)]
    end_ids, longest = frozenset(range(0, 384, 16)), 120
    asked = [
        [
            Turn((320 + seed, *random_text(88 if seed == 4 else 6, seed)), samplers[seed % 2], 22),
            Turn(tuple(random_text(5, 90 + seed)), samplers[0], 9),
        ]
        for seed in range(24)
    ]
    texts = {example.ids[0] - 320: example for example in Writer(decoder, end_ids, longest, 3).write(iter(asked))}
    assert len(texts) == len(asked)
    assert len({sum(example.learn) for example in texts.values()}) > 3
    sequence = TokenSequence(Target(decoder), 160)
    for seed, turns in enumerate(asked):
        example, ids = texts[seed], list[int]()
        for turn in turns:
            given = turn.given[1:] if ids and turn.given[0] == ids[-1] else turn.given
            assert example.ids[: len(ids) + len(given)] == (*ids, *given)
            ids += given
            reply = ReplyText(lambda token_ids: "", end_ids, (), min(turn.limit, longest - len(ids)))
            hooks = Hooks(lambda: None, lambda done, total: None, lambda *emitted: None)
            recipe = Recipe(NoDrafter(), SampleAndMatch(turn.sampler), FixedShape(DraftShape(0)))
            for _ in Decoding(sequence, recipe, ids, reply, ReplyClock(), hooks):
                pass
            assert all(example.learn[len(ids) :][: len(reply.token_ids)])
            ids += reply.token_ids
            if ids[-1] not in end_ids or len(ids) == longest:
                break
        assert example.ids == tuple(ids)
        cache = decoder.new_cache(len(ids))
        alone = decoder.forward(torch.tensor(ids), torch.arange(len(ids)), cache).hidden[:-1]
        assert example.features.shape == alone.shape
        if cache.text_limit is None:  # else its first rows are those of a text that was not long yet
            torch.testing.assert_close(example.features.float(), alone, atol=0.05, rtol=0.02)


def test_requests_without_end_are_whole_chats(llama_folder: Path) -> None:
    tokenizer = Tokenizer(llama_folder)
    for turns in itertools.islice(requests(tokenizer, 1), 40):
        assert all(turn.given and turn.limit for turn in turns)
    first = [list(islice(requests(tokenizer, 1), 5)) for islice in (itertools.islice, itertools.islice)]
    assert first[0] == first[1]


def test_the_best_linear_guess_is_where_concatenation_begins(target: Decoder) -> None:
    torch.manual_seed(1)
    network = DraftNetwork(shape_for(target.config, 1, "eagle"))
    embedding, features = torch.randn(2, 4000, 64).unbind()
    following = 3 * embedding - features.roll(1, 1) + 2
    network.begin(torch.zeros(0), embedding, features, [following])
    guessed = network(embedding[None], features[None])[0]
    # The ridge takes a hundredth.
    torch.testing.assert_close(guessed, following, atol=0.3, rtol=0.05)


def test_a_single_row_suffices_to_begin_with(target: Decoder) -> None:
    torch.manual_seed(1)
    network = DraftNetwork(shape_for(target.config, 1, "eagle"))
    embedding, features, following = torch.randn(3, 1, 64).unbind()
    network.begin(torch.zeros(0), embedding, features, [following])
    torch.testing.assert_close(network(embedding[None], features[None])[0], following, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_concatenation_learns_alike_in_all_sizes_of_features(target: Decoder, scale: float) -> None:
    torch.manual_seed(1)
    network = DraftNetwork(shape_for(target.config, 2, "eagle"))
    embedding, features = torch.randn(64, 64), torch.randn(64, 64)
    following = scale * (embedding + features.roll(1, 1))
    network.begin(torch.zeros(0), embedding / 50, scale * features, [following])
    network.measure(embedding / 50, scale * features)
    # The attention, which has no norm before it, sees several rows at first.
    attention = network.layers[0].self_attn
    query, key = (projection(scale * features) for projection in (attention.q_proj, attention.k_proj))
    assert 0.1 < float(query.detach().std()) < 10
    assert 0.1 < float(key.detach().std()) < 10
    before = network(embedding[None] / 50, scale * features[None]).detach()
    for weight in network.parameters():
        weight.grad = torch.randn_like(weight)
    for optimizer in optimizers(network, 0.02, 0.0):
        optimizer.step()
    moved = network(embedding[None] / 50, scale * features[None]) - before
    assert 0.01 < float(moved.detach().std()) / scale < 10


def test_medusa_heads_begin_as_guesses_of_features(target: Decoder) -> None:
    torch.manual_seed(1)
    network = MedusaNetwork(target.config, 3, 2, own_maps=False)
    features = 3 * torch.randn(4000, 64) + 1
    maps = [(0.1 * torch.randn(64, 64), torch.randn(64)) for _ in range(2)]
    following = [features + functional.silu(features @ weight.T + bias) for weight, bias in maps]
    network.begin(torch.zeros(0), features, features, following)
    first, second, third = (head[:2](features) for head in network.heads)
    for guessed, true in zip((first, second), following, strict=True):
        assert (guessed - true).square().mean() < 0.05 * (features - true).square().mean()
    torch.testing.assert_close(third, features)


def test_the_draft_learns_the_targets_words(target: Decoder, tmp_path: Path) -> None:
    examples = replies_of(target, 8)
    ends, shape = TargetEnds.of(target), shape_for(target.config, 1, "dovetail")
    torch.manual_seed(1)
    network = DraftNetwork(shape)
    batch = batch_of(target, examples)
    untrained = score(network, ends, [batch])
    write_draft(network, tmp_path / "untrained")
    supply = ExampleSupply(target, examples, 240, seed=1)
    outcome = train(network, FeatureObjective(ends, [batch]), supply, 1.0, io.StringIO(), steps=60)
    assert outcome.scores.tau > untrained.tau + 0.5
    assert outcome.scores.accuracies[0][0] > untrained.accuracies[0][0]
    assert not outcome.interrupted
    write_draft(outcome.network, tmp_path / "trained")
    lengths = []
    for name in ("untrained", "trained"):
        drafter = FeatureDraft(
            load(target, tmp_path / name), TreeShape(4, 3, 8), 64, Link(torch.device("cpu")), lambda: None
        )
        drafted, timings = run_reply(TokenSequence(Target(target), 64), drafter, list(examples[0].ids[:6]), 24)
        assert drafted == list(examples[0].ids[6:])
        lengths.append(timings.mean_acceptance_length or 0.0)
    assert lengths[1] > lengths[0]


def test_scores_are_those_of_chains_and_ranks(target: Decoder) -> None:
    """Counted place by place on a text, one of whose tokens is not learned."""
    torch.manual_seed(1)
    network = MedusaNetwork(target.config, 3, 1, own_maps=False)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.05 * torch.randn_like(weight)
    examples = replies_of(target, 2)
    learn = (*examples[0].learn[:20], False, *examples[0].learn[21:])
    batch = batch_of(target, [replace(examples[0], learn=learn), examples[1]])
    ends = TargetEnds.of(target)
    found, _, _ = guesses(network, ends, batch)
    tokens = forwards = 0
    right = [[0, 0, 0] for _ in range(3)]
    for text in range(2):
        for root in range(batch.tokens.shape[1] - 4):
            holds = begins = bool(batch.learn[text, root + 2])
            forwards, tokens = forwards + holds, tokens + holds
            for head in range(3):
                place = root + 2 + head
                ranked = ends.logits(found[head][text, root + head]).argsort(descending=True).tolist()
                rank, wanted = ranked.index(int(batch.tokens[text, place])), begins and bool(batch.learn[text, place])
                right[head] = [
                    count + (wanted and rank < top) for count, top in zip(right[head], (1, 3, 10), strict=True)
                ]
                holds = holds and rank == 0 and wanted
                tokens += holds
    scores = score(network, ends, [batch])
    assert scores.tau == pytest.approx(tokens / forwards)
    expected = [[count / forwards for count in right[head]] for head in range(3)]
    torch.testing.assert_close(torch.tensor(scores.accuracies), torch.tensor(expected))
    assert scores.calibration.places == forwards
    seen, held = (sum(each[at] for each in scores.calibration.shares) for at in (1, 2))
    assert (seen, held) == (TOKENS * forwards, right[0][1])
    assert scores.lines()[0] == f"tau {scores.tau:.2f} with chains of 3"


def test_an_interrupt_keeps_the_best_so_far(target: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = replies_of(target, 2)
    batch = batch_of(target, examples)
    step = Trainer.step
    scores = iter([Scores(0.2), Scores(0.3), Scores(0.9), Scores(0.1)])
    states: list[torch.Tensor] = []
    kept: list[torch.Tensor] = []

    def stepping(self: Any, batches: Any) -> dict[str, float]:
        if self.progress.step == 2:
            raise KeyboardInterrupt
        return step(self, batches)

    def scoring(objective: FeatureObjective, network: DraftNetwork) -> Scores:
        states.append(network.W_1.detach().clone())
        return next(scores)

    monkeypatch.setattr(Trainer, "step", stepping)
    monkeypatch.setattr(FeatureObjective, "score", scoring)
    real = trainer.Schedule
    monkeypatch.setattr(trainer, "Schedule", lambda *args, **kw: real(*args, **{**kw, "evaluate_s": 0.0}))
    supply = ExampleSupply(target, examples, 60, seed=1)
    network = DraftNetwork(shape_for(target.config, 1, "dovetail"))
    objective = FeatureObjective(TargetEnds.of(target), [batch])
    keep: Callable[[DraftNetwork, Scores], None] = lambda found, _: kept.append(found.W_1.detach().clone())  # noqa: E731
    outcome = train(network, objective, supply, 1.0, io.StringIO(), keep=keep)
    assert outcome.interrupted
    assert outcome.scores.tau == 0.9
    assert torch.equal(outcome.network.W_1, states[2])
    assert all(map(torch.equal, kept, states[:3]))  # each was the best when it came, and a kill leaves the last of them


def test_a_training_that_goes_on_never_leaves_a_worse_draft(target: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = replies_of(target, 2)
    scores = iter([Scores(0.9), Scores(0.1)])
    monkeypatch.setattr(FeatureObjective, "score", lambda objective, network: next(scores))
    network = DraftNetwork(shape_for(target.config, 1, "dovetail"))
    begun = network.W_1.detach().clone()
    objective = FeatureObjective(TargetEnds.of(target), [batch_of(target, examples)])
    outcome = train(network, objective, ExampleSupply(target, examples, 60, seed=1), 1.0, io.StringIO(), steps=2)
    assert torch.equal(outcome.network.W_1, begun)


def test_a_cut_vocabulary_has_the_tokens_that_end_a_reply() -> None:
    examples = [Example((5, 6, 7), (True,) * 3)] * 600
    found = making._frequent_tokens(examples, 384, 20, {383, 384})  # configs name tokens that no model has
    assert {5, 6, 7, 383} <= set(found.tolist())
    assert len(found) == 20


def test_a_wide_network_of_the_target_is_no_wide_network_of_the_draft(target: Decoder) -> None:
    wide = replace(target.config, hidden_size=1536, intermediate_size=8960)
    assert shape_for(wide, 1, "eagle").blocks.intermediate_size == 4096
    assert shape_for(target.config, 1, "eagle").blocks.intermediate_size == target.config.intermediate_size


def test_every_text_comes_once_before_any_comes_again(target: Decoder) -> None:
    examples = [Example(tuple(random_text(10 + seed, seed)), (True,) * (10 + seed)) for seed in range(12)]
    supply = ExampleSupply(target, examples, 60, seed=1, batches=2)
    seen: list[tuple[int, ...]] = []
    while len(seen) < 24:
        for batch in supply.next():
            seen += [tuple(row[wanted].tolist()) for row, wanted in zip(batch.tokens, batch.learn, strict=True)]
    assert sorted(seen[:12]) == sorted(example.ids for example in examples)


def request(model: Path, out: Path, **changes: Any) -> TrainRequest:
    values = {"data": None, "generate": 3, "blocks": 1, "fusion": "dovetail", "minutes": 0.02, "threads": 1}
    return TrainRequest(model=str(model), out=out, **{**values, **changes})


@pytest.mark.usefixtures("ticking")
def test_the_command_trains_on_the_models_own_replies(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 48)
    out = tmp_path / "draft"
    arguments = ["train", "draft", "--model", str(llama_folder), "--threads", "1", "--vocabulary", "200"]
    arguments += ["--generate", "4", "--blocks", "2", "--minutes", "0.05", "--out", str(out)]
    arguments += ["--texts", str(tmp_path / "texts")]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "4 texts written" in captured.err
    assert f"the draft is in {out}" in captured.err
    network = load(load_decoder(llama_folder), out)
    assert network.config.layers == 2
    assert len(network.weights.target_ids) == 200
    # A second training goes on from it, with the texts of the first; one of another shape replaces it.
    assert main(arguments) == 0
    second = capsys.readouterr().err
    assert "4 texts were written before" in second
    assert f"goes on from the draft in {out}" in second
    assert main([*arguments, "--blocks", "1"]) == 0
    assert "goes on" not in capsys.readouterr().err


@pytest.mark.usefixtures("ticking")
def test_texts_beside_those_that_were_kept_are_others(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 48)

    def texts(folder: str, count: int) -> set[tuple[int, ...]]:
        asked = TextRequest(
            model=str(llama_folder), data=None, generate=count, minutes=50.0, texts=tmp_path / folder, threads=1
        )
        return {example.ids for example in making.texts_of(asked, open_model(asked.model), io.StringIO())[1]}

    first = texts("twice", 3)
    assert first < (both := texts("twice", 6))
    assert both == texts("once", 6)


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize("head", chosen(["own", "shared"], ("shared",)))
def test_the_command_trains_medusa_heads(
    head: str,
    llama_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 48)
    monkeypatch.setattr(making, "_KEPT_ASIDE_SHARE", 2)
    out = tmp_path / "draft"
    arguments = ["train", "draft", "--model", str(llama_folder), "--threads", "1", "--vocabulary", "200"]
    arguments += [
        "--generate",
        "4",
        "--minutes",
        "0.1",
        "--out",
        str(out),
        "--texts",
        str(tmp_path / "texts"),
    ]
    assert main(arguments) == 0
    medusa = [*arguments, "--kind", "medusa", "--heads", "3", "--head", head]
    capsys.readouterr()
    assert main(medusa) == 0
    said = capsys.readouterr().err
    assert "with chains of 3" in said
    assert all(top in said for top in ("top 1", "top 3", "top 10"))
    assert {path.name for path in out.iterdir()} == {"config.json", "medusa_lm_head.safetensors", FILE}
    calibration = calibration_beside(HeadCalibration, out)
    assert len(calibration.accuracies) == 3
    assert calibration.places > 0
    network = load_medusa_heads(load_decoder(llama_folder), out)
    assert network.heads == 3
    assert len(network.target_ids) == 200
    assert main(medusa) == 0
    assert f"goes on from the draft in {out}" in capsys.readouterr().err
    assert main(arguments) == 0
    assert {path.name for path in out.iterdir()} == {"config.json", "model.safetensors", FILE}
    # Plans have what was counted of a head on the texts kept aside, and not the published figures of its kind.
    counted = HeadDraft.read(OpenedModel(str(out), out), load_decoder(llama_folder).config).counted("any")
    assert 1.0 <= counted[63] < HeadDraft.published["chat"]


def test_an_interrupt_before_there_is_anything_says_so(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "run", interrupted)
    assert main(["train", "draft", "--model", str(llama_folder), "--out", str(tmp_path / "draft")]) == 130
    assert "before there was anything to keep" in capsys.readouterr().err


@pytest.mark.usefixtures("ticking")
def test_a_full_disk_is_said_in_one_sentence(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "write_draft", full)
    monkeypatch.setattr(making, "_LONGEST", 48)
    with pytest.raises(OutOfDisk, match="could not be written"):
        making.run(request(llama_folder, tmp_path / "draft"), io.StringIO())


@pytest.mark.usefixtures("ticking")
def test_the_command_trains_on_a_file(llama_folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(json.dumps({"text": f"The fox number {n} jumps over the dog."}) for n in range(9)))
    report = io.StringIO()
    assert making.run(request(llama_folder, tmp_path / "draft", data=data, generate=None, fusion="eagle"), report)
    assert "texts to learn from: 8, to score on: 1" in report.getvalue()
    assert json.loads((tmp_path / "draft" / "config.json").read_text())["bias"] is True


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generate": 0}, "texts to generate is 0"),
        ({"vocabulary": 1}, "vocabulary is 1 tokens"),
        ({"blocks": 7}, "7 blocks, but it must have between 1 and 6"),
        ({"kind": "medusa", "blocks": 0}, "0 blocks, but it must have between 1 and 6"),
        ({"kind": "medusa", "heads": 17}, "17 heads, but it must have between 1 and 16"),
        ({"kind": "small", "width": 100}, "width is 100, but it must be a multiple of 64"),
        ({"kind": "small", "blocks": 7}, "7 blocks, but it must have between 1 and 6"),
        ({"minutes": 0.0}, "training time is 0"),
        ({"minutes": float("nan")}, "training time is nan"),
        ({"threads": 0}, "threads is 0"),
    ],
)
def test_bad_requests_are_refused(llama_folder: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        making.run(request(llama_folder, tmp_path / "draft", **changes), io.StringIO())


def test_a_folder_with_something_else_in_it_is_left_alone(llama_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear")
    with pytest.raises(InvalidOption, match=r"holds letter\.txt"):
        making.run(request(llama_folder, tmp_path), io.StringIO())
    with pytest.raises(InvalidOption, match="is a file"):
        making.run(request(llama_folder, tmp_path / "letter.txt"), io.StringIO())


def test_texts_too_short_to_learn_from_are_refused(llama_folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"text": "a"}\n')
    with pytest.raises(InvalidOption, match="no text to learn from"):
        making.run(request(llama_folder, tmp_path / "draft", data=data, generate=None), io.StringIO())


def test_requests_come_without_pythons_sources_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed Tenon has none of them."""
    monkeypatch.setattr(requests_module, "_material", tuple)
    rng = random.Random(0)
    asked = {requests_module._request(rng) for _ in range(50)}
    assert len(asked) > 20
    assert all(request.strip() and "{" not in request for request in asked)
