"""Words of a blank chat about the model that answers, and the way that its button leads."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase, EngineState
from app.ui.main_window import MainWindow
from app.ui.places import MODELS
from engine.messages import DEFAULT_MODEL, ErrorReport
from tests.support.scripted_workspace import READY, ScriptedWorkspace


def test_the_bundled_model_is_called_what_it_is_and_a_button_leads_to_better_ones(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    blank = window.page.empty_state

    def said() -> str:
        return " ".join(label.text() for label in blank.findChildren(QLabel) if label.isVisible())

    assert "SmolLM2 135M, a very small model: quick, often wrong." in said()
    gone = ErrorReport("ModelNotFound", "The model is not there.")
    workspace.set_engine(EngineState(EnginePhase.IDLE, DEFAULT_MODEL, "SmolLM2 135M", trouble=gone))
    assert "There is no model on this computer yet." in said()
    assert blank.better.text() == "Get a model"
    workspace.set_engine(EngineState(EnginePhase.READY, "/m/other", "Other 8B", "q4_k_m"))
    assert "Other 8B answers on this computer." in said()
    assert not blank.better.isVisible()
    base = EngineState(EnginePhase.READY, "/m/base", "Base 8B", "q4_k_m", only_continues=True)
    workspace.set_engine(base)
    assert "Base 8B continues a text that you begin." in said()
    assert not any(button.isVisible() for button in blank.buttons)
    workspace.set_engine(READY)
    assert blank.buttons[0].isVisible()
    qtbot.mouseClick(blank.better, Qt.MouseButton.LeftButton)
    assert window.places.current == MODELS
