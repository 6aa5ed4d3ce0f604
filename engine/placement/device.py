"""A device beside the host: the way to it, layers and copies on that way, and what it raises when it fails.

Packed matrices stay packed, dense ones take the device's type, and gains of norms stay float32.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from engine.errors import OutOfMemory
from engine.graphics.adapters import DEVICE, rests
from engine.model.layer import LayerWeights
from engine.model.linear import DequantizedLinear, JoinedLinear, Linear, LinearMap, Norm, PackedLinear, joined
from engine.model.mixture import Experts
from engine.sentences import figure
from engine.weights.direct_reader import PageMemory

_PORTABLE = 1  # cudaHostRegisterPortable

Mark = Any
"""A moment in the work of the device: a copy that is done, or everything computed so far."""


def layer_tensors(layer: LayerWeights, dtype: torch.dtype) -> Iterator[Tensor]:
    """Yield every tensor of a layer in the type that it has on the device, one after the other."""
    for part in layer.parts():
        yield from part_tensors(part, dtype)


def part_tensors(part: Norm | LinearMap | Experts | Tensor, dtype: torch.dtype) -> Iterator[Tensor]:
    """Yield every tensor of one norm, matrix or vector, or of the experts, in the device's type."""
    if isinstance(part, Tensor):
        yield part
        return
    if isinstance(part, Experts):
        for matrix in part.matrices:
            yield from part_tensors(matrix, dtype)
        yield from (vector for vector in part.vectors if vector is not None)
        return
    for one in part.parts if isinstance(part, JoinedLinear) else (part,):
        if isinstance(one, Norm):
            yield one.gain
            continue
        assert isinstance(one, Linear | PackedLinear | DequantizedLinear), "a matrix that can be moved"
        yield one.weight.to(dtype) if isinstance(one, Linear) else one.matrix.data
        if one.bias is not None:
            yield one.bias.to(dtype)


def device_layer(layer: LayerWeights, tensors: Iterator[Tensor]) -> LayerWeights:
    """Return the layer made of copies of its `layer_tensors`, in the same order."""
    parts: dict[str, Any] = {field.name: getattr(layer, field.name) for field in fields(layer)}
    # In the order of `LayerWeights.parts`, which is that of the fields.
    for name, part in parts.items():
        parts[name] = None if part is None else device_part(part, tensors)
    return LayerWeights(**parts)


def device_part(part: Any, tensors: Iterator[Tensor]) -> Any:
    """Return one norm, matrix or vector, or the experts, made of copies of its `part_tensors`."""
    if isinstance(part, Tensor):
        return next(tensors)
    if isinstance(part, Experts):
        router, *rest = (device_part(matrix, tensors) for matrix in part.matrices)
        others = part.shared_gate, part.latent_in, part.latent_out
        shared_gate, latent_in, latent_out = (None if one is None else rest.pop(0) for one in others)
        own = len(part.gate_up)
        correction, scale = (None if vector is None else next(tensors) for vector in part.vectors)
        up, down = tuple(rest[:own]), tuple(rest[own:])
        return Experts(router, up, down, shared_gate, correction, scale, latent_in=latent_in, latent_out=latent_out)
    if isinstance(part, JoinedLinear):
        return joined([device_part(one, tensors) for one in part.parts])
    first = next(tensors)
    if isinstance(part, Norm):
        return part.elsewhere(first)
    assert isinstance(part, Linear | PackedLinear | DequantizedLinear), "a matrix that can be moved"
    bias = None if part.bias is None else next(tensors)
    if isinstance(part, Linear):
        return Linear(first, bias)
    matrix = part.matrix
    turned, factor = matrix.rotation, matrix.factor
    turned = None if turned is None else turned.to(first.device)
    factor = None if factor is None else factor.to(first.device)
    return DequantizedLinear(replace(matrix, data=first, rotation=turned, factor=factor), bias)


def half_type(device: torch.device) -> torch.dtype:
    """Return the 16-bit type in which a GPU computes fast."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.float16
    return torch.float16 if device.type == "mps" else torch.bfloat16


class Link:
    """The way between the host and one device: all data that crosses takes it and is counted.

    Args:
        device: The far end; the host itself makes a link that nothing has to cross.
    """

    shared = False
    """True if both ends see one memory, so that what is in `empty` memory never crosses."""

    def __init__(self, device: torch.device) -> None:
        self.device = device  # the far end
        self.to_device_bytes = 0  # bytes that crossed from the host
        self.to_host_bytes = 0  # bytes that crossed back

    def to_device(self, tensor: Tensor) -> Tensor:
        """Return the tensor in the device's memory; one that is there already does not cross."""
        if tensor.device == self.device:
            return tensor
        self.to_device_bytes += tensor.nbytes
        return tensor.to(self.device)

    def to_host(self, tensor: Tensor) -> Tensor:
        """Return the tensor in the host's memory; one that is there already does not cross."""
        if tensor.device.type == "cpu":
            return tensor
        self.to_host_bytes += tensor.nbytes
        return tensor.cpu()

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Return memory of the host that both ends write parts of."""
        return torch.empty(shape, dtype=dtype)

    def fetch(self, far: Tensor, part: Tensor) -> None:
        """Bring the device's results into a part of `empty` memory, and wait for them."""
        part.copy_(self.to_host(far))


class SharedLink(Link):
    """A link within one memory, to a CUDA device: pinned memory of the host is the device's under the same address.

    Torch has no call for it, but takes memory of others by the CUDA array interface
    (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html) and asks the driver whose it is, which
    for pinned memory is the device. Rows that are in memory of another kind are written into pinned memory once.
    """

    shared = True

    def to_device(self, tensor: Tensor) -> Tensor:
        """Return the device's view of the tensor."""
        if tensor.device == self.device:
            return tensor
        return self._seen(tensor if tensor.is_pinned() else tensor.contiguous().pin_memory())

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        return torch.empty(shape, dtype=dtype, pin_memory=True)

    def fetch(self, far: Tensor, part: Tensor) -> None:
        """Let the device write its results there, and wait for them."""
        self._seen(part).copy_(far)
        torch.cuda.current_stream(self.device).synchronize()

    def _seen(self, tensor: Tensor) -> Tensor:
        whole = torch.as_tensor(_Bytes(tensor), device=self.device).view(tensor.dtype)
        return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


@dataclass(frozen=True)
class _Bytes:
    """Memory of a tensor as others may take it; held by who does."""

    tensor: Tensor

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        storage = self.tensor.untyped_storage()
        return {
            "version": 2,
            "shape": (storage.nbytes(),),
            "typestr": "|u1",
            "data": (storage.data_ptr(), False),
        }


def is_full(error: BaseException) -> bool:
    """Return whether memory was short, as torch says it: of its own allocators, of the driver, or of cuBLAS."""
    said = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in said or "alloc_failed" in said


def first_line(error: Exception) -> str:
    """Return the reason that torch gives, without the advice to developers after it."""
    return str(error).strip().partition("\n")[0][:120]


def answers(device: torch.device) -> bool:
    """Return whether a device computes, or would if it had memory.

    A GPU that was lost, one on which a kernel has failed in this process, and one for which this torch has no
    kernels raise at every call. A chip of `engine.graphics` rests after a failure.
    """
    if device.type == DEVICE:
        return not rests(str(device))
    try:
        return float(torch.ones(1, device=device) + 1) == 2.0
    except RuntimeError as error:
        return is_full(error)


class Copies:
    """Copies of layers to a device. Without streams they are done when they have begun."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def host_buffer(self, size_bytes: int) -> Tensor:
        """Return (size,) uint8 in the host's memory, from which copies are fast."""
        return torch.empty(size_bytes, dtype=torch.uint8)

    def device_buffer(self, size_bytes: int) -> Tensor:
        """Return (size,) uint8 in the device's memory."""
        return torch.empty(size_bytes, dtype=torch.uint8, device=self._device)

    def computed(self) -> Mark:
        """Return a mark of the moment at which everything asked for until now is computed."""
        return None

    def start(self, target: Tensor, source: Tensor, after: Mark) -> Mark:
        """Begin to copy once ``after`` is reached, after the copies begun before; return a mark of its end."""
        target.copy_(source)

    def wait(self, done: Mark) -> None:
        """Let everything computed from now on wait for a copy."""

    def finish(self) -> None:
        """Wait here for every copy that was begun."""


class StreamCopies(Copies):
    """Copies on a second stream of a CUDA or XPU device, with events in both directions; nothing waits on the host."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self._module: Any = torch.get_device_module(device)
        self._stream = self._module.Stream(device)

    def host_buffer(self, size_bytes: int) -> Tensor:
        """Return pinned memory, which the device reads without the processor's help.

        Raises:
            OutOfMemory: The system pins no more.
        """
        try:
            if self._device.type == "cuda":
                return _registered(size_bytes)
            return torch.empty(size_bytes, dtype=torch.uint8, pin_memory=True)
        except RuntimeError as error:
            answers(self._device)  # CUDA would raise the error again at the next kernel
            raise OutOfMemory(
                "The system does not let Tenon pin {size_bytes} MB more of the host's memory for "
                "copies to the GPU: raise the limit (ulimit -l), or choose the mode offload.",
                size_bytes=figure(size_bytes / 1000000.0, ".3g"),
                details=str(error),
            ) from error

    def computed(self) -> Mark:
        """Return an event on the stream that computes."""
        return self._event(self._module.current_stream(self._device))

    def start(self, target: Tensor, source: Tensor, after: Mark) -> Mark:
        """Queue the copy on the second stream."""
        self._stream.wait_event(after)
        with self._module.stream(self._stream):
            target.copy_(source, non_blocking=True)
        return self._event(self._stream)

    def wait(self, done: Mark) -> None:
        """Queue the wait on the stream that computes."""
        self._module.current_stream(self._device).wait_event(done)

    def finish(self) -> None:
        self._stream.synchronize()

    def _event(self, stream: Any) -> Any:
        event = self._module.Event()
        event.record(stream)
        return event


def _registered(size_bytes: int) -> Tensor:
    """Return (size,) uint8 of the host's that a CUDA device reads without the processor's help.

    Torch's own pinned memory takes the next power of two of bytes. It records an event when it is freed, and after the
    device was lost that ends the process.

    Raises:
        RuntimeError: The system pins no more.
    """
    memory = PageMemory(size_bytes).tensor(0, size_bytes)
    runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    code = int(runtime.cudaHostRegister(memory.data_ptr(), size_bytes, _PORTABLE))
    if code:
        raise RuntimeError(f"cudaHostRegister gave {code}")
    weakref.finalize(memory, runtime.cudaHostUnregister, memory.data_ptr()).atexit = False
    return memory


def copies_to(device: torch.device) -> Copies:
    """Return copies to this device, on a stream of their own if it has streams."""
    return StreamCopies(device) if device.type in ("cuda", "xpu") else Copies(device)
