"""Every kind of error in a user's words: a title, and the one thing to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from app.words import mark
from engine.errors import TenonError
from engine.messages import ErrorReport

INTERNAL = "InternalError"
# A reply of which only the sentence is known: part of it was written, or nothing.
CUT_OFF = "CutOff"
NO_REPLY = "NoReply"
BAD_END = "BadEnd"
# Below this a smaller context holds no conversation.
LEAST_CONTEXT = 512


class Remedy(Enum):
    """Remedies for an error; the value is the button's text."""

    TRY_AGAIN = mark("Try again")
    SMALLER_CONTEXT = mark("Reload with a smaller context")
    MEMORY_BUDGET = mark("Raise the memory budget")
    CONTEXT = mark("Correct the context length")
    LARGER_CONTEXT = mark("Reload with {tokens} tokens of context")
    OTHER_MODEL = mark("Choose another model")
    MODELS = mark("Open models")
    MACHINE = mark("Open This machine")
    NO_DRAFT = mark("Answer without the draft")
    SETTINGS = mark("Open settings")
    OTHER_FILE = mark("Choose another file")
    DATA_FOLDER = mark("Open the data folder")
    WRITE = mark("Write a message")
    DETAILS = mark("Show details")


@dataclass(frozen=True)
class Trouble:
    """A kind of error as the window shows it; the sentence comes with the error."""

    title: str  # the event in a few words; marked
    remedy: Remedy  # the one thing to do
    setting: str = ""  # the one that settings open at; empty for none


# By the names of the classes in engine/errors.py.
TROUBLES: dict[str, Trouble] = {
    INTERNAL: Trouble(mark("Tenon made a mistake"), Remedy.TRY_AGAIN),
    CUT_OFF: Trouble(mark("The reply was cut off"), Remedy.TRY_AGAIN),
    NO_REPLY: Trouble(mark("There is no reply"), Remedy.TRY_AGAIN),
    BAD_END: Trouble(mark("Tenon did not end as it should last time"), Remedy.DETAILS),
    "TenonError": Trouble(mark("Something went wrong"), Remedy.TRY_AGAIN),
    "UsageError": Trouble(mark("This cannot be done"), Remedy.SETTINGS),
    "EmptyPrompt": Trouble(mark("There is nothing to answer"), Remedy.WRITE),
    "InvalidOption": Trouble(mark("A setting does not work here"), Remedy.SETTINGS),
    "PromptTooLong": Trouble(mark("The message is longer than the context"), Remedy.SETTINGS, "context"),
    "PicturesUnseen": Trouble(mark("The model does not see pictures"), Remedy.OTHER_MODEL),
    "RequestTooLarge": Trouble(mark("The message takes too much to prepare"), Remedy.WRITE),
    "ImportInvalid": Trouble(mark("The file was not imported"), Remedy.OTHER_FILE),
    "CheckpointError": Trouble(mark("The model cannot be used"), Remedy.OTHER_MODEL),
    "ModelNotFound": Trouble(mark("The model is not there"), Remedy.OTHER_MODEL),
    "ConfigInvalid": Trouble(mark("The model cannot be read"), Remedy.OTHER_MODEL),
    "WeightsMissing": Trouble(mark("Part of the model is missing"), Remedy.MODELS),
    "WeightsCorrupt": Trouble(mark("A file of the model is damaged"), Remedy.MODELS),
    "TensorMismatch": Trouble(mark("The model does not match its description"), Remedy.OTHER_MODEL),
    "UnsupportedModel": Trouble(mark("Tenon cannot run this model"), Remedy.OTHER_MODEL),
    "DraftMismatch": Trouble(mark("The draft does not fit the model"), Remedy.NO_DRAFT),
    "TokenizerInvalid": Trouble(mark("The model's tokenizer cannot be read"), Remedy.OTHER_MODEL),
    "StorageError": Trouble(mark("Your chats cannot be saved"), Remedy.DATA_FOLDER),
    "NewerDatabase": Trouble(mark("Your chats are from a newer Tenon"), Remedy.DATA_FOLDER),
    "OutOfMemory": Trouble(mark("There is not enough memory"), Remedy.SMALLER_CONTEXT),
    "OutOfDeviceMemory": Trouble(mark("The GPU's memory ran out"), Remedy.SETTINGS),
    "FileRefused": Trouble(mark("A file cannot be read or written"), Remedy.TRY_AGAIN),
    "OutOfDisk": Trouble(mark("There is not enough room on the disk"), Remedy.MODELS),
    "WeightsNotFinite": Trouble(mark("The model's weights are damaged"), Remedy.MODELS),
    "WeightsUnreadable": Trouble(mark("The model could not be read from the disk"), Remedy.TRY_AGAIN),
    "HubError": Trouble(mark("The hub did not give what was asked for"), Remedy.MODELS),
    "HubUnreachable": Trouble(mark("The hub cannot be reached"), Remedy.MODELS),
    "HubBusy": Trouble(mark("The hub is busy"), Remedy.MODELS),
    "NotOnHub": Trouble(mark("The hub does not have it"), Remedy.MODELS),
    "AccessDenied": Trouble(mark("The hub gives no access"), Remedy.SETTINGS),
    "DownloadFailed": Trouble(mark("The download is not what it should be"), Remedy.MODELS),
    "TokenNotKept": Trouble(mark("The access token cannot be kept"), Remedy.SETTINGS),
    "RemoteError": Trouble(mark("The server did not give what was asked for"), Remedy.TRY_AGAIN),
    "RemoteUnreachable": Trouble(mark("The server cannot be reached"), Remedy.TRY_AGAIN),
    "RemoteRefused": Trouble(mark("The server gives no access"), Remedy.MODELS),
    "RemoteBusy": Trouble(mark("The server is busy"), Remedy.TRY_AGAIN),
    "RemoteBroken": Trouble(mark("The server's reply broke off"), Remedy.TRY_AGAIN),
    "KeyNotKept": Trouble(mark("The server's key cannot be kept"), Remedy.MODELS),
    "ToolFailed": Trouble(mark("The tool gave no result"), Remedy.TRY_AGAIN),
    "AddonUnusable": Trouble(mark("GPU support cannot be used"), Remedy.MACHINE),
    "EngineStopped": Trouble(mark("The engine stopped"), Remedy.TRY_AGAIN),
    "Cancelled": Trouble(mark("The reply was stopped"), Remedy.TRY_AGAIN),
}


# By the option of the engine that stands in the way, where a value is known that would do.
_CORRECTIONS = {"ram_budget_bytes": Remedy.MEMORY_BUDGET, "context": Remedy.CONTEXT}


def title_of(report: ErrorReport) -> str:
    """Title of an error in a few words; marked."""
    return TROUBLES.get(report.kind, TROUBLES["TenonError"]).title


def setting_of(report: ErrorReport) -> str:
    """Return the setting that an error is about, or an empty text to open the settings' first page."""
    return TROUBLES.get(report.kind, TROUBLES["TenonError"]).setting


def remedy_of(report: ErrorReport) -> Remedy:
    """Return the one thing to do about an error."""
    correction = None if report.allowed is None else _CORRECTIONS.get(report.allowed.option)
    if correction is not None:
        return Remedy.LARGER_CONTEXT if report.kind == "PromptTooLong" else correction
    # Memory was short, also for an engine that the system ended.
    if smaller_context(report.context) > 0:
        return Remedy.SMALLER_CONTEXT
    remedy = TROUBLES.get(report.kind, TROUBLES["TenonError"]).remedy
    return Remedy.OTHER_MODEL if remedy is Remedy.SMALLER_CONTEXT else remedy


def smaller_context(context: int) -> int:
    """Half of a context, as tokens; 0 where that would be too little."""
    return context // 2 if context // 2 >= LEAST_CONTEXT else 0


def report_of(error: TenonError) -> ErrorReport:
    """Return an error of the window's own process in the form of the engine's errors."""
    return ErrorReport(type(error).__name__, error.message, error.details, error.exit_code, allowed=error.allowed)
