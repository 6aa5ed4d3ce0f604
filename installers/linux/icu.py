"""The data of ICU that Qt brings, cut down: Qt asks it to sort, and Tenon's window speaks three languages.

What goes are names of languages, countries, currencies and time zones, units, dictionaries that break lines, tables of
old character sets, and the rules of other languages, whose words are sorted by the root's. Layout of the data:
https://github.com/unicode-org/icu/blob/main/icu4c/source/common/ucmndata.h
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from pathlib import Path

_LANGUAGES = ("de", "en", "zh")
_FORMAT = b"CmnD"
_FORMAT_AT = 12  # in the header, which begins with its own length
_ALIGNMENT = 16
_LOCALE = re.compile(r"(coll/)?([a-z]{2,3})(_\w+)?\.res", re.ASCII)


def wanted(name: str) -> bool:
    """Return True if an entry stays; it is named as ``coll/de.res``, without the name of the whole."""
    locale = _LOCALE.fullmatch(name)
    if locale is not None:
        return locale[2] in _LANGUAGES
    return not name.endswith(".cnv") and ("/" not in name or name.startswith("coll/"))


def cut_down(data: bytes) -> bytes:
    """Return the data with the entries that are wanted.

    Raises:
        ValueError: it is not laid out as it was known.
    """
    (start,) = struct.unpack_from("<H", data)
    if data[_FORMAT_AT : _FORMAT_AT + len(_FORMAT)] != _FORMAT:
        raise ValueError("no data of ICU")
    (count,) = struct.unpack_from("<I", data, start)
    table = [struct.unpack_from("<II", data, start + 4 + 8 * number) for number in range(count)]
    stops = [place for _, place in table[1:]] + [len(data) - start]
    kept = []
    for (name_at, place), stop in zip(table, stops, strict=True):
        name = data[start + name_at : data.index(b"\0", start + name_at) + 1]
        if wanted(name[:-1].decode("ascii").partition("/")[2]):
            kept.append((name, data[start + place : start + stop]))
    names_at = 4 + 8 * len(kept)
    place = _aligned(names_at + sum(len(name) for name, _ in kept))
    entries, names, contents = b"", b"", b""
    for name, content in kept:
        entries += struct.pack("<II", names_at + len(names), place + len(contents))
        names += name
        contents += content.ljust(_aligned(len(content)), b"\0")
    head = struct.pack("<I", len(kept)) + entries + names
    return data[:start] + head.ljust(place, b"\0") + contents


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def slim(library: Path) -> None:
    """Put a library of the same name, with the smaller data, in the place of Qt's.

    Args:
        library: ``libicudata.so.VERSION``.

    Raises:
        ValueError: its data are not laid out as they were known.
        CalledProcessError: the C compiler makes no library.
    """
    whole = library.read_bytes()
    start = whole.index(_FORMAT) - _FORMAT_AT
    symbol = f"icudt{library.suffix[1:]}_dat"
    with tempfile.TemporaryDirectory() as folder:
        data, source = Path(folder, "icudata"), Path(folder, "icudata.s")
        data.write_bytes(cut_down(whole[start : _end_of_data(whole, start)]))
        source.write_text(
            f".section .rodata\n.balign {_ALIGNMENT}\n.globl {symbol}\n.type {symbol}, %object\n{symbol}:\n"
            f'.incbin "{data}"\n.size {symbol}, . - {symbol}\n.section .note.GNU-stack, "", %progbits\n',
            encoding="utf-8",
        )
        made = ["-shared", "-nostdlib", f"-Wl,-soname,{library.name}", "-o", str(library), str(source)]
        subprocess.run(["cc", *made], check=True)


def _end_of_data(whole: bytes, start: int) -> int:
    """Return the end of the section that the data begin, from the table of sections at the file's end."""
    (sections_at,) = struct.unpack_from("<Q", whole, 0x28)
    each, count = struct.unpack_from("<HH", whole, 0x3A)
    for number in range(count):
        offset, size = struct.unpack_from("<QQ", whole, sections_at + number * each + 0x18)
        if offset == start:
            return int(offset + size)
    raise ValueError("the data of ICU begin no section")
