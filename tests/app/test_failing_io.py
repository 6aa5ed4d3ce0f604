"""Each call for files or sockets fails once: nothing is lost, the person is told, and the next thing works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.failing_io import build, run_apart

# Calls between two that are tried in the fast tests: a few runs of each scenario.
CASES = {
    ("chat", "full"): 24,
    ("chat", "stays-full"): 24,
    ("chat", "broken"): 91,
    ("chat", "stays-broken"): 91,
    ("chat", "denied"): 48,
    ("chat", "turns-read-only"): 37,
    ("migration", "full"): 27,
    ("migration", "broken"): 97,
    ("migration", "denied"): 61,
    ("damaged-start", "full"): 19,
    ("damaged-start", "stays-full"): 19,
    ("damaged-start", "broken"): 107,
    ("damaged-start", "stays-broken"): 107,
    ("backup", "full"): 11,
    ("backup", "stays-full"): 11,
    ("backup", "broken"): 43,
    ("import", "full"): 19,
    ("import", "broken"): 31,
    ("export", "full"): 1,
    ("export", "broken"): 5,
    ("erasing", "full"): 24,
    ("erasing", "broken"): 38,
    ("settings", "full"): 3,
    ("settings", "stays-full"): 3,
    ("settings", "broken"): 4,
    ("settings", "denied"): 4,
    ("download", "full"): 13,
    ("download", "stays-full"): 13,
    ("download", "broken"): 61,
    ("download", "denied"): 41,
    ("download", "turns-read-only"): 37,
    ("download", "reset"): 5,
    ("load", "broken"): 67,
    ("stream", "broken"): 79,
    ("conversion", "full"): 2,
    ("conversion", "broken"): 73,
    ("conversion", "denied"): 71,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = build(tmp_path_factory.mktemp("library"))
    if built is None:
        pytest.skip("calls are made to fail by a library that needs Linux and a C compiler")
    return built


@pytest.mark.parametrize(("scenario", "fault"), CASES, ids=["-".join(case) for case in CASES])
def test_some_calls_fail(scenario: str, fault: str, library: Path) -> None:
    step = CASES[scenario, fault]
    # Another first call for each, so that all of them together do not always strike at the beginning.
    first = list(CASES).index((scenario, fault)) % step
    outcome = run_apart(library, scenario, fault, step, first, timeout_s=100)
    assert outcome.problems == []
    assert outcome.runs > 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("scenario", "fault"), CASES, ids=["-".join(case) for case in CASES])
def test_every_call_fails_once(scenario: str, fault: str, library: Path) -> None:
    outcome = run_apart(library, scenario, fault, 1, 0, timeout_s=7000)
    print(f"{scenario}, {fault}: {outcome.calls} calls, {outcome.runs} runs")
    assert outcome.problems == []
