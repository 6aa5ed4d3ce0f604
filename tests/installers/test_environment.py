"""Which build of torch and which pins a machine gets from source, without its own network or settings of pip."""

from __future__ import annotations

import os
import platform
import socket
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from installers import environment
from installers.environment import (
    Machine,
    choose_index,
    configured_index,
    constraints,
    install,
    main,
    own_torch,
    pinned_torch,
    take_own_torch,
    this_machine,
    usual_build,
)
from tests.support.fast_cases import chosen
from tests.support.wheel_server import PYTHON, WheelServer, make_wheel, torch_files

PC = Machine("Linux", "x86_64", (2, 36), "cp311")
BOARD = Machine("Linux", "aarch64", (2, 36), "cp311")
WHEEL = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
TORCH = pinned_torch(PC)
TORCH_OF_BOARDS = "2.10.0"  # the last whose usual wheel there brings no CUDA


@pytest.fixture(autouse=True)
def _pip_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this machine's settings of pip."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for what pip unpacks, and room enough."""
    monkeypatch.setattr(environment, "_WORK", tmp_path / "unpacked")
    monkeypatch.setattr(environment, "_FREE_BYTES", 0)
    monkeypatch.setattr(environment, "_FREE_AFTER_TORCH_BYTES", 0)
    return tmp_path / "unpacked"


@pytest.fixture
def server() -> Iterator[WheelServer]:
    """An index with a build for processors, and one of another version."""
    with WheelServer().running() as running:
        running.put("torch", f"{TORCH}+cpu", {}, tag="py3-none-any")
        running.put("torch", "1.0+cpu", {}, tag="py3-none-any")
        yield running


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


@pytest.mark.parametrize("nvidia", [False, True])
def test_a_pc_with_linux_gets_the_build_for_processors_with_or_without_a_card(
    nvidia: bool, server: WheelServer
) -> None:
    index, line = choose_index(replace(PC, nvidia=nvidia), TORCH, server.index)
    assert index == server.index
    assert "own index: about 0.2 GB." in line
    assert ("`tenon gpu` fetches" in line) == nvidia
    assert server.fetched() == []  # it was looked at, no more


@pytest.mark.parametrize("nvidia", [False, True])
@pytest.mark.parametrize(
    "machine", [Machine("Darwin", "aarch64", None, "cp311"), Machine("Windows", "x86_64", None, "cp311"), BOARD]
)
def test_elsewhere_the_usual_build_is_the_one_for_processors(
    machine: Machine, nvidia: bool, server: WheelServer
) -> None:
    version = pinned_torch(machine)
    assert version == (TORCH_OF_BOARDS if machine == BOARD else TORCH)
    index, line = choose_index(replace(machine, nvidia=nvidia), version, server.index)
    assert index is None
    assert line.startswith(f"Fetching torch {version} from pip's index: about 0.2 GB.")
    assert ("`tenon gpu` fetches" in line) == nvidia
    assert server.requests == []


def test_an_index_that_does_not_have_it_or_does_not_answer_is_left(
    server: WheelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "usual_build", lambda version: "about 3 GB, with CUDA")
    monkeypatch.setattr(environment, "configured_index", lambda: None)

    def refused(index: str) -> bool:
        found, line = choose_index(PC, TORCH, index)
        return found is None and line.endswith("Fetching it from pip's index: about 3 GB, with CUDA.")

    assert refused(f"{server.address}/nothing")
    assert refused("no address")
    server.wheels = {name: built for name, built in server.wheels.items() if TORCH not in name}
    assert refused(server.index)
    monkeypatch.setattr(environment, "_WHOLE_S", 0.1)  # no limit of pip's holds for a name server
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection and says nothing
        assert refused(f"http://127.0.0.1:{silent.getsockname()[1]}/whl")


@pytest.mark.slow
def test_an_index_of_someone_s_choice_is_not_passed_over(
    server: WheelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert configured_index() is None
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", server.index)  # one more beside the usual
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    assert configured_index() is None
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert configured_index() == "PIP_NO_INDEX"
    monkeypatch.delenv("PIP_NO_INDEX")
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nindex-url = {server.index}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    assert configured_index() == "pip's global.index-url"
    server.wheels.clear()
    server.put("torch", TORCH, {}, tag="py3-none-any")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", server.index)
    index, line = choose_index(PC, TORCH, "http://never.asked")
    assert index is None
    assert "the index that PIP_INDEX_URL sets: about 3 GB, with CUDA (TORCH_INDEX=ADDRESS names" in line


def test_what_pip_takes_by_itself_is_said_before(server: WheelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed_port()}/simple")
    assert usual_build(TORCH) == "about 0.2 GB if that has the build for processors, about 3 GB with CUDA if not"
    server.wheels.clear()
    server.put("torch", TORCH, {}, tag="py3-none-any")
    monkeypatch.setenv("PIP_INDEX_URL", server.index)
    assert usual_build(TORCH) == "about 3 GB, with CUDA"
    server.put("torch", f"{TORCH}+cpu", {}, tag="py3-none-any")
    assert usual_build(TORCH) == "the build for processors, about 0.2 GB"


@pytest.mark.parametrize(
    ("machine", "qt"),
    [
        (PC, "6.11.3"),
        (replace(PC, glibc=(2, 34)), "6.11.3"),
        (replace(PC, glibc=(2, 31)), "6.8.0.2"),
        (BOARD, "6.8.0.2"),
        (replace(BOARD, glibc=(2, 39)), "6.11.3"),
        (Machine("Darwin", "aarch64", None, "cp311"), "6.11.3"),
        (Machine("Windows", "x86_64", None, "cp311"), "6.11.3"),
    ],
)
def test_pins_are_those_of_the_architecture_and_the_c_library(machine: Machine, qt: str) -> None:
    assert machine.refusal is None
    lines = constraints(machine).splitlines()
    assert [line for line in lines if line.startswith(("PySide6", "shiboken6"))] == [
        f"PySide6-Essentials=={qt}",
        f"shiboken6=={qt}",
    ]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.14"])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "arm64", "AMD64"])
def test_each_python_and_machine_has_one_pin_of_each_package(python: str, machine: str) -> None:
    lines = [line for line in constraints(PC).splitlines() if not line.startswith("#")]
    here = {**default_environment(), "python_version": python, "platform_machine": machine}
    counting = [one for one in map(Requirement, lines) if not one.marker or one.marker.evaluate(here)]
    never = {"wgpu", "rendercanvas", "pycparser"} if python == "3.10" else set()  # graphics chips need 3.11
    assert Counter(one.name for one in counting) == Counter({Requirement(line).name for line in lines} - never)
    for one in counting:
        with suppress(PackageNotFoundError):  # of another Python or machine
            metadata = distribution(one.name).metadata
            if one.specifier.contains(metadata["Version"]):
                assert SpecifierSet(metadata.get("Requires-Python", "")).contains(python), one


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (replace(PC, glibc=None), "musl"),
        (replace(BOARD, glibc=(2, 28)), "glibc 2.28, and the packages need 2.31"),
        (replace(PC, architecture="riscv64"), "no builds for riscv64"),
        (replace(BOARD, wide=False), "32 bits"),
        (Machine("Darwin", "x86_64", None, "cp311"), "Intel"),
        (
            replace(BOARD, python="cp314"),
            "packages for Python 3.10 to 3.13, and none for 3.14",
        ),
        (replace(PC, python="cp315"), "Python 3.10 to 3.14, and none for 3.15"),
        (replace(PC, python="cp39"), "none for 3.9: take Python 3.14, with make for instance by PYTHON=python3.14."),
    ],
)
def test_a_machine_without_builds_is_told_so_at_once(
    machine: Machine, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "this_machine", lambda: machine)
    assert main(["--check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_another_c_library_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, found in (("glibc 2.36", (2, 36)), ("glibc 2.39-8", (2, 39)), ("musl", None), (None, None)):
        monkeypatch.setattr(os, "confstr", lambda name, version=version: version, raising=False)
        assert this_machine().glibc == found
    monkeypatch.delattr(os, "confstr")  # as on Windows
    assert this_machine().glibc is None


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="elsewhere PyTorch's own index is not asked"
)
@pytest.mark.parametrize("given", chosen([False, True], (True,)))
def test_torch_comes_alone_and_then_the_rest(
    given: bool,
    server: WheelServer,
    work: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    machine = this_machine()
    tag = f"{PYTHON}-{PYTHON}-manylinux_2_17_{machine.architecture}"
    server.wheels.clear()
    files = {**torch_files(), f"torch-{TORCH}+cpu.dist-info/WHEEL": WHEEL}
    server.put("torch", f"{TORCH}+cpu", files, ["never-there"], tag)
    folder, wheels = tmp_path / "a folder", tmp_path / "wheels"
    wheels.mkdir()
    example = make_wheel("example", "1.0", {"example/__init__.py": b"", "example-1.0.dist-info/WHEEL": WHEEL})
    (wheels / "example-1.0-py3-none-any.whl").write_bytes(example)
    monkeypatch.setenv("PIP_TARGET", str(folder))
    monkeypatch.setattr(environment, "installed", lambda name: None)
    monkeypatch.setattr(environment, "cpu_index", lambda: "http://never.asked" if given else server.index)
    rest = ["--no-index", "--find-links", str(wheels), "example"]
    assert install(rest, server.index if given else None, machine) == 0
    assert {"torch", "example"} <= {path.name for path in folder.iterdir()}
    assert ("from PyTorch's own index" in capfd.readouterr().out) != given
    monkeypatch.setattr(environment, "installed", lambda name: TORCH)
    server.requests.clear()
    assert install(rest, None, machine) == 0
    assert server.requests == []  # the pinned one is there
    assert not work.exists()


@pytest.mark.parametrize("there", [(), ("torch",), ("torch", "PySide6-Essentials")])
def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    there: tuple[str, ...], work: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    needed = "_FREE_AFTER_TORCH_BYTES" if there else "_FREE_BYTES"
    monkeypatch.setattr(environment, needed, 10**18)
    monkeypatch.setattr(environment, "installed", lambda name: TORCH if name in there else None)
    monkeypatch.setattr(environment, "run_pip", lambda command: 0)
    refused = "PySide6-Essentials" not in there  # an update of what is there takes next to nothing
    assert install(["-e", "."], "http://never.asked", PC) == refused
    if not refused:
        return
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("This takes 1000000000.0 GB of disk, and where ")
    assert not work.exists()


def test_a_disk_that_is_too_small_is_told_before_the_environment_is_made(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "this_machine", lambda: PC)
    monkeypatch.setattr(environment, "installed", lambda name: None)
    assert main(["--check"]) == 0
    monkeypatch.setattr(environment, "_FREE_BYTES", 10**18)
    assert main(["--check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("This takes 1000000000.0 GB of disk, and where ")
    (tmp_path / ".venv").mkdir()  # install looks what is in it
    assert main(["--check"]) == 0


@pytest.mark.parametrize("full", [False, True])
def test_kernels_that_the_disk_had_no_room_for_are_built_by_the_same_command(
    full: bool, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_KERNELS_BYTES", 10**18 if full else 0)
    monkeypatch.setattr(environment, "installed", lambda name: TORCH)
    monkeypatch.setattr(environment, "run_pip", lambda command: 0)  # it installs without them
    assert install(["-e", "."], None, PC) == full
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("The disk is full: make room" if full else "Tenon computes without its own kernels")


def test_without_network_a_sentence_says_so_after_pip_s_own_words(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    work.mkdir()
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed_port()}/simple")
    download = [sys.executable, "-m", "pip", "download", "--dest", str(tmp_path), "never-there"]
    assert environment.run_pip(download) == 1
    said = capfd.readouterr().err.splitlines()
    assert said[-1] == (
        "pip's index does not answer: connect this machine to the network, and the same command goes on."
    )
    assert any("No matching distribution" in line for line in said)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "The disk is full: make room"),
        ("WARNING: Retrying (Retry(...)): certificate is not yet valid", "set its date"),  # a board without a clock
        ("ERROR: something else", None),
    ],
)
def test_what_pip_ended_for_is_told_with_what_to_do(
    words: str, remedy: str | None, work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    work.mkdir()
    script = f"import os, sys; print(os.environ['TMPDIR']); sys.exit({words!r})"
    assert environment.run_pip([sys.executable, "-c", script]) == 1
    said = capfd.readouterr()
    assert said.out.strip() == str(work)  # /tmp may be in memory
    lines = said.err.splitlines()
    assert lines[0] == words
    assert len(lines) == 1 + (remedy is not None)
    assert (remedy or words) in lines[-1]


@pytest.mark.parametrize("built", [False, True])
def test_kernels_that_were_not_built_are_told(
    built: bool, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "installed", lambda name: TORCH)
    monkeypatch.setattr(environment, "run_pip", lambda command: 0)
    (tmp_path / "engine/kernels").mkdir(parents=True)
    if built:
        (tmp_path / "engine/kernels/tenon_kernels.so").touch()
    assert install(["-e", "."], None, PC) == 0
    assert ("install a C compiler" in capfd.readouterr().err) != built


@pytest.mark.parametrize(
    ("version", "cuda", "taken"),
    [("2.9.1", "'12.6'", True), ("2.10.0a0+5f3", "'13.0'", True), ("2.9.1", "None", False), ("2.5.0", "'12.6'", False)],
)
def test_a_jetson_s_own_torch_is_taken_alone(
    version: str, cuda: str, taken: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system, packages = tmp_path / "dist-packages", tmp_path / "site-packages"
    packages.mkdir()
    for name in ("torch", "torchgen", "numpy", f"torch-{version}.dist-info"):
        (system / name).mkdir(parents=True)
    (system / "torch" / "version.py").write_text(f"__version__ = '{version}'\ncuda: Optional[str] = {cuda}\n")
    compiled = system / "torch" / f"_C{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiled.touch()
    (system / f"torch-{version}.dist-info" / "METADATA").write_text(f"Name: torch\nVersion: {version}\n")
    found = own_torch([tmp_path / "nowhere", system])
    assert found == (system if taken else None)
    if found is None:
        return
    compiled.rename(compiled.with_name("_C.cpython-27-aarch64-linux-gnu.so"))
    assert own_torch([system]) is None  # it is another Python's
    compiled.touch()
    jetson = replace(BOARD, nvidia=True, own_torch=found)
    assert [line for line in constraints(jetson).splitlines() if line.startswith("torch==")] == [f"torch=={version}"]
    for gone in ("functorch", "torch-1.0.dist-info"):  # of an older one
        (packages / gone).symlink_to(system / gone)
    for _ in range(2):  # again, over what is there
        take_own_torch(found, packages)
    assert sorted(path.name for path in packages.iterdir()) == ["torch", f"torch-{version}.dist-info", "torchgen"]
    assert (packages / "torch" / "version.py").is_file()
    assert "Taking torch for CUDA from" in capsys.readouterr().out
    (system / f"torch-{version}.dist-info").rename(system / "torch.egg-info")  # as of a build from source
    assert own_torch([system]) is None
