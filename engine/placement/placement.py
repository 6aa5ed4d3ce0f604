"""Interface of every kind of placement, beyond the weights themselves."""

from __future__ import annotations

from abc import abstractmethod

from engine.model.layer import WeightSource


class Placement(WeightSource):
    """A `WeightSource` that accounts for its memory and can let go of it."""

    @property
    @abstractmethod
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""

    @property
    def disk_read_bytes(self) -> int:
        """Bytes of weights read from the disk since they were placed, what was read ahead included."""
        return 0

    @abstractmethod
    def release(self) -> None:
        """Free the weights; the placement cannot be used after it."""
