"""The loaded model that verifies: its decoder, and the one that takes its place when a device fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from engine.decoding.asked_rows import AskedRows
from engine.decoding.shared_width import SharedWidth
from engine.model.decoder import Decoder, Output, RowRuns
from engine.model.layer import OnWait

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
        width: Divides forwards that replies share.
        row_runs: Cuts the pieces of a prompt within the layers.
    """

    def __init__(self, decoder: Decoder, fallback: Callable[[RuntimeError], Decoder] | None = None) -> None:
        self.row_runs = RowRuns(LAYER_GOAL_S)
        self.width = SharedWidth()
        self.config = decoder.config
        self.decoder: Decoder | None = decoder
        self._fallback = fallback
        self._failure: RuntimeError | None = None

    def compute(self, asked: Sequence[AskedRows], check: Callable[[], None]) -> None:
        """One forward over the rows of some texts, which then have their logits.

        Args:
            asked: At least one, and one of a text; pieces of prompts come first.
            check: Called between layers; raises to stop, which leaves the texts as they were.
        """
        for one in asked:
            one.made()
            one.sequence.settle(one, check)
        begun, decoder = time.perf_counter(), self.settled_decoder()
        waited_s = decoder.source.waited_s
        count = sum(one.rows for one in asked)
        if not self._read_next(decoder, asked, count, check):
            self._forward(asked, count, check)
        waited_s, seconds = decoder.source.waited_s - waited_s, time.perf_counter() - begun
        for one in asked:
            one.seconds, one.waited_s, one.beside = seconds, waited_s, count - one.rows

    def _read_next(
        self, decoder: Decoder, asked: Sequence[AskedRows], count: int, check: Callable[[], None]
    ) -> bool:
        """Compute the rows in the decoder's shorter way; returns False where it has none for them."""
        if count > decoder.most_next:
            return False
        texts = []
        for one in asked:
            text = one.sequence.next_text(one)
            if text is None:
                return False
            texts.append(text)
        logits = decoder.read_next(texts, check)
        first = 0
        for one in asked:
            one.sequence.computed_in_place()
            one.logits = logits if len(asked) == 1 else logits[first : first + one.rows]
            first += one.rows
        return True

    def _forward(self, asked: Sequence[AskedRows], count: int, check: Callable[[], None]) -> None:
        places, start = [], 0
        for one in asked:
            places.append(slice(start, start + one.rows))
            start += one.rows
        wanted = [
            place.start + row for one, place in zip(asked, places, strict=True) for row in one.logit_rows
        ]
        in_one = not wanted or wanted[-1] - wanted[0] == len(wanted) - 1
        first, last = (wanted[0], wanted[-1] + 1) if wanted else (count, count)
        hidden_layers = tuple(sorted({layer for one in asked for layer in one.sequence.hidden_layers}))
        reads = any(one.draft is None for one in asked)

        def run() -> Output:
            decoder = self.settled_decoder()
            return decoder.forward_together(
                [one.sequence.text_rows(one) for one in asked],
                slice(first, last) if in_one else torch.tensor(wanted),
                check,
                hidden_layers,
                _all_of([one.on_wait for one in asked]),
                self.row_runs if reads and decoder.source.streamed_bytes else None,
            )

        output = None
        try:
            output = run()
        except RuntimeError as error:
            # Torch raises it when a device is lost, when it is full, or when a kernel fails there.
            self.fail(error)
        if output is None:
            for one in asked:
                one.sequence.settle(one, check)
            output = run()
        rows = iter(torch.split(output.logits, [len(one.logit_rows) for one in asked]))
        for one, place in zip(asked, places, strict=True):
            one.logits = next(rows)
            one.sequence.computed(one, output, place)

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


def _all_of(on_wait: Sequence[OnWait]) -> OnWait:
    """A step of each one's work."""
    if len(on_wait) == 1:
        return on_wait[0]
    return lambda: sum(one() for one in on_wait) > 0
