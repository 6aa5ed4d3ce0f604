"""A placement whose layers are a while on their way, as they are from a disk."""

from __future__ import annotations

from collections.abc import Callable

from engine.model.layer import LayerWeights, OnWait, WeightSource, no_work
from engine.placement.resident import Resident


class Waiting(Resident):
    """Asks for something to do before it gives a layer.

    Args:
        source: Holds the weights; a `Resident`.
        steps: Number of times, drawn anew for each layer.
    """

    def __init__(self, source: WeightSource, steps: Callable[[], int]) -> None:
        assert isinstance(source, Resident)
        super().__init__(source._held())
        self._steps = steps
        self.worked = 0

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        """None: each is waited for."""
        return ()

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """The layer, after a while."""
        for _ in range(self._steps()):
            self.worked += on_wait()
        return super().layer(index)
