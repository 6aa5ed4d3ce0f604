"""Finding the library, capping it, doing without it; threads, forks and the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from engine.kernels import blocks, library
from tests.support.fast_cases import chosen
from tests.support.matrices import TYPES, matrix

needs_library = pytest.mark.skipif(library.available() is None, reason=library.reason())

REPORT = """
import torch
from engine.kernels import blocks, library
from tests.support.matrices import TYPES, matrix
print(library.available(), "|", library.reason())
for name in TYPES:
    blocks.matmul(matrix(name, 40, 256), torch.randn(3, 256), threads=2)
"""


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_library
@pytest.mark.parametrize(
    "cap", chosen([name for name, usable in library.instruction_sets().items() if usable], ("portable",))
)
def test_the_environment_caps_the_instruction_set(cap: str) -> None:
    assert run(REPORT, TENON_CPU_CAP=cap) == f"{cap} |"


@pytest.mark.slow
@needs_library
def test_a_cap_above_what_the_machine_has_takes_what_it_has() -> None:
    sets = library.instruction_sets()
    last = list(sets)[-1]
    assert run(REPORT, TENON_CPU_CAP=last).split(" |")[0] == [name for name, usable in sets.items() if usable][-1]


@needs_library
def test_a_preferred_set_runs_at_its_width_and_below_the_cap() -> None:
    sets = [name for name, usable in library.instruction_sets().items() if usable]
    packed, x = matrix("Q8_0", 64, 640), torch.randn(16, 640)

    def product(width: int) -> torch.Tensor:
        return blocks.matmul(packed, x[:width])

    before = library.available()
    library.select("portable")  # rounds otherwise than every other set
    portable = [product(width) for width in range(17)]
    library.select(None)
    highest = [product(width) for width in range(17)]
    assert before in sets
    try:
        library.prefer(TYPES["Q8_0"], 4, "portable")
        for width in range(1, 17):
            expected = portable if 4 <= width < 8 else highest
            assert torch.equal(product(width), expected[width])
        library.prefer(TYPES["Q8_0"], 4, sets[-1])
        library.select("portable")
        assert torch.equal(product(5), portable[5])
    finally:
        library.prefer(TYPES["Q8_0"], 4, None)
        library.select(before)
    if sets[-1] != "portable":
        assert not torch.equal(portable[5], highest[5])
    for width, name in ((3, "portable"), (128, "portable"), (4, "sse9")):
        with pytest.raises(ValueError, match="no instruction set"):
            library.prefer(TYPES["Q8_0"], width, name)


@needs_library
def test_an_unknown_cap_leaves_torch_alone_and_says_so() -> None:
    said = run(REPORT, TENON_CPU_CAP="sse9")
    assert said.startswith("None |")
    assert "sse9" in said
    with pytest.raises(ValueError, match="sse9"):
        library.select("sse9")


def test_without_the_library_everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    made, x, bias = {name: matrix(name, 40, 256) for name in TYPES}, torch.randn(3, 256), torch.randn(40)
    monkeypatch.setattr(library, "_load", lambda: library._Loaded(None, "there is none."))
    assert library.available() is None
    assert library.reason() == "there is none."
    assert library.instruction_sets() == {}
    for packed in made.values():
        exact = x @ blocks.unpack(packed).t() + bias
        assert (blocks.matmul(packed, x, bias) - exact).norm() < 1e-5 * exact.norm()


def test_a_file_that_is_no_library_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "__file__", str(tmp_path / "library.py"))
    path = tmp_path / library.library_name()
    assert "is missing" in library._load.__wrapped__().reason
    path.write_bytes(b"not a library")
    assert "cannot be loaded" in library._load.__wrapped__().reason


@needs_library
def test_many_callers_at_once() -> None:
    packed, x = matrix("Q4_0", 300, 640), torch.randn(9, 640)
    expected = blocks.matmul(packed, x, threads=1)
    wrong: list[int] = []

    def call(index: int) -> None:
        for _ in range(200):
            if not torch.equal(blocks.matmul(packed, x, threads=1 + index % 4), expected):
                wrong.append(index)

    threads = [threading.Thread(target=call, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_library
def test_workers_that_sleep_are_woken() -> None:
    packed, x = matrix("Q8_0", 300, 640), torch.randn(2, 640)
    expected = blocks.matmul(packed, x, threads=1)
    functions = library.loaded()
    functions.tenon_set_spin(0)
    try:
        assert all(torch.equal(blocks.matmul(packed, x, threads=3), expected) for _ in range(500))
    finally:
        functions.tenon_set_spin(50)


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_starts_its_own_workers() -> None:
    code = """
import os, sys, torch
from engine.kernels import blocks
from tests.support.matrices import matrix
packed, x = matrix("Q8_0", 300, 640), torch.randn(2, 640)
expected = blocks.matmul(packed, x, threads=3)
child = os.fork()
same = all(torch.equal(blocks.matmul(packed, x, threads=3), expected) for _ in range(20))
if child == 0:
    os._exit(0 if same else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not same)
"""
    run(code)


@needs_library
def test_the_process_ends_while_a_worker_spins() -> None:
    run(
        "import torch; from engine.kernels import blocks, library; from tests.support.matrices import matrix;"
        "library.loaded().tenon_set_spin(10_000_000);"
        "blocks.matmul(matrix('Q8_0', 300, 640), torch.randn(64, 640), threads=4)"
    )
