"""What `pip install .` brings beside the modules."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

from installers.bundled_model import model_file
from installers.product import ROOT


@pytest.fixture
def wheel_files(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """The files that setuptools would take along, by their places in the project."""
    setuptools = pytest.importorskip("setuptools")
    from setuptools.config.pyprojecttoml import apply_configuration

    monkeypatch.chdir(ROOT)
    distribution: Any = setuptools.Distribution({"name": "tenon"})
    apply_configuration(distribution, "pyproject.toml")
    command = distribution.get_command_obj("build_py")
    command.ensure_finalized()
    found = command.get_data_files_without_manifest()
    return {Path(folder, name) for _, folder, _, names in found for name in names}


def test_the_wheel_has_everything_that_is_read_as_the_program_runs(wheel_files: set[Path]) -> None:
    assets = ROOT / "assets"
    left_out = {*assets.glob("screenshots/*"), *assets.rglob("*.packed")}
    files = {path for path in assets.rglob("*") if path.is_file() and ".fetching-" not in str(path)} - left_out
    assert {path.suffix for path in files} >= {".json", ".svg", ".md", ".jinja"}
    assert {path for path in wheel_files if path.parts[0] == "assets"} == {path.relative_to(ROOT) for path in files}
    assert Path("engine/kernels/csrc/tenon.h") in wheel_files


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the kernels are compiled, which takes minutes
@pytest.mark.skipif(not model_file().is_file(), reason="the bundled model is not here")
def test_an_installed_wheel_passes_the_self_test(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(ROOT)], check=True, cwd=tmp_path)
    (wheel,) = tmp_path.glob("tenon-*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    (site,) = tmp_path.glob("venv/**/site-packages")
    programs = site.parents[2] / "bin"
    install = [programs / "python", "-I", "-m", "pip", "install", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, cwd=tmp_path)
    # Torch and Qt; after the installing, since pip takes a Tenon that it finds there for the one to install.
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    done = subprocess.run(
        [programs / "tenon", "--self-test"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.devnull, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "result        passed" in done.stdout
