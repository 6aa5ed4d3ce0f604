"""Choice of the GPU, and its 16-bit numbers; each library of torch's is a stand-in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import torch

from engine.messages import Attachment, ChatMessage, ModelLoaded
from engine.placement.device import half_type
from engine.planning import hardware
from engine.planning.hardware import find_gpu, free_device_bytes, held_device_bytes, own_memory
from tests.support.engine_client import EngineClient


def _with(monkeypatch: pytest.MonkeyPatch, *present: str) -> None:
    for name, module in (("cuda", torch.cuda), ("xpu", torch.xpu), ("mps", torch.backends.mps)):
        monkeypatch.setattr(module, "is_available", lambda there=name in present: there)


@pytest.mark.parametrize(
    ("present", "taken"),
    [((), None), (("mps",), "mps:0"), (("xpu", "mps"), "xpu:0"), (("cuda", "xpu", "mps"), "cuda:0")],
)
def test_the_first_gpu_that_torch_can_use_is_taken(
    monkeypatch: pytest.MonkeyPatch, present: tuple[str, ...], taken: str | None
) -> None:
    _with(monkeypatch, *present)
    found = find_gpu()
    assert (None if found is None else str(found)) == taken


def test_each_kind_of_gpu_is_asked_for_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (3, 10))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 4)
    monkeypatch.setattr(torch.xpu, "mem_get_info", lambda device: (5, 10))
    monkeypatch.setattr(torch.xpu, "memory_reserved", lambda device: 6)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 10)
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: 12)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 8)
    devices = [torch.device(kind, 0) for kind in ("cuda", "xpu", "mps")]
    assert [free_device_bytes(device) for device in devices] == [3, 5, 0]
    assert [held_device_bytes(device) for device in devices] == [4, 6, 8]


@pytest.mark.parametrize("fast", [True, False])
def test_sixteen_bits_are_bfloat16_where_the_gpu_computes_fast_in_it(
    monkeypatch: pytest.MonkeyPatch, fast: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: fast)
    assert half_type(torch.device("cuda", 0)) == (torch.bfloat16 if fast else torch.float16)
    assert half_type(torch.device("xpu", 0)) == torch.bfloat16
    assert half_type(torch.device("mps", 0)) == torch.float16


def test_the_peak_is_no_less_than_what_is_resident_now() -> None:
    memory = own_memory()
    assert memory.resident_peak_bytes >= memory.resident_bytes > 10_000_000


def test_a_budget_is_for_the_processes_that_prepare_requests_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "_documents", False)
    own = psutil.Process().memory_info().rss
    assert hardware.process_bytes() - own == pytest.approx(hardware.PREPARERS_BYTES, abs=8 << 20)


def test_the_encoder_counts_while_documents_are_attached(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "_documents", False)
    plain = ChatMessage("user", "abc")
    question = replace(plain, attachments=(Attachment("notes.txt", 3, "abc"),))

    def counted(message: ChatMessage, context: int = 128) -> int:
        client.answer([message], llama_folder, context=context, max_tokens=1)
        return hardware.preparers_bytes() - hardware.PREPARERS_BYTES

    def without_model() -> int:
        places = client.seen(ModelLoaded)[-1].report.places
        return sum(share.size_bytes for share in places[-1].shares if share.use == "engine")

    assert counted(plain) == 0
    assert counted(question) == counted(plain) == hardware.ENCODER_BYTES  # as long as the model stays
    assert counted(plain, context=64) == 0
    before = without_model()
    assert counted(question, context=100) == hardware.ENCODER_BYTES
    assert without_model() - before > hardware.ENCODER_BYTES // 2
