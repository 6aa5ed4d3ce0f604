"""Answers about the server itself: health, models and properties."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from engine.server.engine_link import MOST_RUNNING
from engine.server.exchange import Served
from engine.server.refusal import Refused


def health(served: Served) -> dict[str, Any]:
    """The server runs, and its model was loaded."""
    return {"status": "ok"}


def models(served: Served) -> dict[str, Any]:
    """OpenAI's list of models; Anthropic's clients find their fields in it too."""
    model = _model(served)
    return {
        "object": "list",
        "data": [model],
        "has_more": False,
        "first_id": model["id"],
        "last_id": model["id"],
    }


def one_model(served: Served, name: str) -> dict[str, Any]:
    """One model of that list."""
    if name not in (served.name, served.options.model):
        raise Refused(404, f"There is no model {name[:100]!r} here.", "model", "model_not_found")
    return _model(served)


def props(served: Served) -> dict[str, Any]:
    """Properties by llama.cpp's names where it has the thing."""
    report = served.report
    sampling = {name: value for name, value in asdict(report.advice.sampling).items() if value is not None}
    return {
        "model_alias": served.name,
        "model_path": report.folder,
        "total_slots": MOST_RUNNING,
        "default_generation_settings": {"n_ctx": report.context, "params": sampling},
        "modalities": {"vision": False, "audio": False},
        "architecture": report.architecture,
        "weights": report.weights,
        "kv_cache": report.kv_cache,
        "mode": served.options.mode,
        "drafts": list(served.options.drafts),
        "thinking": report.advice.thinking,
    }


def _model(served: Served) -> dict[str, Any]:
    report = served.report
    return {
        "id": served.name,
        "object": "model",
        "type": "model",
        "display_name": report.name,
        "created": served.created,
        "owned_by": "tenon",
        "max_model_len": report.context,
        "meta": {"n_ctx_train": report.context, "n_params": report.parameters, "size": report.weight_bytes},
    }
