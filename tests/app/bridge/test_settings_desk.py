"""The bridge behind the dialog of settings, with the scripted engine."""

from __future__ import annotations

import os
from datetime import date
from types import SimpleNamespace
from urllib.request import getproxies

import pytest

from app.bridge.saved_settings import Network
from app.chat.engine_state import EnginePhase
from app.settings.settings import Settings
from tests.app.bridge.conftest import Desk


def test_what_is_in_use_is_told_once_a_model_is_loaded_and_the_draft_once_it_replied(desk: Desk) -> None:
    workspace = desk.open()
    settings_desk = workspace.settings_desk
    assert workspace.settings_desk is settings_desk
    assert (settings_desk.in_use(), settings_desk.load_ms()) == ({"language": "en"}, None)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert settings_desk.in_use()["weights"] == "fp32"
    assert "drafts" not in settings_desk.in_use()
    assert settings_desk.load_ms() is not None
    desk.answer(workspace, "say 2")
    assert settings_desk.in_use()["drafts"] == ("lookup",)
    assert settings_desk.limits()["threads"] >= 1


def test_without_a_gpu_its_settings_say_so(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    gpu = workspace.model.state.gpu
    assert set(workspace.settings_desk.reasons()) == (set() if gpu else {"vram_budget_bytes", "gpu_layers"})


def test_mirror_and_proxy_are_in_the_environment_while_they_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://found.example.org")
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "x")  # so that they are put back
        monkeypatch.delenv(name)
    settings = Settings()
    network = Network(settings)
    assert os.environ["HF_ENDPOINT"] == "https://found.example.org"
    assert "HTTPS_PROXY" not in os.environ
    settings.hub_mirror, settings.proxy = "https://mirror.example.org", "http://proxy.example.org:3128"
    assert network.apply()
    assert not network.apply()  # nothing new
    assert os.environ["HF_ENDPOINT"] == "https://mirror.example.org"
    assert getproxies()["https"] == "http://proxy.example.org:3128"
    assert os.environ["HTTPS_PROXY"] == os.environ["HTTP_PROXY"] == "http://proxy.example.org:3128"
    settings.hub_mirror = settings.proxy = ""
    network.apply()
    assert os.environ["HF_ENDPOINT"] == "https://found.example.org"
    assert "HTTPS_PROXY" not in os.environ


def test_what_is_connected_connects_anew_after_another_mirror_was_applied(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://found.example.org")
    workspace = desk.open(start=False)
    calls: list[str] = []
    downloads = workspace.model_store.downloads
    downloads._queue = SimpleNamespace(  # type: ignore[assignment]
        reconnect=lambda: calls.append("reconnect"), close=lambda wait_s: None
    )
    settings_desk = workspace.settings_desk
    settings_desk.apply_network()
    assert calls == []
    workspace.settings.hub_mirror = "https://mirror.example.org"
    settings_desk.apply_network()
    assert calls == ["reconnect"]
    workspace.close()


def test_a_backup_is_made_once_a_day_as_soon_as_it_is_wanted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open(start=False)
    made: list[date | str] = []
    monkeypatch.setattr(workspace.archive._store, "back_up", made.append)
    workspace.settings.daily_backup = False
    workspace.archive.back_up()
    workspace.archive._writer.run(lambda: made.append("none"))
    workspace.settings.daily_backup = True
    workspace.archive.back_up()
    workspace.archive.back_up()
    workspace.archive._writer.finish()
    assert made == ["none", date.today()]


def test_the_chip_changes_what_holds_for_the_model(desk: Desk) -> None:
    workspace = desk.open(start=False)
    workspace.settings.set_for_model("smollm2", "memory", "disk")
    assert workspace.memory() == "disk"
    workspace.choose_memory("auto")
    assert (workspace.memory(), workspace.settings.memory) == ("auto", "auto")
    workspace.settings.forget_for_model("smollm2", "memory")
    workspace.choose_memory("disk")
    workspace.choose_draft("lookup")
    assert workspace.settings.memory == "disk"
    desk.wait_for_phase(workspace, EnginePhase.READY)
    options = workspace.model.options
    assert (options.drafts, options.memory) == (("lookup",), "disk")


def test_a_models_own_budget_is_what_it_is_loaded_with(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    workspace.settings.set_for_model("smollm2", "ram_budget_bytes", 512_000_000)
    workspace.settings.set_for_model("/other", "ram_budget_bytes", 256_000_000)
    workspace.settings_applied()
    desk.wait(lambda: workspace.settings_desk.in_use().get("ram_budget_bytes") == 512_000_000)
    chat = desk.answer(workspace, "draft")
    assert workspace.library.messages(chat)[-1].content == "draft:None budget:512000000"
