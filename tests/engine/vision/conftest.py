"""The expectation of requests with pictures ends with the tests that send them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.planning.hardware import expect_documents


@pytest.fixture(autouse=True, scope="module")
def _no_documents_expected() -> Iterator[None]:
    yield
    expect_documents(False)
