"""The way between the host's memory and a device's, which may be one memory."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


class Link:
    """Everything that crosses between the host and one device goes through its link and is counted there.

    Args:
        device: The far end; the host itself makes a link that nothing has to cross.

    Attributes:
        device: The far end.
        to_device_bytes: Bytes that crossed from the host.
        to_host_bytes: Bytes that crossed back.
    """

    shared = False
    """True if both ends see one memory, so that what is in `empty` memory never crosses."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.to_device_bytes = 0
        self.to_host_bytes = 0

    def to_device(self, tensor: Tensor) -> Tensor:
        """The tensor in the device's memory; one that is there already does not cross."""
        if tensor.device == self.device:
            return tensor
        self.to_device_bytes += tensor.nbytes
        return tensor.to(self.device)

    def to_host(self, tensor: Tensor) -> Tensor:
        """The tensor in the host's memory; one that is there already does not cross."""
        if tensor.device.type == "cpu":
            return tensor
        self.to_host_bytes += tensor.nbytes
        return tensor.cpu()

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Memory of the host that both ends write parts of."""
        return torch.empty(shape, dtype=dtype)

    def fetch(self, far: Tensor, part: Tensor) -> None:
        """Bring what the device computed into a part of `empty` memory, and wait for it."""
        part.copy_(self.to_host(far))


class SharedLink(Link):
    """A link within one memory, to a CUDA device: pinned memory of the host is the device's under the same address.

    Torch has no call for it, but takes memory of others by the CUDA array interface
    (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html) and asks the driver whose it is, which
    for pinned memory is the device. Rows that are in memory of another kind are written into pinned memory once.
    """

    shared = True

    def to_device(self, tensor: Tensor) -> Tensor:
        """The device's view of the tensor."""
        if tensor.device == self.device:
            return tensor
        return self._seen(tensor if tensor.is_pinned() else tensor.contiguous().pin_memory())

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Pinned memory."""
        return torch.empty(shape, dtype=dtype, pin_memory=True)

    def fetch(self, far: Tensor, part: Tensor) -> None:
        """Let the device write it there, and wait for it."""
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
