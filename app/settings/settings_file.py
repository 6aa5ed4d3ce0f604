"""The settings' JSON file: written atomically, read with patience."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from app.chat.modes import former_mode
from app.settings.pages import exported_names
from app.settings.settings import Settings
from app.words import mark, tr
from engine.errors import InvalidOption, StorageError
from engine.files import read_file, set_aside, unfinished_file, write_whole
from engine.json_text import read_json, readable_json
from engine.messages import DEFAULT_MODEL
from engine.modes import AUTO

Stored = dict[str, Any]


#: Settings of versions before 3: single techniques of modes.
REMOVED = {
    "length", "prompt_draft", "branching", "adaptive_fallback", "fallback_threshold", "draft_ahead",
    "draft_beyond", "merged_tree", "judge_all", "reward_threshold", "punish_threshold", "reward_factor",
    "punish_factor",
}  # fmt: skip
_KIND = "settings"
_NOT_SETTINGS = mark("This file holds no settings of Tenon: choose one that was made by Export settings.")


def _everywhere(stored: Stored, change: Callable[[Stored], Stored]) -> Stored:
    """Change the values that hold for all models, and those of each model."""
    by_model = stored.get("by_model")
    if isinstance(by_model, dict):
        own = {model: change(each) if isinstance(each, dict) else each for model, each in by_model.items()}
        stored = {**stored, "by_model": own}
    return change(stored)


def _weights_by_block_type(stored: Stored) -> Stored:
    """Rename formats of weights: before version 2 those in few bits were Tenon's own."""
    renamed = {"int8": "q8_0", "int4": "q4_k_m"}

    def here(values: Stored) -> Stored:
        old = values.get("weights")
        return {**values, "weights": renamed[old]} if old in renamed else values

    return _everywhere(stored, here)


def _without_removed(stored: Stored) -> Stored:
    return _everywhere(stored, lambda values: {name: value for name, value in values.items() if name not in REMOVED})


def _two_axes(stored: Stored) -> Stored:
    """Make a draft and a place in memory of each mode, which stood for both before version 4."""
    general = stored.get("mode", AUTO)
    drafts, by_model = (
        dict(found) if isinstance(found := stored.get(name), dict) else {} for name in ("drafts", "by_model")
    )
    modes = {model: own["mode"] for model, own in by_model.items() if isinstance(own, dict) and "mode" in own}
    if "mode" not in stored and not modes:
        return stored
    for model in dict.fromkeys((stored.get("model", DEFAULT_MODEL), *drafts, *by_model)):
        former = former_mode(modes.get(model, general), model, drafts.get(model, ()))
        if former is not None and former.drafts:
            drafts[model] = list(former.drafts)
        if model in modes:
            own = {name: value for name, value in by_model[model].items() if name != "mode"}
            by_model[model] = own if former is None else {**own, "memory": former.memory}
    every = former_mode(general, DEFAULT_MODEL)
    memory = AUTO if every is None else every.memory
    others = {name: value for name, value in stored.items() if name != "mode"}
    return {**others, "drafts": drafts, "by_model": by_model, "memory": memory}


def removed_names(stored: Stored) -> tuple[str, ...]:
    """Names of removed settings in a file's content, those of single models among them."""
    found: set[str] = set()

    def look(values: Stored) -> Stored:
        found.update(REMOVED & values.keys())
        return values

    _everywhere(stored, look)
    return tuple(sorted(found))


# Step i turns a file of version i + 1 into one of version i + 2. Steps are only ever appended.
MIGRATIONS: tuple[Callable[[Stored], Stored], ...] = (_weights_by_block_type, _without_removed, _two_axes)
VERSION = len(MIGRATIONS) + 1


def config_folder() -> Path:
    """Folder of the settings: TENON_CONFIG_DIR, else the system's place for them."""
    override = os.environ.get("TENON_CONFIG_DIR")
    return Path(override) if override else Path(platformdirs.user_config_dir("tenon", appauthor=False))


def migrated(stored: Stored) -> Stored:
    """Content of a file of any version, as this version would have written it."""
    version = stored.pop("version", 1)
    for migrate in MIGRATIONS[version - 1 :]:
        stored = migrate(stored)
    return stored


def chosen_language(folder: Path) -> str:
    """Return the language in a folder's settings, which is needed before anything can be said about them."""
    try:
        language = read_json(read_file(folder / "settings.json")).get("language")
    except (OSError, ValueError, AttributeError):
        language = None
    return language if isinstance(language, str) else Settings.language.default


class SettingsFile:
    """One settings.json."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "settings.json"
        # True if it was damaged or had removed settings when it was read, so that it should be written anew
        self.damaged = False
        self._is_only_copy = False  # of what could not be read

    def read(self) -> tuple[Settings, list[str]]:
        """Return the settings, with defaults for what cannot be read, and sentences on faults of the file."""
        settings = Settings()
        try:
            raw = read_file(self.path)
        except FileNotFoundError:
            return settings, []
        except OSError as error:
            return settings, [self._not_read(error)]
        problems: list[str] = []
        try:
            stored = read_json(raw)
            removed = removed_names(stored)
            rejected = settings.take(migrated(stored))
        except (ValueError, AttributeError, TypeError, KeyError):
            problems.append(self._set_aside())
            settings = Settings()
            rejected, removed = settings.take(_left_of(raw)), ()
        if rejected:
            problems.append(
                tr(
                    "Settings with values that are not allowed were reset: {names}.",
                    names=", ".join(rejected),
                )
            )
        if removed:
            self.damaged = True
            problems.append(tr("Settings that no longer exist were left out: {names}.", names=", ".join(removed)))
        return settings, problems

    def text_of(self, settings: Settings) -> str:
        """Return the file's text for these settings."""
        return json.dumps({"version": VERSION, **settings.stored()}, indent=2, ensure_ascii=False) + "\n"

    def write(self, text: str) -> None:
        """Replace the file in one step, so that a crash leaves the old one or the new one.

        Raises:
            StorageError: The folder cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._is_only_copy:
                set_aside(self.path)
                self._is_only_copy = False
            write_whole(self.path, text)
        except OSError as error:
            raise StorageError(
                tr(
                    "Settings cannot be saved in {folder} ({reason}): make it writable or free some space.",
                    folder=self.path.parent,
                    reason=error.strerror,
                ),
                details=repr(error),
            ) from error

    def erase_aside(self) -> None:
        """Delete damaged files that were kept aside, and what killed processes have left: nobody knows their words.

        Raises:
            OSError: One cannot be deleted.
        """
        unfinished_file(self.path)
        for path in self.path.parent.glob(f"{self.path.stem}-unreadable-*"):
            path.unlink()

    def _set_aside(self) -> str:
        self.damaged = True
        try:
            return set_aside(self.path)
        except OSError as error:
            return self._not_read(error)

    def _not_read(self, error: OSError) -> str:
        self._is_only_copy = True
        return tr("The settings in {path} cannot be read ({reason}).", path=self.path, reason=error.strerror)


def _left_of(raw: bytes) -> Stored:
    """Return the settings that can be read in a damaged file."""
    left = readable_json(raw.decode("utf-8", "replace"))
    if not isinstance(left.get("version"), int):
        left["version"] = VERSION
    return migrated(left)


@dataclass(frozen=True)
class ImportedSettings:
    """Content of a file of settings."""

    values: dict[str, Any]  # allowed values by name
    unknown: dict[str, Any]  # values that this version does not know; they are kept
    # Names of those whose values are not allowed, and of settings that no longer exist
    rejected: tuple[str, ...] = ()


def export_settings(settings: Settings) -> str:
    """Values that differ from the usual ones, as JSON.

    Nothing about windows and the models used lately, and no address that has a password in it.
    """
    values = {
        name: value
        for name, value in settings.values.items()
        if name in exported_names() and not _is_secret(name, value)
    }
    content = {"tenon": _KIND, "version": VERSION, **settings.unknown, **values}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _is_secret(name: str, value: Any) -> bool:
    return name in ("proxy", "hub_mirror") and urlsplit(value).username is not None


def import_settings(text: str) -> ImportedSettings:
    """Read `export_settings`'s text, of this version or another, or a settings.json.

    Raises:
        InvalidOption: It holds no settings.
    """
    try:
        content: Any = read_json(text)
        if not isinstance(content, dict) or content.pop("tenon", _KIND) != _KIND or "version" not in content:
            raise InvalidOption(tr(_NOT_SETTINGS))
        removed, read = removed_names(content), Settings()
        rejected = (*read.take(migrated(content)), *removed)
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise InvalidOption(tr(_NOT_SETTINGS), details=repr(error)) from error
    values = {name: value for name, value in read.values.items() if name in exported_names()}
    return ImportedSettings(values, read.unknown, rejected)
