"""Prompt tokens learn through transformers' model of the same family what the engine's own says at random places."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.cli import main
from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import NoDrafter
from engine.drafting.fixed_trees import NO_RANK, PathCounts, RankLog, trees_by_rows
from engine.drafting.kinds import read_draft as read_draft_kind
from engine.drafting.medusa import calibration_beside, read_calibration, write_beside
from engine.drafting.prompt_tokens import PromptTokenCalibration, PromptTokenDrafter, load_prompt_tokens
from engine.errors import InvalidOption
from engine.hub.installed import cache_folder
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import Draft
from engine.model_file import OpenedModel
from engine.modes import in_mode
from engine.planning.planner import model_planner
from engine.training import calibration, making, prompt_tokens, tree_counts
from engine.training.features import Example, ExampleSupply, FeatureBatch, batch_of
from engine.training.llama_network import product_type
from engine.training.loss import TargetEnds
from engine.training.prompt_tokens import PromptTokenNetwork, PromptTokenObjective, Twin, training_bytes
from engine.training.trainer import optimizers, read_draft, train, write_draft
from engine.training.tree_counts import count_probes, probe_ranks, replies_in
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import VARIANTS
from tests.support.decoders import load_decoder, load_reference
from tests.support.fast_cases import covering, families
from tests.support.replies import run_reply

PLACES, MEMBERS = 3, 2
CAP = 20.0


@pytest.fixture(scope="module")
def target(llama_folder: Path) -> Decoder:
    return load_decoder(llama_folder)


@pytest.fixture(scope="module")
def examples(target: Decoder) -> list[Example]:
    """Texts of the target itself after random prompts."""
    found = []
    for seed in range(8):
        prompt = torch.randint(3, 300, (6,), generator=torch.Generator().manual_seed(seed)).tolist()
        reply, _ = run_reply(TokenSequence(Target(target), 64), NoDrafter(), prompt, 24)
        found.append(Example((*prompt, *reply), (False,) * 6 + (True,) * 24))
    return found


def network_of(decoder: Decoder, members: int = MEMBERS, mask: Any = "ensemble") -> PromptTokenNetwork:
    torch.manual_seed(1)
    network = PromptTokenNetwork(decoder.config, PLACES, members, mask)
    size = PLACES * members
    scale = decoder.config.embedding_scale or 1.0
    network.begin_as(decoder.source.embedding(torch.arange(3, 3 + size)).float() * scale)
    return network


# Experts in rows or under names of their own, latents, inputs by the token: refused by name.
_WITHOUT_TWIN = (
    *("gemma4-inputs", "gemma4-moe", "gpt-oss", "granite-hybrid-attention"),
    *("deepseek-v2", "deepseek-v3", "glm4-moe-lite"),
)
_WITH_STATES = (
    *("lfm2", "lfm2-moe", "lfm3"),
    *("qwen35", "qwen35-moe", "qwen3-next"),
    *("granite-hybrid", "granite-hybrid-moe", "nemotron-h", "nemotron-h-moe", "nemotron-h-latent"),
)


@pytest.mark.parametrize("variant", families(_WITHOUT_TWIN))
def test_a_family_without_a_twin_is_refused(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    folder = checkpoint_of(variant)
    decoder = load_decoder(folder)
    text, tokens = torch.arange(3, 43), network_of(decoder).tokens()
    with pytest.raises(InvalidOption, match=r"cannot be trained for \w+, because transformers"):
        Twin(Checkpoint(folder), torch.float32).compare(decoder, TargetEnds.of(decoder), text, tokens)


@pytest.mark.parametrize("variant", families(_WITH_STATES))
def test_a_family_that_keeps_states_is_refused_before_its_texts_are_written(
    variant: str, checkpoint_of: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(checkpoint_of(variant))
    command = ["train", "draft", "--model", folder, "--out", str(tmp_path / "set"), "--kind", "prompt-tokens"]
    assert main([*command, "--generate", "1"]) == 2
    assert "whose layers keep a state of the text: train a draft of another kind." in capsys.readouterr().err


@pytest.mark.parametrize("variant", families({*VARIANTS} - {*_WITHOUT_TWIN, *_WITH_STATES}))
def test_the_twin_of_each_family_says_what_the_engine_says(
    variant: str, checkpoint_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint_of(variant)
    decoder = load_decoder(folder)
    monkeypatch.setattr(prompt_tokens, "_CLOSE", 1e-6)
    text = torch.randint(3, 300, (40,), generator=torch.Generator().manual_seed(1))
    for mask in ("ensemble", "encoder"):
        tokens = network_of(decoder, MEMBERS, mask).tokens()
        Twin(Checkpoint(folder), torch.float32).compare(decoder, TargetEnds.of(decoder), text, tokens)


def test_a_family_that_differs_is_refused_by_name(target: Decoder, llama_folder: Path) -> None:
    checkpoint = Checkpoint(llama_folder)
    checkpoint.config["rope_parameters"] = {"rope_type": "default", "rope_theta": 100.0}
    other = Twin(checkpoint)
    with pytest.raises(
        InvalidOption,
        match=r"trained for LlamaForCausalLM, because transformers .* computes it otherwise: .* nats",
    ):
        other.compare(target, TargetEnds.of(target), torch.arange(3, 50), network_of(target).tokens())
    checkpoint.config["model_type"] = "llama-of-tomorrow"
    with pytest.raises(InvalidOption, match="does not know it"):
        Twin(checkpoint)
    checkpoint = Checkpoint(llama_folder)
    checkpoint.config["attention_bias"] = True
    with pytest.raises(InvalidOption, match=r"has a tensor model\.layers\.0\..*bias that the checkpoint has not"):
        Twin(checkpoint)


def test_without_transformers_it_says_what_to_install(llama_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InvalidOption, match=r"run `pip install 'transformers>=5\.0'`"):
        Twin(Checkpoint(llama_folder))


def naive_loss(folder: Path, network: PromptTokenNetwork, batch: FeatureBatch, kind: str, cap: float | None) -> Tensor:
    """One forward of transformers for each point and member, whole logits, and the loss as the report has it."""
    model = load_reference(folder)
    head, embed = model.lm_head.weight, model.get_input_embeddings()

    def logits(hidden: Tensor) -> Tensor:
        found: Tensor = hidden @ head.T
        return found if cap is None else torch.tanh(found / cap) * cap

    sums, counts = torch.zeros(PLACES), torch.zeros(PLACES)
    for row, ids in enumerate(batch.tokens):
        for point in range(len(ids) - 2):
            wanted = [place for place in range(PLACES) if batch.learn[row, point + 2 : point + place + 3].all()]
            wanted = [place for place in wanted if point + place + 2 < len(ids)]
            if not wanted:
                continue
            text = embed(ids[: point + 1])
            said = torch.stack(
                [
                    logits(
                        model.model(inputs_embeds=torch.cat((text, network.embeddings[:, member]))[None])[0][
                            0, point + 1 :
                        ]
                    )
                    for member in range(MEMBERS)
                ]
            ).mean(0)
            for place in wanted:
                logs = said[place].log_softmax(-1)
                true = logits(batch.features[row, point + place + 1]).log_softmax(-1)
                if kind == "hard":
                    loss = -logs[ids[point + place + 2]]
                elif kind == "forward":
                    loss = (true.exp() * (true - logs)).sum()
                else:
                    loss = (logs.exp() * (logs - true)).sum()
                sums[place] = sums[place] + loss
                counts[place] += 1
    shares = 0.8 ** torch.arange(PLACES)
    return (sums / counts * shares).sum() / shares.sum()


@pytest.mark.parametrize(("kind", "cap"), covering(prompt_tokens.LOSSES, [None, CAP], together=1))
def test_loss_and_gradients_are_those_of_one_forward_for_each_point(
    kind: Any,
    cap: float | None,
    target: Decoder,
    llama_folder: Path,
    examples: list[Example],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompt_tokens, "ROWS_EACH", 100.0)  # at every point
    monkeypatch.setattr(prompt_tokens, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(prompt_tokens, "LOGIT_ROWS", 7)
    network = network_of(target)
    batch = batch_of(
        target,
        [examples[0], replace(examples[1], ids=examples[1].ids[:20], learn=examples[1].learn[:20])],
    )
    ends = replace(TargetEnds.of(target), soft_cap=cap)
    objective = PromptTokenObjective(Twin(Checkpoint(llama_folder), torch.float32), ends, [batch], kind)
    objective._ends = ends  # in float32
    loss = objective.loss(network, batch)
    expected = naive_loss(llama_folder, network, batch, kind, cap)
    torch.testing.assert_close(loss, expected, atol=1e-4, rtol=1e-4)
    ours, theirs = (torch.autograd.grad(one, network.embeddings)[0] for one in (loss, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-3)


def test_scores_are_those_of_the_engine_s_own_probes(
    target: Decoder, llama_folder: Path, examples: list[Example]
) -> None:
    network = network_of(target)
    aside = [batch_of(target, [example]) for example in examples[:2]]
    scores = PromptTokenObjective(Twin(Checkpoint(llama_folder)), TargetEnds.of(target), aside, "forward").score(
        network
    )
    tokens = network.tokens()
    right, seen = torch.zeros(PLACES), torch.zeros(PLACES)
    for example in examples[:2]:
        for point in range(4, len(example.ids) - 2, 4):
            sequence = TokenSequence(Target(target), 64)
            sequence.prefill(example.ids[:point], lambda: None)
            draft = Draft(probes=tokens.behind([PLACES]))
            sequence.verify(example.ids[point], draft, lambda: None)
            said = sequence.probe_logits(draft.probe_rows(-1))
            assert said is not None
            likeliest = tokens.average(said).topk(10).indices
            for place in range(min(PLACES, len(example.ids) - point - 2)):
                seen[place] += 1
                right[place] += example.ids[point + 2 + place] in likeliest[place]
    assert [
        round(each[-1] * count) for each, count in zip(scores.accuracies, seen.tolist(), strict=True)
    ] == right.tolist()
    assert right.sum() > 0


@pytest.mark.slow
def test_they_learn_the_target_s_words_and_change_none(
    target: Decoder,
    llama_folder: Path,
    examples: list[Example],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompt_tokens, "ROWS_EACH", 100.0)  # at every point
    network = network_of(target)
    assert [type(one).__name__ for one in optimizers(network, 0.02, 0.01)] == ["AdamW"]
    batch = batch_of(target, examples)
    ends = TargetEnds.of(target)
    objective = PromptTokenObjective(Twin(Checkpoint(llama_folder)), ends, [batch], "forward")
    with torch.no_grad():
        before, untrained = float(objective.loss(network, batch)), network.embeddings.clone()
    supply = ExampleSupply(target, examples, 240, seed=1)
    outcome = train(network, objective, supply, 1.0, io.StringIO(), steps=60)
    assert not outcome.interrupted
    with torch.no_grad():
        assert float(objective.loss(network, batch)) < 0.95 * before
    assert not torch.equal(network.embeddings, untrained)
    write_draft(outcome.network, tmp_path / "set")
    tokens = load_prompt_tokens(HeadCheckpoint(tmp_path / "set"))
    assert torch.equal(tokens.embeddings, network.embeddings)
    for sampler in (Sampler(temperature=0.0), Sampler(temperature=1.0, seed=5)):
        prompt = list(examples[0].ids[:6])
        found, _ = run_reply(TokenSequence(Target(target), 64), PromptTokenDrafter(tokens), prompt, 32, 31, sampler)
        plain, _ = run_reply(TokenSequence(Target(target), 64), NoDrafter(), prompt, 32, 0, sampler)
        assert found == plain


def test_ranks_of_a_reply_are_those_of_each_place_alone(
    target: Decoder, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_counts, "_ROWS", 30)  # in pieces
    tokens = network_of(target).tokens()
    ((before, reply),) = replies_in([examples[0]])
    assert (*before, *reply) == examples[0].ids
    found = probe_ranks(target, tokens, before, reply)
    assert found.shape == (len(reply) - 1, PLACES)
    for place in (0, 1, 9, 21, 22):
        text = [*before, *reply[:place]]
        sequence = TokenSequence(Target(target), 64)
        sequence.prefill(text[:-1], lambda: None)
        draft = Draft(probes=tokens.behind([PLACES]))
        sequence.verify(text[-1], draft, lambda: None)
        said = sequence.probe_logits(draft.probe_rows(-1))
        assert said is not None
        order = tokens.average(said).argsort(descending=True)
        for ahead, token in enumerate(reply[place + 1 : place + 1 + PLACES]):
            rank = int((order[ahead] == token).nonzero())
            assert found[place, ahead] == min(rank, NO_RANK)
    assert (found[-1, 1:] == NO_RANK).all()


@pytest.mark.parametrize("variant", families(_WITH_STATES))
def test_tokens_behind_many_places_are_ranked_as_behind_one(
    variant: str, checkpoint_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = load_decoder(checkpoint_of(variant))
    text = torch.randint(3, 300, (90,), generator=torch.Generator().manual_seed(1)).tolist()
    tokens = [network_of(decoder, mask=mask).tokens() for mask in ("ensemble", "decoder")]
    ranks = [probe_ranks(decoder, each, text[:40], text[40:]) for each in tokens]
    monkeypatch.setattr(tree_counts, "_ROWS", 1)
    for each, found in zip(tokens, ranks, strict=True):
        alone = probe_ranks(decoder, each, text[:40], text[40:])
        # Two logits that round alike may change places.
        assert (np.abs(found.astype(int) - alone.astype(int)) > 1).sum() == 0


def test_trees_are_counted_and_kept_beside_the_set(target: Decoder, examples: list[Example], tmp_path: Path) -> None:
    replies = list(replies_in(examples))
    tokens = network_of(target).tokens()
    found = count_probes(target, tokens, replies)
    log = RankLog(tuple(probe_ranks(target, tokens, *reply) for reply in replies))
    assert found is None or found.places == sum(len(reply) - 1 for _, reply in replies)
    # As if the first place guessed every second token, and those behind it the ones after.
    for ranks in log.replies:
        ranks[::2] = (0, 1, 0)
    trees = trees_by_rows(PathCounts(log), (3, 7, 15, 31), MEMBERS)
    made = PromptTokenCalibration(tuple(trees), tuple(trees.values()))
    assert made.rows == (7, 15, 31)
    assert 1.0 < made.tokens[7] <= made.tokens[31] < 4.0
    write_draft(network_of(target), tmp_path / "set")
    write_beside(tmp_path / "set", made)
    draft = read_draft_kind(OpenedModel("a set", tmp_path / "set"), target.config)
    assert draft.counted("any") == made.tokens
    write_draft(network_of(target, members=5), tmp_path / "set")
    assert calibration_beside(PromptTokenCalibration, tmp_path / "set") is None
    write_beside(tmp_path / "set", made)  # of a set with fewer members
    assert read_draft_kind(OpenedModel("a set", tmp_path / "set"), target.config).counted("any") == {}


@pytest.mark.usefixtures("measured_once")
def test_the_command_counts_trees_and_measures_widths(
    target: Decoder,
    llama_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "set"
    write_draft(network_of(target, members=1), folder)
    # Random prompt tokens never guess right here.
    counts = PathCounts(RankLog((np.array([[0, 1, 0], [1, 0, 0]] * 20, dtype=np.uint8),)))
    trees = trees_by_rows(counts, (3, 7, 15, 31, 63))
    made = PromptTokenCalibration(tuple(trees), tuple(trees.values()), ((0.5, 1.0, 1.0),) * 3, 40)
    monkeypatch.setattr(calibration, "count_probes", lambda *rest: made)
    data = tmp_path / "data.jsonl"
    chat = [{"role": "user", "content": "the fox"}, {"role": "assistant", "content": "the dog and the fox"}]
    data.write_text(json.dumps({"messages": chat}))
    arguments = ["train", "tree", "--model", str(llama_folder), "--data", str(data), "--threads", "1"]
    assert main([*arguments, "--draft", str(folder)]) == 0
    said = capsys.readouterr().err
    assert "1 replies, 40 places" in said
    assert all(name in said for name in ("tokens", "top 10"))
    assert said.splitlines()[-1].startswith("Planned are")
    kept = read_calibration(
        PromptTokenCalibration,
        cache_folder(),
        Checkpoint(llama_folder).digest(),
        HeadCheckpoint(folder).digest(),
    )
    assert kept == made
    options = in_mode("ppd", LoadOptions(model=str(llama_folder), drafts=(str(folder),)))
    plan = model_planner(options).plan.mode("ppd")
    assert all(each.measured for each in plan.widths)
    assert main([*arguments, "--draft", str(llama_folder)]) == 2
    assert "holds neither Medusa heads nor prompt tokens" in capsys.readouterr().err


def test_it_goes_on_from_a_set_of_the_same_shape(target: Decoder, tmp_path: Path) -> None:
    network = network_of(target)
    write_draft(network, tmp_path / "set")

    def again(members: int) -> PromptTokenNetwork | None:
        return read_draft(
            tmp_path / "set",
            PromptTokenNetwork,
            lambda ids: PromptTokenNetwork(target.config, PLACES, members, "ensemble"),
        )

    found = again(MEMBERS)
    assert torch.equal(found.embeddings, network.embeddings)
    assert found.rates[1] == 0.01, "the report's; a new set learns as fast as its embeddings are large"
    ordinary = target.source.embedding(torch.arange(3, 3 + PLACES * MEMBERS)).float()
    assert network.rates[1] == pytest.approx(0.4 * ordinary.square().mean().sqrt().item())
    assert again(1) is None


@pytest.mark.usefixtures("ticking")
def test_the_command_trains_and_goes_on(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_LONGEST", 48)
    monkeypatch.setattr(making, "_KEPT_ASIDE_SHARE", 2)
    out = tmp_path / "set"
    arguments = ["train", "draft", "--model", str(llama_folder), "--kind", "prompt-tokens", "--threads", "1"]
    arguments += ["--generate", "4", "--texts", str(tmp_path / "texts"), "--minutes", "0.1", "--members", "2"]
    arguments += ["--loss", "reverse", "--mask", "encoder", "--out", str(out)]
    assert main(arguments) == 0
    assert "with chains of 3" in capsys.readouterr().err
    # A calibration is beside them where one of the guesses was right, which random ones may be.
    written = {path.name for path in out.iterdir()} - {"calibration.json"}
    assert written == {"adapter_config.json", "adapter_model.safetensors"}
    config = json.loads((out / "adapter_config.json").read_text())
    assert (config["vt_attention_type"], config["num_virtual_tokens"]) == ("encoder", 6)
    assert main(arguments) == 0
    assert f"goes on from the draft in {out}" in capsys.readouterr().err


def test_memory_is_predicted_and_refused(llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = read_config(Checkpoint(llama_folder))
    small, longer, wider = (training_bytes(config, *sizes) for sizes in ((500, 384, 1), (2000, 384, 1), (500, 384, 2)))
    # Keys and values of 1500 tokens more; rows and logits of one more thread.
    assert longer - small == 1500 * config.layers * 7 * config.heads * config.head_dim * product_type().itemsize
    assert wider - small > 24 * prompt_tokens.LOGIT_ROWS * 384
    monkeypatch.setattr(prompt_tokens, "available_memory_bytes", lambda: 1 << 20)
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(json.dumps({"text": f"The fox number {n} jumps over the dog."}) for n in range(9)))
    arguments = {"model": str(llama_folder), "data": data, "generate": None, "minutes": 0.1, "threads": 1}
    request = making.TrainRequest(**arguments, blocks=1, fusion="eagle", out=tmp_path / "set", kind="prompt-tokens")
    with pytest.raises(InvalidOption, match=r"takes .* GB of memory and 0\.001 GB are free"):
        making.run(request, io.StringIO())
    assert not (tmp_path / "set").exists()


def test_each_thread_has_at_least_a_whole_text_in_memory(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step has 160 tokens, but no part of a text."""
    asked: list[int] = []

    def refuse(config: ModelConfig, tokens: int, vocabulary_size: int, threads: int) -> None:
        asked.append(tokens)
        raise InvalidOption("no memory")

    monkeypatch.setattr(making, "check_memory", refuse)
    monkeypatch.setattr(making, "_LONGEST", 100)
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(json.dumps({"text": f"The fox {n} jumps over the dog. " * 50}) for n in range(3)))
    arguments = {"model": str(llama_folder), "data": data, "generate": None, "minutes": 0.1, "threads": 3}
    request = making.TrainRequest(**arguments, blocks=1, fusion="eagle", out=tmp_path / "set", kind="prompt-tokens")
    with pytest.raises(InvalidOption, match="no memory"):
        making.run(request, io.StringIO())
    assert asked == [300]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 0}, "There are 0 prompt tokens, but there must be between 1 and 16"),
        ({"members": 32}, "has 32 embeddings, but it must have between 1 and 31"),
        ({}, "There is no text to learn from"),
    ],
)
def test_bad_requests_are_refused(llama_folder: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"text": "a"}))  # too short to insert into
    request = making.TrainRequest(
        model=str(llama_folder), data=data, generate=None, minutes=0.1, blocks=1, fusion="eagle",
        out=tmp_path / "set", kind="prompt-tokens", **changes,
    )  # fmt: skip
    with pytest.raises(InvalidOption, match=message):
        making.run(request, io.StringIO())
