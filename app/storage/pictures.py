"""Files of pictures, each once under the SHA-256 of its bytes, for as long as a chat or a backup names it."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from app.chat.attachment import picture_file
from app.storage.backup import backups, opened
from app.storage.schema import VERSION, version_of
from engine.files import read_file, write_whole
from engine.messages import Attachment

_FOLDER = "pictures"
_NAMED = re.compile(r'"file": "([0-9a-f]{64})"')
# A file is on the disk before the chat that names it: for so long nobody asks who does.
_NEW_S = 60.0


def keep_picture(data_folder: Path, attachment: Attachment) -> Attachment:
    """Write what a picture holds into a file of its own, and return the attachment with that file.

    Raises:
        OSError: It cannot be written.
    """
    picture = attachment.picture
    if picture is None or not picture.content:
        return attachment
    path = data_folder / _FOLDER / sha256(picture.content).hexdigest()
    path.parent.mkdir(exist_ok=True)
    with suppress(FileNotFoundError):
        os.utime(path)  # it may be on its way out
    if not path.is_file() or path.stat().st_size != len(picture.content):
        write_whole(path, picture.content)
    return replace(attachment, picture=replace(picture, path=str(path), content=b""))


def placed(data_folder: Path, attachment: Attachment) -> Attachment:
    """Return an attachment as it is kept with the place of its picture's file."""
    picture = attachment.picture
    if picture is None or not picture.path:
        return attachment
    return replace(attachment, picture=replace(picture, path=str(data_folder / _FOLDER / picture.path)))


def with_content(attachment: Attachment) -> Attachment:
    """Return an attachment with what is in its picture's file in place of that, unless it is gone."""
    picture = attachment.picture
    with suppress(OSError):
        if picture is not None and picture.path:
            return replace(attachment, picture=replace(picture, path="", content=read_file(Path(picture.path))))
    return attachment


def export_pictures(folder: Path, attachments: Iterable[Attachment]) -> None:
    """Write pictures under the names that a page of Markdown beside the folder has for them.

    Raises:
        OSError: One cannot be written.
    """
    for one in attachments:
        picture = with_content(one).picture
        if picture is not None and picture.content:
            folder.mkdir(exist_ok=True)
            write_whole(folder / picture_file(one), picture.content)


def forget_pictures(data_folder: Path, database: Path | None) -> None:
    """Delete the files that no chat of a database, sent or not, and no backup names; all of them without a database.

    Nothing is deleted as long as a backup cannot be read.
    """
    before = time.time() - _NEW_S
    with suppress(OSError, sqlite3.Error):
        files = (data_folder / _FOLDER).iterdir()
        left = {one.name: one for one in files if database is None or one.stat().st_mtime < before}
        if left and database is not None:
            with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True)) as connection:
                _pass_over_named(connection, left)
            for backup in backups(data_folder):
                with opened(backup.path) as copy:
                    _pass_over_named(copy, left)
        for path in left.values():
            path.unlink(missing_ok=True)


def _pass_over_named(connection: sqlite3.Connection, left: dict[str, Path]) -> None:
    if version_of(connection) < VERSION:
        return  # older ones have no pictures
    for column in ("attachments FROM messages", "content FROM unsent"):
        name = column.partition(" ")[0]
        for (text,) in connection.execute(f"SELECT {column} WHERE instr({name}, '\"picture\"')"):
            for named in _NAMED.findall(str(text)):
                left.pop(named, None)
