"""Speed of the processor in reading weights and multiplying with them, by weight format.

A forward's time is put together as in Dovetail (Zhang et al. 2024, equations 3 and 4): T_p for reading the weights,
T_c for multiplying them with the tokens, and max(T_c, T_p) + beta * min(T_c, T_p) for both. Its efficiencies E_c
and E_m are not guessed: P_c * E_c and B_m * E_m are measured at once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from engine.messages.machine import FormatSpeed, HostSpeed
from engine.model.weight_format import MEASURED_NAMES, weight_format
from engine.planning.kernel_table import Row, arranging_s_per_byte, matrix_size, measured_rows

_BUFFER_BYTES = 512 << 20
_FEWEST_BUFFER_BYTES = 16 << 20
_BETAS = tuple(step / 20 for step in range(21))
# A buffer is read in pieces: while other programs run, long reads are interrupted each time and short ones are not.
# Two sizes of pieces show the time to begin a read, which is not the memory's.
_PIECES_BYTES = (1 << 20, 8 << 20)
_PASSES, _FEWEST_PIECES, _READS_S = 6, 64, 0.7
# Share of pieces that are read as if nothing else ran, under a load of ten on two cores.
_UNDISTURBED = 0.05
_OPERATOR_RUNS, _OPERATOR_TRIALS = 200, 5


def measure_host(
    cache_folder: Path, progress: Callable[[str], None], check: Callable[[], None], free_bytes: int
) -> HostSpeed:
    """Measure the host, in a few seconds.

    Args:
        cache_folder: Folder of the kernel table, which is measured here if it is not yet.
        progress: Called with the next part to be measured.
        check: Called often; raises to cancel.
        free_bytes: Memory that is free now; a buffer takes a quarter of it at most.
    """
    progress("memory")
    buffer_bytes = min(_BUFFER_BYTES, max(_FEWEST_BUFFER_BYTES, free_bytes // 4))
    bandwidth = memory_bytes_per_s(buffer_bytes, check)
    operator = operator_seconds(torch.device("cpu"))
    fitted = {}
    for name in MEASURED_NAMES:
        progress(f"{name} products")
        speed = fit_speed(name, measured_rows(cache_folder, (name,), check)[name])
        fitted[name] = replace(speed, arranging_s_per_byte=arranging_s_per_byte(name))
    # Other programs, or a host's other guests, take a share of the memory's speed that changes from second to
    # second.
    bandwidth = max(bandwidth, memory_bytes_per_s(buffer_bytes, check))
    # The matrices that a format is measured with may lie in a large cache; a model does not.
    formats = {name: replace(speed, bytes_per_s=min(speed.bytes_per_s, bandwidth)) for name, speed in fitted.items()}
    return HostSpeed(bandwidth, operator, formats)


def memory_bytes_per_s(size_bytes: int, check: Callable[[], None]) -> float:
    """Return the bytes per second of reading a buffer of this size while nothing else disturbs it."""
    buffer = torch.ones(size_bytes // 4)
    few, many = _PIECES_BYTES
    begin_s, read_s = (_undisturbed_s(torch.split(buffer, size // 4), check) for size in _PIECES_BYTES)
    return (many - few) / (read_s - begin_s) if read_s > begin_s else many / read_s


def _undisturbed_s(pieces: Sequence[Tensor], check: Callable[[], None]) -> float:
    """Return the seconds of reading one of these pieces, which lie one after the other."""
    taken: list[float] = []
    ended = time.perf_counter() + _READS_S
    for piece in itertools.chain.from_iterable(itertools.repeat(pieces, _PASSES)):
        check()
        begun = time.perf_counter()
        if len(taken) >= _FEWEST_PIECES and begun > ended:
            break
        piece.sum()
        taken.append(time.perf_counter() - begun)
    return sorted(taken)[int(_UNDISTURBED * len(taken))]


def operator_seconds(device: torch.device) -> float:
    """Return the seconds of an operator on hardly any data."""
    weight = torch.ones(16, 16, device=device)
    row = torch.ones(1, 16, device=device)
    best = float("inf")
    for _ in range(_OPERATOR_TRIALS):
        begun = time.perf_counter()
        for _ in range(_OPERATOR_RUNS):
            row = functional.linear(row, weight).clamp_(0, 1)
        float(row[0, 0])  # a GPU must have finished
        best = min(best, time.perf_counter() - begun)
    return best / (2 * _OPERATOR_RUNS)


def fit_speed(name: str, row: Row) -> FormatSpeed:
    """Return the three numbers of equation 4 that describe measured products best.

    The narrowest width shows the speed of reading and the widest that of multiplying; the overlap is the one that
    meets the widths between them best.
    """
    rows, columns = matrix_size()
    products = rows * columns
    size = weight_format(name).matrix_bytes(rows, columns)
    seconds = {width: min(cell.values()) for width, cell in row.items()}

    def error(speed: FormatSpeed) -> float:
        return sum(abs(speed.seconds(size, width * products) / measured - 1) for width, measured in seconds.items())

    return min((_solve(beta, size, products, seconds) for beta in _BETAS), key=error)


def _solve(beta: float, size: int, products: int, seconds: Mapping[int, float]) -> FormatSpeed:
    """Return the speeds that give the times of the narrowest and the widest product, for one overlap.

    There are two linear equations, T_p + beta * m * t_c = seconds[m] and M * t_c + beta * T_p = seconds[M], if
    reading decides the narrow one and multiplying the wide one. If it does not (nothing overlaps), each is taken
    for itself.
    """
    narrow, wide = min(seconds), max(seconds)
    determinant = wide - beta * beta * narrow
    each = (seconds[wide] - beta * seconds[narrow]) / determinant
    reading = seconds[narrow] - beta * narrow * each
    if each <= 0.0 or reading <= 0.0:
        each, reading = seconds[wide] / wide, seconds[narrow]
    return FormatSpeed(size / reading, products / each, beta)
