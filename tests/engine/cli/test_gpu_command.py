"""``tenon gpu`` with a package index on this machine and a stand-in for torch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli import main
from engine.gpu_addon import addon
from engine.gpu_addon.bundled_torch import BundledTorch
from engine.gpu_addon.installed_addon import find_installed, gpu_folder
from engine.planning.probes.graphics_cards import GraphicsCard
from tests.support.hub_faults import stall
from tests.support.wheel_server import TORCH, WheelServer, put_addon

ROOT = Path(__file__).resolve().parents[3]
CARD = GraphicsCard("nvidia", "Test GPU", "590.1", 8.9)


@pytest.fixture
def server() -> Iterator[WheelServer]:
    with WheelServer().running() as running:
        yield running


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, server: WheelServer) -> None:
    """One NVIDIA card, a torch for processors, and the index in the place of PyTorch's."""
    monkeypatch.setattr("engine.gpu_addon.addon.read_graphics_cards", lambda: (CARD,))
    torch = BundledTorch(TORCH, None, frozenset({"filelock"}))
    monkeypatch.setattr("engine.gpu_addon.addon.bundled_torch", lambda folder: torch)
    monkeypatch.setitem(addon._data(), "index", f"{server.address}/whl")


def test_from_nothing_to_installed_to_nothing(server: WheelServer, capsys: pytest.CaptureFixture[str]) -> None:
    put_addon(server)
    assert main(["gpu"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("GPU support for Test GPU with driver 590.1 is CUDA 13.0.\n")
    assert "`tenon gpu install`" in printed

    assert main(["gpu", "install", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "CUDA 13.0 for torch 9.8.7: 4" in printed
    assert f"kB to fetch from {server.index}, " in printed
    assert f"  torch {TORCH}+cu130  4" in printed
    assert "  nvidia-cublas 1.2.3  " in printed
    assert server.fetched() == []
    assert find_installed() is None

    assert main(["gpu", "install", "--yes"]) == 0
    assert "It works with Test GPU 0 and Test GPU 1, from the next start on." in capsys.readouterr().out
    assert find_installed() is not None
    assert main(["gpu", "status"]) == 0
    printed = capsys.readouterr().out
    assert "GPU support (CUDA 13.0) is installed and works with Test GPU 0 and Test GPU 1." in printed
    assert "`tenon gpu remove` frees" in printed

    before = len(server.fetched())
    assert main(["gpu", "install", "--yes"]) == 0
    assert capsys.readouterr().out.endswith("It is installed already.\n")
    assert len(server.fetched()) == before

    assert main(["gpu", "remove", "--dry-run"]) == 0
    assert "would be freed" in capsys.readouterr().out
    assert find_installed() is not None
    assert main(["gpu", "remove"]) == 0
    assert "kB freed." in capsys.readouterr().out
    assert find_installed() is None
    assert main(["gpu", "remove"]) == 0
    assert capsys.readouterr().out == "There is no GPU support to remove.\n"


def test_json_says_the_same(server: WheelServer, capsys: pytest.CaptureFixture[str]) -> None:
    torch, library = put_addon(server)
    main(["gpu", "status", "--json"])
    status = json.loads(capsys.readouterr().out)
    assert status["cards"] == [{"vendor": "nvidia", "name": "Test GPU", "driver": "590.1", "capability": 8.9}]
    assert (status["addons"], status["installed"], status["works"]) == (
        ["cuda-13.0", "cuda-12.6"],
        None,
        False,
    )
    assert main(["gpu", "install", "--yes", "--json"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert captured.err == ""
    assert (result["state"], result["addon"], result["problem"]) == ("installed", "cuda-13.0", None)
    assert result["gpus"] == ["Test GPU 0", "Test GPU 1"]
    assert [(wheel["file_name"], wheel["sha256"]) for wheel in result["wheels"]] == [
        (name, server.sha256(name)) for name in (torch, library)
    ]
    main(["gpu", "status", "--json"])
    status = json.loads(capsys.readouterr().out)
    assert (status["installed"]["name"], status["works"]) == ("cuda-13.0", True)
    assert main(["gpu", "remove", "--json"]) == 0
    removed = json.loads(capsys.readouterr().out)
    assert removed == {"dry_run": False, "freed_bytes": status["disk_bytes"]}


def test_nothing_is_fetched_without_consent(
    server: WheelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_addon(server)
    assert main(["gpu", "install"]) == 2
    assert "Nobody can be asked here: say --yes" in capsys.readouterr().err
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for answer in ("", "n", "no"):
        monkeypatch.setattr("builtins.input", lambda question, answer=answer: answer)
        assert main(["gpu", "install"]) == 0
    assert server.fetched() == []
    monkeypatch.setattr("builtins.input", lambda question: "Y")
    assert main(["gpu", "install"]) == 0
    assert find_installed() is not None


def test_what_does_not_work_here_is_installed_and_switched_off(
    server: WheelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    put_addon(server, before="raise OSError('libcuda.so.1: no such file')\n")
    assert main(["gpu", "install", "--yes"]) == 1
    sentence = "GPU support (CUDA 13.0) is switched off, because its torch cannot be imported (libcuda.so.1: no such "
    sentence += "file)"
    assert sentence in capsys.readouterr().out
    assert main(["gpu"]) == 0
    assert capsys.readouterr().out.startswith(sentence)


def test_other_names_and_indexes(server: WheelServer, capsys: pytest.CaptureFixture[str]) -> None:
    put_addon(server)
    assert main(["gpu", "install", "cuda-1", "--yes"]) == 2
    assert "choose one of cuda-13.0, cuda-12.6, jetson, rocm-7.2, intel-xpu" in capsys.readouterr().err
    assert main(["gpu", "install", "jetson", "--yes"]) == 1
    assert "needs the address of a package index" in capsys.readouterr().err
    assert main(["gpu", "install", "rocm-7.2", "--yes"]) == 1
    assert "no torch 9.8.7 with ROCm 7.2 for this system and Python" in capsys.readouterr().err
    assert main(["gpu", "install", "jetson", "--index", server.index, "--dry-run"]) == 0
    assert "CUDA for Jetson for torch 9.8.7" in capsys.readouterr().out
    assert main(["gpu", "install", "--index", "nonsense", "--yes"]) == 2


def test_a_machine_without_a_card(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.gpu_addon.addon.read_graphics_cards", lambda: ())
    assert main(["gpu", "install", "--yes"]) == 1
    assert "No graphics card was found" in capsys.readouterr().err


_PROGRAM = """
import sys
from engine.cli import main
from engine.gpu_addon import addon
from engine.gpu_addon.bundled_torch import BundledTorch
addon.bundled_torch = lambda folder: BundledTorch("9.8.7", None, frozenset({"filelock"}))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows delivers no SIGINT to one child")
def test_ctrl_c_pauses_and_the_same_command_goes_on(server: WheelServer) -> None:
    torch, _ = put_addon(server)
    server.once(stall(0.5))
    command = [sys.executable, "-c", _PROGRAM, "gpu", "install", "jetson", "--index", server.index, "--yes"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    part = gpu_folder() / ".incoming" / f"{torch}.part"
    while not (part.is_file() and part.stat().st_size > 100_000):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Paused: the same command goes on." in errors
    assert b"Traceback" not in errors
    assert find_installed() is None
    again = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert again.returncode == 0, again.stderr
    assert find_installed() is not None
    ranges = [range_ for name, range_ in server.fetched() if name == torch]
    assert ranges[0] is None
    assert ranges[1] is not None


@pytest.mark.slow
def test_other_subcommands_use_it_and_say_where_it_is_switched_off(server: WheelServer) -> None:
    """In a process of its own, as torch is imported here already."""
    put_addon(server, available=False)
    program = """
import sys
from engine.cli import main
from engine.gpu_addon.bundled_torch import bundled_torch
from engine.gpu_addon.installed_addon import InstalledAddon, gpu_folder, write_record
from engine.gpu_addon.bundled_torch import python_tag
from engine.gpu_addon.installed_addon import write_manifest
from tests.support.wheel_server import torch_files
folder = gpu_folder() / "cuda-13.0"
for path, content in torch_files(available=sys.argv[1] == "works").items():
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(content)
torch = bundled_torch(gpu_folder())
write_record(folder, InstalledAddon(folder, "cuda-13.0", "CUDA 13.0", torch.version, python_tag(), {sys.argv[1]: "0"}))
write_manifest(folder)
main(["models", "list"])
import torch
print(torch.__version__)
"""
    for argument, version, said in (
        ("works", "9.8.7+cu130", b""),
        ("not", None, b"is switched off, because"),
    ):
        ran = subprocess.run([sys.executable, "-c", program, argument], cwd=ROOT, capture_output=True, check=True)
        assert (ran.stdout.decode().split()[-1] == version) == (version is not None)
        assert said in ran.stderr
        assert (ran.stderr == b"") == (said == b"")
