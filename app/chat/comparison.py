"""One prompt, answered by two models or in two ways: what came of each, and whether it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.chat.modes import draft_name, mode_title
from engine.messages import Event, Failed, Finished, PlanChosen, PrefillProgress, TokensAdded
from engine.modes import AUTO, MODES


@dataclass(frozen=True)
class Contender:
    """A model, and the way that it is to run."""

    model: str  # `LoadOptions.model`
    name: str  # the model's name in the window
    way: str = AUTO  # a mode's ``--mode`` name, or the draft to use
    weights: str = "auto"  # `LoadOptions.weights`

    @property
    def draft(self) -> str:
        """The draft that was chosen by itself; empty where a mode was chosen."""
        return "" if self.way == AUTO or self.way in MODES else self.way

    @property
    def way_title(self) -> str:
        """The mode or the draft, as it is shown."""
        return draft_name(self.draft) if self.draft else mode_title(self.way)


@dataclass(frozen=True)
class Trial:
    """One of the two replies, so far."""

    asked: Contender
    ran: str = ""  # the mode that ran; empty before that is known
    text: str = ""  # the reply
    token_ids: tuple[int, ...] = ()
    seconds: float | None = None  # from the request to the end; None before it ended
    tokens_per_second: float | None = None  # speed of generation; None where it was too short to say
    first_token_ms: float | None = None  # from the request to the first token, without loading
    memory_bytes: int = 0  # memory of the engine's process at the end; 0 before
    # Tokens for each forward of the model (tau); None without a draft
    mean_acceptance_length: float | None = None
    read: float = 0.0  # share of the prompt that is read, 0 to 1
    ended: bool = False  # True if nothing more comes
    stopped: bool = False  # True if the user ended it
    problem: str = ""  # one sentence when it failed, else empty

    def after(self, event: Event, seconds: float) -> Trial:
        """Return the trial that follows an event of its request, so many seconds after that was sent."""
        if isinstance(event, PlanChosen):
            return replace(self, ran=event.plan.mode)
        if isinstance(event, PrefillProgress) and event.total_tokens > 0:
            return replace(self, read=min(1.0, event.done_tokens / event.total_tokens))
        if isinstance(event, TokensAdded):
            return replace(self, text=self.text + event.text, token_ids=self.token_ids + event.token_ids)
        if isinstance(event, Finished):
            reply, timings = event.reply, event.reply.timings
            return replace(
                self,
                ran=reply.mode,
                text=reply.text,
                token_ids=reply.token_ids,
                seconds=seconds,
                tokens_per_second=timings.predicted_per_second,
                first_token_ms=timings.time_to_first_token_ms,
                memory_bytes=reply.memory.resident_bytes,
                mean_acceptance_length=timings.mean_acceptance_length,
                ended=True,
                stopped=reply.stop_reason == "cancelled",
            )
        if isinstance(event, Failed):
            stopped = event.error.kind == "Cancelled"
            return replace(self, ended=True, stopped=stopped, problem="" if stopped else event.error.message)
        return self

    def lost(self, sentence: str) -> Trial:
        """Return the trial after the engine ended; without a sentence it was ended because it did not stop."""
        return replace(self, ended=True, stopped=not sentence, problem=sentence)


@dataclass(frozen=True)
class Agreement:
    """Agreement of the tokens of two trials."""

    tokens: int  # number of tokens that are the same from the beginning
    identical: bool  # True if these are all of them
    complete: bool  # True if both replies came to their own end; else this is about what there is of both
    characters: int  # number of characters of the texts that are the same from the beginning


def agreement(first: Trial, second: Trial) -> Agreement | None:
    """Compare two trials token by token; None while there is nothing to compare, and of two models.

    A reply that was stopped is compared as far as it came.
    """
    if not (first.ended and second.ended) or first.problem or second.problem:
        return None
    if first.asked.model != second.asked.model:
        return None
    if (first.stopped or second.stopped) and not (first.token_ids and second.token_ids):
        return None
    same = _shared(first.token_ids, second.token_ids)
    complete = not (first.stopped or second.stopped)
    shorter, longer = sorted((first, second), key=lambda trial: len(trial.token_ids))
    whole = len(shorter.token_ids) == len(longer.token_ids) or shorter.stopped  # what lacks an end may go on so
    identical = same == len(shorter.token_ids) and whole
    return Agreement(same, identical, complete, _shared(first.text, second.text))


def _shared(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the number of elements that both begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))


def ran_title(trial: Trial) -> str:
    """Return the mode that ran, as it is shown."""
    return mode_title(trial.ran) if trial.ran else trial.asked.way_title


def titles(trials: Sequence[Trial]) -> list[str]:
    """Return what tells each trial from the others: its model, else its mode or draft, else its format."""
    for found in (
        [trial.asked.name for trial in trials],
        [ran_title(trial) for trial in trials],
        [trial.asked.way_title for trial in trials],
        [trial.asked.weights for trial in trials],
    ):
        if len(set(found)) == len(found):
            return found
    return found
