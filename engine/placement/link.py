"""The way between the host's memory and a device's."""

from __future__ import annotations

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
