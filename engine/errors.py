"""Errors that Tenon raises on purpose.

The message is one sentence that says what is wrong and what to do about it. ``details`` has what a developer wants to
see, and never chat text.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.sentences import say


@dataclass(frozen=True)
class Allowed:
    """Replacement for an option that stands in the way."""

    option: str  # name of the option in `LoadOptions`
    value: int  # nearest value that would do


class TenonError(Exception):
    """Base class of all errors that are raised on purpose.

    Args:
        text: Message for the user as `say` takes it: an English literal, or a text that was said already.
        details: Details for a developer.
        allowed: Value that would be allowed.
        about: Part of a request that the error is about: prompt, form, bias, stop or logprobs; empty for none.
        figures: Values for each ``{name}`` of the text.
    """

    exit_code = 1
    about = ""

    def __init__(
        self, text: str, details: str = "", allowed: Allowed | None = None, about: str = "", **figures: object
    ) -> None:
        self.message = say(text, **figures)
        super().__init__(self.message)
        self.details = details
        self.allowed = allowed
        self.about = about or self.about

    def __reduce__(self) -> tuple[type[TenonError], tuple[object, ...]]:
        """Survive the pipe between the engine's process and the window's."""
        return type(self), (self.message, self.details, self.allowed, self.about)


class UsageError(TenonError):
    """Error for a request that makes no sense."""

    exit_code = 2


class EmptyPrompt(UsageError):
    """The prompt holds nothing but white space."""

    about = "prompt"


class InvalidOption(UsageError):
    """A value is out of its range, or a name is not known."""


class PicturesUnseen(UsageError):
    """The request has pictures, and the model does not see."""

    about = "prompt"


class PromptTooLong(UsageError):
    """The prompt does not fit the context."""

    about = "prompt"


class RequestTooLarge(UsageError):
    """Preparing the request takes more time or memory than one request may take."""


class ImportInvalid(UsageError):
    """A file does not hold conversations, or is damaged."""


class CheckpointError(TenonError):
    """The model folder cannot be used as it is."""

    exit_code = 2


class ModelNotFound(CheckpointError):
    """There is no folder and no installed model of that name."""


class ConfigInvalid(CheckpointError):
    """config.json is missing or cannot be read."""


class WeightsMissing(CheckpointError):
    """There are no safetensors files, or a shard that the index names is missing."""


class WeightsCorrupt(CheckpointError):
    """A weights file is truncated or is not a safetensors file."""


class WeightsNotFinite(WeightsCorrupt):
    """A weight, or a number that is computed with the weights, is a NaN or an infinity."""


class TensorMismatch(CheckpointError):
    """A tensor is missing, unexpected or of the wrong shape."""


class UnsupportedModel(CheckpointError):
    """Tenon cannot run the architecture, or a feature of it."""


class DraftMismatch(CheckpointError):
    """The draft and the target cannot work together."""


class TokenizerInvalid(CheckpointError):
    """The tokenizer is missing or cannot be read."""


class StorageError(TenonError):
    """The conversations' database, or its folder, cannot be used."""


class NewerDatabase(StorageError):
    """The database was written by a later version of Tenon."""


class OutOfMemory(TenonError):
    """The weights and the cache do not fit in the memory that is free.

    Args:
        text: Message, as `TenonError` has it.
        details: Details for a developer.
        allowed: Memory budget that would do, if the budget is too small.
        short_bytes: Missing bytes; 0 if that is not known.
        figures: Values for each ``{name}`` of the text.
    """

    def __init__(
        self,
        text: str,
        details: str = "",
        allowed: Allowed | None = None,
        short_bytes: int = 0,
        **figures: object,
    ) -> None:
        super().__init__(text, details, allowed, "", **figures)
        self.short_bytes = short_bytes

    def __reduce__(self) -> tuple[type[OutOfMemory], tuple[object, ...]]:
        """Survive the pipe with the missing bytes."""
        return type(self), (self.message, self.details, self.allowed, self.short_bytes)


class OutOfDeviceMemory(TenonError):
    """The memory of a GPU ran out in the middle of a reply."""


class FileRefused(TenonError):
    """A file or a folder cannot be read, written or removed."""


class OutOfDisk(FileRefused):
    """There is no room for a file that Tenon has to write."""


class WeightsUnreadable(TenonError):
    """Weights that are read while a model runs did not come from the disk, or came damaged."""


class HubError(TenonError):
    """The hub, or the network, does not give what was asked for."""


class HubUnreachable(HubError):
    """There is no network, a proxy or a certificate stands in the way, or offline mode is on."""


class HubBusy(HubError):
    """The hub asks to come back later."""


class NotOnHub(HubError):
    """The hub has no such repository, revision or file."""


class AccessDenied(HubError):
    """The repository is gated or private, or the token does not open it."""


class DownloadFailed(HubError):
    """Error for bytes that are not what the hub's metadata promise."""


class TokenNotKept(HubError):
    """The system has no keyring to keep an access token in."""


class RemoteError(TenonError):
    """A server that was added does not give what was asked for."""


class RemoteUnreachable(RemoteError):
    """The server cannot be reached, or is no server of models."""


class RemoteRefused(RemoteError):
    """The server wants a key, or does not accept the one it was sent."""


class RemoteBusy(RemoteError):
    """The server asks to come back later."""


class RemoteBroken(RemoteError):
    """A reply of the server ended before its end, or cannot be read."""


class KeyNotKept(RemoteError):
    """The system has no keyring to keep a server's key in."""


class ToolFailed(TenonError):
    """A tool, or the server that has it, gave no result."""


class AddonUnusable(TenonError):
    """There is no GPU add-on for this machine, or it does not work here."""


class EngineStopped(TenonError):
    """The engine's process ended by itself."""


class Cancelled(TenonError):
    """The request was cancelled. Control flow inside the engine; never shown."""
