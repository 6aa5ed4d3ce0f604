"""Everything that crosses between the window's process and the engine's pickles, and is frozen."""

from __future__ import annotations

import dataclasses
import pickle
import typing
from multiprocessing import Pipe

import pytest

import engine
from engine import errors, messages
from engine.messages.pipe import receive, send

CLASSES = [item for item in vars(messages).values() if dataclasses.is_dataclass(item)]

SAMPLES: dict[object, object] = {
    str: "text",
    bytes: b"text",
    int: 1,
    float: 0.5,
    bool: True,
}


def _sample(annotation: object) -> object:
    """A value of a field's type."""
    if annotation in SAMPLES:
        return SAMPLES[annotation]
    if dataclasses.is_dataclass(annotation):
        return _instance(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return arguments[0]
    if origin is tuple:
        return (_sample(arguments[0]),)
    if origin is dict:
        return {_sample(arguments[0]): _sample(arguments[1])}
    return _sample(arguments[0])


def _instance(cls: typing.Any) -> object:
    hints = typing.get_type_hints(cls)
    return cls(**{field.name: _sample(hints[field.name]) for field in dataclasses.fields(cls)})


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_crosses_the_pipe_and_is_frozen(cls: typing.Any) -> None:
    value = _instance(cls)
    here, there = Pipe()
    send(here, value)
    assert receive(there) == value
    assert cls.__dataclass_params__.frozen


def test_every_error_pickles() -> None:
    classes = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, errors.TenonError)]
    for cls in classes:
        copy = pickle.loads(pickle.dumps(cls("message", "details")))
        assert (type(copy), copy.message, copy.details) == (cls, "message", "details")


def test_public_face() -> None:
    assert engine.__all__ == ["Engine", "errors", "messages"]
    assert all(hasattr(engine, name) for name in engine.__all__)


def test_json_of_a_reply_has_the_documented_keys() -> None:
    reply = _instance(messages.Reply)
    assert isinstance(reply, messages.Reply)
    found = reply.as_json()
    assert set(found) == {
        "text", "prompt_ids", "token_ids", "mode", "model", "drafts", "weights", "devices", "stop_reason", "plan",
        "timings", "memory", "busy",
    }  # fmt: skip
    assert set(found["plan"]) == {"reason", "promise"}
    assert set(found["timings"]) == {
        "prompt_n", "prompt_ms", "prompt_per_second", "cache_n", "time_to_first_token_ms", "predicted_n",
        "predicted_ms", "predicted_per_second", "draft_n", "draft_n_tested", "draft_n_accepted",
        "acceptance_rate", "mean_acceptance_length", "acceptance_by_position", "target_forwards", "draft_ms",
        "verify_ms", "load_ms", "plain_per_second", "thought_n", "probe_n", "members", "shared",
    }  # fmt: skip
    assert set(found["memory"]) == {
        "resident_peak_bytes", "device_peak_bytes", "disk_read_bytes", "host_to_device_bytes",
    }  # fmt: skip
