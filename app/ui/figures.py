"""Numbers as a person reads them: a unit after a space, three figures at most, thousands by locale."""

from __future__ import annotations

from PySide6.QtCore import QLocale


def _three_figures(value: float) -> str:
    places = 1 if value < 99.95 else 0
    return QLocale().toString(float(value), "f", places)


def whole(number: int) -> str:
    """1234567 -> "1,234,567"."""
    return QLocale().toString(number)


def speed(tokens_per_second: float) -> str:
    """14.23 -> "14.2 tok/s"; below one token a second the time that each takes: 0.4 -> "2.5 s/token"."""
    if 0 < tokens_per_second < 1:
        return f"{_three_figures(1 / tokens_per_second)} s/token"
    return f"{_three_figures(tokens_per_second)} tok/s"


def rate(bytes_per_second: float) -> str:
    """412_300_000 -> "412 MB/s", in powers of ten."""
    return f"{size(round(bytes_per_second))}/s"


def duration(duration_ms: float) -> str:
    """430 -> "430 ms", 940.0 -> "940 ms", 1130 -> "1.1 s"."""
    if duration_ms < 999.5:
        return f"{whole(round(duration_ms))} ms"
    return f"{_three_figures(duration_ms / 1000)} s"


def percent(share: float) -> str:
    """0.784 -> "78 %"."""
    return f"{round(share * 100)} %"


def size(size_bytes: int) -> str:
    """5_300_000_000 -> "5.3 GB", 412 -> "1 kB", in powers of ten."""
    if 0 < size_bytes < 1_000_000:
        return f"{whole(max(1, round(size_bytes / 1_000)))} kB"
    if size_bytes < 1_000_000_000:
        return f"{whole(round(size_bytes / 1_000_000))} MB"
    return f"{_three_figures(size_bytes / 1_000_000_000)} GB"


def digits(value: float, most: int) -> str:
    """14.23 with three digits at most -> "14.2"."""
    return QLocale().toString(float(value), "g", most)


def ratio(value: float) -> str:
    """4.12 -> "4.1"."""
    return _three_figures(value)
