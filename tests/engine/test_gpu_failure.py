"""A GPU that fails in mid-reply with layers of the target on it: the reply goes on on the CPU, in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import NoDrafter
from engine.errors import WeightsMissing
from engine.loaded_model import LoadedModel
from engine.messages import Cancel, Finished, Notice
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.model.layer import LayerWeights
from engine.placement.columns import Columns
from engine.placement.layer_offload import LayerOffload
from engine.placement.split import DeviceLayers
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import greedy, load_decoder
from tests.support.engine_client import EngineClient, engine_client
from tests.support.fast_cases import covering
from tests.support.heads import make_head
from tests.support.replies import run_reply
from tests.support.stand_in import lose_gpu, use_gpu, use_speeds

PROMPT = "one two three four one two three four one two " * 3
LAYERS = 4
TOKENS = 24
PLACES: dict[str, type[Any]] = {
    "offload": DeviceLayers,
    "layer-offload": LayerOffload,
    "dovetail": DeviceLayers,
    "plain": Columns,
}

#: Errors of a device, and the beginning of what is said of each.
ERRORS = (
    (torch.OutOfMemoryError("CUDA out of memory"), "The GPU ran out of memory, so"),
    (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), "The GPU ran out of memory, so"),
    (RuntimeError("device lost\nmore"), "The GPU stopped working (device lost), so"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("deep") / "llama", "llama", num_hidden_layers=LAYERS)


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in: the host's memory under another name."""
    use_gpu(monkeypatch)


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


class Failing:
    """Layers of a kind of place that fail at one moment.

    Attributes:
        calls: Layers asked for.
        at: The one that fails, 0 for none.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: type[Any], error: RuntimeError) -> None:
        self.calls = 0
        self.at = 0
        layer = place.layer

        def failing(layers: Any, index: int, *others: Any) -> LayerWeights:
            self.calls += 1
            if self.calls == self.at:
                raise error
            found: LayerWeights = layer(layers, index, *others)
            return found

        monkeypatch.setattr(place, "layer", failing)


@pytest.mark.parametrize(("mode", "failure"), covering(sorted(PLACES), ERRORS, together=1))
def test_the_reply_goes_on_in_the_same_words(
    mode: str,
    failure: tuple[RuntimeError, str],
    client: EngineClient,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error, said = failure
    draft = None
    if mode == "dovetail":
        # A head reads hidden rows: each position's must still come once.
        draft = str(make_head("eagle").write(tmp_path / "head", safetensors=True))
    options = {"weights": "fp32", "max_tokens": TOKENS, "draft": draft, "gpu_layers": 3}
    expected = client.answer(PROMPT, folder, mode="plain", vram_budget_bytes=0, **options).token_ids
    if mode == "plain":
        use_speeds(monkeypatch, 0.6)  # so that its columns are divided
        del options["gpu_layers"]
    failing = Failing(monkeypatch, PLACES[mode], error)
    # In the prompt, early in the reply and late in it. Another context is another load, with layers there again.
    for context, moment in ((400, 2), (401, 30), (402, 60)):
        failing.calls, failing.at = 0, moment
        before = len(client.seen(Notice))
        reply = client.answer(PROMPT, folder, mode=mode, context=context, **options)
        assert reply.token_ids == expected
        assert failing.calls == moment
        assert reply.devices["target"] == "cpu"
        (notice,) = client.seen(Notice)[before:]
        assert notice.text.startswith(said)
        assert "the reply goes on there in fp32 weights" in notice.text
        # The next one is served by what is there, without another word.
        again = client.answer(PROMPT, folder, mode=mode, context=context, **options)
        assert (again.token_ids, again.timings.load_ms) == (expected, None)
        assert len(client.seen(Notice)) == before + 1


@pytest.mark.parametrize("mode", ["offload", "layer-offload"])
def test_layers_that_memory_has_no_room_for_end_the_reply_and_the_next_one_loads(
    mode: str, client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, PLACES[mode], RuntimeError("device lost"))
    options = {"weights": "fp32", "max_tokens": TOKENS, "gpu_layers": 3, "mode": mode}
    expected = client.answer(PROMPT, folder, **options).token_ids
    failing.at = failing.calls + 5
    with monkeypatch.context() as patched:
        patched.setattr("engine.loaded_model.available_memory_bytes", lambda: 1000)
        failed = client.failure(PROMPT, folder, **options)
    assert (failed.error.kind, client.seen(Notice)) == ("OutOfMemory", [])
    assert "GPU memory budget to 0" in failed.error.message
    failing.at = 0
    again = client.answer(PROMPT, folder, **options)
    assert again.token_ids == expected
    assert again.timings.load_ms is not None


def test_a_checkpoint_that_is_gone_by_then_ends_the_reply_and_the_next_one_loads(
    client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, DeviceLayers, RuntimeError("device lost"))
    options = {"weights": "fp32", "max_tokens": TOKENS, "gpu_layers": 3, "mode": "offload"}
    expected = client.answer(PROMPT, folder, **options).token_ids
    failing.at = failing.calls + 5

    def gone(*arguments: object, **values: object) -> None:
        raise WeightsMissing("The model's files are gone.")

    with monkeypatch.context() as patched:
        patched.setattr("engine.placement.source.load_layers", gone)
        failed = client.failure(PROMPT, folder, **options)
    assert failed.error.message == "The model's files are gone."
    failing.at = 0
    again = client.answer(PROMPT, folder, **options)
    assert again.token_ids == expected
    assert again.timings.load_ms is not None


def test_a_cancel_while_the_text_is_read_again_is_seen(
    client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, DeviceLayers, RuntimeError("device lost"))
    failing.at = 40
    request = client.request(PROMPT, folder, mode="offload", weights="fp32", max_tokens=TOKENS, gpu_layers=3)
    leave_gpu = LoadedModel._leave_gpu

    def cancelled(model: LoadedModel, error: RuntimeError) -> Decoder:
        at_home = leave_gpu(model, error)
        client.engine.submit(Cancel(request.request_id))
        return at_home

    monkeypatch.setattr(LoadedModel, "_leave_gpu", cancelled)
    last = client.finish(request)
    assert isinstance(last, Finished)
    assert last.reply.stop_reason == "cancelled"
    assert 0 < len(last.reply.token_ids) < TOKENS
    # The cache still holds the text that it says it holds.
    whole = client.answer(PROMPT, folder, mode="offload", weights="fp32", max_tokens=TOKENS, gpu_layers=3)
    assert whole.token_ids[: len(last.reply.token_ids)] == last.reply.token_ids


@pytest.mark.parametrize("at", [1, 3, 7])
def test_a_failure_to_commit_is_made_good_too(at: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = load_decoder(folder)
    calls, commit = 0, KVCache.commit

    def failing(cache: KVCache, rows: torch.Tensor) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise RuntimeError("device lost")
        commit(cache, rows)

    prompt = list(range(3, 60))
    expected = greedy(decoder, torch.tensor(prompt), 12)
    monkeypatch.setattr(KVCache, "commit", failing)
    fallen: list[str] = []

    def fallback(error: RuntimeError) -> Decoder:
        fallen.append(str(error))
        return load_decoder(folder)

    target = TokenSequence(Target(decoder, fallback), 100)
    assert run_reply(target, NoDrafter(), prompt, 12)[0] == expected
    assert fallen == ["device lost"]
    assert run_reply(target, NoDrafter(), prompt, 12)[0] == expected


@pytest.mark.parametrize("place", ["target", "draft"])
def test_a_gpu_that_is_lost_for_good_is_not_asked_again(
    place: str, client: EngineClient, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"weights": "fp32", "max_tokens": TOKENS, "mode": "offload", "gpu_layers": 3}
    if place == "draft":
        draft = write_checkpoint(tmp_path / "draft", "llama", num_hidden_layers=1)
        options |= {"mode": "dovetail", "draft": str(draft), "gpu_layers": 0}
    expected = client.answer(PROMPT, folder, mode="plain", weights="fp32", max_tokens=TOKENS).token_ids
    assert client.answer(PROMPT, folder, **options).token_ids == expected
    lose_gpu(monkeypatch)
    before = len(client.seen(Notice))
    # The same text, another one, and another load.
    others = [client.answer(text, folder, **options) for text in (PROMPT, "four three two one ")]
    others.append(client.answer(PROMPT, folder, context=400, **options))
    assert {reply.devices["target"] for reply in others} == {"cpu"}
    assert others[0].token_ids == others[2].token_ids == expected
    assert others[1].timings.load_ms is None
    assert all("There is no GPU" in notice.text for notice in client.seen(Notice)[before:])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            torch.AcceleratorError("CUDA error: no kernel image is available"),
            "The GPU stopped working (CUDA error: no",
        ),
        (RuntimeError("CUDA error: out of memory"), "The GPU has less memory than planned"),
    ],
)
def test_a_gpu_that_fails_while_a_model_is_loaded_is_done_without(
    error: RuntimeError, said: str, client: EngineClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"weights": "fp32", "max_tokens": TOKENS}
    expected = client.answer(PROMPT, folder, mode="plain", vram_budget_bytes=0, **options).token_ids

    def fail(layers: object, *arguments: object) -> None:
        raise error

    monkeypatch.setattr(LayerOffload, "__init__", fail)
    before = len(client.seen(Notice))
    reply = client.answer(PROMPT, folder, mode="layer-offload", **options)
    assert (reply.token_ids, reply.devices["target"]) == (expected, "cpu")
    assert client.seen(Notice)[before].text.startswith(said)


def test_an_error_without_a_device_is_not_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **values: object) -> None:
        raise RuntimeError("a bug")

    target = TokenSequence(Target(load_decoder(folder)), 64)
    monkeypatch.setattr(Decoder, "forward_together", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        run_reply(target, NoDrafter(), [1, 2, 3], 4)
