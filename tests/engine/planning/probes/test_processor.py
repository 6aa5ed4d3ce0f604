from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.planning.probes.host import read_processor

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's description")

X86 = """processor : 0
model name : 12th Gen Intel(R) Core(TM) i7-12700H
flags : fpu sse2 avx2 avx_vnni fma

processor : 1
model name : 12th Gen Intel(R) Core(TM) i7-12700H
flags : fpu sse2 avx2 avx_vnni fma
"""
ARM = """processor : 0
Features : fp asimd aes asimddp i8mm
CPU implementer : 0x41

Model : Raspberry Pi 5 Model B Rev 1.0
"""


@pytest.mark.parametrize(
    ("text", "name", "sets"),
    [
        (X86, "12th Gen Intel(R) Core(TM) i7-12700H", ("AVX2", "AVX-VNNI")),
        (ARM, "Raspberry Pi 5 Model B Rev 1.0", ("NEON", "dotprod", "i8mm")),
    ],
)
def test_name_and_instruction_sets(text: str, name: str, sets: tuple[str, ...], tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text(text)
    found = read_processor(described)
    assert (found.name, found.instruction_sets) == (name, sets)


def test_this_machine_has_cores_and_a_name(tmp_path: Path) -> None:
    found = read_processor()
    assert 1 <= found.usable_cores <= found.physical_cores <= found.logical_cores
    assert found.name
    # Without the description torch's own findings take its place.
    assert set(read_processor(tmp_path / "none").instruction_sets) <= set(found.instruction_sets)
