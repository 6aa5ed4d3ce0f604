"""Each change of the list can be made, and the tests that are to notice it are there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.mutants.__main__ import LEAST_CAUGHT
from tests.mutants.changes import MUTANTS, Mutant, mutated

ROOT = Path(__file__).resolve().parents[2]


@cache
def _source(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


@cache
def _tree(file: str) -> str:
    return ast.dump(ast.parse(_source(file)))


@cache
def _tests(file: str) -> frozenset[str]:
    return frozenset(one.name for one in ast.parse(_source(file)).body if isinstance(one, ast.FunctionDef))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.why}")
def test_the_change_can_be_made_and_its_tests_are_there(mutant: Mutant) -> None:
    assert _source(mutant.file).count(mutant.before) == 1
    changed = ast.parse(mutated(_source(mutant.file), mutant))
    assert ast.dump(changed) != _tree(mutant.file)
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert not name or name.partition("[")[0] in _tests(file)
    assert mutant.tests


def test_no_change_is_listed_twice() -> None:
    assert len({(mutant.file, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS) >= 120
    assert len(MUTANTS) * LEAST_CAUGHT >= 110


def test_each_night_all_of_them_are_tried_and_the_slow_tests_run() -> None:
    workflow = yaml.safe_load(_source(".github/workflows/nightly.yml"))
    job = workflow["jobs"]["slow"]
    assert workflow[True]["schedule"]  # YAML reads "on" as true
    assert job["strategy"]["matrix"]["target"] == ["test-slow", "mutants"]
    assert job["steps"][-1]["run"] == "make ${{ matrix.target }}"
    assert all(f"\n{target}: .venv" in _source("Makefile") for target in job["strategy"]["matrix"]["target"])
