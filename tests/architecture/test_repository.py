"""The files that a code host and pre-commit read: they parse, and say the same as the Makefile and the pins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_may_only_read(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]) for step in steps)
    checkouts = [step for step in steps if "/checkout@" in step["uses"]]
    assert len(checkouts) == len(workflow["jobs"])
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_each_change_is_linted_and_tested_from_the_oldest_python_on() -> None:
    workflow = read(GITHUB / "workflows" / "ci.yml")
    assert {"push", "pull_request"} <= set(workflow[True])  # YAML reads "on" as true
    jobs = workflow["jobs"]
    assert jobs["lint"]["steps"][-1]["run"] == "make check"
    assert jobs["test"]["steps"][-1]["run"] == "make test"
    oldest = jobs["test"]["strategy"]["matrix"]["python"][0]
    assert f'requires-python = ">={oldest}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_have_what_github_asks_for(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    names = [field["id"] for field in fields]
    assert len(set(names)) == len(names)
    assert all(field["attributes"]["label"] for field in fields)


def test_pre_commit_has_the_ruff_of_the_pins() -> None:
    (rev,) = [repo["rev"] for repo in read(ROOT / ".pre-commit-config.yaml")["repos"] if "ruff" in repo["repo"]]
    assert f"ruff=={rev.removeprefix('v')}\n" in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_dependabot_looks_at_what_there_is() -> None:
    watched = {one["package-ecosystem"] for one in read(GITHUB / "dependabot.yml")["updates"]}
    assert watched == {"github-actions", "pip"}
