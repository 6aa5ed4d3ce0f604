from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.bridge.program_server import PhoneServer, ProgramServer
from app.chat.conversation import ConversationOptions
from app.chat.engine_options import load_options
from app.settings import settings_file
from app.settings.setting import Names
from app.settings.settings import RECENT_MODELS, REMEMBERED_DRAFTS, Settings
from app.settings.settings_file import SettingsFile, chosen_language, import_settings
from engine.errors import InvalidOption, StorageError
from engine.messages import DEFAULT_MODEL, Generate, LoadOptions, SamplingOptions
from engine.modes import mode_options
from engine.verifying import RULES


def test_the_bundled_model_of_earlier_versions_is_the_one_of_this() -> None:
    settings = Settings()
    assert settings.take({"model": "guide", "memory": "disk"}) == []
    assert (settings.model, settings.memory) == (DEFAULT_MODEL, "disk")
    assert settings.stored() == {"memory": "disk"}


def test_every_setting_has_help_and_an_allowed_default() -> None:
    for setting in Settings.declared().values():
        assert setting.help_text.endswith(".")
        assert setting.read(setting.default) == setting.default


def test_every_setting_is_read_somewhere() -> None:
    """One that nothing reads is a switch without a lamp; sampling, modes' options and servers are read by name."""
    app = Path(__file__).resolve().parents[3] / "app"
    declared = {app / "settings" / "settings.py", app / "settings" / "pages.py"}
    source = "\n".join(path.read_text(encoding="utf-8") for path in app.rglob("*.py") if path not in declared)
    by_name = {field.name for field in fields(SamplingOptions)} | set(mode_options())
    by_name |= {ProgramServer.switched_by, PhoneServer.switched_by}
    unread = [
        name
        for name in Settings.declared()
        if name not in by_name and not re.search(rf"\.{name}\b(?!\s*=[^=])", source)
    ]
    assert unread == []


def test_what_the_engine_has_defaults_for_has_the_same_here() -> None:
    """The names and ranges of the engine's options are written once more here; this holds the two together."""
    assert load_options(Settings()) == LoadOptions()
    assert Settings().verify == Generate("", LoadOptions()).verify
    control = Settings.declared()["verify"].control
    assert isinstance(control, Names)
    assert control.titles == tuple((rule.name, rule.title) for rule in RULES.values())


def test_a_draft_is_remembered_for_each_model() -> None:
    settings = Settings()
    settings.remember_drafts(DEFAULT_MODEL, ("small",))
    settings.remember_drafts("/m", ("/d",))
    assert load_options(settings).drafts == ("small",)
    settings.model = "/m"
    assert load_options(settings).drafts == ("/d",)
    settings.remember_drafts("/m", ())
    assert settings.drafts_of("/m") == load_options(settings).drafts == ()
    settings.drafts = {"/old": "/one", "/several": ["/a", "/b", "/a"], "/none": ""}  # type: ignore[dict-item]
    assert settings.drafts == {"/old": ("/one",), "/several": ("/a", "/b")}
    for number in range(100):
        settings.remember_drafts(f"/{number}", ("/d",))
    assert len(settings.drafts) == REMEMBERED_DRAFTS
    assert settings.drafts_of("/99") == ("/d",)


def test_they_are_kept(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "new" / "folder")
    settings, problems = file.read()
    assert problems == []
    settings.model = "/models/Qwen Ω"
    settings.temperature = 0
    settings.sidebar_shown = False
    settings.remember_model("/models/Qwen Ω")
    file.write(file.text_of(settings))
    again, problems = file.read()
    assert problems == []
    assert again.stored() == settings.stored()
    assert again.temperature == 0.0
    assert [path.name for path in file.path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", "warp"),
        ("threads", -1),
        ("threads", True),
        ("threads", 1.5),
        ("temperature", "hot"),
        ("temperature", float("nan")),
        ("sidebar_shown", 1),
        ("model", None),
        ("recent_models", "one"),
        ("font_scale", 10),
        ("drafts", ["a"]),
        ("drafts", {"smollm2": 1}),
        ("ram_budget_bytes", 1.5),
        ("ram_budget_bytes", 1),
        ("vram_budget_bytes", -1),
        ("draft_width", 65),
        ("verify", "hope"),
    ],
)
def test_values_that_are_not_allowed(name: str, value: Any) -> None:
    settings = Settings()
    with pytest.raises(InvalidOption):
        settings.assign(name, value)
    assert settings.take({name: value, "max_tokens": 7}) == [name]
    assert settings.stored() == {"max_tokens": 7}


def test_changes_are_told_once() -> None:
    settings, told = Settings(), []
    settings.on_change = lambda: told.append(1)
    settings.threads = 4
    settings.threads = 4
    settings.threads = 0
    assert len(told) == 2
    assert settings.stored() == {}


def test_recent_models_are_few_and_the_latest_comes_first() -> None:
    settings = Settings()
    for number in range(RECENT_MODELS + 3):
        settings.remember_model(f"/{number}")
    settings.remember_model("/5")
    assert settings.recent_models[:2] == ("/5", "/10")
    assert len(settings.recent_models) == RECENT_MODELS


def test_what_a_later_version_added_is_kept(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path)
    file.path.write_text('{"version": 9, "model": "/m", "colour": "red"}')
    settings, problems = file.read()
    assert (settings.model, problems) == ("/m", [])
    assert json.loads(file.text_of(settings))["colour"] == "red"


@pytest.mark.parametrize("content", [b"", b"\0" * 50, b"{", b"[]", b"null", b"\xff\xfe", b'{"version": "x"}'])
def test_an_unreadable_file_is_kept_aside(tmp_path: Path, content: bytes) -> None:
    file = SettingsFile(tmp_path)
    file.path.write_bytes(content)
    settings, problems = file.read()
    assert settings.stored() == {}
    (kept,) = tmp_path.glob("settings-unreadable-*.json")
    assert kept.read_bytes() == content
    assert len(problems) == 1
    assert str(kept) in problems[0]
    file.write(file.text_of(settings))


def test_one_bad_value_costs_only_itself(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path)
    file.path.write_text('{"version": 1, "memory": "warp", "threads": 3}')
    settings, problems = file.read()
    assert settings.stored() == {"threads": 3}
    assert problems == ["Settings with values that are not allowed were reset: memory."]


def test_an_older_file_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(stored: dict[str, Any]) -> dict[str, Any]:
        return {("threads" if name == "cores" else name): value for name, value in stored.items()}

    monkeypatch.setattr(settings_file, "MIGRATIONS", (rename,))
    file = SettingsFile(tmp_path)
    file.path.write_text('{"version": 1, "cores": 3}')
    assert file.read()[0].threads == 3


def test_settings_that_no_longer_exist_are_left_out_with_one_line(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path)
    file.path.write_text(
        '{"version": 2, "verify": "residual", "threads": 3, "length": "selector", "weights": "q8_0",'
        ' "by_model": {"/m": {"threads": 2, "reward_factor": 2.0, "draft_nodes": 7}, "/n": {"length": "8"}}}'
    )
    settings, problems = file.read()
    assert problems == [
        "Settings with values that are not allowed were reset: verify.",
        "Settings that no longer exist were left out: length, reward_factor.",
    ]
    assert settings.verify == "sample-and-match"
    assert load_options(settings, "/m").mode_options == {"draft_nodes": 7}
    assert (settings.threads, settings.weights, settings.unknown) == (3, "q8_0", {})
    assert file.damaged
    file.write(file.text_of(settings))
    assert SettingsFile(tmp_path).read()[1] == []
    left = import_settings('{"version": 2, "length": "8", "threads": 3}')
    assert (left.values, left.unknown, left.rejected) == ({"threads": 3}, {}, ("length",))


def test_options_of_modes_are_read_from_files_of_versions_that_declared_them_elsewhere(
    tmp_path: Path,
) -> None:
    file = SettingsFile(tmp_path)
    file.path.write_text('{"version": 2, "look_up": true, "draft_nodes": 31, "by_model": {"/m": {"draft_width": 3}}}')
    settings, problems = file.read()
    assert problems == []
    assert load_options(settings).mode_options == {"look_up": True, "draft_nodes": 31}
    assert load_options(settings, "/m").mode_options == {
        "look_up": True,
        "draft_nodes": 31,
        "draft_width": 3,
    }


def test_a_mode_of_an_older_file_is_a_draft_and_a_memory(tmp_path: Path) -> None:
    def read(**stored: object) -> Settings:
        (tmp_path / "settings.json").write_text(json.dumps({"version": 3, **stored}))
        settings, problems = SettingsFile(tmp_path).read()
        assert (problems, settings.unknown) == ([], {})
        return settings

    assert read(mode="auto").stored() == {}
    assert read(mode="plain").drafts_of("smollm2") == ("off",)
    assert read(mode="lookup", model="/m").drafts_of("/m") == ("lookup",)
    assert read(mode="ghidorah").drafts_of("smollm2") == ("smollm2-medusa",)
    assert read(mode="minions").drafts_of("smollm2")[:2] == ("lookup", "smollm2-draft")
    assert read(mode="ghidorah", model="/m").drafts_of("/m") == ()  # which has none, as it was chosen before
    assert read(mode="auto", drafts={"/m": ["/d"]}).drafts_of("/m") == ("/d",)
    paced = read(mode="llmcad", drafts={"/m": ["/d", "/e"]})
    assert (paced.drafts_of("/m"), paced.memory) == (("/d",), "disk")
    assert read(mode="warp").stored() == read(mode=3).stored() == {}
    own = read(mode="offload", by_model={"/m": {"mode": "lookup", "threads": 2}, "/n": {"mode": "layer-offload"}})
    assert [load_options(own, model).memory for model in ("smollm2", "/m", "/n")] == [
        "gpu",
        "auto",
        "gpu-copy",
    ]
    assert [own.drafts_of(model) for model in ("smollm2", "/m", "/n")] == [("off",), ("lookup",), ("off",)]
    assert own.of_model("/m").threads == 2


@pytest.mark.parametrize("mode", ["auto", "plain", "lookup", "dovetail", "llmcad", "warp", None, 3, []])
def test_a_chat_of_an_older_version_opens(mode: object) -> None:
    options = ConversationOptions.from_values({"mode": mode, "max_tokens": 5})
    assert options.max_tokens == 5
    named = {
        "plain": ("off",),
        "lookup": ("lookup",),
        "dovetail": ("smollm2-draft",),
        "llmcad": ("smollm2-medusa",),
    }
    assert options.drafts == named.get(str(mode), () if mode == "auto" else None)
    assert options.memory == ("disk" if mode == "llmcad" else "auto" if options.drafts is not None else None)
    assert ConversationOptions.from_json(options.to_json()) == options


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    file = SettingsFile(tmp_path / "file")
    settings, _ = file.read()
    with pytest.raises(StorageError, match="cannot be saved"):
        file.write(file.text_of(settings))


@given(st.dictionaries(st.sampled_from([*Settings.declared(), "other"]), st.none() | st.integers() | st.text()))
def test_no_file_does_harm(stored: dict[str, Any]) -> None:
    settings = Settings()
    settings.take(stored)
    for name, setting in Settings.declared().items():
        value = settings.value_of(name)
        assert setting.read(value) == value


def test_the_language_can_be_read_before_the_settings(tmp_path: Path) -> None:
    assert chosen_language(tmp_path) == "system"
    for content in (b"{", b"[]", b'{"language": 5}', b"\xff\xfe"):
        (tmp_path / "settings.json").write_bytes(content)
        assert chosen_language(tmp_path) == "system"
    (tmp_path / "settings.json").write_text('{"version": 1, "language": "de"}')
    assert chosen_language(tmp_path) == "de"


def test_what_is_left_of_a_damaged_file_is_kept(tmp_path: Path) -> None:
    settings, file = Settings(), SettingsFile(tmp_path)
    settings.threads, settings.model, settings.max_tokens = 3, "/m", 7
    whole = file.text_of(settings)
    cut = whole[: whole.index('"max_tokens": 7') + 14] if "max_tokens" in whole else whole
    file.path.write_text(cut)
    found, problems = file.read()
    assert file.damaged
    assert len(problems) == 1
    left = found.stored()
    assert left
    assert left.items() <= settings.stored().items()
    file.write(file.text_of(found))
    assert file.read() == (found, []) or file.read()[0].stored() == left
