"""Parts list, checksums, table of sizes, and the board's packages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from installers.checksums import write_checksums
from installers.components import asked_for, components, normalized
from installers.environment import Machine, constraints
from installers.parts_list import of_the_bundle
from installers.product import version
from installers.sizes import part_of, size_table
from tests.package_trials import aarch64
from tests.package_trials.aarch64 import BOARD, RESULT, Wheel, on_the_board, resolve, wrong_platform


def pins(machine: Machine) -> dict[str, str]:
    lines = [line for line in constraints(machine).splitlines() if not line.startswith("#")]
    found = [one for one in map(Requirement, lines) if on_the_board(one)]
    return {one.name: str(one.specifier).removeprefix("==") for one in found}


def test_the_components_are_what_the_app_needs_and_no_tools() -> None:
    found = {component.name: component for component in components()}
    assert {"torch", "pyside6-essentials", "py-minisign", "numpy"} <= set(found)
    assert set(found) & {"pytest", "mypy", "pyinstaller", "hf-xet", "ruff", "transformers", "sympy"} == set()
    assert all(component.version for component in found.values())
    assert any(file.is_file() for file in found["torch"].licence_files())


def test_a_parts_list_is_cut_down_to_the_bundle() -> None:
    document: dict[str, object] = {
        "bomFormat": "CycloneDX",
        "metadata": {"timestamp": "2026-11-21T00:00:00+00:00"},
        "components": [
            {"bom-ref": "a", "name": "PySide6_Essentials", "version": "6.11.3"},
            {
                "bom-ref": "b",
                "name": "torch",
                "version": "2.13.0+cpu",
                "externalReferences": [{"url": "file:///x"}],
            },
            {"bom-ref": "c", "name": "pyinstaller", "version": "6"},
        ],
        "dependencies": [{"ref": "b", "dependsOn": ["a", "c"]}, {"ref": "c", "dependsOn": ["b"]}],
    }
    found = of_the_bundle(document, {"pyside6-essentials", "torch"})
    assert [entry["purl"] for entry in found["components"]] == [  # type: ignore[attr-defined]
        "pkg:pypi/pyside6-essentials@6.11.3",
        "pkg:pypi/torch@2.13.0%2Bcpu",
    ]
    assert found["dependencies"] == [{"ref": "b", "dependsOn": ["a"]}]
    assert found["metadata"]["component"]["version"] == version()  # type: ignore[index]
    assert "file:" not in str(found)
    with pytest.raises(ValueError, match="lacks numpy"):
        of_the_bundle(document, {"torch", "numpy"})


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"one")
    (tmp_path / "b.gz").write_bytes(b"two")
    made = write_checksums([tmp_path / "a.deb", tmp_path / "b.gz"], tmp_path)
    lines = made.read_text(encoding="utf-8").splitlines()
    assert lines == [
        f"{hashlib.sha256(text).hexdigest()}  {name}" for text, name in ((b"one", "a.deb"), (b"two", "b.gz"))
    ]


@pytest.mark.parametrize(
    ("place", "part"),
    [
        ("tenon", "the program, with all compiled Python modules"),
        ("_internal/torch/lib/libtorch_cpu.so", "torch: libtorch_cpu"),
        ("_internal/torch/_C.so", "torch"),
        ("_internal/PySide6/Qt/lib/libicudata.so.73", "PySide6: libicudata"),
        ("_internal/numpy.libs/libgfortran.so", "numpy"),
        ("_internal/assets/models/smollm2/model.gguf", "the bundled models, icons and catalogue"),
        ("_internal/libz.so.1", "system libraries, Python's own, metadata"),
    ],
)
def test_parts_of_a_bundle(place: str, part: str) -> None:
    assert part_of(place) == part


def test_the_table_adds_up(tmp_path: Path) -> None:
    inner = tmp_path / "_internal"
    inner.mkdir()
    for number in range(30):
        (inner / f"package{number}").mkdir()
        (inner / f"package{number}" / "file").write_bytes(b"x" * 100_000 * (number + 1))
    rows = [line.strip("| ").split(" | ") for line in size_table(tmp_path).splitlines()[2:]]
    assert rows[0] == ["package29", "3.0"]
    assert rows[-1][0] == "all of it"
    assert float(rows[-1][1]) == pytest.approx(46.5)
    assert sum(float(row[1]) for row in rows[:-1]) == pytest.approx(46.5, abs=1.5)


# --- the board ------------------------------------------------------------------------------------------------


def test_the_board_has_the_last_qt_that_runs_on_it_and_else_the_same_versions() -> None:
    board, usual = pins(BOARD), pins(replace(BOARD, glibc=(2, 39)))
    assert board["PySide6-Essentials"] == board["shiboken6"] == "6.8.0.2"
    assert {name for name in board if board[name] != usual[name]} == {"PySide6-Essentials", "shiboken6"}
    pinned = {normalized(name): number for name, number in board.items()}
    for requirement in map(Requirement, asked_for()):
        assert requirement.specifier.contains(pinned[normalized(requirement.name)]), requirement


def test_the_recorded_resolution_has_every_package_and_no_wheel_of_another_machine() -> None:
    lines = RESULT.read_text(encoding="utf-8").splitlines()
    files = [line for line in lines if not line.startswith("#")]
    assert [file for file in files if wrong_platform(Wheel("", file, ()))] == []
    found = {normalized(file.split("-")[0]): file.split("-")[1] for file in files}
    wanted = {normalized(name): number for name, number in pins(BOARD).items() if normalized(name) in found}
    assert {name: found[name] for name in wanted} == wanted
    assert {"torch", "pyside6-essentials", "numpy"} <= set(wanted)
    assert {"hf-xet", "sympy", "networkx"} <= set(found)  # what the bundle leaves out, and pip takes
    assert [name for name in found if name.startswith(("nvidia", "cuda", "triton"))] == []


def test_wheels_of_other_machines_are_seen() -> None:
    assert wrong_platform(Wheel("a", "a-1-cp311-cp311-manylinux_2_28_x86_64.whl", ()))
    assert not wrong_platform(Wheel("a", "a-1-cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", ()))
    assert not wrong_platform(Wheel("a", "a-1-py3-none-any.whl", ()))


def test_markers_are_those_of_the_board() -> None:
    assert on_the_board(Requirement('a; platform_machine == "aarch64" and sys_platform == "linux"'))
    assert not on_the_board(Requirement('a; platform_machine == "x86_64"'))
    assert not on_the_board(Requirement('a; python_version < "3.13"'), board=replace(BOARD, python="cp313"))
    assert on_the_board(Requirement('a; extra == "fast"'), "fast")


def test_all_that_pip_would_take_is_resolved_by_what_it_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = {
        "torch": Wheel("torch", "", ("sympy>=1", "cuda-x; platform_system == 'Linux'", "mkl; extra == 'mkl'"), "2"),
        "sympy>=1": Wheel("sympy", "", ("mpmath", "fast[c]<2"), "1"),
        "cuda-x": Wheel("cuda-x", "", (), "1"),
        "mpmath": Wheel("mpmath", "", (), "1"),
        "fast": Wheel("fast", "", ("never; extra == 'd'",), "3"),
        "fast<2": Wheel("fast", "", ("c-part; extra == 'c'", "windows-part; sys_platform == 'win32'"), "1"),
        "c-part": Wheel("c-part", "", (), "1"),
    }
    rounds: list[list[str]] = []

    def find_wheels(wanted: Iterable[str], board: Machine) -> list[Wheel]:
        rounds.append(list(wanted))
        return [shelf[one] for one in rounds[-1]]

    monkeypatch.setattr(aarch64, "find_wheels", find_wheels)
    found = {wheel.name: wheel.version for wheel in resolve(["torch", "fast"])}
    assert found == {"c-part": "1", "cuda-x": "1", "fast": "1", "mpmath": "1", "sympy": "1", "torch": "2"}
    assert rounds[0] == ["fast", "torch"]
    assert "fast<2" in rounds[2]  # it was there before sympy asked for an older one
