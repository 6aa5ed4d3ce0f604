"""A chat on the disk, as the model has read it: after a restart its next prompt goes on from there.

A chat has a folder of its own, with a file for each `_ROWS` tokens (the tokens and what the cache holds of them) and
for each kept state, more of them than memory has. A file's head names what its content depends on: the model's files,
formats, the version, and all tokens before. So a chat that grows has its last rows written again and no others, and
what is cut, changed or of another text is found out and is not used. The engine never makes a chat's folder: a chat
whose folder is gone was erased, and nothing of it is written any more.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path

import torch
from torch import Tensor

from engine.decoding.sequence import TokenSequence
from engine.messages import KeptChat
from engine.model.kv_cache import KVCache, shared_tokens
from engine.model.text_states import CHUNK, useful
from engine.sentences import say
from engine.weights.packed_file import PackedFile, PackedFileUnusable, check_section, write_packed_file

_ROWS = 512
# Most states of a chat, and the share of the bound of all chats that they may take
_MOST_STATES, _STATES_SHARE = 64, 8
# What is left free of a disk, for the chats themselves and for other programs
_SPARE_BYTES = 1 << 30
# Most bytes of a file beside its tensors: the index, and the way to the next page of each
_HEAD_BYTES, _SECTION_BYTES = 4096, 4608
_TOKENS = "tokens"


@dataclass(frozen=True)
class _File:
    """A file as it is to be."""

    name: str
    before: int  # tokens that its content depends on, apart from its own
    end: int  # tokens after which its content stands
    tensors: list[Tensor]


class ChatOnDisk:
    """The files of one chat.

    Args:
        place: Its folder, and the bound of all chats together.
        source: Digest of the model's files.
        kind: Names all else that the content depends on, apart from the cache's own form.
    """

    def __init__(self, place: KeptChat, source: str, kind: str) -> None:
        self.folder = Path(place.folder)
        self.written = True  # False if the text has changed since
        self.in_memory = False  # True if the sequence has all that the files have
        self._most_bytes = place.most_bytes
        self._source, self._kind = source, kind
        self._opened: dict[int, PackedFile] = {}  # open files of the rows that a prompt shares, by their first row

    def read(self, sequence: TokenSequence, prompt: Sequence[int]) -> Iterator[None]:
        """Read the rows that a prompt shares, beyond those that its sequence has; yield after each file.

        A chat that has no more of them takes those of another chat that begins alike. If a file cannot be read, the
        model reads that part of the prompt itself.
        """
        wanted = array("i", prompt[:-1])  # the last token's logits are needed
        with suppress(OSError, PackedFileUnusable, MemoryError, RuntimeError):
            if self.folder.is_dir() and not (self.in_memory and self._has_all(sequence, wanted)):
                yield from self._read(sequence, sequence.cut(prompt), wanted)
        self.in_memory = True

    @staticmethod
    def _has_all(sequence: TokenSequence, wanted: array[int]) -> bool:
        """Return True if a text goes on from where a prompt parts from it, or from a state just before that."""
        shared, states = shared_tokens(sequence.token_ids, wanted), sequence.cache.states
        return states is None or shared - states.reach(shared) < CHUNK

    def _read(self, sequence: TokenSequence, cache: KVCache, wanted: array[int]) -> Iterator[None]:
        start, source = len(sequence.token_ids), self
        found = self._shared(cache, wanted, start)
        if not found:
            self.clear()  # the files are of another model, format, version or text
        if found <= start:
            others = [self._at(folder) for folder in self.folder.parent.iterdir()]
            source = max((self, *others), key=lambda chat: chat._shared(cache, wanted, start))
            found = source._shared(cache, wanted, start)
        if cache.states is not None:
            found = source._read_state(cache, wanted, start, found)
        if found <= start:
            return
        os.utime(source.folder)
        cache.rows(0, found)  # room for all
        end = start
        try:
            for first in range(start // _ROWS * _ROWS, found, _ROWS):
                source._read_rows(cache, max(first, start), min(first + _ROWS, found))
                end = min(first + _ROWS, found)
                yield
        finally:
            sequence.restored(wanted[:end].tolist())

    def tokens(self, cache: KVCache) -> list[int]:
        """Return the tokens of the chat's files, from the first on, that a cache of this form can take."""
        found = array("i")
        with suppress(PackedFileUnusable):
            while tokens := _tokens(self._open(f"{len(found)}.rows", cache, found)):
                found += tokens
        return found.tolist()

    def _at(self, folder: Path) -> ChatOnDisk:
        """Return another chat of the same model."""
        other = copy(self)
        other.folder, other._opened = folder, {}
        return other

    def write(self, sequence: TokenSequence, check: Callable[[], None]) -> str:
        """Write what has changed, as far as there is room.

        Args:
            sequence: The text.
            check: Called between tensors; raises to stop, and the next call goes on.

        Returns:
            A sentence for the user if the disk refused it; empty otherwise.
        """
        try:
            if self.folder.is_dir():
                self._write(sequence, check)
        except OSError as error:
            if self.folder.is_dir():
                self.clear()
                self.written = True  # tried again after the next reply
                return say(
                    "What was read of this chat cannot be kept on the disk ({reason}), so after a restart it is read "
                    "again: free some room, or lower the limit in the settings.",
                    reason=error.strerror or str(error),
                )
        except (MemoryError, RuntimeError):
            pass  # a device that fails is told of by the next reply
        self.written = True
        return ""

    def clear(self) -> None:
        """Delete the files; the folder says that the chat is still there."""
        with suppress(OSError):
            for path in self.folder.iterdir():
                path.unlink()

    def _open(self, name: str, cache: KVCache, before: array[int]) -> PackedFile:
        return PackedFile(self.folder / name, self._source, self._form(cache, before))

    def _form(self, cache: KVCache, before: array[int]) -> str:
        """Return a name of all that content depends on, the model's files apart."""
        rows = [(str(rows.dtype), *rows.shape[:2], rows.shape[3], rows.device.type) for rows in cache.rows(0, 0)]
        digest = sha256(repr((self._kind, rows, cache.long_text)).encode())
        digest.update(before)
        return digest.hexdigest()

    def _shared(self, cache: KVCache, wanted: array[int], start: int) -> int:
        """Return the number of first tokens that are on the disk, where the text has so many already."""
        for first in count(start // _ROWS * _ROWS, _ROWS):
            try:
                file = self._opened[first] = self._open(f"{first}.rows", cache, wanted[:first])
                shared = shared_tokens(_tokens(file), wanted[first:])
            except PackedFileUnusable:
                return first
            if shared < _ROWS:
                return first + shared
        return 0

    @torch.inference_mode()
    def _read_rows(self, cache: KVCache, first: int, last: int) -> None:
        begin = first // _ROWS * _ROWS
        file = self._opened[begin]
        tokens = len(_tokens(file))
        for index, rows in enumerate(cache.rows(first, last)):
            shape = (*rows.shape[:2], tokens, rows.shape[3])
            rows.copy_(_read(file, index, shape, rows.dtype)[:, :, first - begin : last - begin])

    @torch.inference_mode()
    def _read_state(self, cache: KVCache, wanted: array[int], start: int, found: int) -> int:
        """Read states between two numbers of tokens; return where the last of them stands, or the first number."""
        assert cache.states is not None
        last = start
        for position in useful((at for at in self._states() if start < at <= found), cache.states.most):
            with suppress(PackedFileUnusable):
                file = self._open(_state_name(position), cache, wanted[:position])
                cache.states.put(position, partial(_fill, file))
                last = position
        return last

    def _write(self, sequence: TokenSequence, check: Callable[[], None]) -> None:
        tokens, cache = array("i", sequence.token_ids), sequence.cache
        length = min(len(tokens), cache.length)
        states = self._wanted_states(cache, tokens[:length])
        files = _files(cache, length, states)
        wanted = {*(file.name for file in files), *map(_state_name, states)}
        for path in self.folder.iterdir():
            if path.name not in wanted:
                path.unlink()
        if not self._make_room(0):  # the bound is lower than it was
            self.clear()
        for file in files:
            check()
            own = tokens[file.before : file.end]
            with suppress(PackedFileUnusable):
                if _tokens(self._open(file.name, cache, tokens[: file.before])) == own:
                    continue
            size = (
                sum(tensor.nbytes + _SECTION_BYTES for tensor in file.tensors) + _HEAD_BYTES + own.itemsize * len(own)
            )
            if not self._make_room(size):
                (self.folder / file.name).unlink(missing_ok=True)
                return
            write_packed_file(
                self.folder / file.name,
                self._source,
                self._form(cache, tokens[: file.before]),
                _sections(own, file.tensors, check),
                synced=False,  # what a power cut takes is read again
            )

    def _states(self) -> list[int]:
        """Return the tokens before each state of the folder."""
        return [int(path.stem) for path in self.folder.glob("*.state") if path.stem.isdecimal()]

    def _wanted_states(self, cache: KVCache, tokens: array[int]) -> list[int]:
        """Return where the states stand that the chat is to have: those in memory, and earlier ones of its text.

        Memory has few of them, so that a message that is edited, or a chat that branches off, would read far back.
        """
        if cache.states is None:
            return []
        in_memory = cache.states.kept()
        found = set(in_memory)
        for position in self._states():
            with suppress(PackedFileUnusable):
                if position <= len(tokens):
                    self._open(_state_name(position), cache, tokens[:position])
                    found.add(position)
        size = max((sum(part.nbytes for part in parts) for parts in in_memory.values()), default=1)
        return useful(found, max(cache.states.most, min(self._most_bytes // _STATES_SHARE // size, _MOST_STATES)))

    def _make_room(self, size_bytes: int) -> bool:
        """Delete what was used longest ago of other chats until a file has room within the bound; return if it has.

        Raises:
            OSError: The disk is full.
        """
        if shutil.disk_usage(self.folder).free < size_bytes + _SPARE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        chats = (one for one in self.folder.parent.iterdir() if one.is_dir())
        folders = sorted(chats, key=lambda one: one.stat().st_mtime)
        sizes = {one: sum(path.stat().st_size for path in one.iterdir()) for one in folders}
        for one in folders:
            if sum(sizes.values()) + size_bytes <= self._most_bytes:
                return True
            if one != self.folder and sizes[one]:
                for path in one.iterdir():
                    path.unlink()
                sizes[one] = 0
        return sum(sizes.values()) + size_bytes <= self._most_bytes


def _state_name(position: int) -> str:
    return f"{position}.state"


def _files(cache: KVCache, length: int, wanted: Sequence[int]) -> list[_File]:
    """Return the files of a text and of its wanted states in memory, in the order in which they are of use."""
    pieces = [(first, min(first + _ROWS, length)) for first in range(0, length, _ROWS)]
    files = [_File(f"{first}.rows", first, end, cache.rows(first, end)) for first, end in pieces]
    states = {} if cache.states is None else cache.states.kept()
    files += [_File(_state_name(at), at, at, parts) for at, parts in states.items() if at in wanted]
    return sorted(files, key=lambda file: file.end)


def _sections(
    tokens: array[int], tensors: Sequence[Tensor], check: Callable[[], None]
) -> Iterator[tuple[str, Tensor, dict[str, int]]]:
    yield _TOKENS, torch.tensor(tokens.tolist(), dtype=torch.int32), {}
    for index, tensor in enumerate(tensors):
        check()
        yield str(index), tensor.cpu(), {}


def _tokens(file: PackedFile) -> array[int]:
    """Return the tokens of a file. Raises PackedFileUnusable."""
    return array("i", _section(file, _TOKENS).view(torch.int32).tolist())


def _fill(file: PackedFile, tensors: Sequence[Tensor]) -> None:
    """Read a state of a file. Raises PackedFileUnusable."""
    for index, tensor in enumerate(tensors):
        tensor.copy_(_read(file, index, tuple(tensor.shape), tensor.dtype))


def _read(file: PackedFile, index: int, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return a tensor of a file. Raises PackedFileUnusable."""
    data = _section(file, str(index)).view(dtype)
    if data.numel() != math.prod(shape):
        raise PackedFileUnusable(f"tensor {index} has another size")
    return data.view(shape)


def _section(file: PackedFile, name: str) -> Tensor:
    section = file.sections.get(name)
    if section is None:
        raise PackedFileUnusable(f"{name} is missing")
    data = file.bytes_of(section)
    check_section(section, data)
    return data
