"""The file for the CI service: every system's installer is built and tried out before anything is released."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from installers.product import ROOT

WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
BUILDERS = ("linux", "windows", "macos")


def commands(job: str) -> str:
    return "\n".join(step.get("run", "") for step in WORKFLOW["jobs"][job]["steps"])


def test_a_tag_starts_it() -> None:
    assert WORKFLOW[True]["push"]["tags"] == ["v*"]  # YAML reads "on" as true


@pytest.mark.parametrize("job", BUILDERS)
def test_each_system_builds_and_tries_out_what_it_built(job: str) -> None:
    text = commands(job)
    assert text.index("installers/build.py") < text.index("--self-test")
    steps = WORKFLOW["jobs"][job]["steps"]
    assert steps[-1]["with"]["path"] == "dist/*"


@pytest.mark.parametrize("job", BUILDERS)
def test_equal_sources_give_equal_packages(job: str) -> None:
    text = commands(job)
    assert text.index("SOURCE_DATE_EPOCH=") < text.index("installers/build.py")


def test_a_package_is_tried_on_a_bare_system() -> None:
    assert "tests.package_trials.debian" in commands("linux")


def test_the_signing_keychain_stays_open() -> None:
    text = commands("macos")
    assert text.index("create-keychain") < text.index("set-keychain-settings") < text.index("security import")


def test_both_architectures_of_linux_are_built() -> None:
    entries = WORKFLOW["jobs"]["linux"]["strategy"]["matrix"]["include"]
    assert {entry["architecture"] for entry in entries} == {"x86_64", "aarch64"}


def test_a_release_waits_for_all_and_checks_the_sums() -> None:
    release = WORKFLOW["jobs"]["release"]
    assert sorted(release["needs"]) == sorted(BUILDERS)
    assert "sha256sum --check" in commands("release")
    assert "--draft" in commands("release")


def test_only_the_release_may_write() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [name for name, job in WORKFLOW["jobs"].items() if "permissions" in job] == ["release"]
