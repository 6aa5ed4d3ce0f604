"""The add-on's torch is the one that is imported, and one that does not work is switched off."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from engine.gpu_addon import check, installed_addon
from engine.gpu_addon.bundled_torch import bundled_torch, python_tag
from engine.gpu_addon.check import checked
from engine.gpu_addon.installed_addon import (
    InstalledAddon,
    find_installed,
    gpu_folder,
    manifest_path,
    read_outcome,
    write_manifest,
    write_record,
)
from tests.support.wheel_server import torch_files

ROOT = Path(__file__).resolve().parents[3]
GPUS = ("Test GPU 0", "Test GPU 1")
_START = """
import json
from importlib.util import find_spec
from engine.gpu_addon.check import activate
problem = activate()
print(json.dumps([problem, find_spec("torch").origin]))
"""


@pytest.fixture
def put() -> Callable[..., InstalledAddon]:
    """Puts an add-on into its place, of a stand-in for torch that is told what to do."""

    def put(version: str | None = None, python: str | None = None, **torch: Any) -> InstalledAddon:
        folder = gpu_folder() / "cuda-13.0"
        for path, content in torch_files(**torch).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        version = version or bundled_torch(gpu_folder()).version
        addon = InstalledAddon(folder, "cuda-13.0", "CUDA 13.0", version, python or python_tag(), {"a.whl": "0"})
        write_record(folder, addon)
        write_manifest(folder)
        assert find_installed() == addon
        return addon

    return put


def start() -> tuple[str | None, Path]:
    """Words of a new process of Tenon, and the path of the torch that it would import; the bundled one is slow."""
    printed = subprocess.run(
        [sys.executable, "-c", _START], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    problem, path = json.loads(printed)
    return problem, Path(path)


def test_a_new_process_imports_the_add_on_s_torch(put: Callable[..., InstalledAddon]) -> None:
    addon = put()
    problem, path = start()
    assert problem is None
    assert path == addon.folder / "torch" / "__init__.py"
    outcome = read_outcome(addon)
    assert outcome.gpus == GPUS


def test_without_one_the_bundled_torch_is_imported(put: Callable[..., InstalledAddon]) -> None:
    bundled = bundled_torch(gpu_folder())
    problem, path = start()
    assert problem is None
    put(available=False)
    assert bundled_torch(gpu_folder()) == bundled
    problem, path_with = start()
    assert problem.startswith("GPU support (CUDA 13.0) is switched off, because its torch sees no GPU:")
    assert path_with == path
    assert gpu_folder() not in path.parents


@pytest.mark.parametrize(
    ("torch", "reason"),
    [
        ({"available": False}, "its torch sees no GPU"),
        (
            {"before": "import no_such_library\n"},
            "its torch cannot be imported (No module named 'no_such_library')",
        ),
        (
            {"before": "raise OSError('libcudart.so.13: cannot open\\nmore')\n"},
            "(libcudart.so.13: cannot open)",
        ),
        ({"before": "import os\nos._exit(77)\n"}, "its torch ended the process with code 77"),
        (
            {"before": "import os, signal\nos.kill(os.getpid(), 9)\n"},
            "its torch ended the process with code -9",
        ),
        (
            {"ones": "raise RuntimeError('no kernel image')"},
            "the GPU cannot compute with it (no kernel image)",
        ),
        ({"total": "0"}, "the GPU computes wrong results with it"),
        ({"before": "raise RuntimeError\n"}, "its torch cannot be imported (RuntimeError)"),
    ],
)
def test_one_that_does_not_work_is_switched_off_with_the_reason(
    torch: dict[str, Any], reason: str, put: Callable[..., InstalledAddon]
) -> None:
    if "kill" in torch.get("before", "") and sys.platform == "win32":
        pytest.skip("Windows knows no such signal")
    outcome = checked(put(**torch))
    assert outcome.problem.startswith("GPU support (CUDA 13.0) is switched off, because ")
    assert reason in outcome.problem
    assert outcome.gpus == ()
    assert outcome.problem.count("\n") == 0


def test_one_that_never_answers_is_switched_off(
    put: Callable[..., InstalledAddon], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_LONGEST_S", 1.0)
    outcome = checked(put(before="import time\ntime.sleep(60)\n"))
    assert outcome.problem is not None
    assert "did not answer in 1 s" in outcome.problem


def test_a_folder_without_torch_is_switched_off(put: Callable[..., InstalledAddon]) -> None:
    addon = put()
    (addon.folder / "torch" / "__init__.py").unlink()
    (addon.folder / "torch" / "lib" / "libtorch_cuda.so").unlink()
    write_manifest(addon.folder)
    outcome = checked(addon)
    assert outcome.problem is not None
    assert "another torch is imported in its place" in outcome.problem


def test_it_is_checked_again_only_when_something_changed(
    put: Callable[..., InstalledAddon], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = tmp_path / "driver"
    driver.write_text("NVRM version: 580.65")
    monkeypatch.setattr(check, "DRIVERS", (driver, tmp_path / "no-such-driver"))
    checks: list[str] = []
    real = check._check_in_child

    def counted(addon: InstalledAddon, key: str) -> Any:
        checks.append(key)
        return real(addon, key)

    monkeypatch.setattr(check, "_check_in_child", counted)
    addon = put(available=False)
    first = checked(addon)
    assert first.problem is not None
    for path, content in torch_files().items():
        (addon.folder / path).write_bytes(content)
    rmtree(addon.folder / "torch" / "__pycache__", ignore_errors=True)  # the first check's, which nobody installed
    write_manifest(addon.folder)
    assert checked(addon) == first
    os.utime(driver)
    assert checked(addon) == first
    driver.write_text("NVRM version: 581.10")
    assert checked(addon).gpus == GPUS
    checked(replace(addon, wheels={"b.whl": "1"}))
    (addon.folder / "tenon-check.json").write_text("nonsense")
    assert checked(addon).problem is None
    assert len(checks) == 4


def _write_into(path: Path) -> None:
    """As somebody does who does not want it to be seen: of the same length, with the same times."""
    before = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"#")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _put_in_place(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(path.read_bytes()[:-1] + b"#")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(other, path)


def _link_to_another(path: Path) -> None:
    other = path.parents[4] / "other.so"
    other.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(other)


INIT, LIBRARY = "torch/__init__.py", "torch/lib/libtorch_cuda.so"
TAMPERING: dict[str, tuple[str, Callable[[Path], object]]] = {
    "written into": (INIT, _write_into),
    "replaced": (LIBRARY, _put_in_place),
    "linked": (LIBRARY, _link_to_another),
    "removed": (LIBRARY, Path.unlink),
    "added": ("json.py", lambda path: path.write_text("raise SystemExit(1)")),
    "added below": ("torch/lib/libc10.so", lambda path: path.write_bytes(b"ELF")),
    "record": ("tenon-gpu.json", _write_into),
}


@pytest.mark.skipif(sys.platform == "win32", reason="links, and times that only the system sets")
@pytest.mark.parametrize("kind", TAMPERING)
def test_nothing_is_imported_from_a_folder_that_was_tampered_with(
    kind: str, put: Callable[..., InstalledAddon], tmp_path: Path
) -> None:
    marker = tmp_path / "imported"
    addon = put(before=f"open({str(marker)!r}, 'w')\n")
    assert start()[0] is None
    marker.unlink()
    name, tamper = TAMPERING[kind]
    tamper(addon.folder / name)
    problem, path = start()
    if kind == "record":
        return assert_not_used(path, marker)  # it may be no record at all any more
    assert problem == (
        f"GPU support (CUDA 13.0) is switched off, because {name} in its folder is not as it was installed: fetch it "
        "again."
    )
    return assert_not_used(path, marker)


def assert_not_used(path: Path, marker: Path) -> None:
    assert gpu_folder() not in path.parents
    assert not marker.exists()


def test_a_folder_that_nobody_installed_is_not_used(put: Callable[..., InstalledAddon], tmp_path: Path) -> None:
    marker = tmp_path / "imported"
    put(before=f"open({str(marker)!r}, 'w')\n")
    for nothing in (None, "nonsense", "{}", '{"version": 1, "files": {}}'):
        manifest_path().unlink() if nothing is None else manifest_path().write_text(nothing)
        problem, path = start()
        assert problem is not None
        assert "is not as it was installed: fetch it again" in problem
        assert_not_used(path, marker)


def test_files_that_only_got_other_times_are_hashed_once_and_used(
    put: Callable[..., InstalledAddon], monkeypatch: pytest.MonkeyPatch
) -> None:
    addon = put()
    for path in addon.folder.rglob("*.so"):
        os.utime(path)
    hashed: list[Path] = []
    monkeypatch.setattr(
        installed_addon,
        "sha256_of",
        lambda path, real=installed_addon.sha256_of: (hashed.append(path), real(path))[1],
    )
    assert checked(addon).problem is None
    assert checked(addon).problem is None
    assert hashed == [addon.folder / LIBRARY]


def test_bytecode_that_was_not_installed_is_never_believed(put: Callable[..., InstalledAddon], tmp_path: Path) -> None:
    """Python runs it in the place of a source of the same age and size."""
    addon, marker = put(), tmp_path / "imported"
    forged = addon.folder / "torch" / "evil.py"
    forged.write_text(f"open({str(marker)!r}, 'w')\n")
    cache = Path(cache_from_source(str(addon.folder / INIT)))
    py_compile.compile(str(forged), str(cache), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    forged.unlink()
    problem, path = start()
    assert (problem, path) == (None, addon.folder / INIT)
    assert not marker.exists()


@pytest.mark.parametrize("other", [{"version": "1.0.0"}, {"python": "cp27"}])
def test_one_for_another_tenon_is_switched_off(other: dict[str, str], put: Callable[..., InstalledAddon]) -> None:
    addon = put(**other)
    problem, path = start()
    assert problem == (
        "GPU support (CUDA 13.0) was fetched for another version of Tenon, so it is switched off: fetch it again."
    )
    assert addon.folder not in path.parents
    assert read_outcome(addon) is None


def test_the_engine_s_process_puts_it_in_front_too(put: Callable[..., InstalledAddon], tmp_path: Path) -> None:
    """The child of the window, which is a daemon and may have no children of multiprocessing's."""
    addon = put()
    program = f"""
import sys
from multiprocessing import get_context
from app.bridge import engine_child

if __name__ == "__main__":
    sys.path.insert(0, {str(tmp_path)!r})
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=engine_child.run, args=(theirs, "told_to_serve:serve", None), daemon=True)
    child.start()
    print(ours.recv())
    child.join()
"""
    (tmp_path / "told_to_serve.py").write_text(
        "def serve(connection):\n    import torch\n    connection.send(torch.__file__)\n"
    )
    script = tmp_path / "start.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    printed = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, check=True, env=environment
    ).stdout
    assert Path(printed.strip()) == addon.folder / "torch" / "__init__.py"
