"""Damaged input of every kind: no crash, no hang, no mistake of Tenon's own, and one sentence for a person."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.campaign import TARGETS, run

CASES = int(os.environ.get("TENON_FUZZ_CASES", "10000"))


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_that_is_read_breaks_tenon(target: str, tmp_path: Path) -> None:
    outcome = run(target, tmp_path, CASES)
    print(outcome)
    assert outcome.failures == []
