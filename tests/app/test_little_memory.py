"""Use where memory is little: the system kills no process, and what cannot be done is said."""

from __future__ import annotations

import sys

import pytest

from tests.benchmarks.footprint import run
from tests.support.fetched import folder
from tests.support.memory_cage import memory_cage
from tests.support.real_models import ABSENT, NOT_FETCHED, QWEN_CODER_1_5B, real_model

_LARGE = folder() / QWEN_CODER_1_5B.name  # 1.1 GB

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's"),
    pytest.mark.skipif(real_model() is None, reason=ABSENT),
]


@pytest.fixture(autouse=True)
def _cages() -> None:
    with memory_cage(1 << 60) as entrance:
        if entrance is None:
            pytest.skip("no control group can be made here")


def test_two_hundred_turns_with_three_documents_take_1_gb() -> None:
    found = run("--turns", "200", "--documents", "3", "--tokens", "24", limit_bytes=1_000_000_000)
    assert (found["turns"], found["failed"], found["killed"]) == (200, [], 0), found


@pytest.mark.skipif(not _LARGE.exists(), reason=NOT_FETCHED)
@pytest.mark.parametrize("limit_bytes", [600_000_000, 1_000_000_000, 2_000_000_000, 4_000_000_000])
def test_a_model_of_1_1_gb_replies_or_says_what_it_needs(limit_bytes: int) -> None:
    found = run("--turns", "2", "--tokens", "8", "--model", str(_LARGE), limit_bytes=limit_bytes)
    assert found["killed"] == 0, found
    assert all("but free are" in said for said in found["failed"]), found
    assert found["failed"] == [] or limit_bytes < 900_000_000, found  # with more it is read from the disk
