from __future__ import annotations

from app.chat.engine_state import EnginePhase, EngineState
from engine.messages import (
    EngineReady,
    ErrorReport,
    Failed,
    LoadProgress,
    ModelLoaded,
    ModelReport,
    ModelUnloaded,
    TokensAdded,
)

START = EngineState(EnginePhase.STARTING, "smollm2", "SmolLM2 135M")


def test_from_the_start_to_a_loaded_model() -> None:
    idle = START.after(EngineReady(1, "0"))
    assert idle.phase is EnginePhase.IDLE
    loading = idle.loading().after(ModelUnloaded()).after(LoadProgress("l", 30, 40))
    assert (loading.phase, loading.fraction) == (EnginePhase.LOADING, 0.75)
    assert loading.after(LoadProgress("l", 0, 0)).fraction is None
    assert (idle.gpu, START.gpu) == ("", None)
    ready = loading.after(ModelLoaded("l", ModelReport("Guide", "/f", "Llama", 1, "bf16", 512, 2, 3.0)))
    assert ready == EngineState(EnginePhase.READY, "smollm2", "Guide", "bf16", parameters=1, gpu="")
    assert ready.after(TokensAdded("r", "x", (1,))) is ready
    assert ready.after(Failed("r", ErrorReport("PromptTooLong", "Too long."))) is ready
    assert ready.after(EngineReady(1, "0")) == ready
    assert ready.after(ModelUnloaded()).phase is EnginePhase.IDLE


def test_a_load_that_fails_leaves_the_sentence_and_one_that_is_stopped_does_not() -> None:
    loading = START.loading()
    assert loading.after(Failed("l", ErrorReport("ModelNotFound", "Gone."))).sentence == "Gone."
    stopped = loading.after(Failed("l", ErrorReport("Cancelled", "Stopped.")))
    assert (stopped.phase, stopped.sentence) == (EnginePhase.IDLE, "")
