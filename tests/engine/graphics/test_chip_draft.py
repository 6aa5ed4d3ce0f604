"""A draft on a graphics chip: the text is the processor's, whatever becomes of the chip in mid-reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from engine.graphics import adapters
from engine.graphics.adapters import Chip, rests
from engine.graphics.decoder import ChipDecoder
from engine.graphics.layers import ChipLayers
from engine.messages import Finished, Notice
from engine.messages.machine import FormatSpeed, GpuSpeed, HostSpeed, Speeds
from engine.model.weight_format import MEASURED_NAMES
from engine.planning.profile import Profile
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client

PROMPT = "one two three four one two three four one two " * 3
TOKENS = 40
OPTIONS = {"weights": "fp32", "max_tokens": TOKENS, "context": 512}


def measured(monkeypatch: pytest.MonkeyPatch, times: float) -> None:
    """This machine was measured: the chip drafts so many times as fast as the processor."""
    host = HostSpeed(1e6, 1e-6, {name: FormatSpeed(1e6, 1e15, 0.0) for name in MEASURED_NAMES})
    chip = GpuSpeed(times * 1e6, 1e15, 0.0, 1e15, packed=True)
    speeds = Speeds("2026-11-30T12:00:00+00:00", host, {"vulkan:0": chip}, {})
    monkeypatch.setattr("engine.planning.hardware.kept_speeds", lambda report: speeds)
    monkeypatch.setattr("engine.planning.planner.read_profile", lambda path: Profile())


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target, and a draft of the same vocabulary that often guesses what it says."""
    folder = tmp_path_factory.mktemp("pair")
    target = write_checkpoint(folder / "target", "qwen3", num_hidden_layers=4)
    return target, write_checkpoint(folder / "draft", "qwen3", dtype=torch.bfloat16, num_hidden_layers=2)


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


@pytest.mark.parametrize("mode", ["dovetail", "llmcad", "minions"])
def test_the_text_is_the_processor_s(
    mode: str, client: EngineClient, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(monkeypatch, 10.0)
    target, draft = folders
    expected = client.answer(PROMPT, target, mode="plain", **OPTIONS).token_ids
    reply = client.answer(PROMPT, target, mode=mode, draft=draft, **OPTIONS)
    assert reply.token_ids == expected
    assert reply.devices == {"target": "cpu", "draft": "vulkan:0"}
    assert reply.memory.device_peak_bytes["vulkan:0"] > 0
    assert [one.text for one in client.seen(Notice) if "draft" in one.text] == []


def test_a_draft_that_is_the_model_is_always_right(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(monkeypatch, 10.0)
    folder = write_checkpoint(tmp_path / "one", "llama", dtype=torch.bfloat16)
    reply = client.answer(PROMPT, folder, mode="dovetail", draft=folder, **OPTIONS)
    assert reply.token_ids == client.answer(PROMPT, folder, mode="plain", **OPTIONS).token_ids
    assert reply.timings.acceptance_rate is not None
    assert reply.timings.acceptance_rate > 0.8


@pytest.mark.parametrize(
    ("times", "options", "adapters_there"), [(0.5, {}, True), (10.0, {"vram_budget_bytes": 0}, True), (10.0, {}, False)]
)
def test_a_chip_that_drafts_slower_or_is_not_to_be_used_is_left(
    times: float,
    options: dict[str, int],
    adapters_there: bool,
    client: EngineClient,
    folders: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured(monkeypatch, times)
    if not adapters_there:
        monkeypatch.delenv(adapters.SWITCH)
    reply = client.answer(PROMPT, folders[0], mode="dovetail", draft=folders[1], **OPTIONS, **options)
    assert reply.devices == {"target": "cpu", "draft": "cpu"}


def lost(patch: pytest.MonkeyPatch, chip: Chip) -> None:
    chip._device.destroy()


def full(patch: pytest.MonkeyPatch, chip: Chip) -> None:
    import wgpu

    def refuse(*steps: object) -> None:
        with chip._failing():
            raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

    patch.setattr(chip, "run", refuse)


def broken(patch: pytest.MonkeyPatch, chip: Chip) -> None:
    def write(layers: ChipLayers, name: str, content: torch.Tensor) -> None:
        chip.write(layers.rows[name], content * torch.nan if name == "x" else content)

    patch.setattr(ChipLayers, "write", write)


@pytest.mark.parametrize(
    ("harm", "said"), [(lost, "The draft stopped working"), (full, "The draft ran out of memory"), (broken, "damaged")]
)
def test_a_reply_goes_on_without_a_chip_that_fails(
    harm: Callable[[pytest.MonkeyPatch, Chip], None],
    said: str,
    client: EngineClient,
    folders: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adapters, "_opened", {})
    measured(monkeypatch, 10.0)
    target, draft = folders
    expected = client.answer(PROMPT, target, mode="plain", **OPTIONS).token_ids
    forward, calls = ChipDecoder.forward, 0

    def failing(decoder: ChipDecoder, *given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 7:
            harm(monkeypatch, decoder.chip)
        return forward(decoder, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(ChipDecoder, "forward", failing)
    reply = client.answer(PROMPT, target, mode="dovetail", draft=draft, **OPTIONS)
    assert reply.token_ids == expected
    assert calls == 7
    (notice,) = client.seen(Notice)
    assert said in notice.text
    assert "the reply goes on without it" in notice.text
    if harm is not broken:
        assert rests("vulkan:0")
        # It rests until the next start: the draft is on the processor.
        again = client.answer(PROMPT + "three", target, mode="dovetail", draft=draft, **OPTIONS)
        assert again.devices == {"target": "cpu", "draft": "cpu"}
        assert client.seen(Finished)


def test_a_chip_without_room_for_the_draft_leaves_it_to_the_processor(
    client: EngineClient, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(monkeypatch, 10.0)

    def refuse(chip: Chip, content: object) -> None:
        adapters.rest(chip.adapter.device)
        raise RuntimeError("out of memory: Not enough memory left")

    monkeypatch.setattr(Chip, "buffer", refuse)
    reply = client.answer(PROMPT, folders[0], mode="dovetail", draft=folders[1], **OPTIONS)
    assert reply.devices == {"target": "cpu", "draft": "cpu"}
    assert len(reply.token_ids) == TOKENS


OFFLOADED = {**OPTIONS, "weights": "bf16", "gpu_layers": 2}
PARTLY = "vulkan:0 (2 of 4 layers), cpu"


def test_layers_of_the_model_are_on_the_chip_beside_its_draft(
    client: EngineClient, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(monkeypatch, 10.0)
    alone = client.answer(PROMPT, folders[0], mode="offload", **OFFLOADED)
    assert alone.devices == {"target": PARTLY, "draft": None}
    assert len(alone.token_ids) == TOKENS
    assert ["may differ" in one.text for one in client.seen(Notice)] == [True]
    drafted = client.answer(PROMPT, folders[0], mode="dovetail", memory="gpu", draft=folders[1], **OFFLOADED)
    assert drafted.devices == {"target": PARTLY, "draft": "vulkan:0"}
    assert drafted.token_ids == alone.token_ids


@pytest.mark.parametrize("harm", [lost, full, broken])
@pytest.mark.parametrize("at", [1, 9])
def test_a_reply_goes_on_on_the_processor_if_the_chip_with_layers_fails(
    at: int,
    harm: Callable[[pytest.MonkeyPatch, Chip], None],
    client: EngineClient,
    folders: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adapters, "_opened", {})
    measured(monkeypatch, 10.0)
    expected = client.answer(PROMPT, folders[0], mode="plain", **{**OFFLOADED, "gpu_layers": 0}).token_ids
    forward, calls = ChipLayers.forward, 0

    def failing(layers: ChipLayers, *given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at:
            harm(monkeypatch, layers.chip)
        return forward(layers, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ChipLayers, "forward", failing)
    reply = client.answer(PROMPT, folders[0], mode="offload", **OFFLOADED)
    assert calls == at
    assert len(reply.token_ids) == TOKENS
    if at == 1:  # the processor computes all of the text
        assert reply.token_ids == expected
    *_, notice = client.seen(Notice)
    assert "move to the CPU and the reply goes on there" in notice.text
    assert rests("vulkan:0")
