"""Experts from the disk: the resident model bit for bit, and of experts only those read that a row has chosen."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Kind

from engine.errors import WeightsUnreadable
from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder, RowRuns, TextRows
from engine.model.footprint import expert_sizes
from engine.model.mixture import Experts, Repeats
from engine.model.packed_loader import load_packed
from engine.model.weight_format import WeightFormat, stored_format, weight_format
from engine.placement import StreamedExpertsPlan
from engine.placement.plan import Room, Sizes
from engine.placement.resident import Resident
from engine.placement.streamed_experts import LANDINGS, StreamedExperts
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFile
from tests.support.checkpoints import VARIANTS as CHECKPOINTS
from tests.support.checkpoints import all_experts, reference_model, write_checkpoint
from tests.support.fast_cases import covering, families
from tests.support.gguf_files import write_gguf
from tests.support.streams import (
    PROMPT,
    cancel_anywhere,
    delay_reads,
    outputs,
    poison_what_is_let_go,
    resident_decoder,
    same,
    streamed_experts_decoder,
)

EXPERTS, CHOSEN, LAYERS = 8, 2, 3
VARIANTS = sorted(variant for variant in CHECKPOINTS if all_experts(variant))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(
        tmp_path_factory.mktemp("mixture") / "model",
        "qwen3-moe",
        num_hidden_layers=LAYERS,
        num_experts=EXPERTS,
        num_experts_per_tok=CHOSEN,
        mlp_only_layers=[],
    )


@pytest.fixture(autouse=True)
def _poison(monkeypatch: pytest.MonkeyPatch) -> None:
    poison_what_is_let_go(monkeypatch)


@contextlib.contextmanager
def streamed(folder: Path, format_: WeightFormat, kept: int) -> Iterator[tuple[Decoder, StreamedExperts]]:
    decoder = streamed_experts_decoder(folder, format_, kept)
    assert isinstance(decoder.source, StreamedExperts)
    yield decoder, decoder.source
    decoder.source.release()


@pytest.mark.parametrize("variant", families(VARIANTS))
@pytest.mark.parametrize("name", ["fp32", "bf16", "q8_0"])
def test_experts_from_the_disk_compute_what_resident_ones_do(
    variant: str, name: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, format_ = Path(shutil.copytree(checkpoint_of(variant), tmp_path / "model")), weight_format(name)
    expected = list(outputs(resident_decoder(folder, format_)))
    assert not any(logits.isnan().any() for logits in expected)
    for kept in (0, 1, 3):
        with streamed(folder, format_, kept) as (decoder, _):
            assert same(decoder, expected), kept


@pytest.mark.parametrize(("kind", "parts"), covering([Kind.Q4_K, Kind.MXFP4, Kind.F32], [0, 7], together=1))
def test_experts_of_a_gguf_file_are_read_as_they_are(kind: Kind, parts: int, tmp_path: Path) -> None:
    sizes = {"hidden_size": 256, "intermediate_size": 256, "moe_intermediate_size": 256, "head_dim": 64}
    model = reference_model("qwen3-moe", num_hidden_layers=LAYERS, **sizes)
    write_gguf(model, tmp_path / "model.gguf", kind, split_max_tensors=parts)
    before = sorted(tmp_path.iterdir())
    config = read_config(Checkpoint(tmp_path))
    format_ = weight_format("fp32") if kind == Kind.F32 else stored_format(config)
    expected = list(outputs(resident_decoder(tmp_path, format_)))
    for kept in (0, 2):
        with streamed(tmp_path, format_, kept) as (decoder, _):
            assert same(decoder, expected)
    assert sorted(tmp_path.iterdir()) == before


def test_a_prompt_in_runs_reads_each_expert_once(folder: Path) -> None:
    expected = resident_decoder(folder, weight_format("q8_0"))
    positions = torch.arange(len(PROMPT))
    wanted = expected.forward(PROMPT, positions, expected.new_cache(64)).logits
    with streamed(folder, weight_format("q8_0"), 0) as (decoder, source):
        runs = RowRuns(4)
        found = decoder.forward(PROMPT, positions, decoder.new_cache(64), row_runs=runs).logits
        assert torch.equal(found, wanted)
        assert source.disk_read_bytes <= source.streamed_bytes * EXPERTS / CHOSEN


class Choices:
    """Logs which experts rows choose, by layer."""

    def __init__(self, decoder: Decoder) -> None:
        self.chosen: list[list[int]] = []
        for index in range(decoder.config.layers):
            experts = decoder.source.layer(index).experts
            assert isinstance(experts, Experts)
            assert experts.bring is not None
            object.__setattr__(experts, "bring", self._logged(experts.bring))

    def _logged(self, bring: Callable[..., object]) -> Callable[..., object]:
        def logged(chosen: list[int]) -> object:
            self.chosen.append(chosen)
            return bring(chosen)

        return logged


@pytest.mark.parametrize("name", ["fp32", "q8_0"])
@pytest.mark.parametrize("kept", [0, CHOSEN, 5])
def test_a_token_reads_the_experts_that_it_chose_and_that_are_not_there(name: str, kept: int, folder: Path) -> None:
    with streamed(folder, weight_format(name), kept) as (decoder, source):
        choices, cache = Choices(decoder), decoder.new_cache(64)
        each = source._room.expert_bytes
        there: list[list[int]] = [[] for _ in range(LAYERS)]
        for position in range(20):
            before, wanted = source.disk_read_bytes, 0
            decoder.forward(PROMPT[position : position + 1], torch.tensor([position]), cache)
            cache.commit([0])
            assert [len(chosen) for chosen in choices.chosen] == [CHOSEN] * LAYERS
            for layer, chosen in enumerate(choices.chosen):
                wanted += sum(each[layer][one] for one in chosen if one not in there[layer])
                last = [*(one for one in there[layer] if one not in chosen), *reversed(chosen)]
                there[layer] = last[-kept:] if kept else []
            choices.chosen.clear()
            assert source.disk_read_bytes - before == wanted


def test_a_forward_that_was_cancelled_anywhere_leaves_the_next_one_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    format_ = weight_format("q8_0")
    expected = list(outputs(resident_decoder(folder, format_)))
    delay_reads(monkeypatch, 2, 0.002)
    with streamed(folder, format_, 2) as (decoder, _):
        cancel_anywhere(decoder, 20, 40)
        assert same(decoder, expected)


def test_a_draft_may_compute_while_experts_come(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes scratch memory of its own, so that the half layer that waits keeps its."""
    expected = list(outputs(resident_decoder(folder, weight_format("q8_0"))))
    delay_reads(monkeypatch, 4, 0.01)
    draft = resident_decoder(folder, weight_format("q8_0"))
    cache, calls = draft.new_cache(64), 0

    def work() -> bool:
        nonlocal calls
        calls += 1
        draft.forward(PROMPT, torch.arange(len(PROMPT)), cache)
        return True

    with streamed(folder, weight_format("q8_0"), 0) as (decoder, source):
        found = decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64), on_wait=work).logits
        assert torch.equal(found, expected[0])
        assert calls > 1
        assert source.waited_s > 0


def test_a_file_that_is_cut_ends_the_reply_in_a_sentence(tmp_path: Path) -> None:
    write_gguf(reference_model("qwen3-moe"), tmp_path / "model.gguf", Kind.Q8_0)
    format_ = stored_format(read_config(Checkpoint(tmp_path)))
    with streamed(tmp_path, format_, 0) as (decoder, _):
        decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))
        (tmp_path / "model.gguf").write_bytes((tmp_path / "model.gguf").read_bytes()[:9000])
        with pytest.raises(WeightsUnreadable, match=r"model\.gguf was changed|could not be read"):
            decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))


def _use_all(folder: Path, format_: WeightFormat) -> None:
    with streamed(folder, format_, 1) as (_, source):
        for layer in range(LAYERS):
            source._room.bring(layer, range(EXPERTS))


def test_damage_is_found_before_it_is_used_and_the_file_is_made_anew(folder: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "model"))
    format_ = weight_format("q8_0")
    with streamed(own, format_, 1):
        pass
    path, digest = own / "tenon-q8_0.packed", Checkpoint(own).digest()
    for name in ("model.layers.1.self_attn.q_proj.weight", "model.layers.2.mlp.experts.3.up_proj.weight"):
        section = PackedFile(path, digest, "q8_0").sections[name]
        with path.open("r+b") as file:
            file.seek(section.offset + section.size_bytes // 3)
            file.write(b"\x55\xaa\x55")
        with pytest.raises(WeightsUnreadable, match="is damaged"):
            _use_all(own, format_)
        with streamed(own, format_, 1) as (decoder, _):
            assert same(decoder, list(outputs(resident_decoder(own, format_))))


@pytest.mark.parametrize("name", ["fp32", "q8_0"])
def test_choices_that_repeat_are_counted(name: str, folder: Path) -> None:
    with streamed(folder, weight_format(name), 3) as (decoder, source):
        choices, cache = Choices(decoder), decoder.new_cache(64)
        assert source.repeats.take() is None
        decoder.forward(PROMPT[:12], torch.arange(12), cache)
        cache.commit(range(12))
        pairs = []
        for chosen in choices.chosen:
            assert len(chosen) == 12 * CHOSEN
            rows = [{*chosen[first : first + CHOSEN]} for first in range(0, len(chosen), CHOSEN)]
            pairs += [len(one & other) / CHOSEN for one, other in pairwise(rows)]
        assert source.repeats.take() == pytest.approx(sum(pairs) / len(pairs))
        choices.chosen.clear()
        for position in (12, 13):
            decoder.forward(PROMPT[position : position + 1], torch.tensor([position]), cache)
            cache.commit([0])
        first, second = choices.chosen[:LAYERS], choices.chosen[LAYERS:]
        shares = [len({*one} & {*two}) / CHOSEN for one, two in zip(first, second, strict=True)]
        assert source.repeats.take() == pytest.approx(sum(shares) / LAYERS)
        source.measure_disk()  # which nobody chose
        assert source.repeats.take() is None


@pytest.mark.skipif(library.available() is None, reason=library.reason())
def test_the_kernel_library_counts_the_choices_of_a_model_in_memory(folder: Path) -> None:
    checkpoint, format_ = Checkpoint(folder), weight_format("q8_0")
    config, repeats = read_config(checkpoint), Repeats(LAYERS, CHOSEN)
    whole = Decoder(config, Resident(load_packed(checkpoint, config, format_), repeats))
    with streamed(folder, format_, 3) as (decoder, source):
        caches = [each.new_cache(64) for each in (decoder, whole)]
        for first, last in ((0, 12), (12, 13), (13, 14), (14, 17), (17, 18)):
            for each, cache in zip((decoder, whole), caches, strict=True):
                each.forward(PROMPT[first:last], torch.arange(first, last), cache)
                cache.commit(range(last - first))
            assert torch.equal(repeats.counts[:, :3], source.repeats.counts[:, :3])
    pairs = 11 + 1 + 2  # nobody compares a row alone with several before it
    assert repeats.counts[:, 0].tolist() == [pairs * CHOSEN] * LAYERS
    assert 0 < int(repeats.counts[:, 1].sum()) < pairs * CHOSEN * LAYERS
    before = repeats.counts.clone()
    branches = torch.eye(2, dtype=torch.bool)
    whole.forward(PROMPT[18:20], torch.tensor([18, 18]), caches[1], branches)  # neither follows the other
    rows = PROMPT[:2], torch.arange(2)
    whole.forward_together([TextRows(*rows, whole.new_cache(8)) for _ in range(2)])  # nor is one text the other's
    assert torch.equal(repeats.counts[:, :2], before[:, :2])


@pytest.mark.parametrize("name", ["fp32", "q8_0"])
def test_it_takes_the_memory_that_was_planned(name: str, folder: Path) -> None:
    config, format_ = read_config(Checkpoint(folder)), weight_format(name)
    sizes = Sizes(config, format_, 64)
    for kept in (0, 3, EXPERTS - 1):
        plan = StreamedExpertsPlan.of(sizes, kept)
        host = plan.host(sizes)
        with streamed(folder, format_, kept) as (_, source):
            assert source.bytes_by_device["cpu"] == pytest.approx(
                host.weights + host.buffers, rel=0.02, abs=LANDINGS * 60_000
            )


def test_as_many_experts_stay_as_fit(folder: Path) -> None:
    sizes = Sizes(read_config(Checkpoint(folder)), weight_format("q8_0"), 64)
    found = []
    for kept in range(EXPERTS):
        needed = StreamedExpertsPlan.of(sizes, kept).host(sizes).total
        exact, short = (StreamedExpertsPlan.fit(sizes, Room(room), LAYERS) for room in (needed, needed - 16))
        assert exact == StreamedExpertsPlan.of(sizes, kept)
        assert short == (StreamedExpertsPlan.of(sizes, kept - 1) if kept else None)
        found.append(exact.read_bytes(sizes, 1))
    one_of_each = sum(expert_sizes(sizes.config, sizes.weights))
    assert found == sorted(found, reverse=True)
    assert found[0] / found[4] == pytest.approx(2.0, rel=0.01)  # half of the experts are there
    # All but one of each layer are there.
    assert exact.read_bytes(sizes, 1000) == pytest.approx(one_of_each, rel=0.01)
