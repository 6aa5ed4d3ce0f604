"""Ways of damaging what a program reads: bytes, JSON by its structure, and texts by their pieces."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from random import Random
from typing import Any

_EXTREME = (
    0,
    1,
    2,
    31,
    127,
    255,
    256,
    1 << 15,
    (1 << 16) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 40,
    1 << 62,
    1 << 63,
)
_MARK = "\u0001deep\u0001"
_LEAVES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 1 << 15, (1 << 31) - 1, 1 << 31, 1 << 53, 1 << 63, 1 << 64, -(1 << 63)),
    *(0.0, -0.0, 0.5, 1.5, -1.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"), 10**400),
    *("", " ", "a", "0", "-1", "nan", "\0", "\ud800", "\ufffc", "é" * 300, "x" * 20_000, "../..", "/dev/zero"),
    *("{{", "[["),
    *([], {}, [[]], [None], [0] * 5000, {"a": {}}, [{}], ["\udfff"], {"": ""}, _MARK),
)  # fmt: skip


def damaged_bytes(random: Random, data: bytes, head: int | None = None) -> bytes:
    """Some flips, cuts, splices and extreme numbers.

    Args:
        random: Decides.
        data: The data to damage.
        head: Most of the damage is in so many bytes at the beginning; None for anywhere.
    """
    found = bytearray(data)
    for _ in range(_few(random)):
        if not found:
            return b""
        end = len(found) if head is None or random.random() < 0.1 else min(head, len(found))
        at = random.randrange(end)
        kind = random.randrange(9)
        if kind == 0:
            found[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            found[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
        elif kind == 2:
            del found[at:]
        elif kind == 3:
            del found[at : at + random.randrange(1, 40)]
        elif kind == 4:
            found[at:at] = random.randbytes(random.randrange(1, 40))
        elif kind == 5:
            start, size = random.randrange(end), random.randrange(1, 200)
            found[at : at + size] = found[start : start + size]
        elif kind == 6:
            start, size = random.randrange(end), random.randrange(1, 200)
            found[at:at] = found[start : start + size]
        else:
            form = random.choice(["<B", "<H", "<I", "<Q", ">I", ">Q", "<f", "<d"])
            wide = struct.calcsize(form)
            number = random.choice(_EXTREME) + random.choice((0, 0, -1, 1))
            if form[1] in "fd":
                value = struct.pack(form, random.choice((0.0, -1.0, 1e38, float("nan"), float("inf"))))
            else:
                value = struct.pack(form, number % (1 << 8 * wide))
            found[at : at + wide] = value
    return bytes(found)


def damaged_json(random: Random, value: Any, bytes_too: bool = True) -> bytes:
    """JSON of a value that was changed at some of its places; now and then no JSON at all.

    Args:
        random: Decides.
        value: Plain data for JSON; left as it is.
        bytes_too: True to damage the text too, now and then.
    """
    found = json.loads(json.dumps(value))
    for _ in range(_few(random)):
        found = _changed(random, found)
    text = json.dumps(found, ensure_ascii=random.random() < 0.9)
    if _MARK in text or "\\u0001deep" in text:
        depth = random.choice((50, 600, 5000, 100_000))
        deep = random.choice(("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth))
        text = text.replace(json.dumps(_MARK), deep)
    if random.random() < 0.1:
        text = text.replace("Infinity", "1e999")
    data = text.encode("utf-8", errors="surrogatepass")
    return damaged_bytes(random, data) if bytes_too and random.random() < 0.15 else data


def damaged_text(random: Random, text: str, pieces: Sequence[str]) -> str:
    """A text with pieces of its language put in, taken out, doubled and swapped."""
    found = text
    for _ in range(_few(random) + 1):
        at = random.randrange(len(found) + 1)
        kind = random.randrange(6)
        if kind <= 1:
            found = found[:at] + random.choice(pieces) * random.choice((1, 1, 1, 2, 5, 300)) + found[at:]
        elif kind == 2:
            found = found[:at] + found[at + random.randrange(1, 30) :]
        elif kind == 3:
            found = found[:at]
        elif kind == 4:
            start = random.randrange(len(found) + 1)
            found = found[:at] + found[start : start + random.randrange(1, 200)] + found[at:]
        else:
            found = found[:at] + chr(random.choice((0, 9, 13, 0x200F, 0xFFFC, 0xD800, 0x1F600, 0x301))) + found[at:]
        found = found[:200_000]
    return found


def _few(random: Random) -> int:
    return 1 + min(int(random.expovariate(0.8)), 7)


def _changed(random: Random, root: Any) -> Any:
    """The value with one place changed."""
    holders = list(_holders(root))
    if not holders or random.random() < 0.02:
        return json.loads(json.dumps(random.choice(_LEAVES)))
    holder = random.choice(holders)
    key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    kind = random.randrange(7)
    if kind <= 2:
        holder[key] = json.loads(json.dumps(random.choice(_LEAVES)))
    elif kind == 3:
        del holder[key]
    elif kind == 4:
        other = random.choice(holders)
        there = random.choice(list(other) if isinstance(other, dict) else range(len(other)))
        holder[key] = json.loads(json.dumps(other[there]))
    elif kind == 5:
        holder[key] = _nearby(random, holder[key])
    elif isinstance(holder, dict):
        holder[random.choice((f"{key}x", "", "\ud83d", *holder))] = holder[key]
    else:
        holder.insert(key, holder[key])
    return root


def _nearby(random: Random, value: Any) -> Any:
    """A value of the same type, or the same text as another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice(
            (
                value + 1,
                value - 1,
                -value,
                value * 2,
                value // 2,
                value * 1000,
                value + 0.5 if abs(value) < 1 << 900 else 0.0,
                str(value),
            )
        )
    if isinstance(value, float):
        return random.choice((-value, value * 1e30, value / 1e30, int(value) if abs(value) < 1e300 else 0, str(value)))
    if isinstance(value, str):
        at = random.randrange(len(value) + 1)
        return random.choice((value[:at], value[at:], value + value, value[:at] + "\ud800" + value[at:], value.upper()))
    return [value] if random.random() < 0.5 else str(value)


def _holders(value: Any) -> Any:
    """Every list and dictionary that is not empty."""
    if isinstance(value, (list, dict)) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value[:400]:
            yield from _holders(inner)
