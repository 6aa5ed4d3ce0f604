"""Build of the kernel library with the system's C compiler: ``python -m engine.kernels.build``.

Nothing here needs a package from outside the standard library, so that the package's own build can use it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "csrc"

# Without contraction the same source gives the same bits with every compiler.
COMMON_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-ftree-vectorize",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
)

# Rows are added up in the compiler's vectors, whose fused multiply-add is worth more than equal bits everywhere.
_ROWS = "-ffp-contract=fast -fno-trapping-math"
_COMMON = {
    **dict.fromkeys(
        (
            "attention",
            "block_floats",
            "blocks",
            "cache",
            "codebooks",
            "dispatch",
            "experts",
            "forward",
            "latents",
            "layer",
            "likeliest",
        ),
        "",
    ),
    **dict.fromkeys(("matmul", "medusa", "memory", "mixture", "pool", "portable", "product", "quantization"), ""),
    "sampling": "",
    "rows128": _ROWS,
}
# For ARM, GCC moves loads ahead of the products before it gives out registers, and then runs out of them.
_IN_ORDER = "-fno-schedule-insns"
_AVX2 = "-mavx2 -mfma -mf16c"
_AVX512 = f"{_AVX2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mprefer-vector-width=512"
_FILES: dict[str, dict[str, str]] = {
    "x86_64": {
        "x86": "",
        "avx2": _AVX2,
        "quantization256": _AVX2,
        "rows256": f"{_AVX2} {_ROWS}",
        "rows512": f"{_AVX512} {_ROWS}",
        "avxvnni": f"{_AVX2} -mavxvnni",
        "avx512vnni": _AVX512,
        "avx512vbmi": f"{_AVX512} -mavx512vbmi",
        "avx512bf16": f"{_AVX512} -mavx512bf16",
        "attention_bf16": f"{_AVX512} -mavx512bf16 {_ROWS}",
        "amx": f"{_AVX512} -mamx-tile -mamx-int8 -mamx-bf16",
        "attention_amx": f"{_AVX512} -mavx512bf16 -mamx-tile -mamx-bf16 {_ROWS}",
    },
    "aarch64": {
        "arm": "",
        "neon": _IN_ORDER,
        "dotprod": f"-march=armv8.2-a+dotprod {_IN_ORDER}",
    },
}
# A board, or its emulation, may compile one file of kernels for half an hour.
_LONGEST_S = 7200
_COMPILER_BYTES = 600_000_000  # GCC 12 takes 430 MB for the largest file
# Sets that a compiler may not know yet, and the file whose kernels each borrows; absent.c stands in for it.
_OPTIONAL = {
    "rows512": "rows256",
    "avxvnni": "avx2",
    "avx512vnni": "avx2",
    "avx512vbmi": "avx512vnni",
    "avx512bf16": "avx512vbmi",
    "attention_bf16": "avx512bf16",
    "amx": "avx512bf16",
    "attention_amx": "amx",
    "dotprod": "neon",
}


class BuildFailed(Exception):
    """The library could not be built; the message is one sentence."""


def library_name() -> str:
    """Return the shared library's file name on this system."""
    suffix = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    return f"tenon_kernels.{suffix}"


def find_compiler() -> list[str]:
    """Return the C compiler's command: the variable CC, else cc, gcc or clang.

    Raises:
        BuildFailed: there is none.
    """
    if named := os.environ.get("CC"):
        return shlex.split(named)
    # GCC for Windows misaligns vectors on the stack (its bug 54412).
    for name in ("clang",) if sys.platform == "win32" else ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    raise BuildFailed("There is no C compiler on this machine.")


def normalized_machine(machine: str = "") -> str:
    """Return the processor architecture (default: this machine's) by the name that the sources go by."""
    machine = (machine or platform.machine()).lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


def _compilers() -> int:
    """Return the number of compilers that run at once: one for each core that may be used, if memory suffices."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not hasattr(os, "sysconf"):
        return cores
    return max(1, min(cores, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _COMPILER_BYTES))


def _compile(command: Sequence[str], folder: Path) -> str:
    """Run a compiler, and return its complaint, or an empty text if it succeeded."""
    try:
        done = subprocess.run(list(command), cwd=folder, capture_output=True, text=True, timeout=_LONGEST_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit status {done.returncode}"


def compile_objects(folder: Path, compiler: Sequence[str], flags: Sequence[str] = (), machine: str = "") -> list[Path]:
    """Compile every source of an architecture, each with its instruction set's flags.

    Args:
        folder: where the object files go.
        compiler: the command.
        flags: further flags for every file.
        machine: architecture, this machine's by default; on an unknown one only portable code is built.

    Raises:
        BuildFailed: a file that every machine needs does not compile.
    """
    every = [*compiler, *COMMON_FLAGS, *flags, "-c"]
    files = _COMMON | _FILES.get(normalized_machine(machine), {})

    def build(name: str) -> str:
        return _compile([*every, *files[name].split(), str(SOURCES / f"{name}.c"), "-o", f"{name}.o"], folder)

    with ThreadPoolExecutor(_compilers()) as pool:
        complaints = dict(zip(files, pool.map(build, files), strict=True))
    for name in files:  # what is borrowed from comes first
        if complaints[name] or (name in _OPTIONAL and complaints[_OPTIONAL[name]]):
            complaints[name] = complaints[name] or "what it borrows from is absent"
            stand_in = [*every, f"-DABSENT={name}_set", str(SOURCES / "absent.c"), "-o", f"{name}.o"]
            if name not in _OPTIONAL or _compile(stand_in, folder):
                last_line = complaints[name].splitlines()[-1]
                raise BuildFailed(f"{name}.c does not compile with {compiler[0]}: {last_line}")
    return [folder / f"{name}.o" for name in files]


def build_library(target: Path) -> None:
    """Build the shared library, and put it in place as a whole: a process that has mapped the old one keeps that.

    Raises:
        BuildFailed: there is no compiler, or it fails.
    """
    compiler = find_compiler()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        position = [] if sys.platform == "win32" else ["-fPIC", "-pthread"]
        whole = ["-Wl,-z,defs"] if sys.platform == "linux" else []
        objects = compile_objects(folder, compiler, position)
        linked = folder / target.name
        mathematics = [] if sys.platform == "win32" else ["-lm"]
        complaint = _compile(
            [*compiler, "-shared", *position, *whole, *map(str, objects), *mathematics, "-o", str(linked)],
            folder,
        )
        if complaint:
            raise BuildFailed(f"The kernels do not link with {compiler[0]}: {complaint.splitlines()[-1]}")
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.copyfile(linked, beside)
        os.replace(beside, target)


def provide_library(target: Path) -> None:
    """Put the library beside this file in place if it loads and no source is newer; build it otherwise.

    On a board a build takes minutes, and whoever installs further packages, or makes one, asks for it again.

    Raises:
        BuildFailed: there is no compiler, or it fails.
    """
    own = Path(__file__).resolve().with_name(library_name())
    newest = max(path.stat().st_mtime for path in (Path(__file__), *SOURCES.iterdir()))
    try:
        usable = "CC" not in os.environ and own.stat().st_mtime > newest and bool(ctypes.CDLL(str(own)))
    except OSError:  # none is there, or another machine's
        usable = False
    if not usable:
        build_library(target)
    elif own != target:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(own, target)


def main() -> int:
    """Build the library beside this file, and return the exit code."""
    target = Path(__file__).resolve().parent / library_name()
    try:
        build_library(target)
    except BuildFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
