"""What torch raises of a device, and what it is told before one is used; each error is one that CUDA builds raise."""

from __future__ import annotations

import pytest
import torch

from engine.errors import OutOfMemory
from engine.placement.device import Copies, Link, StreamCopies, answers, is_full
from engine.placement.layer_offload import LayerOffload
from engine.planning.hardware import free_device_bytes, give_back_device_memory
from engine.planning.probes.graphics import read_gpus

CUDA = torch.device("cuda", 0)
LOST = torch.AcceleratorError("CUDA error: device-side assert triggered")
FULL = torch.AcceleratorError("CUDA error: out of memory")


def raises(error: Exception) -> object:
    def fail(*arguments: object, **options: object) -> object:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), True),
        (FULL, True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (LOST, False),
        (RuntimeError("CUDA error: no kernel image is available for execution on the device"), False),
    ],
)
def test_memory_that_ran_out_is_told_from_a_device_that_failed(error: Exception, full: bool) -> None:
    assert is_full(error) == full


def test_a_device_that_raises_does_not_answer_unless_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(torch.device("cpu"))
    monkeypatch.setattr(torch, "ones", raises(LOST))
    assert not answers(CUDA)
    monkeypatch.setattr(torch, "ones", raises(FULL))
    assert answers(CUDA)


def test_a_gpu_that_does_not_answer_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", raises(LOST))
    monkeypatch.setattr(torch, "ones", raises(LOST))
    assert read_gpus() == ()
    assert free_device_bytes(CUDA) == 0
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "empty_cache", raises(LOST))
    give_back_device_memory()


def test_attention_of_a_growing_text_is_not_planned_anew_for_each_token() -> None:
    assert not torch.backends.cuda.cudnn_sdp_enabled()


class Runtime:
    """CUDA's runtime, as far as it pins memory."""

    def __init__(self, code: int = 0) -> None:
        self.pinned: dict[int, int] = {}
        self._code = code

    def cudaHostRegister(self, address: int, size_bytes: int, flags: int) -> int:
        self.pinned[address] = size_bytes
        return self._code

    def cudaHostUnregister(self, address: int) -> int:
        del self.pinned[address]
        return 0


def copies_of(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> StreamCopies:
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: None)
    monkeypatch.setattr(torch.cuda, "cudart", lambda: runtime)
    return StreamCopies(CUDA)


def test_as_much_is_pinned_as_is_asked_for_and_as_long_as_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime = Runtime()
    buffers = [copies_of(runtime, monkeypatch).host_buffer(size) for size in (5000, 70_000)]
    assert runtime.pinned == {buffer.data_ptr(): buffer.nbytes for buffer in buffers}
    assert not any(buffer.data_ptr() % 4096 for buffer in buffers)
    buffers.pop().fill_(7)
    assert list(runtime.pinned.values()) == [5000]


def test_a_system_that_pins_no_more_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = copies_of(Runtime(code=2), monkeypatch)
    monkeypatch.setattr(torch, "ones", raises(FULL))
    with pytest.raises(OutOfMemory, match="ulimit -l") as raised:
        copies.host_buffer(5000)
    assert raised.value.details == "cudaHostRegister gave 2"


def test_a_lost_device_does_not_hold_on_to_the_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    layers = LayerOffload(raises(AssertionError()), 0, (), 2, torch.float32, Link(cpu), Copies(cpu))  # type: ignore[arg-type]
    layers._images = {0: torch.zeros(1)}
    monkeypatch.setattr(Copies, "finish", raises(LOST))
    with pytest.raises(torch.AcceleratorError):
        layers.release()
    assert layers.host_bytes == 0
