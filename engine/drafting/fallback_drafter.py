"""A draft that may fail while the reply goes on: its device may run out of memory, or disappear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from torch import Tensor

from engine.drafting.drafter import Drafter, LeftAlone, NoDrafter
from engine.errors import WeightsNotFinite
from engine.kernels.library import NotFinite
from engine.model.token_tree import Draft, DraftShape
from engine.placement.device import Link, first_line, is_full
from engine.sentences import say

Answer = TypeVar("Answer")


class DamagedDrafter(NoDrafter):
    """Stands for a draft whose weights turned out to be damaged when they were read."""

    def reset(self, prompt: Sequence[int]) -> int:
        """Fail like a draft whose numbers are found to be broken later."""
        raise NotFinite


class FallbackDrafter(Drafter):
    """Passes everything on to a drafter until it fails, and drafts nothing from then on.

    The target's hidden rows and the probes' logits cross to the draft's device here.

    Args:
        link: The way to its device.
        failed: Called once, with one sentence for the user.
        apart: See `Drafter.apart`.
    """

    def __init__(self, drafter: Drafter, link: Link, failed: Callable[[str], None], apart: bool = False) -> None:
        self._drafter: Drafter | None = drafter
        self._link = link
        self._failed = failed
        self.apart = apart
        self.hidden_layers = drafter.hidden_layers
        self.gives_chances = drafter.gives_chances
        self.counted = drafter.counted

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply of the drafter; after a failure no rows are needed."""
        return self._try(lambda drafter: drafter.reset(prompt), len(prompt))

    @property
    def reads_hidden(self) -> bool:  # type: ignore[override]
        """True if the drafter reads the prompt's rows, and while there is none any more, which drops them."""
        return self._drafter is None or self._drafter.reads_hidden

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Let the drafter read the prompt up to a position."""
        rows = None if hidden is None or self._drafter is None else self._link.to_device(hidden)
        self._try(lambda drafter: drafter.read_prompt(end, rows), None)

    def propose(self, shape: DraftShape) -> Draft:
        """Return the drafter's draft, or an empty one after a failure."""
        return self._try(lambda drafter: drafter.propose(shape), Draft())

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Pass tokens and rows on to the drafter."""

        def tell(drafter: Drafter) -> None:
            # A call that does nothing takes time too between two forwards.
            if hidden is None and probes is None:
                drafter.observe(tokens, None)
                return
            rows = (None if found is None else self._link.to_device(found) for found in (hidden, probes))
            drafter.observe(tokens, *rows)

        self._try(tell, None)

    def draft_ahead(self) -> bool:
        """Take the drafter's step ahead; after a failure there is nothing to do."""
        return self._try(lambda drafter: drafter.draft_ahead(), False)

    def _try(self, call: Callable[[Drafter], Answer], otherwise: Answer) -> Answer:
        if self._drafter is None:
            return otherwise
        try:
            answer = call(self._drafter)
            self.wants_hidden = self._drafter.wants_hidden
            return answer
        except LeftAlone as reason:
            self.give_up(str(reason))
        except (RuntimeError, MemoryError, NotFinite, WeightsNotFinite) as error:
            # Torch raises the first one when a device is lost, when it is full, or when a kernel fails there.
            if isinstance(error, (NotFinite, WeightsNotFinite)):
                self.give_up(
                    say(
                        "The draft's weights are damaged, so the reply goes on without it: download it again, or "
                        "choose another one."
                    )
                )
            elif isinstance(error, MemoryError) or is_full(error):
                self.give_up(say("The draft ran out of memory, so the reply goes on without it."))
            else:
                self.give_up(
                    say(
                        "The draft stopped working, so the reply goes on without it ({reason}).",
                        reason=first_line(error),
                    )
                )
        return otherwise

    def give_up(self, sentence: str) -> None:
        """Draft nothing from now on, and say why; once is enough."""
        if self._drafter is None:
            return
        self._drafter = None
        self.wants_hidden = True  # rows that it would have taken are to be dropped
        self._failed(sentence)
