"""Choices that are not in force yet."""

from __future__ import annotations

import pytest

from app.settings.pages import PendingSettings
from app.settings.settings import Settings
from engine.errors import InvalidOption


def test_nothing_is_in_force_before_apply() -> None:
    settings = Settings()
    settings.threads = 2
    pending = PendingSettings(settings)
    pending.set("threads", 4)
    pending.set("memory", "disk")
    pending.set("temperature", 0.5, "/m")
    assert settings.stored() == {"threads": 2}
    assert pending.changes() == [("", "memory"), ("", "threads"), ("/m", "temperature")]
    assert (pending.value("threads"), pending.applied_value("threads")) == (4, 2)
    assert pending.value("temperature", "/m") == 0.5
    assert pending.value("threads", "/m") == 4  # the general one, as it would be
    pending.apply()
    assert settings.stored() == {"threads": 4, "memory": "disk", "by_model": {"/m": {"temperature": 0.5}}}
    assert pending.changes() == []


def test_undo_and_reset() -> None:
    settings = Settings()
    settings.threads = 2
    settings.set_for_model("/m", "threads", 3)
    pending = PendingSettings(settings)
    pending.set("threads", 4)
    pending.undo()
    assert pending.changes() == []
    assert not pending.is_usual("threads")
    pending.reset("threads")
    assert (pending.value("threads"), pending.is_usual("threads")) == (0, True)
    assert pending.value("threads", "/m") == 3
    pending.reset("threads", "/m")
    assert pending.value("threads", "/m") == 0
    assert pending.changes() == [("", "threads"), ("/m", "threads")]
    pending.apply()
    assert settings.stored() == {}


def test_a_models_own_value_that_equals_the_general_one_is_a_value() -> None:
    pending = PendingSettings(Settings())
    pending.set("threads", 0, "/m")
    assert pending.changes() == [("/m", "threads")]
    assert not pending.is_usual("threads", "/m")


def test_what_changes_elsewhere_meanwhile_stays() -> None:
    settings = Settings()
    pending = PendingSettings(settings)
    pending.set("threads", 4)
    settings.window_geometry = "abc"
    settings.memory = "disk"
    pending.apply()
    assert settings.window_geometry == "abc"
    assert settings.threads == 4


def test_the_draft_is_the_models_in_any_scope() -> None:
    settings = Settings()
    settings.model = "/m"
    pending = PendingSettings(settings)
    for scope in ("", "/m"):
        pending.set("drafts", ("/d",), scope)
        assert pending.value("drafts", scope) == ("/d",)
        assert pending.changes() == [("", "drafts")]
        pending.reset("drafts", scope)
        assert pending.is_usual("drafts", scope)
    pending.set("drafts", ("/d",))
    pending.apply()
    assert settings.drafts_of("/m") == ("/d",)


def test_a_value_that_is_not_allowed_changes_nothing() -> None:
    pending = PendingSettings(Settings())
    with pytest.raises(InvalidOption, match="http"):
        pending.set("proxy", "proxy.example.org")
    assert pending.changes() == []
