"""Surroundings of every test: no screen, no network, and never the person's own data."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import settings

from engine.hub import model_folders
from engine.planning.probes import host
from engine.sentences import LANGUAGE
from tests.support.real_models import ABSENT, real_model

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# No test is timed. Each run tries some of the examples, and the night all of them (`--hypothesis-profile=night`).
settings.register_profile("tenon", deadline=None, max_examples=25)
settings.register_profile("night", deadline=None)
settings.load_profile("tenon")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TENON_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _no_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own Ollama, LM Studio and Hugging Face cache are none of a test's."""
    monkeypatch.setattr(model_folders, "_programs", lambda: ())


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LANGUAGE, "en")


@pytest.fixture(autouse=True)
def _quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else this machine does: what tests measure is taken as measured on one that rests."""
    monkeypatch.setattr(host, "share_of_others", lambda begin, end: 0.0)


@pytest.fixture
def smollm2() -> Path:
    """The file of the real model that ships with Tenon; what needs it is skipped where it was not fetched."""
    found = real_model()
    if found is None:
        pytest.skip(ABSENT)
    return found


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that files got before what they hold was on the disk: after a power cut they would be empty or cut."""
    synced: dict[int, tuple[int, int]] = {}
    found: list[str] = []
    fsync, rename = os.fsync, os.replace

    def note(file: int) -> None:
        fsync(file)
        state = os.fstat(file)
        synced[state.st_ino] = (state.st_mtime_ns, state.st_size)

    def check(source: os.PathLike[str] | str, target: os.PathLike[str] | str) -> None:
        state = os.stat(source)
        if stat.S_ISREG(state.st_mode) and synced.get(state.st_ino) != (state.st_mtime_ns, state.st_size):
            found.append(Path(target).name)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(os, "replace", check)
    return found
