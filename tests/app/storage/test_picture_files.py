"""Files of pictures: one for each, for as long as a chat, sent or not, or a backup names it."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

from app.chat.attachment import from_values, to_values
from app.chat.conversation import Conversation, Message
from app.chat.exchange.chat_files import ConversationRecord, conversation_from, conversation_values, to_markdown
from app.storage.backup import erase_copies
from app.storage.pictures import export_pictures, keep_picture, with_content
from engine.messages import Attachment, Picture
from tests.app.storage.test_conversation_store import database

__all__ = ["database"]
DIGEST = "ab" * 32


def attachment(content: bytes, name: str = "photo.jpg") -> Attachment:
    return Attachment(name, len(content), "", picture=Picture(DIGEST, 4, 3, content=content, name=name))


def files(folder: Path) -> set[str]:
    return {path.name for path in (folder / "pictures").iterdir()}


def grow_old(folder: Path) -> None:
    for path in (folder / "pictures").iterdir():
        os.utime(path, (time.time() - 600,) * 2)


def test_a_file_goes_with_the_last_that_names_it(database: object, tmp_path: Path) -> None:
    store = database.writer  # type: ignore[attr-defined]
    kept = [keep_picture(tmp_path, attachment(content)) for content in (b"one", b"one", b"two", b"three", b"four")]
    one, _, two, three, four = (sha256(name).hexdigest() for name in (b"one", b"one", b"two", b"three", b"four"))
    assert files(tmp_path) == {one, two, three, four}
    chats = [Conversation(number, "Title", 1.0, 2.0) for number in (1, 2)]
    store.save(chats[0], [Message(11, 1, "user", "", 1.0, attachments=(kept[0], kept[2]))])
    store.save(chats[1], [Message(21, 2, "user", "", 2.0, attachments=(kept[1],))])
    store.save_unsent(None, "", (kept[3],))
    assert store.messages(1)[0].attachments == (kept[0], kept[2])
    assert store.unsent(None).attachments == (kept[3],)
    store.forget_pictures()
    assert files(tmp_path) == {one, two, three, four}  # the last one may be on its way into a chat
    grow_old(tmp_path)
    store.forget_pictures()
    assert files(tmp_path) == {one, two, three}
    store.back_up(date(2026, 1, 1))
    store.set_deleted(1, True)
    store.erase(1)
    store.forget_pictures()
    assert files(tmp_path) == {one, two, three}
    erase_copies(tmp_path)
    store.forget_pictures()
    assert files(tmp_path) == {one, three}
    store.erase_everything()
    assert files(tmp_path) == set()
    assert four


def test_a_chat_goes_out_and_comes_in_with_its_pictures(database: object, tmp_path: Path) -> None:
    store = database.writer  # type: ignore[attr-defined]
    kept = keep_picture(tmp_path, attachment(b"bytes", "a [1].jpg"))
    record = ConversationRecord(
        Conversation(1, "T", 1.0, 2.0), (Message(2, 1, "user", "Look", 1.0, attachments=(kept,)),)
    )
    values = conversation_values(record.with_attachments(with_content))
    (tmp_path / "pictures" / sha256(b"bytes").hexdigest()).unlink()
    (added,) = store.add([conversation_from(values)])
    (message,) = store.messages(added.id)
    assert message.attachments == (kept,)
    assert with_content(kept).picture == replace(attachment(b"bytes", "a [1].jpg").picture, content=b"bytes")
    export_pictures(tmp_path / "chat-pictures", message.attachments)
    assert (tmp_path / "chat-pictures" / f"{DIGEST[:16]}.jpg").read_bytes() == b"bytes"
    assert f"![a 1.jpg](my%20chat-pictures/{DIGEST[:16]}.jpg)\n\nLook" in to_markdown([record], "my chat-pictures")


@pytest.mark.parametrize(
    "wrong",
    [{"width": 0}, {"width": True}, {"height": "3"}, {"sha256": "../x"}, {"sha256": None}],
)
def test_what_is_no_picture_in_a_file_from_outside_is_none(wrong: dict[str, object]) -> None:
    values = to_values(attachment(b"bytes"))
    values["picture"] |= wrong
    assert from_values(values).picture is None


@pytest.mark.parametrize("file", ["../../etc/passwd", "", None, 3])
def test_a_file_from_outside_names_none_elsewhere(file: object) -> None:
    values = to_values(attachment(b"bytes"))
    values["picture"] |= {"data": "no base64!", "file": file}
    picture = from_values(values).picture
    assert picture is not None
    assert (picture.path, picture.content) == (DIGEST, b"")
