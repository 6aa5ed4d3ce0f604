from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import Cancelled
from engine.files import read_cached, write_cached
from engine.kernels import blocks, library
from engine.messages.machine import FormatSpeed, HostSpeed
from engine.model.weight_format import FORMAT_NAMES, MEASURED_NAMES, WeightFormat, weight_format
from engine.planning import kernel_table
from engine.planning.kernel_table import (
    FORMAT_WIDTHS,
    WIDTHS,
    Row,
    candidates,
    choices,
    describe,
    format_seconds,
    hardware_key,
    kept_rows,
    measured_rows,
    prefer_fastest,
)
from engine.planning.machine_speeds import machine_speeds
from engine.planning.probes import host
from tests.support.machines import machine
from tests.support.matrices import matrix

needs_choice = pytest.mark.skipif(len(candidates("q8_0")) < 2, reason="there is nothing to choose from on this machine")
PACKED = tuple(name for name in MEASURED_NAMES if weight_format(name).packed)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kernel_table, "_ROWS", 64)
    monkeypatch.setattr(kernel_table, "_COLUMNS", 256)
    monkeypatch.setattr(kernel_table, "_COPIES_BYTES", 0)
    monkeypatch.setattr(kernel_table, "_RUNS_S", 0.0)
    yield
    for kind in blocks.NAMES.values():
        for width in WIDTHS:
            library.prefer(kind, width, None)


def fake_sets(monkeypatch: pytest.MonkeyPatch, *usable: str) -> None:
    order = ("portable", "avx2", "avxvnni", "avx512vnni", "avx512vbmi", "avx512bf16", "amx")
    monkeypatch.setattr(library, "instruction_sets", lambda: {name: name in usable for name in order})
    monkeypatch.setattr(library, "available", lambda: usable[-1])


def test_measured_once_and_kept_for_this_hardware(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = measured_rows(tmp_path, MEASURED_NAMES)
    assert first.keys() == set(MEASURED_NAMES)
    for name, row in first.items():
        assert set(row) == set(WIDTHS if len(candidates(name)) > 1 else FORMAT_WIDTHS)
        assert all(set(cell) == set(candidates(name)) and min(cell.values()) > 0 for cell in row.values())
    monkeypatch.setattr(kernel_table, "_measure", None)
    assert measured_rows(tmp_path, MEASURED_NAMES) == first
    assert kept_rows(tmp_path) == first
    assert format_seconds(tmp_path).keys() == set(FORMAT_NAMES)


def test_what_was_measured_on_a_busy_machine_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = iter([3.0, 1.0, 2.0, 9.0])
    shares = iter([0.5, 0.5, 0.0, 0.0])
    name = MEASURED_NAMES[0]
    row = measured_rows(tmp_path / "other", (name,))[name]
    monkeypatch.setattr(host, "share_of_others", lambda begin, end: next(shares))

    def measure(name: str, check: Callable[[], None]) -> Row:
        seconds = next(measured)
        return {width: dict.fromkeys(cell, seconds) for width, cell in row.items()}

    monkeypatch.setattr(kernel_table, "_measure", measure)
    found = []
    for _ in range(5):
        for holds_s in (-1.0, float("inf")):  # a minute later, and at once, however long it takes
            monkeypatch.setattr(kernel_table, "_HOLDS_S", holds_s)
            found.append(measured_rows(tmp_path, (name,))[name][1].values())
    # The best of what it took; once the machine was quiet that is kept. A second plan within a minute measures nothing.
    assert [set(cell) for cell in found] == [{3.0}, {3.0}, *[{1.0}] * 8]
    assert next(measured) == 9.0


def test_a_format_is_measured_when_it_is_first_wanted(tmp_path: Path) -> None:
    eight = measured_rows(tmp_path, ("q8_0",))
    assert kept_rows(tmp_path).keys() == {"q8_0"}
    both = measured_rows(tmp_path, ("q8_0", "q4_k_m"))
    assert both["q8_0"] == eight["q8_0"]
    assert kept_rows(tmp_path).keys() == {"q8_0", "q4_k_m"}


@pytest.mark.parametrize(
    "content", [[], {}, {hardware_key(): {"fp32": 3}}, {hardware_key(): {"fp32": {"1": {"torch": 1}}}}]
)
def test_a_table_of_another_version_or_of_other_hardware_is_measured_again(content: object, tmp_path: Path) -> None:
    path = tmp_path / "kernel-table.json"
    write_cached(path, content)
    assert format_seconds(tmp_path).keys() == set(FORMAT_NAMES)
    assert hardware_key() in read_cached(path)


def test_a_figure_that_the_disk_has_changed_is_measured_again(tmp_path: Path) -> None:
    measured_rows(tmp_path, ("q8_0",))
    path = tmp_path / "kernel-table.json"
    path.write_text(path.read_text().replace("e-", "e+").replace("0.0", "9.0"))
    assert kept_rows(tmp_path) == {}
    measured_rows(tmp_path, ("q8_0",))
    assert kept_rows(tmp_path).keys() == {"q8_0"}


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert format_seconds(file / "below").keys() == set(FORMAT_NAMES)


def test_another_build_of_the_library_is_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    before = hardware_key()
    monkeypatch.setattr(library, "built_ns", lambda: 1)
    assert hardware_key() != before


def test_only_sets_with_the_same_bits_stand_in_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_sets(monkeypatch, "portable", "avx2", "avx512vnni", "avx512vbmi", "avx512bf16", "amx")
    assert candidates("q4_k_m") == ("avx2", "avx512vnni", "amx")
    assert candidates("iq2_s") == ("avx2", "avx512vnni", "avx512vbmi", "amx")
    assert candidates("ptq1_0") == ("avx2", "avx512vnni", "amx")
    assert candidates("bf16") == ("amx",)
    fake_sets(monkeypatch, "portable", "avx2", "avx512vnni", "avx512vbmi", "avx512bf16")
    assert candidates("q8_0") == ("avx2", "avx512bf16")
    assert candidates("iq2_s") == ("avx2", "avx512vnni", "avx512bf16")
    assert candidates("bf16") == ("avx512bf16",)
    fake_sets(monkeypatch, "portable", "avx2", "avx512vnni")
    assert candidates("bf16") == ("avx2", "avx512vnni")
    assert candidates("f16") == ("avx512vnni",)  # no set has the same bits as another
    fake_sets(monkeypatch, "portable")
    assert candidates("q8_0") == ("portable",)
    assert candidates("fp32") == ("torch",)
    monkeypatch.setattr(library, "available", lambda: None)
    assert candidates("q8_0") == candidates("bf16") == ("torch",)


@pytest.mark.parametrize("name", MEASURED_NAMES)
def test_a_measured_format_is_measured_as_itself(name: str) -> None:
    assert weight_format(name).measured_as == name


@pytest.mark.parametrize(
    ("kind", "measured_as"),
    [
        *(("IQ1_M", "iq2_s"), ("IQ3_KS", "iq2_k"), ("IQ6_K", "iq4_ks"), ("IQ4_NL", "iq4_xs"), ("Q2_K", "pq2_0")),
        *(("TQ1_0", "ptq1_0"), ("Q5_K", "q4_k_m"), ("MXFP4", "q4_k_m"), ("Q8_0", "q8_0"), ("F16", "f16")),
    ],
)
def test_a_type_is_measured_as_one_whose_numbers_are_found_alike(kind: str, measured_as: str) -> None:
    weights = WeightFormat(kind, torch.bfloat16, torch.float32, torch.bfloat16, blocks.NAMES[kind])
    assert weights.measured_as == measured_as
    host = HostSpeed(1e9, 0.0, {name: FormatSpeed(1e9, 1e9, 0.0) for name in FORMAT_NAMES})
    assert host.format(measured_as) == host.formats["q4_k_m"]  # of a machine whose report lacks it
    own = replace(host, formats={**host.formats, measured_as: FormatSpeed(2e9, 1e9, 0.0)})
    assert own.format(measured_as).bytes_per_s == 2e9


def test_another_set_than_the_highest_must_be_clearly_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_sets(monkeypatch, "portable", "avx2", "avx512vnni", "amx")
    row = {
        1: {"avx2": 1.0, "avx512vnni": 2.0, "amx": 3.0},
        2: {"avx2": 0.97, "avx512vnni": 0.98, "amx": 1.0},
        4: {"avx2": 3.0, "avx512vnni": 2.0, "amx": 1.0},
    }
    assert choices("q8_0", row) == {1: "avx2"}


@needs_choice
def test_the_library_uses_what_was_measured_as_fastest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lower, highest = candidates("q8_0")[0], candidates("q8_0")[-1]
    row = {width: dict.fromkeys(candidates("q8_0"), 1.0) for width in WIDTHS}
    row[8][lower] = 0.5
    monkeypatch.setattr(kernel_table, "_measure", lambda name, check: row)
    asked: dict[tuple[int, int], str | None] = {}
    monkeypatch.setattr(library, "prefer", lambda kind, width, one: asked.update({(kind, width): one}))
    assert describe(tmp_path).startswith("not measured yet")
    prefer_fastest(weight_format("q8_0"), tmp_path, lambda: None)
    assert describe(tmp_path) == f"q8_0 {highest}, {lower} at 8 tokens"
    kind = blocks.NAMES["Q8_0"]
    assert asked == {(kind, width): lower if width == 8 else None for width in WIDTHS}


@needs_choice
def test_a_load_does_not_wait_for_what_was_measured_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "share_of_others", lambda begin, end: 0.5)
    measured: list[str] = []
    row = {width: dict.fromkeys(candidates("q8_0"), 1.0) for width in WIDTHS}
    monkeypatch.setattr(kernel_table, "_measure", lambda name, check: measured.append(name) or row)
    for _ in range(2):
        prefer_fastest(weight_format("q8_0"), tmp_path, lambda: None)
    assert measured == ["q8_0"]
    _a_minute_ago(tmp_path)
    measured_rows(tmp_path, ("q8_0",))
    assert measured == ["q8_0", "q8_0"]


@needs_choice
def test_a_cancel_while_measuring_keeps_nothing(tmp_path: Path) -> None:
    def check() -> None:
        raise Cancelled("")

    with pytest.raises(Cancelled):
        prefer_fastest(weight_format("q8_0"), tmp_path, check)
    assert kept_rows(tmp_path) == {}


@needs_choice
@pytest.mark.parametrize("name", PACKED)
def test_a_preferred_set_changes_no_bit(name: str) -> None:
    kind, generator = weight_format(name).matrix_kind(768), torch.Generator().manual_seed(0)
    packed = matrix(blocks.name_of(kind), 100, 768)
    before = library.available()
    for cap in (before, "avx512vnni"):  # the second is where bf16 has something to choose from
        if not library.instruction_sets().get(str(cap)):
            continue
        library.select(cap)
        for width in WIDTHS:
            x = torch.randn(width, 768, generator=generator)
            expected = blocks.matmul(packed, x)
            for one in candidates(name):
                library.prefer(kind, width, one)
                assert torch.equal(blocks.matmul(packed, x), expected)
            library.prefer(kind, width, None)
    library.select(before)


def _a_minute_ago(folder: Path) -> None:
    then = time.time() - 61
    os.utime(folder / "kernel-table.json", (then, then))


def test_numbers_of_16_bits_are_multiplied_alike_on_a_board_that_was_not_measured() -> None:
    """No kernel for ARM multiplies them in 8 bits as quantized weights are."""
    board = machine_speeds(replace(machine("raspberry-pi-5-8gb"), speeds=None, kernels="dotprod"), None).host
    assert board.formats["f16"] == board.formats["bf16"]
    assert board.formats["f16"].products_per_s < board.formats["q8_0"].products_per_s
