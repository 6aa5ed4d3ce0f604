"""GPU support by graphics card."""

from __future__ import annotations

import pytest

from engine.gpu_addon import addon, bundled_torch
from engine.gpu_addon.addon import choose, index_address, known_addons
from engine.gpu_addon.bundled_torch import BundledTorch
from engine.planning.probes.graphics_cards import GraphicsCard

CPU = BundledTorch("2.13.0")


def nvidia(driver: str | None, capability: float | None, name: str = "Card") -> GraphicsCard:
    return GraphicsCard("nvidia", name, driver, capability)


@pytest.mark.parametrize(
    ("card", "system", "names"),
    [
        (nvidia("580.65.06", 8.9), "Linux", ["cuda-13.0", "cuda-12.6"]),
        (nvidia("581.15", 12.0), "Windows", ["cuda-13.0"]),
        (nvidia("579.99", 8.9), "Linux", ["cuda-12.6"]),
        (nvidia("590.1", 6.1), "Linux", ["cuda-12.6"]),
        (nvidia("590.1", None), "Windows", ["cuda-13.0", "cuda-12.6"]),
        (nvidia("525.60", 7.5), "Linux", ["cuda-12.6"]),
        (GraphicsCard("jetson", "NVIDIA Jetson Orin Nano"), "Linux", ["jetson"]),
        (GraphicsCard("amd", "AMD GPU"), "Linux", ["rocm-7.2"]),
        (GraphicsCard("intel", "Intel GPU"), "Linux", ["intel-xpu"]),
    ],
)
def test_what_is_chosen(card: GraphicsCard, system: str, names: list[str]) -> None:
    choice = choose([card], CPU, system)
    assert [addon.name for addon in choice.addons] == names
    assert choice.sentence.startswith(f"GPU support for {card.name}")
    assert choice.addons[0].title in choice.sentence
    assert (choice.addons[0].caution or "") in choice.sentence


@pytest.mark.parametrize(
    ("card", "system", "sentence"),
    [
        (nvidia(None, None), "Linux", "Card has no driver of NVIDIA's: install it, and look again."),
        (nvidia("470.1", 7.5), "Linux", "Card has driver 470.1, and GPU support needs 525 or newer:"),
        (nvidia("570.1", 12.0), "Windows", "Card has driver 570.1, and CUDA 13.0 needs 580 or newer:"),
        (nvidia("590.1", 3.7), "Linux", "Card is older than what today's torch was built for:"),
        (nvidia("470.1", 3.7), "Linux", "Card has driver 470.1, and GPU support needs 525 or newer:"),
        (GraphicsCard("amd", "AMD GPU"), "Windows", "There is no GPU support for AMD GPU on this system."),
        (GraphicsCard("apple", "Apple GPU"), "Darwin", "Tenon uses Apple's GPU as it is:"),
    ],
)
def test_what_is_refused_and_why(card: GraphicsCard, system: str, sentence: str) -> None:
    choice = choose([card], CPU, system)
    assert choice.addons == ()
    assert choice.sentence.startswith(sentence)


def test_a_card_comes_before_the_processor_s_own_graphics() -> None:
    intel, amd = GraphicsCard("intel", "Intel GPU"), GraphicsCard("amd", "AMD GPU")
    assert choose([intel, nvidia("590.1", 8.9)], CPU, "Linux").addons[0].name == "cuda-13.0"
    assert choose([amd, intel], CPU, "Linux").addons[0].name == "rocm-7.2"
    # It is the card that lacks something, and not the processor's graphics that are meant.
    assert choose([intel, nvidia(None, None)], CPU, "Linux").addons == ()
    old, new = nvidia("590.1", 3.7, "Old"), nvidia("590.1", 8.9, "New")
    assert choose([old, new], CPU, "Linux").sentence.startswith("GPU support for New")


def test_nothing_is_chosen_without_a_card_or_where_torch_has_it() -> None:
    assert choose([], CPU, "Linux").sentence.startswith("No graphics card was found")
    choice = choose([nvidia("590.1", 8.9)], BundledTorch("2.13.0", "CUDA"), "Linux")
    assert choice.addons == ()
    assert "was built for CUDA" in choice.sentence


def test_the_data_file_names_each_once_and_says_where_its_wheels_are() -> None:
    names = [each.name for each in known_addons()]
    assert len(set(names)) == len(names)
    for each in known_addons():
        address = index_address(each)
        assert (address is None) == (each.folder is None)
        assert address is None or address == f"{addon._data()['index']}/{each.folder}"
        assert each.caution is None or each.caution.endswith(".")
        assert each.folder is not None or each.caution is not None


@pytest.mark.parametrize(
    ("build", "names", "gpu"),
    [
        ("cpu", {"filelock"}, None),
        ("", {"filelock"}, None),
        ("cu130", {"filelock"}, "CUDA"),
        ("", {"nvidia-cublas"}, "CUDA"),
        ("rocm7.2", set(), "ROCm"),
        ("xpu", {"intel-sycl-rt"}, "XPU"),
    ],
)
def test_what_an_installed_torch_was_built_for(build: str, names: set[str], gpu: str | None) -> None:
    assert bundled_torch._gpu(build, frozenset(names)) == gpu
