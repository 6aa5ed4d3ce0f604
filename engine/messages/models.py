"""Answers about models that need not be loaded, nor even be here, and options of modes as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Basis = Literal["guess", "busy", "rest"]
DownloadState = Literal["queued", "receiving", "waiting", "paused", "failed", "done", "cancelled"]

OptionValue = bool | int


@dataclass(frozen=True)
class ModelOutline:
    """A model to be predicted."""

    reference: str  # name that the one who asks has for it
    place: str  # folder or file; config.json and an index with its size are enough
    draft_place: str | None = None  # the same of what may guess for it; None for nothing
    smaller: bool = False  # True for a copy of it in Q4_K_M


@dataclass(frozen=True)
class Prediction:
    """Prediction of a model on this machine."""

    mode: str | None = None  # the mode that ``auto`` would take; None where none can run
    tokens_per_second: float | None = None  # predicted, in that mode
    memory_bytes: int = 0  # bytes of the host's memory when a text begins
    room_bytes: int = 0  # usually there for a model
    gpu_bytes: int = 0  # bytes of the GPU's memory when a text begins
    from_disk: bool = False  # some of it would be read from the disk for each token
    with_draft: bool = False  # True if that mode needs the draft
    # Source of the figures: speeds that were assumed (``guess``), measured while other programs kept the
    # machine ``busy``, or measured at ``rest``
    basis: Basis = "guess"
    machine: str = ""  # changes with the hardware, and with what else speeds depend on
    problem: str = ""  # reason why it cannot run, in one sentence; empty where it can
    dear: str = ""  # reason why its draft does not pay here, in one sentence; empty where it may
    # Bytes beside these that come as a text fills the context
    text_bytes: int = 0
    gpu_text_bytes: int = 0
    copy_bytes: int = 0  # bytes of the file if it is a smaller copy that is still to be made
    first_word_s: float = 0.0  # predicted time to the first token after a question of `QUESTION_TOKENS`


@dataclass(frozen=True)
class ModelPredicted:
    """One answer to `PredictModels`."""

    request_id: str
    reference: str
    prediction: Prediction


@dataclass(frozen=True)
class DraftPair:
    """A model and a draft for it."""

    target: str  # name of the model that answers
    draft: str  # name of the one that guesses
    kind: Literal["draft", "head"]  # kind of the draft: a whole model, or a head
    problem: str  # reason why they do not work together, in one sentence; empty where they do
    dear: str = ""  # reason why a draft that fits does not pay without a GPU; empty where it may


@dataclass(frozen=True)
class PairsFound:
    """The answer to `FindPairs`."""

    request_id: str
    pairs: tuple[DraftPair, ...]


@dataclass(frozen=True)
class DownloadStatus:
    """Status of a download."""

    name: str  # name of the model that it becomes
    repo: str  # repository that it comes from
    # ``waiting`` is between two attempts; ``done`` and ``cancelled`` are the last that is heard of it
    state: DownloadState
    done_bytes: int  # on the disk; never decreases
    total_bytes: int  # total bytes of all files
    bytes_per_s: float | None = None  # over the last seconds; None while there is none to tell
    seconds_left: float | None = None  # at this speed
    message: str = ""  # the reason why it waits or failed, for the user; empty where there is nothing to say

    @property
    def under_way(self) -> bool:
        """True if it comes or will come by itself."""
        return self.state in ("queued", "receiving", "waiting")

    @property
    def share(self) -> float:
        """Share of it that is here, 0 to 1."""
        return min(1.0, self.done_bytes / max(1, self.total_bytes))


@dataclass(frozen=True)
class ModeOption:
    """An option of a mode: a switch where its default is one, else a whole number."""

    name: str  # key of its value in `LoadOptions.mode_options`; on the command line with hyphens
    title: str  # words beside its field
    help: str  # one sentence
    # Value where none is given; None where the modes that share the option differ in it
    default: OptionValue | None
    least: int = 0  # smallest number
    most: int = 1  # largest number

    @property
    def is_switch(self) -> bool:
        """True if it is a switch, which is on or off."""
        return isinstance(self.default, bool)

    def accepts(self, value: object) -> bool:
        """Return True if a value is of its type and in its range."""
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        return isinstance(value, int) and self.least <= value <= self.most
