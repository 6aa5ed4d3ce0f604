"""The settings on the disk, the mirror and proxy that they name, and what the dialog of settings needs beside them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.model_in_engine import ModelInEngine
from app.bridge.worker import Worker
from app.chat.engine_options import settings_in_use
from app.settings.settings import Settings
from app.settings.settings_file import SettingsFile, export_settings, import_settings
from app.storage.files import read_import, write_export
from app.storage.readings import forget_other_readings, readings_size
from app.words import mark
from engine.errors import TenonError
from engine.hub.model_folders import models_folder
from engine.planning.probes.host import usable_cores
from engine.sentences import language

# One change often comes with others. It also is about what a kill of the window may cost, so none puts it off.
_DELAY_MS = 50
# After the disk has refused.
_RETRY_MS = 5000

_MIRROR = ("HF_ENDPOINT",)
# In both spellings: where a system has both, the small letters win.
_PROXY = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")

_NO_GPU = mark("There is no GPU that Tenon can use here.")


class SavedSettings(QObject):
    """Keeps the settings in their file."""

    problem = Signal(str)  # it cannot be written

    def __init__(self, folder: Path, writer: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = SettingsFile(folder)
        self._writer = writer
        # Settings, of which each is saved when it is assigned to; sentences on faults of the file
        self.settings, self.problems = self._file.read()
        self.settings.on_change = self._changed
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._save)
        self._writing = False
        self._unsaved = False
        self._closed = False
        self._last_problem = ""
        if self._file.damaged:
            self._changed()  # or the next start would find the same fault

    def erase_aside(self) -> None:
        """Delete damaged files of settings that were kept aside."""
        self._writer.run(self._file.erase_aside, failed=lambda error: self.problem.emit(error.message))

    def close(self) -> None:
        """Save what has changed; what changes from now on is lost."""
        self._closed = True
        if self._unsaved:
            self._save()

    def _changed(self) -> None:
        if not self._closed:
            self._unsaved = True
            self._save_soon(_DELAY_MS)

    def _save_soon(self, delay_ms: int) -> None:
        if self._unsaved and not self._writing and (not self._timer.isActive() or self._last_problem):
            self._timer.start(delay_ms)

    @Slot()
    def _save(self) -> None:
        self._timer.stop()
        self._unsaved, self._writing = False, True
        text = self._file.text_of(self.settings)
        self._writer.run(lambda: self._file.write(text), self._saved, self._refused)

    def _saved(self, written: object) -> None:
        self._writing = False
        self._last_problem = ""
        self._save_soon(_DELAY_MS)

    def _refused(self, error: TenonError) -> None:
        self._writing, self._unsaved = False, True
        if error.message != self._last_problem:
            self.problem.emit(error.message)
        self._last_problem = error.message
        self._save_soon(_RETRY_MS)


class Network:
    """Puts both into the environment, where the hub's client and its libraries look for them.

    The environment's values of the start come back once a setting is empty. Connections that are open keep to what
    they found, until they are made anew.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found = {name: os.environ.get(name) for name in (*_MIRROR, *_PROXY)}
        self.apply()

    def apply(self) -> bool:
        """Take over what the settings say now; returns whether that is something else than before."""
        before = self._current()
        for names, chosen in ((_MIRROR, self._settings.hub_mirror), (_PROXY, self._settings.proxy)):
            for name in names:
                value = chosen or self._found[name]
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        return self._current() != before

    def _current(self) -> dict[str, str | None]:
        return {name: os.environ.get(name) for name in self._found}


class SettingsDesk(QObject):
    """Answers the dialog, reads and writes its files."""

    exported = Signal(str, str)  # the file, and why there is none; empty when there is
    imported = Signal(object, str)  # ImportedSettings, or None and why
    readings_measured = Signal(float)  # bytes on the disk of what models have read of chats
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
        return dict.fromkeys(("vram_budget_bytes", "gpu_layers"), _NO_GPU) if self._model.state.gpu == "" else {}

    def apply_network(self) -> None:
        """Let what connects from now on take the mirror and the proxy of the settings."""
        if self._network.apply():
            self.network_changed.emit()

    def folder(self, name: str) -> Path:
        """Return the folder of ``models`` or of ``data``; it may not be there yet."""
        return models_folder() if name == "models" else self._data_folder

    def measure_readings(self, erase: bool = False) -> None:
        """Measure the disk space of what models have read of chats; `readings_measured` follows.

        Args:
            erase: True to erase it first.
        """

        def measure() -> int:
            if erase:
                forget_other_readings(self._data_folder, ())
            return readings_size(self._data_folder)

        self._files.run(measure, lambda size: self.readings_measured.emit(float(size)))

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
