"""Needs of the dialog of settings beside them: values in use, ranges of numbers, folders and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QObject, Signal

from app.bridge.model_in_engine import ModelInEngine
from app.bridge.network import Network
from app.bridge.worker import Worker
from app.chat.settings_in_use import settings_in_use
from app.settings.exchange import export_settings, import_settings
from app.settings.settings import Settings
from app.storage.text_file import read_import, write_export
from app.words import mark
from engine.hub.model_folders import models_folder
from engine.planning.probes.processor import usable_cores
from engine.sentences import language

_NO_GPU = mark("There is no GPU that Tenon can use here.")


class SettingsDesk(QObject):
    """Answers the dialog, reads and writes its files."""

    exported = Signal(str, str)  # the file, and why there is none; empty when there is
    imported = Signal(object, str)  # ImportedSettings, or None and why
    network_changed = Signal()  # what is connected is to connect anew

    def __init__(
        self,
        settings: Settings,
        model: ModelInEngine,
        files: Worker,
        network: Network,
        data_folder: Path,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._model = model
        self._files = files
        self._network = network
        self._data_folder = data_folder

    def in_use(self) -> dict[str, Any]:
        """Values that the engine and the window work with, by the names of settings, as far as they are known."""
        model = self._model
        return {"language": language(), **settings_in_use(model.report, model.options, model.last_reply)}

    def load_ms(self) -> float | None:
        """Milliseconds that the model in memory took to load; None while there is none."""
        return None if self._model.report is None else self._model.report.load_ms

    def limits(self) -> dict[str, float]:
        """Return the largest sensible values by the names of settings, in the unit that is shown."""
        found = {"threads": float(usable_cores()), "ram_budget_bytes": psutil.virtual_memory().total / 1e9}
        places = () if self._model.report is None else self._model.report.places
        layers = sum(share.layers for place in places for share in place.shares)
        if layers:
            found["gpu_layers"] = float(layers)
        gpus = [place.total_bytes for place in places if place.place not in ("ram", "disk")]
        if gpus:
            found["vram_budget_bytes"] = max(gpus) / 1e9
        return found

    def reasons(self) -> dict[str, str]:
        """Reasons why settings have no effect here, by their names."""
        return (
            dict.fromkeys(("vram_budget_bytes", "gpu_layers"), _NO_GPU) if self._model.state.gpu == "" else {}
        )

    def apply_network(self) -> None:
        """Let what connects from now on take the mirror and the proxy of the settings."""
        if self._network.apply():
            self.network_changed.emit()

    def folder(self, name: str) -> Path:
        """Return the folder of ``models`` or of ``data``; it may not be there yet."""
        return models_folder() if name == "models" else self._data_folder

    def export(self, path: Path) -> None:
        """Write what was changed to a file; `exported` follows."""
        text = export_settings(self._settings)
        self._files.run(
            lambda: write_export(path, text),
            lambda _: self.exported.emit(str(path), ""),
            lambda error: self.exported.emit(str(path), error.message),
        )

    def read(self, path: Path) -> None:
        """Read a file of settings; `imported` follows, and nothing is changed."""
        self._files.run(
            lambda: import_settings(read_import(path)),
            lambda found: self.imported.emit(found, ""),
            lambda error: self.imported.emit(None, error.message),
        )
