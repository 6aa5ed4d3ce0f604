"""A streamed model is the resident one bit for bit, whatever the disk does and wherever a forward is cancelled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Kind

from engine.errors import WeightsUnreadable
from engine.kernels import library
from engine.model.config import read_config
from engine.model.fused_layer import FusedLayer
from engine.model.weight_format import (
    DENSE_BF16,
    FORMAT_NAMES,
    WeightFormat,
    stored_format,
    weight_format,
)
from engine.placement.plan import spread
from engine.placement.streamed import Streamed
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFile
from tests.support.checkpoints import VARIANTS, reference_model, write_checkpoint
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
    streamed_decoder,
)

LAYERS = 5
FORMATS = [*(weight_format(name) for name in FORMAT_NAMES)]
if library.available() is not None:
    FORMATS.append(DENSE_BF16)
NAMES = [f"{one.name}{'' if one.packed else '-dense'}" for one in FORMATS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("deep") / "model", num_hidden_layers=LAYERS)


@pytest.fixture(autouse=True)
def _poison(monkeypatch: pytest.MonkeyPatch) -> None:
    poison_what_is_let_go(monkeypatch)


@pytest.mark.parametrize("format_", FORMATS, ids=NAMES)
def test_streamed_is_resident_bit_for_bit(format_: WeightFormat, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list(outputs(resident_decoder(folder, format_)))
    assert not any(logits.isnan().any() for logits in expected)
    delay_reads(monkeypatch, 1, 0.002)
    for pinned, buffers in ((0, 2), (2, 2), (1, 3), (LAYERS - 1, 2), (0, 9)):
        decoder = streamed_decoder(folder, format_, pinned, buffers)
        assert same(decoder, expected), (pinned, buffers)
        source = decoder.source
        assert isinstance(source, Streamed)
        source.release()


@pytest.mark.parametrize("variant", families(VARIANTS))
@pytest.mark.parametrize("format_", [weight_format("fp32"), weight_format("q8_0")], ids=lambda one: one.name)
def test_every_part_of_a_layer_is_streamed(
    variant: str, format_: WeightFormat, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint_of(variant), tmp_path / "model"))
    expected = list(outputs(resident_decoder(folder, format_)))
    decoder = streamed_decoder(folder, format_, 0, 2)
    assert same(decoder, expected)
    decoder.source.release()  # type: ignore[attr-defined]


def test_a_forward_that_was_cancelled_anywhere_leaves_the_next_one_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    format_ = weight_format("q8_0")
    expected = list(outputs(resident_decoder(folder, format_)))
    delay_reads(monkeypatch, 2, 0.002)
    decoder = streamed_decoder(folder, format_, 1, 2)
    cancel_anywhere(decoder, 12, 30)
    assert same(decoder, expected)
    decoder.source.release()  # type: ignore[attr-defined]


def test_work_goes_on_while_a_layer_is_on_its_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delay_reads(monkeypatch, 4, 0.02)
    decoder = streamed_decoder(folder, weight_format("fp32"), 0, 2)
    calls = 0

    def work() -> bool:
        nonlocal calls
        calls += 1
        return calls % 2 == 0

    for _ in range(3):
        decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64), on_wait=work)
    assert calls > 5
    assert decoder.source.waited_s > 0
    decoder.source.release()  # type: ignore[attr-defined]


def test_a_layer_that_stays_is_read_once_and_the_others_once_a_forward(folder: Path) -> None:
    decoder = streamed_decoder(folder, weight_format("fp32"), 3, 2)
    source = decoder.source
    assert isinstance(source, Streamed)
    source.measure_disk()
    before = source.disk_read_bytes
    for _ in range(4):
        decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))
    source.measure_disk()
    # The ring was full before, and is full again.
    assert source.disk_read_bytes - before == 4 * source.streamed_bytes
    source.release()


def test_layers_that_stay_are_spread_and_the_last_is_one_of_them() -> None:
    assert spread(6, 0) == set()
    assert spread(6, 6) == set(range(6))
    assert spread(6, 3) == {1, 3, 5}
    assert spread(24, 1) == {23}
    for layers in (5, 24, 80):
        for count in range(1, layers):
            kept = sorted(spread(layers, count))
            assert len(kept) == count
            assert kept[-1] == layers - 1
            gaps = [after - before for before, after in zip([-1, *kept[:-1]], kept, strict=True)]
            assert max(gaps) - min(gaps) <= 1


@pytest.mark.skipif(library.available() is None, reason=library.reason())
def test_what_the_kernels_need_of_a_layer_is_made_once_for_each_layer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    made_of = FusedLayer.made_of

    def counted(*arguments: object) -> FusedLayer | None:
        nonlocal made
        made += 1
        return made_of(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(FusedLayer, "made_of", counted)
    decoder = streamed_decoder(folder, weight_format("q8_0"), 0, 2)
    for _ in range(6):
        decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))
    assert made == LAYERS
    decoder.source.release()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["lm_head.weight", "model.layers.4.mlp.up_proj.weight"])
def test_damage_in_what_stays_is_found_before_it_is_used(name: str, folder: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "model"))
    streamed_decoder(own, weight_format("q8_0"), 1, 2).source.release()  # type: ignore[attr-defined]
    path, digest = own / "tenon-q8_0.packed", Checkpoint(own).digest()
    section = PackedFile(path, digest, "q8_0").sections[name]
    with path.open("r+b") as file:
        file.seek(section.offset + section.size_bytes // 3)
        file.write(b"\x55\xaa\x55")
    with pytest.raises(WeightsUnreadable, match="is damaged"):
        streamed_decoder(own, weight_format("q8_0"), 1, 2)
    expected = list(outputs(resident_decoder(own, weight_format("q8_0"))))
    again = streamed_decoder(own, weight_format("q8_0"), 1, 2)
    assert same(again, expected)
    again.source.release()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("variant", "parts", "kind"),
    covering(["llama", "qwen3-moe"], [0, 7], [Kind.Q4_0, Kind.Q4_K, Kind.F16, Kind.F32], together=1),
)
def test_a_gguf_file_is_streamed_as_it_is(kind: Kind, parts: int, variant: str, tmp_path: Path) -> None:
    """Its layers lie anywhere in it, or in several files; nothing is written beside it."""
    own = {"moe_intermediate_size": 256, "head_dim": 64} if variant == "qwen3-moe" else {}
    model = reference_model(variant, hidden_size=256, intermediate_size=256, num_hidden_layers=LAYERS, **own)
    write_gguf(model, tmp_path / "model.gguf", kind, split_max_tensors=parts)
    before = sorted(tmp_path.iterdir())
    config = read_config(Checkpoint(tmp_path))
    format_ = weight_format("fp32") if kind == Kind.F32 else stored_format(config)
    expected = list(outputs(resident_decoder(tmp_path, format_)))
    for pinned in (0, 2):
        decoder = streamed_decoder(tmp_path, format_, pinned, 2)
        assert same(decoder, expected)
        decoder.source.release()  # type: ignore[attr-defined]
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_is_changed_while_it_streams_ends_the_reply(tmp_path: Path) -> None:
    write_gguf(reference_model("qwen2", num_hidden_layers=LAYERS), tmp_path / "model.gguf", Kind.Q8_0)
    decoder = streamed_decoder(tmp_path, stored_format(read_config(Checkpoint(tmp_path))), 0, 2)
    decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))
    (tmp_path / "model.gguf").write_bytes((tmp_path / "model.gguf").read_bytes()[:-5000])
    with pytest.raises(WeightsUnreadable, match=r"model\.gguf was changed while it was in use"):
        decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))
    decoder.source.release()  # type: ignore[attr-defined]
