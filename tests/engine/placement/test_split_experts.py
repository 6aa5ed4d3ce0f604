"""A mixture's layers on a second logical device, experts on the host: the resident model, and what crosses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.kernels import library
from engine.model.config import read_config
from engine.model.converted import Conversion
from engine.model.decoder import Decoder
from engine.model.fused_layer import FusedMixture
from engine.model.mixture import Experts
from engine.model.weight_format import weight_format
from engine.placement import ResidentPlan, SplitExpertsPlan
from engine.placement.plan import Room, Sizes
from engine.placement.source import Placed, TargetSource
from engine.placement.split import HostExperts
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import VARIANTS as CHECKPOINTS
from tests.support.checkpoints import all_experts
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import families
from tests.support.packed_models import load
from tests.support.sides import HOST, GuardedLink, Sides, weights_of
from tests.support.streams import resident_decoder

PROMPT = torch.arange(3, 40)
VARIANTS = sorted(variant for variant in CHECKPOINTS if all_experts(variant))


def placed(folder: Path, name: str, there: int, sides: Sides, cache: Path) -> tuple[Placed, Decoder]:
    checkpoint = Checkpoint(folder)
    config, weights = read_config(checkpoint), weight_format(name)
    plan = SplitExpertsPlan.of(Sizes(config, weights, 64), there)
    conversion = Conversion(checkpoint, config, weights, cache / "packed", False)
    source = TargetSource(conversion, GuardedLink(sides), lambda done, all_: None, lambda: None)
    found = plan.load(source)
    return found, Decoder(config, found.placement)


@pytest.mark.parametrize("variant", families(VARIANTS))
@pytest.mark.parametrize("there", [0, 1])
def test_the_text_is_the_resident_model_s_and_no_operation_mixes_devices(
    variant: str, there: int, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint_of(variant)
    expected = greedy(load_decoder(folder), PROMPT, 12)
    sides = Sides()
    _, decoder = placed(folder, "fp32", there, sides, tmp_path)
    assert greedy(decoder, PROMPT, 12) == expected  # and tables of rotations grow once
    counts = decoder.source.repeats
    share = counts.take()
    assert share is not None
    assert 0.0 < share < 1.0  # of layers whose experts are the host's, in the prompt and behind it
    assert counts.take() is None
    sides.mark(weights_of(decoder.source), HOST)
    with sides:
        assert greedy(decoder, PROMPT, 2) == expected[:2]
    assert min(sides.operations.values()) > 0


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@pytest.mark.parametrize("variant", families(VARIANTS))
def test_packed_experts_of_the_host_take_one_call(
    variant: str, checkpoint_of: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint_of(variant)
    calls = 0
    call = FusedMixture.__call__

    def counted(*arguments: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return call(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(FusedMixture, "__call__", counted)
    whole = resident_decoder(folder, weight_format("q8_0"))
    positions = torch.arange(len(PROMPT))
    expected = whole.forward(PROMPT, positions, whole.new_cache(64)).logits
    found, decoder = placed(folder, "q8_0", 0, Sides(), tmp_path)
    logits = decoder.forward(PROMPT, positions, decoder.new_cache(64)).logits
    mixture = decoder.config.mixture
    assert calls == sum(mixture.layers)
    # Attention and routers compute in 16 bits there, as everything does where all experts are there too.
    there, all_there = placed(folder, "q8_0", decoder.config.layers, Sides(), tmp_path)
    others = all_there.forward(PROMPT, positions, all_there.new_cache(64)).logits
    distance, usual = ((one - expected).norm(dim=1).median() for one in (logits, others))
    assert distance < 1.5 * usual
    assert usual < 0.1 * expected.norm(dim=1).median()
    there.placement.release()
    home = Decoder(decoder.config, found.at_home())
    assert torch.equal(home.forward(PROMPT, positions, home.new_cache(64)).logits, expected)


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_the_call_gives_what_torch_s_operators_do(
    rows: int, checkpoint_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint_of("qwen3-moe")
    config = read_config(Checkpoint(folder))
    experts = load(folder).layers[0].experts
    assert isinstance(experts, Experts)
    link = GuardedLink(Sides())
    fused = HostExperts(config, experts, link)
    monkeypatch.setattr(FusedMixture, "made_of", lambda config, experts: None)
    plain = HostExperts(config, experts, link)
    generator = torch.Generator().manual_seed(rows)
    hidden = torch.randn(rows, config.hidden_size, generator=generator)
    chosen = torch.rand(rows, config.mixture.experts, generator=generator).topk(config.mixture.chosen).indices
    weights = torch.rand(chosen.shape, generator=generator)
    torch.testing.assert_close(fused(hidden, chosen, weights), plain(hidden, chosen, weights), rtol=1e-4, atol=1e-4)


def test_experts_go_to_the_gpu_as_far_as_they_fit_and_no_further_than_memory_asks_for(
    checkpoint_of: Callable[[str], Path],
) -> None:
    config = read_config(Checkpoint(checkpoint_of("qwen3-moe")))
    sizes = Sizes(config, weight_format("q8_0"), 64)
    plans = [SplitExpertsPlan.of(sizes, there) for there in range(config.layers + 1)]
    bytes_there = [plan.device(sizes).total for plan in plans]
    bytes_here = [plan.host(sizes).total for plan in plans]
    assert bytes_there == sorted(bytes_there)
    assert bytes_here == sorted(bytes_here, reverse=True)
    roomy = Room(bytes_here[0], "cuda", bytes_there[-1])
    assert [plan.there for plan in SplitExpertsPlan.choices(sizes, roomy, config.layers)] == [
        config.layers,
        0,
    ]
    tight = Room(bytes_here[-1], "cuda", bytes_there[-1])
    assert {plan.there for plan in SplitExpertsPlan.choices(sizes, tight, config.layers)} >= {config.layers}
    small = Room(bytes_here[0], "cuda", bytes_there[0] - 1)
    assert list(SplitExpertsPlan.choices(sizes, small, config.layers)) == []
    assert bytes_here[0] < ResidentPlan.of(config.layers).host(sizes).total


@pytest.mark.parametrize("name", ["fp32", "q8_0"])
def test_it_takes_the_memory_that_was_planned(name: str, checkpoint_of: Callable[[str], Path], tmp_path: Path) -> None:
    folder = checkpoint_of("qwen3-moe")
    config = read_config(Checkpoint(folder))
    sizes = Sizes(config, weight_format(name), 64)
    for there in (0, 1, config.layers):
        plan = SplitExpertsPlan.of(sizes, there)
        found, _ = placed(folder, name, there, Sides(), tmp_path)
        split = found.placement
        # Both are the host's memory here.
        on_device = split._on_device.size_bytes
        on_host = split._held().size_bytes + split._on_device.host_bytes
        assert on_host == pytest.approx(plan.host(sizes).weights, rel=0.05)
        if name != "fp32":  # a link to the host itself has no 16 bits for dense formats
            assert on_device == pytest.approx(plan.device(sizes).weights, rel=0.05)
