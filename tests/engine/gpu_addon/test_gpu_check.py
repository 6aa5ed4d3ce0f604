"""The add-on's torch is the one that is imported, and one that does not work is switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.gpu_addon import check
from engine.gpu_addon.bundled_torch import bundled_torch, python_tag
from engine.gpu_addon.check import checked
from engine.gpu_addon.installed_addon import (
    InstalledAddon,
    find_installed,
    gpu_folder,
    read_outcome,
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
    assert outcome is not None
    assert outcome.gpus == GPUS


def test_without_one_the_bundled_torch_is_imported(put: Callable[..., InstalledAddon]) -> None:
    bundled = bundled_torch(gpu_folder())
    problem, path = start()
    assert problem is None
    put(available=False)
    assert bundled_torch(gpu_folder()) == bundled
    problem, path_with = start()
    assert problem is not None
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
    assert outcome.problem is not None
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
    outcome = checked(addon)
    assert outcome.problem is not None
    assert "another torch is imported in its place" in outcome.problem


def test_it_is_checked_again_only_when_something_changed(
    put: Callable[..., InstalledAddon], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = tmp_path / "driver"
    driver.write_text("NVRM version: 580.65")
    monkeypatch.setattr(check, "_DRIVERS", (driver, tmp_path / "no-such-driver"))
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
    assert checked(addon) == first
    os.utime(driver)
    assert checked(addon) == first
    driver.write_text("NVRM version: 581.10")
    assert checked(addon).gpus == GPUS
    checked(replace(addon, wheels={"b.whl": "1"}))
    (addon.folder / "tenon-check.json").write_text("nonsense")
    assert checked(addon).problem is None
    assert len(checks) == 4


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
