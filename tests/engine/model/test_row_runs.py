"""A prompt that is cut within the layers is read like one that is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.errors import Cancelled
from engine.kernels import library
from engine.model import decoder as row_runs_module
from engine.model.decoder import RowRuns
from engine.model.weight_format import weight_format
from tests.support.decoders import load_decoder
from tests.support.packed_models import PACKED
from tests.support.streams import resident_decoder

PROMPT = torch.arange(3, 103)


@pytest.mark.parametrize("variant", ["llama", "gemma3", "mistral-window", "phi3-longrope"])
def test_runs_give_the_same_logits(variant: str, checkpoint_of: Callable[[str], Path]) -> None:
    decoder = load_decoder(checkpoint_of(variant))
    found = []
    for row_runs in (None, RowRuns(1e9), RowRuns(0.0)):
        cache = decoder.new_cache(160)
        for part in PROMPT.split(60):
            positions = torch.arange(len(part)) + cache.length
            output = decoder.forward(part, positions, cache, hidden_layers=(1,), row_runs=row_runs)
            cache.commit(range(len(part)))
        found.append((output.logits, output.layer_inputs[1]))
    assert cache.length == len(PROMPT)
    for other in found[1:]:
        for one, expected in zip(other, found[0], strict=True):
            torch.testing.assert_close(one, expected, atol=2e-5, rtol=1e-4)


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@pytest.mark.parametrize("weights", [name for name in PACKED if name != "bf16"])
def test_in_packed_formats_runs_give_the_same_bits(weights: str, llama_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.symlink_to(llama_folder)
    decoder = resident_decoder(folder, weight_format(weights))
    positions = torch.arange(len(PROMPT))
    logits = [
        decoder.forward(PROMPT, positions, decoder.new_cache(128), row_runs=row_runs).logits
        for row_runs in (None, RowRuns(1e9), RowRuns(0.0))
    ]
    assert torch.equal(logits[0], logits[1])
    assert torch.equal(logits[0], logits[2])


def test_a_run_takes_as_many_rows_as_the_goal_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    now, row_s = 0.0, 0.001
    monkeypatch.setattr(row_runs_module.time, "perf_counter", lambda: now)
    row_runs = RowRuns(0.08)
    lengths = []
    for _ in range(2):
        for rows in row_runs.runs(500):
            lengths.append(rows.stop - rows.start)
            now += lengths[-1] * row_s
    assert lengths[:3] == [16, 32, 64]
    assert set(lengths[3:]) == {64, (500 - 16 - 32) % 64, 500 % 64}
    row_s = 0.05
    for rows in row_runs.runs(300):
        now += (rows.stop - rows.start) * row_s
    assert row_runs.rows == 1


def test_a_cancel_is_seen_between_runs(llama_folder: Path) -> None:
    decoder = load_decoder(llama_folder)
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise Cancelled("stop")

    cache = decoder.new_cache(128)
    with pytest.raises(Cancelled):
        decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache, check=check, row_runs=RowRuns(0.0))
    assert (calls, cache.length) == (4, 0)
    expected = decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(128)).logits
    found = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    assert torch.equal(found, expected)
