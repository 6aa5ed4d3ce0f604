"""Parts list, checksums, table of sizes, and the board's packages."""

from __future__ import annotations

import hashlib
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
from tests.package_trials.aarch64 import BOARD, RESULT, of_cuda


def pins(machine: Machine) -> dict[str, str]:
    lines = [line for line in constraints(machine).splitlines() if not line.startswith("#")]
    board = {"platform_machine": "aarch64", "python_version": "3.11"}
    found = [one for one in map(Requirement, lines) if one.marker is None or one.marker.evaluate(board)]
    return {normalized(one.name): str(one.specifier).removeprefix("==") for one in found}


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
    assert board["pyside6-essentials"] == board["shiboken6"] == "6.8.0.2"
    assert {name for name in board if board[name] != usual[name]} == {"pyside6-essentials", "shiboken6"}
    for requirement in map(Requirement, asked_for()):
        assert requirement.specifier.contains(board[normalized(requirement.name)]), requirement


def test_the_recorded_resolution_has_every_package_in_its_version_and_none_of_cuda() -> None:
    lines = RESULT.read_text(encoding="utf-8").splitlines()
    found = dict(line.split("==") for line in lines if not line.startswith("#"))
    wanted = {name: number for name, number in pins(BOARD).items() if name in found}
    assert {name: found[name] for name in wanted} == wanted
    assert {normalized(Requirement(text).name) for text in asked_for()} <= set(wanted)
    assert {"hf-xet", "sympy", "networkx"} <= set(found)  # what the bundle leaves out, and pip takes
    assert list(filter(of_cuda, found)) == []
