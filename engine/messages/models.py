"""Answers about models that need not be loaded, nor even be here, and options of modes as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Basis = Literal["guess", "busy", "rest"]
DownloadState = Literal["queued", "receiving", "waiting", "paused", "failed", "done", "cancelled"]

OptionValue = bool | int


@dataclass(frozen=True)
class ModelOutline:
    """A model to be predicted.

    Attributes:
        reference: Name that the one who asks has for it.
        place: Folder or file; config.json and an index with its size are enough.
        draft_place: The same of what may guess for it; None for nothing.
    """

    reference: str
    place: str
    draft_place: str | None = None


@dataclass(frozen=True)
class Prediction:
    """Prediction of a model on this machine.

    Attributes:
        mode: The mode that ``auto`` would take; None where none can run.
        tokens_per_second: Predicted, in that mode.
        memory_bytes: Bytes of the host's memory.
        room_bytes: Usually there for a model.
        gpu_bytes: Bytes of the GPU's memory.
        from_disk: Some of it would be read from the disk for each token.
        with_draft: True if that mode needs the draft.
        basis: Source of the figures: speeds that were assumed (``guess``), measured while other programs kept
            the machine ``busy``, or measured at ``rest``.
        machine: Changes with the hardware, and with what else speeds depend on.
        problem: Reason why it cannot run, in one sentence; empty where it can.
        only_continues: The model is here, has no way of writing a chat, and only continues texts.
    """

    mode: str | None = None
    tokens_per_second: float | None = None
    memory_bytes: int = 0
    room_bytes: int = 0
    gpu_bytes: int = 0
    from_disk: bool = False
    with_draft: bool = False
    basis: Basis = "guess"
    machine: str = ""
    problem: str = ""
    only_continues: bool = False


@dataclass(frozen=True)
class ModelPredicted:
    """One answer to `PredictModels`."""

    request_id: str
    reference: str
    prediction: Prediction


@dataclass(frozen=True)
class DraftPair:
    """A model and a draft for it.

    Attributes:
        target: Name of the model that answers.
        draft: Name of the one that guesses.
        kind: Kind of the draft: a whole model, or a head.
        problem: Reason why they do not work together, in one sentence; empty where they do.
    """

    target: str
    draft: str
    kind: Literal["draft", "head"]
    problem: str


@dataclass(frozen=True)
class PairsFound:
    """The answer to `FindPairs`."""

    request_id: str
    pairs: tuple[DraftPair, ...]


@dataclass(frozen=True)
class DownloadStatus:
    """Status of a download.

    Attributes:
        name: Name of the model that it becomes.
        repo: Repository that it comes from.
        state: ``waiting`` is between two attempts; ``done`` and ``cancelled`` are the last that is heard of it.
        done_bytes: On the disk; never decreases.
        total_bytes: Total bytes of all files.
        bytes_per_s: Over the last seconds; None while there is none to tell.
        seconds_left: At this speed.
        message: The reason why it waits or failed, for the user; empty where there is nothing to say.
    """

    name: str
    repo: str
    state: DownloadState
    done_bytes: int
    total_bytes: int
    bytes_per_s: float | None = None
    seconds_left: float | None = None
    message: str = ""

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
    """An option of a mode: a switch where its default is one, else a whole number.

    Attributes:
        name: Key of its value in `LoadOptions.mode_options`; on the command line with hyphens.
        title: Words beside its field.
        help: One sentence.
        default: Value where none is given; None where the modes that share the option differ in it.
        least: Smallest number.
        most: Largest number.
    """

    name: str
    title: str
    help: str
    default: OptionValue | None
    least: int = 0
    most: int = 1

    @property
    def is_switch(self) -> bool:
        """True if it is a switch, which is on or off."""
        return isinstance(self.default, bool)

    def accepts(self, value: object) -> bool:
        """Return True if a value is of its type and in its range."""
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        return isinstance(value, int) and self.least <= value <= self.most
