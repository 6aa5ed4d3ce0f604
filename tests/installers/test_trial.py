"""The parts of the trial that need no bare system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.package_trials.debian import Failed, Trial, run, variant


def test_the_table_says_what_did_not_hold(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    trial.step("one", lambda: "fine")
    trial.step("two", lambda: run(["sh", "-c", "echo the reason; exit 4"]))
    assert not trial.held
    rows = trial.table().splitlines()
    assert rows[2].endswith("| fine |")
    assert rows[3].startswith("| two |")
    assert "FAILED" in rows[3]
    assert "the reason" in rows[3]


def test_a_step_is_cut_off_by_its_own_faults_alone(tmp_path: Path) -> None:
    def faulty() -> str:
        raise Failed("this")

    trial = Trial(tmp_path)
    trial.step("one", faulty)
    trial.step("two", lambda: "fine")
    assert [row[2] for row in trial.rows] == ["FAILED: this", "fine"]


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg is not installed")
def test_later_versions_have_another_program_or_the_same(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    program = tree / "usr" / "lib" / "tenon" / "tenon"
    program.parent.mkdir(parents=True)
    program.write_text("the program")
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(
        "Package: tenon\nVersion: 0.1.0\nArchitecture: all\nMaintainer: A <a@example.org>\nDescription: stand-in\n"
    )
    package = tmp_path / "package.deb"
    run(["dpkg-deb", "--build", str(tree), str(package)])
    found = []
    for number, stand_in in ((1, True), (2, False)):
        made = variant(package, tmp_path, number, stand_in)
        unpacked = tmp_path / str(number)
        run(["dpkg-deb", "--extract", str(made), str(unpacked)])
        version = run(["dpkg-deb", "--field", str(made), "Version"]).strip()
        found.append((version, (unpacked / "usr/lib/tenon/tenon").read_text().splitlines()[-1]))
    assert found == [("0.1.0+trial1", "exit 3"), ("0.1.0+trial2", "the program")]
    subprocess.run(["dpkg", "--compare-versions", "0.1.0+trial1", "gt", "0.1.0"], check=True)
