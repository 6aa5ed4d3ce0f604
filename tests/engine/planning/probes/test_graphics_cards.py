"""Graphics cards by the system's own account, from stand-ins for its files and for NVIDIA's tool."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.planning.probes import graphics_cards
from engine.planning.probes.graphics_cards import GraphicsCard, read_graphics_cards


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A Linux machine without any card, whose files a test may write."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(graphics_cards, "_SYS", tmp_path / "drm")
    for name in ("_TEGRA", "_BOARD", "_WINDOWS_SMI"):
        monkeypatch.setattr(graphics_cards, name, tmp_path / name)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    return tmp_path


def put_card(machine: Path, number: str, vendor: str) -> None:
    device = machine / "drm" / number / "device"
    device.mkdir(parents=True)
    (device / "vendor").write_text(f"{vendor}\n")


def put_tool(monkeypatch: pytest.MonkeyPatch, answers: dict[str, tuple[int, str]]) -> None:
    """NVIDIA's tool, by the fields that it is asked for."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")

    def run(arguments: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        fields = arguments[1].partition("=")[2]
        code, printed = answers[fields]
        return subprocess.CompletedProcess(arguments, code, printed, "")

    monkeypatch.setattr(subprocess, "run", run)


def test_a_machine_without_cards() -> None:
    assert read_graphics_cards() == ()


def test_nvidia_s_tool_says_driver_and_capability(monkeypatch: pytest.MonkeyPatch, machine: Path) -> None:
    put_card(machine, "card0", "0x8086")
    put_card(machine, "card1", "0x10de")
    put_card(machine, "card1-HDMI-A-1", "0x10de")
    lines = "NVIDIA GeForce RTX 4070, 581.15, 8.9\nNVIDIA T400, 581.15, 7.5\n"
    put_tool(monkeypatch, {"name,driver_version,compute_cap": (0, lines)})
    assert read_graphics_cards() == (
        GraphicsCard("nvidia", "NVIDIA GeForce RTX 4070", "581.15", 8.9),
        GraphicsCard("nvidia", "NVIDIA T400", "581.15", 7.5),
        GraphicsCard("intel", "Intel GPU"),
    )


def test_an_old_tool_that_knows_no_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "name,driver_version,compute_cap": (2, 'Field "compute_cap" is not a valid field to query.'),
        "name,driver_version": (0, "Quadro K620, 470.223.02\n"),
    }
    put_tool(monkeypatch, answers)
    assert read_graphics_cards() == (GraphicsCard("nvidia", "Quadro K620", "470.223.02"),)


@pytest.mark.parametrize("printed", ["No devices were found\n", "", "[N/A]\n"])
def test_a_tool_that_reaches_no_driver(printed: str, monkeypatch: pytest.MonkeyPatch, machine: Path) -> None:
    put_card(machine, "card0", "0x10de")
    answer = (9, "NVIDIA-SMI has failed, because it could not talk to the driver, sorry")
    put_tool(monkeypatch, {"name,driver_version,compute_cap": answer, "name,driver_version": (0, printed)})
    assert read_graphics_cards() == (GraphicsCard("nvidia", "NVIDIA GPU"),)


def test_a_tool_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: str(Path(sys.executable).with_name("no-such-tool")))
    assert read_graphics_cards() == ()


def test_cards_without_a_tool_are_known_by_their_vendor(machine: Path) -> None:
    put_card(machine, "card0", "0x1002")
    put_card(machine, "card1", "0x1234")
    assert read_graphics_cards() == (GraphicsCard("amd", "AMD GPU"),)


def test_a_jetson_is_known_by_its_board(machine: Path) -> None:
    (machine / "_TEGRA").write_text("# R36 (release), REVISION: 4.3")
    (machine / "_BOARD").write_text("NVIDIA Jetson Orin Nano Developer Kit\0")
    assert read_graphics_cards() == (GraphicsCard("jetson", "NVIDIA Jetson Orin Nano Developer Kit"),)


def test_apple_s_processors_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert read_graphics_cards() == (GraphicsCard("apple", "Apple GPU"),)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert read_graphics_cards() == ()
