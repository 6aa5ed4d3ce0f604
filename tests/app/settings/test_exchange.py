"""Settings on their way to another computer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.pages import PendingSettings
from app.settings.settings import Settings
from app.settings.settings_file import export_settings, import_settings
from engine.errors import InvalidOption


def _changed() -> Settings:
    settings = Settings()
    settings.threads, settings.temperature, settings.system_prompt = 4, 0.3, "Sei knapp. Ω"
    settings.remember_drafts("/m", ("/d",))
    settings.set_for_model("/m", "context", 4096)
    settings.window_geometry = "abc"
    settings.remember_model("/secret/place")
    return settings


def test_what_was_changed_comes_back_on_another_computer() -> None:
    there = Settings()
    there.window_geometry, there.memory = "xyz", "disk"
    pending = PendingSettings(there)
    found = import_settings(export_settings(_changed()))
    assert found.rejected == ()
    pending.choose(found.values, found.unknown)
    assert there.threads == 0
    pending.apply()
    assert (there.threads, there.temperature, there.system_prompt) == (4, 0.3, "Sei knapp. Ω")
    assert (there.drafts_of("/m"), there.of_model("/m").context) == (("/d",), 4096)
    assert there.memory == "auto"  # as the file has it: at its usual value
    assert (there.window_geometry, there.recent_models) == ("xyz", ())


def test_windows_and_the_models_used_lately_stay_here() -> None:
    text = export_settings(_changed())
    assert "abc" not in text
    assert "secret" not in text


def test_an_address_with_a_password_stays_here() -> None:
    settings = Settings()
    settings.proxy, settings.hub_mirror = (
        "http://me:secret@proxy.example.org:80",
        "https://mirror.example.org",
    )
    assert import_settings(export_settings(settings)).values == {"hub_mirror": "https://mirror.example.org"}


def test_bad_values_are_named_and_unknown_ones_kept() -> None:
    text = json.dumps(
        {"tenon": "settings", "version": 1, "threads": -1, "memory": "warp", "seed": 3, "colour": "red",
         "by_model": {"/m": {"top_p": 7}}}
    )  # fmt: skip
    found = import_settings(text)
    assert found.values == {"seed": 3}
    assert found.rejected == ("threads", "memory", "top_p (/m)")
    settings = Settings()
    pending = PendingSettings(settings)
    pending.choose(found.values, found.unknown)
    pending.apply()
    assert settings.stored() == {"seed": 3, "colour": "red"}
    assert import_settings(export_settings(settings)).unknown == {"colour": "red"}


def test_a_settings_file_of_an_installation_is_read_as_well() -> None:
    assert import_settings('{"version": 1, "threads": 3, "sidebar_shown": false}').values == {"threads": 3}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "{", '{"tenon": "chats", "version": 1}', '{"threads": 3}', "\0", '{"version": "x"}'],
)
def test_what_is_no_settings_says_so(text: str) -> None:
    with pytest.raises(InvalidOption, match="no settings of Tenon"):
        import_settings(text)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_file_does_harm(content: object) -> None:
    try:
        found = import_settings(json.dumps({"version": 1, "by_model": content, "threads": content}))
    except InvalidOption:
        return
    settings = Settings()
    settings.take(found.values)
    # Whatever was in it: what is in force is allowed, and what the file held of a setting is said or taken.
    for name, setting in Settings.declared().items():
        assert setting.read(settings.value_of(name)) == settings.value_of(name)
