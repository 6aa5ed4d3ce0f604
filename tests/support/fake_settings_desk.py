"""A desk for the dialog of settings without an engine, a keyring or a disk: a test says what each of them says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.settings.exchange import ImportedSettings, export_settings, import_settings
from app.settings.settings import Settings
from engine.errors import InvalidOption


class FakeHubAccess(QObject):
    """The interface of `app.bridge.hub_access.HubAccess`."""

    told = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.known: bool | None = None
        self.problem = ""
        self.token = ""

    def look(self) -> None:
        self.known = bool(self.token)
        self.told.emit(self.problem)

    def keep(self, token: str) -> None:
        self.token = "" if self.problem else token
        self.look()

    def forget(self) -> None:
        self.token = ""
        self.look()


class FakeSettingsDesk(QObject):
    """The interface of `app.bridge.settings_desk.SettingsDesk`."""

    exported = Signal(str, str)
    imported = Signal(object, str)

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self.access = FakeHubAccess(self)
        self.used: dict[str, Any] = {"context": 8_192, "weights": "q4_k_m", "mode": "lookup", "threads": 0}
        self.loaded_in_ms: float | None = 2_300.0
        self.why: dict[str, str] = {}
        self.folders = {"models": Path("/data/models"), "data": Path("/data")}
        self.networks: list[tuple[str, str]] = []
        self.files: dict[str, str] = {}

    def in_use(self) -> dict[str, Any]:
        return self.used

    def load_ms(self) -> float | None:
        return self.loaded_in_ms

    def limits(self) -> dict[str, float]:
        return {"threads": 8.0, "ram_budget_bytes": 16.0}

    def reasons(self) -> dict[str, str]:
        return self.why

    def apply_network(self) -> None:
        self.networks.append((self._settings.hub_mirror, self._settings.proxy))

    def folder(self, name: str) -> Path:
        return self.folders[name]

    def export(self, path: Path) -> None:
        self.files[str(path)] = export_settings(self._settings)
        self.exported.emit(str(path), "")

    def read(self, path: Path) -> None:
        try:
            found: ImportedSettings | None = import_settings(self.files[str(path)])
            sentence = ""
        except InvalidOption as error:
            found, sentence = None, error.message
        self.imported.emit(found, sentence)
