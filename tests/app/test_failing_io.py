"""Each call for files or sockets fails once: nothing is lost, the person is told, and the next thing works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.failing_io import build, run_apart
from tests.support.fast_cases import chosen
from tests.support.io_scenarios import MODULES

# Calls between two that are tried: a few runs of each scenario, of which the fast tests make some.
STEPS = {
    "chat": {
        "no-descriptors": 13,
        "full": 24,
        "stays-full": 24,
        "broken": 91,
        "stays-broken": 91,
        "denied": 48,
        "turns-read-only": 37,
    },
    "migration": {"no-descriptors": 11, "full": 27, "broken": 97, "denied": 61},
    "damaged-start": {"no-descriptors": 17, "full": 19, "stays-full": 19, "broken": 107, "stays-broken": 107},
    "backup": {"no-descriptors": 4, "full": 11, "stays-full": 11, "broken": 43},
    "import": {"no-descriptors": 3, "full": 19, "broken": 31},
    "export": {"no-descriptors": 2, "full": 1, "broken": 5},
    "erasing": {"no-descriptors": 2, "full": 24, "broken": 38},
    "settings": {"no-descriptors": 3, "full": 3, "stays-full": 3, "broken": 4, "denied": 4},
    "download": {
        "no-descriptors": 11,
        "full": 13,
        "stays-full": 13,
        "broken": 61,
        "denied": 41,
        "turns-read-only": 37,
        "reset": 5,
    },
    "window": {"no-descriptors": 11, "denied": 23},
    "serve": {"no-descriptors": 7},
    "load": {"no-descriptors": 23, "broken": 67},
    "stream": {"no-descriptors": 23, "broken": 79},
    "conversion": {"no-descriptors": 29, "full": 2, "broken": 73, "denied": 71},
}
CASES = {f"{scenario}/{fault}": step for scenario, faults in STEPS.items() for fault, step in faults.items()}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = build(tmp_path_factory.mktemp("library"))
    if built is None:
        pytest.skip("calls are made to fail by a library that needs Linux and a C compiler")
    return built


@pytest.mark.parametrize(
    ("module", "rarer"),
    [
        *(("app_io_scenarios", 120), ("hub_io_scenarios", 24)),
        *chosen([(module, 1) for module in sorted(set(MODULES.values()))], ()),
    ],
)
def test_some_calls_fail(module: str, rarer: int, library: Path) -> None:
    """In one process for all scenarios of a module: its imports take far longer than a scenario."""
    # Another first call for each, so that all of them together do not always strike at the beginning.
    cases = {
        case: (step * rarer, index % step)
        for index, (case, step) in enumerate(CASES.items())
        if MODULES[case.split("/")[0]] == module
    }
    outcomes = run_apart(library, cases, timeout_s=100)
    assert {case: outcome.problems for case, outcome in outcomes.items()} == {case: [] for case in cases}
    assert all(outcome.runs > 0 for outcome in outcomes.values())


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("case", CASES)
def test_every_call_fails_once(case: str, library: Path) -> None:
    outcome = run_apart(library, {case: (1, 0)}, timeout_s=7000)[case]
    print(f"{case}: {outcome.calls} calls, {outcome.runs} runs")
    assert outcome.problems == []
