"""State of the engine as the window shows it, changed by the engine's events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from engine.errors import EngineStopped
from engine.messages import (
    EngineReady,
    ErrorReport,
    Event,
    Failed,
    Finished,
    LoadProgress,
    ModelLoaded,
    ModelUnloaded,
)


class EnginePhase(str, Enum):
    """Phases of the engine."""

    STARTING = "starting"  # its libraries are being imported
    IDLE = "idle"  # up, no model in memory
    LOADING = "loading"
    READY = "ready"
    STOPPED = "stopped"  # its process is gone; the next message starts it again


@dataclass(frozen=True)
class ServerPlace:
    """The server that what the user writes is sent to."""

    name: str
    address: str = ""  # address; empty where the server was removed
    here: bool = False  # True for a program of this computer
    readable: bool = False  # True if others on the network can read what is sent


@dataclass(frozen=True)
class EngineState:
    """The engine as the window shows it."""

    phase: EnginePhase
    model_ref: str  # the chosen model: a bundled one's name, a folder or a file
    model_name: str  # name in the window
    weights: str = ""  # the format in use once a model is loaded, such as ``bf16`` or ``Q4_K_M``, else empty
    fraction: float | None = None  # progress of a load, 0 to 1; None when not loading or not known
    # Reason why it stopped, or why the model could not be loaded, for the user; else empty
    sentence: str = ""
    # The GPU that the engine can use, by torch's name; empty where there is none, None while not known
    gpu: str | None = None
    measuring: bool = False  # True if it is kept free of replies, because this machine is measured
    # The reason why it stopped, or why the model could not be loaded, with details
    trouble: ErrorReport | None = None
    resting: bool = False  # True if the model was taken out of memory because nothing was asked of it
    server: ServerPlace | None = None  # the server of the chosen model; None for a model of this computer
    # True if the model in memory has no way of writing a chat, and only continues texts
    only_continues: bool = False
    parameters: int = 0  # number of weights of the model in memory; 0 while that is not known

    def _anew(self, **changes: Any) -> EngineState:
        """Return the state with changes, and without the news of the load before."""
        told = {"fraction": None, "sentence": "", "trouble": None, "resting": False}
        return replace(self, **{**told, **changes})

    def starting(self) -> EngineState:
        """Return the state when the process is started."""
        return self._anew(phase=EnginePhase.STARTING)

    def with_model(self, ref: str, name: str, server: ServerPlace | None = None) -> EngineState:
        """Return the state after a model was chosen that is not in memory."""
        return self._anew(
            model_ref=ref,
            model_name=name,
            weights="",
            server=server,
            only_continues=False,
            parameters=0,
        )

    def loading(self) -> EngineState:
        """Return the state when a load begins."""
        return self._anew(phase=EnginePhase.LOADING, weights="")

    def stopped(self, sentence: str) -> EngineState:
        """Return the state when the process is gone."""
        trouble = ErrorReport(EngineStopped.__name__, sentence) if sentence else None
        return self._anew(phase=EnginePhase.STOPPED, weights="", sentence=sentence, trouble=trouble)

    def after(self, event: Event) -> EngineState:
        """Return the state that follows an event; the same object when the event changes nothing."""
        if isinstance(event, EngineReady):
            known = replace(self, gpu=event.gpu)
            return replace(known, phase=EnginePhase.IDLE) if self.phase is EnginePhase.STARTING else known
        if isinstance(event, LoadProgress):
            fraction = min(event.done_bytes / event.total_bytes, 1.0) if event.total_bytes > 0 else None
            return replace(self.loading(), fraction=fraction)
        if isinstance(event, ModelLoaded):
            report = event.report
            return self._anew(
                phase=EnginePhase.READY,
                model_name=report.name,
                weights=report.weights,
                only_continues=report.only_continues,
                parameters=report.parameters,
            )
        if isinstance(event, ModelUnloaded) and self.phase is not EnginePhase.LOADING:
            return replace(self, phase=EnginePhase.IDLE, weights="", fraction=None)
        if self.phase is EnginePhase.LOADING and isinstance(event, (Finished, Failed)):
            # The load ended without a model: stopped by the user, or not possible.
            failed = isinstance(event, Failed) and event.error.kind != "Cancelled"
            trouble = event.error if failed and isinstance(event, Failed) else None
            sentence = "" if trouble is None else trouble.message
            return replace(self, phase=EnginePhase.IDLE, fraction=None, sentence=sentence, trouble=trouble)
        return self
