"""Every error that Tenon raises on purpose, and what each asks of the person.

The message is one sentence that says what is wrong and what to do about it. ``details`` holds what a
developer wants to see, and never chat text.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.sentences import say


@dataclass(frozen=True)
class Allowed:
    """Replacement for an option that stands in the way.

    Attributes:
        option: Its name in `LoadOptions`.
        value: The nearest value that would do.
    """

    option: str
    value: int


class TenonError(Exception):
    """Base of the tree: a message for the person, details for a developer, and what would be allowed instead.

    Args:
        text: The message as `say` takes it: a literal in English, or what was said already.
        details: For a developer.
        allowed: What would do.
        figures: In the place of each ``{name}`` of the text.
    """

    exit_code = 1

    def __init__(
        self, text: str, details: str = "", allowed: Allowed | None = None, **figures: object
    ) -> None:
        self.message = say(text, **figures)
        super().__init__(self.message)
        self.details = details
        self.allowed = allowed

    def __reduce__(self) -> tuple[type[TenonError], tuple[object, ...]]:
        """Survive the pipe between the engine's process and the window's."""
        return type(self), (self.message, self.details, self.allowed)


class UsageError(TenonError):
    """Error for a request that makes no sense."""

    exit_code = 2


class EmptyPrompt(UsageError):
    """The prompt holds nothing but white space."""


class InvalidOption(UsageError):
    """A value is out of its range, or a name is not known."""


class PromptTooLong(UsageError):
    """The prompt does not fit the context."""


class RequestTooLarge(UsageError):
    """To prepare a request takes more time or memory than one may take."""


class ImportInvalid(UsageError):
    """A file does not hold conversations, or is damaged."""


class CheckpointError(TenonError):
    """The model folder cannot be used as it is."""

    exit_code = 2


class ModelNotFound(CheckpointError):
    """There is no such folder and no installed model of that name."""


class ConfigInvalid(CheckpointError):
    """config.json is missing or cannot be read."""


class WeightsMissing(CheckpointError):
    """There are no safetensors files, or a shard that the index names is not there."""


class WeightsCorrupt(CheckpointError):
    """A weights file is truncated or is not a safetensors file."""


class WeightsNotFinite(WeightsCorrupt):
    """A weight is a NaN or an infinity, or what a model computes with its weights is one."""


class TensorMismatch(CheckpointError):
    """A tensor is missing, unexpected or of the wrong shape."""


class UnsupportedModel(CheckpointError):
    """The architecture, or a feature of it, is one that Tenon cannot run."""


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
        text: As of every error.
        details: For a developer.
        allowed: The memory budget that would do, where the budget is what is too small.
        short_bytes: Missing bytes; 0 where that is not known.
        figures: In the place of each ``{name}`` of the text.
    """

    def __init__(
        self,
        text: str,
        details: str = "",
        allowed: Allowed | None = None,
        short_bytes: int = 0,
        **figures: object,
    ) -> None:
        super().__init__(text, details, allowed, **figures)
        self.short_bytes = short_bytes

    def __reduce__(self) -> tuple[type[OutOfMemory], tuple[object, ...]]:
        """With what is missing."""
        return type(self), (self.message, self.details, self.allowed, self.short_bytes)


class OutOfDeviceMemory(TenonError):
    """The memory of a GPU ran out in the middle of a reply."""


class FileRefused(TenonError):
    """A file or a folder cannot be read, written or removed."""


class OutOfDisk(FileRefused):
    """There is no room for a file that Tenon has to write."""


class WeightsUnreadable(TenonError):
    """Weights that are read as they are needed did not come from the disk, or came damaged."""


class HubError(TenonError):
    """The hub, or the way to it, does not give what was asked for."""


class HubUnreachable(HubError):
    """No network, a proxy or a certificate in the way, or offline mode."""


class HubBusy(HubError):
    """The hub asks to come back later."""


class NotOnHub(HubError):
    """The hub has no such repository, revision or file."""


class AccessDenied(HubError):
    """A gated or private repository, or a token that is not good for it."""


class DownloadFailed(HubError):
    """Error for bytes that are not what the hub's metadata promise."""


class TokenNotKept(HubError):
    """The system has no keyring to keep an access token in."""


class RemoteError(TenonError):
    """A server that was added does not give what was asked for."""


class RemoteUnreachable(RemoteError):
    """There is no way to the server, or what is there is no server of models."""


class RemoteRefused(RemoteError):
    """The server wants a key, or does not accept the one it was sent."""


class RemoteBusy(RemoteError):
    """The server asks to come back later."""


class RemoteBroken(RemoteError):
    """A reply of the server ended before its end, or cannot be read."""


class KeyNotKept(RemoteError):
    """The system has no keyring to keep a server's key in."""


class AddonUnusable(TenonError):
    """There is no GPU add-on for this machine, or the one that there is does not work on it."""


class EngineStopped(TenonError):
    """The engine's process ended by itself."""


class Cancelled(TenonError):
    """The request was cancelled. Control flow inside the engine; never shown."""
