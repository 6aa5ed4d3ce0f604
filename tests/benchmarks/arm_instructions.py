"""Instructions that a product takes on 64-bit ARM, beside llama.cpp's, counted under qemu-user.

    python -m tests.benchmarks.arm_instructions --llama SOURCES --folder FOLDER [--types Q4_0 Q8_0] [--widths 1 4 64]

SOURCES is llama.cpp's tree; both programs are built by aarch64-linux-gnu-gcc (Debian: gcc and g++-aarch64-linux-gnu,
qemu-user, cmake) in FOLDER, which a further run takes up again. A figure is of 16 products, one vector instruction's,
with all that a product has: activations are quantized, sums are stored. Three products less one, halved, leave out the
start. Instructions are not time: they say what a processor has to do, not how fast it does it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

from engine.kernels import build
from tests.support.matrices import TYPES

_HERE = Path(__file__).parent / "arm"
_ROWS, _COLUMNS = 1024, 2048
_CROSS = "aarch64-linux-gnu-"
#: An emulated processor, Tenon's instruction set and llama.cpp's architecture there.
PROCESSORS = (
    ("cortex-a72", "neon", "armv8-a"),  # Raspberry Pi 4
    ("cortex-a76", "dotprod", "armv8.2-a+dotprod+fp16"),  # Raspberry Pi 5, Orange Pi 5, Jetson Orin
)


def run(*command: str | Path) -> str:
    """Run a command and return what it writes to its errors.

    Raises:
        SystemExit: it failed.
    """
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr[-1000:]}")
    return done.stderr


def build_tenon(folder: Path) -> Path:
    """Return Tenon's program."""
    target = folder / "tenon"
    objects = build.compile_objects(folder, [f"{_CROSS}gcc"], machine="aarch64")
    flags = ("-O1", "-static", f"-I{build.SOURCES}", "-o", target)
    run(f"{_CROSS}gcc", *flags, _HERE / "tenon.c", *objects, "-lm", "-lpthread")
    return target


def build_llama_cpp(folder: Path, sources: Path, architecture: str) -> Path:
    """Return llama.cpp's program for an architecture."""
    target = folder / f"llama-{architecture}"
    if not target.exists():
        tree = folder / f"ggml-{architecture}"
        options = {
            "CMAKE_SYSTEM_NAME": "Linux",
            "CMAKE_SYSTEM_PROCESSOR": "aarch64",
            "CMAKE_C_COMPILER": f"{_CROSS}gcc",
            "CMAKE_CXX_COMPILER": f"{_CROSS}g++",
            "CMAKE_BUILD_TYPE": "Release",
            "GGML_CPU_ARM_ARCH": architecture,
            **dict.fromkeys(("BUILD_SHARED_LIBS", "GGML_NATIVE", "GGML_OPENMP", "LLAMA_CURL", "LLAMA_OPENSSL"), "OFF"),
            **dict.fromkeys((f"LLAMA_BUILD_{part}" for part in ("TESTS", "EXAMPLES", "TOOLS", "SERVER")), "OFF"),
        }
        run("cmake", "-S", sources, "-B", tree, *(f"-D{name}={value}" for name, value in options.items()))
        run("cmake", "--build", tree, "--target", "ggml", "-j", "2")
        libraries = (tree / "ggml/src" / f"lib{name}.a" for name in ("ggml", "ggml-cpu", "ggml-base"))
        flags = ("-O1", "-static", f"-I{sources}/ggml/include", "-o", target)
        run(f"{_CROSS}g++", *flags, _HERE / "llama_cpp.cpp", *libraries, "-lm", "-lpthread", "-ldl")
    return target


def instructions(plugin: Path, cpu: str, program: Path, *arguments: str | int) -> float:
    """Return the instructions of one product; arguments: the program's, without how often."""
    counts = []
    for times in (1, 3):
        told = run("qemu-aarch64", "-cpu", cpu, "-plugin", plugin, program, *map(str, arguments), str(times))
        found = re.search(r"instructions (\d+)", told)
        assert found, told
        counts.append(int(found[1]))
    return (counts[1] - counts[0]) / 2


def main() -> None:
    """Build, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama", type=Path, required=True, help="llama.cpp's sources")
    parser.add_argument("--folder", type=Path, required=True, help="where both are built")
    parser.add_argument("--types", nargs="+", default=["Q4_0", "Q4_K", "Q6_K", "Q8_0", "IQ4_XS"], choices=TYPES)
    parser.add_argument("--widths", nargs="+", type=int, default=[1, 4, 64])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    plugin = options.folder / "count.so"
    run("cc", "-O2", "-shared", "-fPIC", "-o", plugin, _HERE / "count.c")
    tenon = build_tenon(options.folder)
    for cpu, instruction_set, architecture in PROCESSORS:
        llama = build_llama_cpp(options.folder, options.llama, architecture)
        for name in options.types:
            for width in options.widths:
                shape = (TYPES[name], _ROWS, _COLUMNS, width)
                ours = instructions(plugin, cpu, tenon, instruction_set, *shape)
                theirs = instructions(plugin, cpu, llama, *shape)
                each = _ROWS * _COLUMNS * width / 16
                print(
                    f"{cpu:12} {name:8} {width:4} rows  {ours / each:6.2f}  {theirs / each:6.2f}  {ours / theirs:5.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
