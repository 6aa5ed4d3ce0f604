"""Texts and chats from a JSONL file, as examples to learn a draft from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from engine.errors import InvalidOption, UnsupportedModel
from engine.messages import ChatMessage
from engine.text.tokenizer import Tokenizer
from engine.training.draft.features import Example

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
}
_SHAPES = (
    '{"text": ...}, {"messages": [{"role": ..., "content": ...}]} or ShareGPT\'s {"conversations": [...]}'
)


@dataclass(frozen=True)
class Record:
    """One line: a plain text, or the turns of a chat."""

    text: str = ""
    messages: tuple[ChatMessage, ...] = ()


def read_records(path: Path) -> list[Record]:
    """Every line of a file.

    Raises:
        InvalidOption: the file cannot be read, is empty, or a line of it is not what it should be; names the line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InvalidOption(f"The data file {path} cannot be read: {error.strerror or error}.") from error
    records = [_record(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]
    if not records:
        raise InvalidOption(f"The data file {path} is empty: write a text or a chat on each line.")
    return records


def _record(line: bytes, number: int, path: Path) -> Record:
    try:
        value = json.loads(line)
    except ValueError as error:  # bytes that are not UTF-8 too
        raise InvalidOption(f"Line {number} of {path} is not JSON: write {_SHAPES} on each line.") from error
    if isinstance(value, dict):
        text = value.get("text")
        if _is_text(text) and text.strip():
            return Record(text=text)
        for turns, role, content in (("messages", "role", "content"), ("conversations", "from", "value")):
            messages = _messages(value.get(turns), role, content)
            if messages:
                return Record(messages=messages)
    raise InvalidOption(f"Line {number} of {path} holds no text and no chat: write {_SHAPES}.")


def _messages(turns: Any, role: str, content: str) -> tuple[ChatMessage, ...]:
    """The turns of a chat, or none where they are not what they should be."""
    if not isinstance(turns, list):
        return ()
    messages = []
    for turn in turns:
        if not isinstance(turn, Mapping):
            return ()
        known, text = _ROLES.get(str(turn.get(role))), turn.get(content)
        if known is None or not _is_text(text):
            return ()
        messages.append(ChatMessage(known, text))
    return tuple(messages)


def _is_text(value: object) -> TypeGuard[str]:
    """True if a value is a string that can be written down: JSON may hold halves of characters."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def examples_of(records: list[Record], tokenizer: Tokenizer, limit: int) -> Iterator[Example]:
    """Token ids of each record, cut to ``limit``. A text is learned whole, a chat from its first reply on.

    A record that is empty, or that the chat template refuses, is left out.
    """
    for record in records:
        ids, first = _ids(record, tokenizer)
        ids = ids[:limit]
        if ids:
            yield Example(tuple(ids), tuple(place >= first for place in range(len(ids))))


def _ids(record: Record, tokenizer: Tokenizer) -> tuple[list[int], int]:
    """Token ids of a record, and the place of the first that is to be learned."""
    if not record.messages:
        return tokenizer.encode(record.text), 1
    replies = [at for at, message in enumerate(record.messages) if message.role == "assistant"]
    if not replies:
        return [], 0
    try:
        # The template closes the last reply only when something follows it.
        ids = tokenizer.render(record.messages)
        asked = tokenizer.render(record.messages[: replies[0]])
    except UnsupportedModel:
        return [], 0
    return (ids, len(asked)) if ids[: len(asked)] == asked else (ids, 1)


def prompts_of(records: list[Record], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Prompts that the target is to answer itself: a chat up to its first reply, or the first words of a text."""
    for record in records:
        if not record.messages:
            yield tokenizer.encode(" ".join(record.text.split()[:24]))
            continue
        asked: list[ChatMessage] = []
        for message in record.messages:
            if message.role == "assistant":
                break
            asked.append(message)
        if asked:
            yield tokenizer.render(asked)
