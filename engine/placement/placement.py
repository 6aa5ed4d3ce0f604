"""Interface of every kind of placement, beyond the weights themselves."""

from __future__ import annotations

from typing import Protocol

from engine.model.layer import LayerWeights, WeightSource


class Placement(WeightSource, Protocol):
    """A `WeightSource` that accounts for its memory and can let go of it."""

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""
        ...

    @property
    def disk_read_bytes(self) -> int:
        """Bytes of weights read from the disk since they were placed, what was read ahead included."""
        ...

    def release(self) -> None:
        """Free the weights; the placement cannot be used after it."""
        ...


class InMemory:
    """Properties shared by placements that read nothing from the disk once they are loaded."""

    @property
    def streamed_bytes(self) -> int:
        """Nothing is read again."""
        return 0

    @property
    def disk_read_bytes(self) -> int:
        """Nothing is read again."""
        return 0

    @property
    def waited_s(self) -> float:
        """Nothing has to be waited for."""
        return 0.0

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        """None that a forward may take as they are."""
        return ()
