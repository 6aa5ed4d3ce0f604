"""The build, and the C test program under sanitizers, with emulated tiles, and on ARM."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.kernels import build

HERE = Path(__file__).resolve().parent
SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiler() -> list[str]:
    try:
        return build.find_compiler()
    except build.BuildFailed as failure:
        pytest.skip(str(failure))


def link(folder: Path, command: list[str], objects: list[Path], *flags: str, name: str = "check") -> Path:
    program = folder / name
    sources = ["-I", str(build.SOURCES), str(HERE / f"{name}.c"), *map(str, objects)]
    subprocess.run([*command, "-O2", *flags, *sources, "-lm", "-pthread", "-o", str(program)], check=True)
    return program


def checked(*command: str) -> list[str]:
    """Run the program; the instruction sets that it has checked."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split()[0] for line in done.stdout.splitlines()]


def test_no_compiler_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert build.main() == 1
    assert capsys.readouterr().err == "There is no C compiler on this machine.\n"


def test_a_failing_compiler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{sys.executable} -c 'raise SystemExit(1)'")
    with pytest.raises(build.BuildFailed, match="does not compile"):
        build.build_library(tmp_path / "library.so")
    assert not (tmp_path / "library.so").exists()


def test_what_was_built_before_is_taken_unless_a_source_is_newer_or_it_is_another_machine_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "__file__", str(tmp_path / "build.py"))
    monkeypatch.setattr(build, "SOURCES", tmp_path / "csrc")
    monkeypatch.setattr(build, "build_library", lambda target: target.write_text("built"))
    monkeypatch.setattr(ctypes, "CDLL", lambda path: loaded(Path(path)))

    def loaded(path: Path) -> object:
        if path.read_text() != "here":
            raise OSError("wrong ELF class")
        return path

    source, own, target = tmp_path / "csrc/a.c", tmp_path / build.library_name(), tmp_path / "for a wheel/library"
    for path, seconds in ((tmp_path / "build.py", 10), (source, 20), (own, 30)):
        path.parent.mkdir(exist_ok=True)
        path.write_text("here")
        os.utime(path, (seconds, seconds))
    build.provide_library(own)
    build.provide_library(target)
    assert (own.read_text(), target.read_text()) == ("here", "here")
    os.utime(source, (40, 40))
    build.provide_library(target)
    assert target.read_text() == "built"
    os.utime(source, (20, 20))
    own.write_text("another machine's")
    build.provide_library(own)
    assert own.read_text() == "built"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_builds_into_a_folder_with_spaces(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which(name):
        pytest.skip(f"there is no {name}")
    monkeypatch.setenv("CC", name)
    target = tmp_path / "a folder" / build.library_name()
    build.build_library(target)
    build.build_library(target)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_old_compiler_leaves_out_what_it_does_not_know(tmp_path: Path) -> None:
    if build.normalized_machine() != "x86_64":
        pytest.skip("about x86's instruction sets")
    old = tmp_path / "old"
    old.write_text(f'#!/bin/sh\ncase "$*" in *-mavx512*|*-mavxvnni*) exit 1;; esac\nexec {compiler()[0]} "$@"\n')
    old.chmod(0o755)
    program = link(tmp_path, compiler(), build.compile_objects(tmp_path, [str(old)]))
    assert checked(str(program)) == ["portable", "avx2"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_under_address_and_undefined_behaviour_sanitizers(tmp_path: Path) -> None:
    objects = build.compile_objects(tmp_path, compiler(), SANITIZERS)
    assert "portable" in checked(str(link(tmp_path, compiler(), objects, *SANITIZERS)))
    assert checked(str(link(tmp_path, compiler(), objects, *SANITIZERS, name="check_blocks"))) == ["blocks"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "files", "stand_in"),
    [
        ("amx", ("amx", "attention_amx"), ("-include", str(HERE / "amx_emulated.h"))),
        (
            "avxvnni",
            ("avxvnni",),
            ("-mavx512vl", "-mavx512vnni", '-DVPDPBUSD="vpdpbusd"', "-Dx86_has_avxvnni=x86_has_avx512"),
        ),
    ],
)
def test_by_emulation_where_avx512_is(
    name: str, files: tuple[str, ...], stand_in: tuple[str, ...], tmp_path: Path
) -> None:
    if build.normalized_machine() != "x86_64":
        pytest.skip("about x86's instruction sets")
    objects = build.compile_objects(tmp_path, compiler())
    for file in files:
        flags = (
            *build.COMMON_FLAGS,
            *build._FILES["x86_64"][file].split(),
            "-g",
            "-fsanitize=address,undefined",
        )
        source, target = str(build.SOURCES / f"{file}.c"), str(tmp_path / f"{file}.o")
        for more in ((), stand_in):  # as it stands too: the build would leave out what does not compile
            subprocess.run([*compiler(), *flags, *more, "-c", source, "-o", target], check=True)
    names = checked(str(link(tmp_path, compiler(), objects, "-fsanitize=address,undefined")))
    if "avx512vnni" not in names:
        pytest.skip("the emulation needs AVX-512 around it")
    assert name in names


@pytest.fixture(scope="module")
def on_arm(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Return a function that runs a program on an emulated processor; parts run separately, as that is slow."""
    cross, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not cross or not emulator:
        pytest.skip("needs aarch64-linux-gnu-gcc and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu, qemu-user)")
    folder = tmp_path_factory.mktemp("arm")
    objects = build.compile_objects(folder, [cross], machine="aarch64")
    programs = {name: str(link(folder, [cross], objects, "-static", name=name)) for name in ("check", "check_blocks")}

    def run(cpu: str, name: str, *part: str) -> list[str]:
        return checked(emulator, "-cpu", cpu, programs[name], *part)

    return run


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("cpu", ["cortex-a72", "cortex-a76", "neoverse-n1", "max"])
@pytest.mark.parametrize("part", ["products", "layers", "states", "blocks"])
def test_on_arm_under_qemu(cpu: str, part: str, on_arm: Callable[..., list[str]]) -> None:
    if part == "blocks":
        assert on_arm(cpu, "check_blocks") == ["blocks"]
    else:
        assert on_arm(cpu, "check", part) == ["portable", "neon", "dotprod"][: 2 if cpu == "cortex-a72" else 3]
