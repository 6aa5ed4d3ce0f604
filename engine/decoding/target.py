"""The loaded model that verifies: its decoder, and the one that takes its place when a device fails."""

from __future__ import annotations

from collections.abc import Callable

from engine.model.decoder import Decoder
from engine.model.row_runs import RowRuns

#: A chunk of the prompt grows while a layer takes less than this, so that a cancel, which is looked for between
#: layers, is seen well within 300 ms on any machine.
LAYER_GOAL_S = 0.08


class Target:
    """State shared by the sequences of one model.

    Args:
        decoder: The model.
        fallback: Makes the same model without the device that some of its layers compute on, for when that fails; given
            what torch raised. None where there is no such device.

    Attributes:
        config: Of the model.
        decoder: The model; None from a failure until a sequence goes on.
        row_runs: Cuts the pieces of a prompt within the layers.
    """

    def __init__(self, decoder: Decoder, fallback: Callable[[RuntimeError], Decoder] | None = None) -> None:
        self.row_runs = RowRuns(LAYER_GOAL_S)
        self.config = decoder.config
        self.decoder: Decoder | None = decoder
        self._fallback = fallback
        self._failure: RuntimeError | None = None

    def settled_decoder(self) -> Decoder:
        """The decoder; another one after a failure, whose caches hold nothing yet."""
        if self.decoder is None:
            assert self._fallback is not None
            assert self._failure is not None
            self.decoder = self._fallback(self._failure)
            self._failure = self._fallback = None
        return self.decoder

    def fail(self, error: RuntimeError) -> None:
        """Take note of what torch raised when a device was lost or full, or raise it where there is no fallback."""
        if self._fallback is None:
            raise error
        # Its traceback would hold on to the memory of that device.
        self._failure, self.decoder = error.with_traceback(None), None
