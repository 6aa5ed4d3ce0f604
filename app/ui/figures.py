"""Numbers as a user reads them: a unit after a space, three figures at most, thousands by locale."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from app.chat.troubles import Remedy
from app.words import tr
from engine.messages import Attachment, ErrorReport

_LONGEST_SECONDS = 90
_LONGEST_MINUTES = 90


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


def remedy_words(remedy: Remedy, report: ErrorReport) -> str:
    """Return the words of a remedy's button, with the value that the report names."""
    return tr(remedy.value, tokens="" if report.allowed is None else whole(report.allowed.value))


def extent(attachment: Attachment) -> str:
    """Size of a file in words: its pages or chapters where it has some, else its bytes; and whether it is whole."""
    if attachment.picture is not None:
        return f"{attachment.picture.width} × {attachment.picture.height}"
    if attachment.unit == "page":
        found = tr("%n page(s)", len(attachment.sections))
    elif attachment.unit == "chapter":
        found = tr("%n chapter(s)", len(attachment.sections))
    else:
        found = size(attachment.size_bytes)
    return tr("{extent}, text missing", extent=found) if attachment.missing else found


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
    """14.23 with three digits at most -> "14.2"; all those before the point are shown: 100 with two -> "100"."""
    form, figures = ("f", 0) if abs(value) >= 10**most - 0.5 else ("g", most)
    return QLocale().toString(float(value), form, figures)


def ratio(value: float) -> str:
    """4.12 -> "4.1"."""
    return _three_figures(value)


def times_plain(value: float) -> str:
    """1.42 -> "1.4 times the usual speed", 1.02 -> "at the usual speed": how a speed compares with plain decoding's."""
    times = ratio(value)
    return tr("at the usual speed") if times == ratio(1.0) else tr("{times} times the usual speed", times=times)


def gigabytes(size_bytes: int) -> str:
    """5_300_000_000 -> "5.3", 24_000_000 -> "0.02", 4_900_000 -> "0.005", 0 -> "0.0", without the unit."""
    value = size_bytes / 1e9
    if value >= 0.095 or not size_bytes:
        return _three_figures(value)
    exponent = f"{value:.0e}".partition("e")[2]
    return QLocale().toString(value, "f", -int(exponent))


def gigabytes_from(least_bytes: int, most_bytes: int) -> str:
    """1_200_000_000 and 2_100_000_000 -> "1.2–2.1": memory of a model with an empty and with a full context."""
    least, most = gigabytes(least_bytes), gigabytes(most_bytes)
    return most if least == most else f"{least}–{most}"


def bit_rate(bytes_per_second: float) -> str:
    """6_250_000 -> "50 Mbit/s", as people know the speed of their connection."""
    return f"{digits(bytes_per_second * 8 / 1e6, 2)} Mbit/s"


def rough_time(seconds: float) -> str:
    """Round a time as people do: 242.0 -> "4 min", 31.0 -> "less than 1 min", 9000.0 -> "2.5 h"."""
    if seconds < 45:
        return tr("less than 1 min")
    if seconds < 60 * _LONGEST_MINUTES:
        return tr("{minutes} min", minutes=whole(max(1, round(seconds / 60))))
    return tr("{hours} h", hours=ratio(seconds / 3600))


def time_left(left_s: float) -> str:
    """12.4 -> "12 s left", 300.0 -> "5 min left", 9000.0 -> "2.5 h left"."""
    if left_s < _LONGEST_SECONDS:
        return tr("{seconds} s left", seconds=whole(max(1, round(left_s))))
    if left_s < 60 * _LONGEST_MINUTES:
        return tr("{minutes} min left", minutes=whole(round(left_s / 60)))
    return tr("{hours} h left", hours=ratio(left_s / 3600))
