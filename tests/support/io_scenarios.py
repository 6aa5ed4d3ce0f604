"""Each thing that a person does while the disk or the net fails, by name; its module is imported when it is run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.failing_io import Scenario

_MODULES = {
    "chat": "app_io_scenarios:Chatting",
    "migration": "app_io_scenarios:Migrating",
    "damaged-start": "app_io_scenarios:StartingDamaged",
    "backup": "app_io_scenarios:BackingUp",
    "import": "app_io_scenarios:Importing",
    "export": "app_io_scenarios:Exporting",
    "erasing": "app_io_scenarios:Erasing",
    "settings": "app_io_scenarios:KeepingSettings",
    "download": "engine_io_scenarios:Downloading",
    "load": "engine_io_scenarios:Loading",
    "stream": "engine_io_scenarios:Streaming",
    "conversion": "engine_io_scenarios:Converting",
}


def scenario(name: str) -> type[Scenario]:
    """The class of a scenario."""
    module, _, kind = _MODULES[name].partition(":")
    found: type[Scenario] = getattr(import_module(f"tests.support.{module}"), kind)
    return found
