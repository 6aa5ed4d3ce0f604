"""Installs Tenon's packages in the builds for this machine: ``python installers/environment.py -e .``.

On a PC with Linux torch comes first, in its build for processors: the one that pip takes there by default brings
gigabytes of CUDA, which a machine without an NVIDIA card has no use for, and one with such a card gets with ``tenon
gpu``. What follows are pip's own arguments, installed with the constraints of this architecture and C library. Only the
standard library is used, for there is nothing else yet.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
OLDER_GLIBC = Path(__file__).with_name("older_glibc.txt")
# An index answers within this time, or pip's own is asked; then its page may take a little longer.
_ANSWER_S, _WHOLE_S = 5.0, 30.0
# glibc that the newest pinned wheels ask for, of Qt; older_glibc.txt has what runs with less.
_NEWER_GLIBC = {"x86_64": (2, 34), "aarch64": (2, 39)}
_OLDEST_GLIBC = (2, 31)
_OLDEST_TORCH = (2, 9)
# What belongs to torch in a folder of packages.
_PARTS_OF_TORCH = ("torch", "torchgen", "functorch", "torch-*.dist-info")
# Python 3's oldest that Tenon runs on, and the newest that there are wheels of Qt for, of the older Qt too.
_OLDEST_PYTHON, _NEWEST_PYTHON, _NEWEST_FOR_OLDER_GLIBC = 10, 14, 13
# What comes from pip's index by default: on a PC with Linux, with all that torch needs there, and elsewhere.
_CUDA_SIZE, _CPU_SIZE = "about 3 GB", "about 0.2 GB"
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
# pip unpacks wheels and compiles kernels here: /tmp is in memory on some systems, and a board has little of that.
_WORK = Path(sys.prefix) / "unpacked"
# Free disk that an installation needs while torch is missing, and once it is there; what pip unpacks and caches counts.
_FREE_BYTES, _FREE_AFTER_TORCH_BYTES = 2_000_000_000, 1_000_000_000
_KERNELS_BYTES = 100_000_000  # free disk that their compilers need
_DISK_IS_FULL = "The disk is full: make room"
# Signs in what pip says, and what to do then; the first that is there counts.
_REMEDIES = (
    ("No space left on device", _DISK_IS_FULL),
    ("not yet valid", "This machine's clock is behind, and no certificate holds yet: set its date"),
    ("Retrying (Retry(", "pip's index does not answer: connect this machine to the network"),
)


@dataclass(frozen=True)
class Machine:
    """The facts that decide which builds run here."""

    system: str  # system as `platform.system` calls it
    architecture: str  # x86_64, aarch64 or another, by one name on every system
    glibc: tuple[int, int] | None  # version of the GNU C library; None where the C library is another one
    python: str  # tag of this Python in names of wheels: ``cp311``
    nvidia: bool = False  # True if there is an NVIDIA card with its driver, or a Jetson
    wide: bool = True  # True if this Python has 64 bits
    own_torch: Path | None = None  # folder with torch for CUDA, as NVIDIA puts it on a Jetson; None without one

    @property
    def older_glibc(self) -> bool:
        """True if the newest pinned wheels ask for a newer C library."""
        return self.glibc is not None and self.glibc < _NEWER_GLIBC.get(self.architecture, (0, 0))

    @property
    def refusal(self) -> str | None:
        """A sentence that says why there are no packages for this machine; None where there are."""
        if not self.wide:
            return "This Python has 32 bits, and torch and Qt have builds for 64 bits alone: take a 64-bit one."
        if self.system == "Darwin" and self.architecture != "aarch64":
            return "torch has no builds for Macs with Intel's processors any more, so Tenon does not run on this one."
        if self.architecture not in _NEWER_GLIBC:
            return f"torch and Qt have no builds for {self.architecture}: Tenon needs x86_64 or aarch64."
        if self.system == "Linux" and self.glibc is None:
            return (
                "torch and Qt have no builds for this C library (musl, as Alpine has it): take a system with glibc, "
                "such as Debian, in a container for instance."
            )
        if self.glibc is not None and self.glibc < _OLDEST_GLIBC:
            here, oldest = (".".join(map(str, version)) for version in (self.glibc, _OLDEST_GLIBC))
            return f"This system has glibc {here}, and the packages need {oldest} or newer: take a newer system."
        newest = _NEWEST_FOR_OLDER_GLIBC if self.older_glibc else _NEWEST_PYTHON
        if not _OLDEST_PYTHON <= int(self.python[3:]) <= newest:
            return (
                f"On this system there are packages for Python 3.{_OLDEST_PYTHON} to 3.{newest}, and none for "
                f"3.{self.python[3:]}: take Python 3.{newest}, with make for instance by PYTHON=python3.{newest}."
            )
        return None


def this_machine() -> Machine:
    """Return the machine that this runs on."""
    architecture = platform.machine().lower()
    return Machine(
        platform.system(),
        {"amd64": "x86_64", "arm64": "aarch64"}.get(architecture, architecture),
        _glibc(),
        f"cp{sys.version_info.major}{sys.version_info.minor}",
        any(Path(sign).exists() for sign in ("/proc/driver/nvidia/version", "/etc/nv_tegra_release")),
        sys.maxsize > 1 << 32,
        own_torch(_system_packages()) if Path("/etc/nv_tegra_release").exists() else None,
    )


def _system_packages() -> tuple[Path, ...]:
    """Return the folders that Debian's pip and its packages install into for this Python."""
    ours = f"python{sys.version_info.major}.{sys.version_info.minor}"
    known = (site.getusersitepackages(), f"/usr/local/lib/{ours}/dist-packages", "/usr/lib/python3/dist-packages")
    return tuple(map(Path, known))


def own_torch(places: Sequence[Path]) -> Path | None:
    """Return the first folder with a torch for this Python that was built for CUDA and is new enough; None without."""
    for place in places:
        try:
            said = (place / "torch" / "version.py").read_text(encoding="utf-8")
        except OSError:
            continue
        version = re.search(r"^__version__ = ['\"](\d+)\.(\d+)", said, re.MULTILINE)
        new = version is not None and (int(version[1]), int(version[2])) >= _OLDEST_TORCH
        cuda = re.search(r"^cuda\b.*= ['\"]", said, re.MULTILINE)
        ours = (place / "torch" / f"_C{sysconfig.get_config_var('EXT_SUFFIX')}").exists()
        if new and cuda and ours and any(place.glob("torch-*.dist-info")):  # which pip asks for its version
            return place
    return None


def _glibc() -> tuple[int, int] | None:
    try:
        said = os.confstr("CS_GNU_LIBC_VERSION")
    except (
        AttributeError,
        ValueError,
        OSError,
    ):  # Windows has no confstr, and other C libraries not this name
        return None
    found = re.fullmatch(r"glibc (\d+)\.(\d+).*", said or "")
    return (int(found[1]), int(found[2])) if found else None


def constraints(machine: Machine) -> str:
    """Return the constraints of a machine, one a line, without what its C library is too old for."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    if machine.older_glibc:
        older = OLDER_GLIBC.read_text(encoding="utf-8").splitlines()
        names = {line.partition("==")[0] for line in older}
        lines = [line for line in lines if line.partition("==")[0] not in names] + older
    if machine.own_torch is not None:
        lines = [line for line in lines if not line.startswith("torch==")] + [f"torch=={pinned_torch(machine)}"]
    return "\n".join(lines) + "\n"


def pinned_torch(machine: Machine) -> str:
    """Return the version of torch that a machine gets."""
    if machine.own_torch is not None:
        return next(iter(importlib.metadata.distributions(name="torch", path=[str(machine.own_torch)]))).version
    equal = "==" if (machine.system, machine.architecture) == ("Linux", "aarch64") else "!="
    line = rf"^torch==(\S+); platform_machine {equal} 'aarch64'$"
    found = re.search(line, CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, "constraints.txt names torch for both"
    return found[1]


def cpu_index() -> str:
    """Address of PyTorch's own index of builds for processors."""
    addons = json.loads((ROOT / "assets" / "gpu_addons.json").read_text(encoding="utf-8"))
    return f"{addons['index']}/cpu"


def configured_index() -> str | None:
    """Return the setting that gives pip an index, such as ``PIP_INDEX_URL``; None if pip asks its usual one."""
    done = subprocess.run([*_PIP, "config", "list"], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        said = value.strip("'\"").lower() not in ("", "0", "false", "no", "off")
        if said and option in ("index-url", "no-index") and section in (":env:", "global", "install"):
            return f"PIP_{option.replace('-', '_').upper()}" if section == ":env:" else f"pip's {name}"
    return None


def offered(*options: str) -> list[str]:
    """Return the versions of torch that pip finds for this Python; empty where its indexes give no answer in time."""
    command = [*_PIP, "index", "versions", "torch", "--retries", "0", "--timeout", f"{_ANSWER_S:g}", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_WHOLE_S)
    except subprocess.TimeoutExpired:  # no limit of pip's holds for a name server
        return []
    found = re.search("Available versions: (.*)", done.stdout)
    return found[1].split(", ") if found else []


def usual_build(version: str) -> str:
    """Describe the build that pip takes on such a PC: that for processors if its indexes have one, else CUDA's."""
    versions = offered()
    if not versions:
        return f"{_CPU_SIZE} if that has the build for processors, {_CUDA_SIZE} with CUDA if not"
    if f"{version}+cpu" in versions:
        return f"the build for processors, {_CPU_SIZE}"
    return f"{_CUDA_SIZE}, with CUDA"


def choose_index(machine: Machine, version: str, index: str) -> tuple[str | None, str]:
    """Return the address of the index that torch comes from, and a line on what is fetched and how large it is.

    The address is None for what pip is set up with.
    """
    card = " `tenon gpu` fetches what uses the NVIDIA card." if machine.nvidia else ""
    if (machine.system, machine.architecture) != ("Linux", "x86_64"):  # the usual build is the one for processors
        return None, f"Fetching torch {version} from pip's index: {_CPU_SIZE}.{card}"
    chosen = configured_index()
    if chosen is not None:
        line = f"Fetching torch {version} from the index that {chosen} sets: {usual_build(version)}"
        return None, f"{line} (TORCH_INDEX=ADDRESS names another index for torch)."
    if f"{version}+cpu" not in offered("--index-url", index):
        line = f"PyTorch's own index gave no torch {version} for this machine within {_ANSWER_S:g} s. Fetching it from"
        return None, f"{line} pip's index: {usual_build(version)}."
    return index, f"Fetching torch {version} for processors from PyTorch's own index: {_CPU_SIZE}.{card}"


def installed(name: str) -> str | None:
    """Return the version of a package that is there, without its build's name; None without one."""
    try:
        return importlib.metadata.version(name).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def take_own_torch(place: Path, packages: Path) -> None:
    """Link the torch of another folder, and nothing else of that, into this environment in place of its own."""
    print(f"Taking torch for CUDA from {place}.", flush=True)
    if (packages / "torch").is_dir() and not (packages / "torch").is_symlink():
        subprocess.run([*_PIP, "uninstall", "--yes", "torch"], check=False)
    for link in list(packages.iterdir()):  # of an earlier torch, which may be gone
        if link.is_symlink() and any(map(link.match, _PARTS_OF_TORCH)):
            link.unlink()
    for pattern in _PARTS_OF_TORCH:
        for part in place.glob(pattern):
            (packages / part.name).symlink_to(part)


def has_torch(machine: Machine) -> bool:
    """Return True if no torch has to be fetched."""
    return machine.own_torch is not None or installed("torch") == pinned_torch(machine)


def is_too_full(place: str | Path, machine: Machine) -> bool:
    """Return True, and say so in a sentence, if the disk of a place has no room for what is missing."""
    free, needed = shutil.disk_usage(place).free, _FREE_BYTES
    if has_torch(machine):  # an update fetches little or nothing
        needed = 0 if installed("PySide6-Essentials") else _FREE_AFTER_TORCH_BYTES
    if free < needed:
        print(
            f"This takes {needed / 1e9:.1f} GB of disk, and where {ROOT} lies {free / 1e9:.1f} GB are free: make room, "
            "or take a folder on another disk.",
            file=sys.stderr,
        )
    return free < needed


def install(arguments: Sequence[str], torch_index: str | None, machine: Machine) -> int:
    """Install torch, from the given index or the right one, then what pip's arguments name; return pip's exit code."""
    if is_too_full(sys.prefix, machine):
        return 1
    version = pinned_torch(machine)
    shutil.rmtree(_WORK, ignore_errors=True)  # of a run that was killed
    try:
        _WORK.mkdir()
        file = _WORK / "constraints.txt"
        file.write_text(constraints(machine), encoding="utf-8")
        pip = [*_PIP, "install", "-c", str(file)]
        if machine.own_torch is not None:
            take_own_torch(machine.own_torch, Path(sysconfig.get_path("purelib")))
        elif not has_torch(machine):
            index = torch_index
            if index is None:
                index, line = choose_index(machine, version, cpu_index())
                print(line, flush=True)
            # What torch needs comes with the rest: its own index has few versions of that.
            alone = ["--no-deps", "--index-url", index] if index else []
            if code := run_pip([*pip, *alone, f"torch=={version}"]):
                return code
        more = ["--extra-index-url", torch_index] if torch_index else []
        code = run_pip([*pip, *more, *arguments])
    finally:
        shutil.rmtree(_WORK, ignore_errors=True)
    if not code and "-e" in arguments and not any((ROOT / "engine" / "kernels").glob("tenon_kernels.*")):
        if shutil.disk_usage(ROOT).free < _KERNELS_BYTES:
            print(f"{_DISK_IS_FULL}, and the same command goes on.", file=sys.stderr)
            return 1
        print(
            "Tenon computes without its own kernels, slowly: install a C compiler such as gcc, then build them with "
            f"`{sys.executable} -m engine.kernels.build`, which says what it lacks.",
            file=sys.stderr,
        )
    return code


def run_pip(command: Sequence[str]) -> int:
    """Run pip and return its exit code; if it fails for a reason in `_REMEDIES`, say in a sentence what to do."""
    environment = {**os.environ, "TMPDIR": str(_WORK)}
    said = ""
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, errors="replace", cwd=ROOT, env=environment
    ) as pip:
        assert pip.stderr is not None
        for line in pip.stderr:
            sys.stderr.write(line)
            said += line
    remedy = next((remedy for sign, remedy in _REMEDIES if sign in said), None)
    if pip.returncode and remedy:
        print(f"{remedy}, and the same command goes on.", file=sys.stderr)
    return pip.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, or say in one sentence why there is nothing for this machine; the exit code."""
    parser = argparse.ArgumentParser(prog="installers/environment.py", description=__doc__)
    parser.add_argument("--torch-index", metavar="ADDRESS", help="take torch from this package index")
    parser.add_argument("--check", action="store_true", help="say only why nothing can be installed, if so")
    options, rest = parser.parse_known_args(arguments)
    machine = this_machine()
    if machine.refusal is not None:
        print(machine.refusal, file=sys.stderr)
        return 1
    if options.check:  # .venv is not there yet; where it is, what it has is looked at later
        return int(not (ROOT / ".venv").exists() and is_too_full(ROOT, machine))
    return install(rest or ["-e", "."], options.torch_index or None, machine)


if __name__ == "__main__":
    sys.exit(main())
