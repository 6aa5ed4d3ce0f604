"""Words of a blank chat about the model that answers, and the way that its button leads."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase, EngineState, ServerPlace
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
    assert blank.buttons[0].text().startswith("Once upon a time")
    qtbot.mouseClick(blank.buttons[0], Qt.MouseButton.LeftButton)
    assert workspace.open_chat.options().continues  # it is gone on with, not answered
    window.page.open(None)
    workspace.set_engine(READY)
    assert blank.buttons[0].isVisible()
    qtbot.mouseClick(blank.better, Qt.MouseButton.LeftButton)
    assert window.places.current == MODELS


def test_what_is_suggested_is_what_the_model_can_do(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    def offered(name: str, **changes: object) -> str:
        workspace.set_engine(replace(EngineState(EnginePhase.READY, f"/m/{name}", name), **changes))  # type: ignore[arg-type]
        return " ".join(button.text() for button in window.page.empty_state.buttons)

    smallest = offered("SmolLM2 135M")
    assert "plants" in smallest
    assert "hash table" not in smallest  # which it gets wrong
    assert offered("Renamed", parameters=135_000_000) == smallest  # what was loaded is known, whatever its name
    small_coder, coder = offered("Qwen2.5 Coder 0.5B Instruct"), offered("qwen2.5-coder-1.5b-instruct-q4_k_m")
    assert all("Python" in text for text in (small_coder, coder))
    assert small_coder != coder
    chat, large = offered("Llama 3.2 3B Instruct"), offered("Llama 3.1 8B Instruct")
    assert "meeting" in chat
    assert "lighthouse" in large
    assert len({smallest, small_coder, coder, chat, large}) == 5
    assert offered("gpt", server=ServerPlace("Office")) == large


def test_suggestions_stay_where_the_window_is_low(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(853, 560)
    qtbot.wait(50)
    assert all(button.isVisible() for button in window.page.empty_state.buttons)
