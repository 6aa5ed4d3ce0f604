"""The keys that fields and lists handle themselves, for the table of shortcuts. Commands have their own list."""

from __future__ import annotations

from dataclasses import dataclass

from app.words import mark


@dataclass(frozen=True)
class FieldKeys:
    """Keys of one field.

    Attributes:
        title: Where the keys work.
        rows: What each does, and the keys for it.
    """

    title: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]


FIELD_KEYS = (
    FieldKeys(
        mark("Where you type a message"),
        (
            (mark("Send"), ("Return",)),
            (mark("Begin a new line"), ("Shift+Return",)),
            (mark("Stop the reply, or leave another page"), ("Esc",)),
            (mark("Scroll the messages by a page"), ("PgUp", "PgDown")),
        ),
    ),
    FieldKeys(
        mark("In the messages"),
        (
            (mark("Go to the beginning"), ("Home",)),
            (mark("Go to the end"), ("End",)),
            (mark("Scroll by a page"), ("Space", "Shift+Space")),
            (mark("Copy what is selected"), ("Ctrl+C",)),
            (mark("Select the whole message"), ("Ctrl+A",)),
        ),
    ),
    FieldKeys(
        mark("Where you search for words in a chat"),
        (
            (mark("Next place"), ("Return",)),
            (mark("Previous place"), ("Shift+Return",)),
            (mark("Close the search"), ("Esc",)),
        ),
    ),
    FieldKeys(
        mark("In the list of chats"),
        (
            (mark("Open the chat or the message"), ("Return",)),
            (mark("Fold a folder, or unfold it"), ("Left", "Right")),
            (mark("Delete the chat, or a folder without its chats"), ("Del",)),
        ),
    ),
    FieldKeys(
        mark("Everywhere"),
        (
            (mark("Go to the next field or button"), ("Tab",)),
            (mark("Go to the one before"), ("Shift+Tab",)),
            (mark("Press the button"), ("Space",)),
        ),
    ),
)
