"""Settings as a file that goes to another computer: texts only, no disk."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from app.settings.pending import exported_names
from app.settings.settings import Settings
from app.settings.settings_file import VERSION, migrated, removed_names
from app.words import mark, tr
from engine.errors import InvalidOption
from engine.json_text import read_json

_KIND = "settings"
_NOT_SETTINGS = mark("This file holds no settings of Tenon: choose one that was made by Export settings.")


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
