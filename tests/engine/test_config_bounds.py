"""Configs with numbers that no file of weights holds to: one sentence, before anything as large is made."""

from __future__ import annotations

import copy
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.drafting.kinds import read_draft
from engine.errors import ConfigInvalid, TenonError
from engine.messages import Failed
from engine.model.config import read_config
from engine.model.tensors import check_tensors
from engine.model_file import OpenedModel
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.support.checkpoints import VARIANTS, write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.heads import LAYOUTS, MEDUSA_LAYOUTS, make_head
from tests.support.prompt_tokens import write_prompt_tokens

#: What Python holds at most while a config is read and held against the weights; the largest model that there is has
#: a list of 40,000 tensors, whose names and shapes take a quarter of it.
MOST_BYTES = 64 << 20
NUMBERS = st.one_of(
    st.sampled_from([2**31 - 1, 10_000, 65_536, 1 << 20, 1 << 24, 1 << 28, 2**40, 10**400, 0, -1, 0.5, 1e308]),
    st.integers(-(2**70), 2**70),
)
Path_ = tuple[str | int, ...]


def numbers(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Where the numbers of a config stand."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, (*path, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def changed(config: Any, path: Path_, number: float) -> Any:
    config = copy.deepcopy(config)
    place = config
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = number
    return config


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model of each variant and a draft of each layout."""
    root = tmp_path_factory.mktemp("configs")
    found = {variant: write_checkpoint(root / variant, variant, tokenizer=False) for variant in sorted(VARIANTS)}
    for layout in (*LAYOUTS, *MEDUSA_LAYOUTS):
        found[f"draft {layout}"] = make_head(layout).write(root / layout, safetensors=True)
    found["draft prompt tokens"] = write_prompt_tokens(root / "set", num_layers=6)
    return found


def bounded(call: Callable[[], object]) -> None:
    """Run what may refuse, and hold it to its memory."""
    tracemalloc.start()
    with suppress(TenonError):
        call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MOST_BYTES


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_a_number_of_a_config_takes_no_memory(
    folders: dict[str, Path], checkpoint_of: Callable[[str], Path], data: st.DataObject
) -> None:
    target = read_config(Checkpoint(checkpoint_of("llama")))
    name = data.draw(st.sampled_from(sorted(folders)), label="folder")
    folder = folders[name]
    file = folder / ("adapter_config.json" if name == "draft prompt tokens" else "config.json")
    original = file.read_text(encoding="utf-8")
    config = json.loads(original)
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        path = data.draw(st.sampled_from(list(numbers(config))), label="place")
        config = changed(config, path, data.draw(NUMBERS, label="number"))

    def read_model() -> None:
        checkpoint = Checkpoint(folder)
        check_tensors(checkpoint, read_config(checkpoint))

    file.write_text(json.dumps(config), encoding="utf-8")
    try:
        if name.startswith("draft "):
            bounded(lambda: read_draft(OpenedModel("draft", folder), target))
        else:
            bounded(read_model)
            bounded(lambda: read_config(CheckpointOutline(folder)))
    finally:
        file.write_text(original, encoding="utf-8")


@pytest.mark.parametrize("factor", [1.5, 1 << 24, 2**40])
def test_no_more_channels_turn_than_a_head_has(factor: float, folders: dict[str, Path]) -> None:
    file = folders["gemma4"] / "config.json"
    original = file.read_text(encoding="utf-8")
    place = ("rope_parameters", "full_attention", "partial_rotary_factor")
    file.write_text(json.dumps(changed(json.loads(original), place, factor)), encoding="utf-8")
    try:
        with pytest.raises(ConfigInvalid, match="wrong kind"):
            read_config(Checkpoint(folders["gemma4"]))
    finally:
        file.write_text(original, encoding="utf-8")


@pytest.mark.parametrize("layers", [2**31 - 1, 10_000])
def test_a_draft_of_too_many_layers_is_refused_in_a_sentence(
    layers: int, client: EngineClient, llama_folder: Path, tmp_path: Path
) -> None:
    head = make_head("eagle")
    head.config["num_hidden_layers"] = layers
    failed = client.failure("a b", llama_folder, mode="dovetail", draft=head.write(tmp_path / "head", True))
    assert isinstance(failed, Failed)
    assert f"asks for {layers} layers, heads and experts with weights of their own" in failed.error.message
