"""Each thing that a person does while the disk or the net fails, by name; its module is imported when it is run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.failing_io import Scenario

_CLASSES = {
    "app_io_scenarios": {
        "chat": "Chatting",
        "migration": "Migrating",
        "damaged-start": "StartingDamaged",
        "backup": "BackingUp",
        "import": "Importing",
        "export": "Exporting",
        "erasing": "Erasing",
        "settings": "KeepingSettings",
    },
    "window_io_scenarios": {"window": "Using"},
    "server_io_scenarios": {"serve": "Serving"},
    "hub_io_scenarios": {"download": "Downloading"},
    "engine_io_scenarios": {"load": "Loading", "stream": "Streaming", "conversion": "Converting"},
}
#: The module of each scenario.
MODULES = {name: module for module, classes in _CLASSES.items() for name in classes}


def scenario(name: str) -> type[Scenario]:
    """The class of a scenario."""
    module = MODULES[name]
    found: type[Scenario] = getattr(import_module(f"tests.support.{module}"), _CLASSES[module][name])
    return found
