"""The plan and the state of a download, which outlive the program: download.json in a folder of its own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from engine.hub.listing import HubFile
from engine.hub.record import FileFormat, ModelKind, write_json
from engine.json_text import read_json
from engine.outside_file import read_text_file
from engine.plain_data import from_plain
from engine.unfinished_file import set_aside

_FILE = "download.json"
_VERSION = 1

#: Waiting for its turn or running; held by the person; ended by an error that is told in the message.
StoredState = Literal["queued", "paused", "failed"]


@dataclass(frozen=True)
class DownloadPlan:
    """One model to be fetched; more about its fields in `ModelRecord`.

    Attributes:
        revision: The branch, tag or commit that was asked for.
        commit: The meaning of the revision then, which is fetched.
        kind: Its use; None lets the files say it.
    """

    name: str
    repo: str
    revision: str
    commit: str
    format: FileFormat
    files: tuple[HubFile, ...]
    quantization: str | None = None
    kind: ModelKind | None = None
    catalogue_name: str | None = None
    base: tuple[str, ...] = ()
    belongs_to: tuple[str, ...] = ()
    licence: str | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True)
class StoredDownload:
    """A download as it is on the disk.

    Attributes:
        place: Its place in the queue: smaller numbers first.
        message: The reason why it failed.
    """

    plan: DownloadPlan
    state: StoredState = "queued"
    place: float = 0.0
    message: str | None = None


def write_download(folder: Path, stored: StoredDownload) -> None:
    """Keep a download in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / _FILE, {"version": _VERSION, **asdict(stored)})


def read_download(folder: Path) -> StoredDownload | None:
    """The download of a folder, None where there is none or it is of another version; a damaged one is set aside."""
    try:
        found = read_json(read_text_file(folder / _FILE))
        return from_plain(StoredDownload, found) if found["version"] == _VERSION else None
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        with suppress(OSError):
            set_aside(folder / _FILE)
            (folder / _FILE).unlink()
        return None
