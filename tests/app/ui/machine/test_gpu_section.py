"""The section about GPU support: what it says, and what can be done in each state."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.chat.machine import GpuSupport
from app.ui.machine.gpu_section import GpuSection
from app.ui.theme.theme import Theme

OFFERED = GpuSupport("offered", "GPU support for RTX 4070 is CUDA 13.0.", "CUDA 13.0")
SIZED = replace(OFFERED, state="sized", address="https://index", size_bytes=2_400_000_000, unpacked_bytes=5_800_000_000)
FETCHING = replace(SIZED, state="fetching", step="receiving", done_bytes=600_000_000, total_bytes=2_400_000_000)
FAILED = replace(SIZED, state="failed", sentence="The disk is full.", disk_bytes=600_000_000)


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    """Holds the section: without somebody who keeps it, both would be gone."""
    host = QWidget()
    qtbot.addWidget(host)
    return host


@pytest.fixture
def section(host: QWidget, theme: Theme) -> GpuSection:
    section = GpuSection(theme, host)
    QVBoxLayout(host).addWidget(section)
    host.resize(700, 300)
    host.show()
    return section


@pytest.mark.parametrize(
    ("support", "said", "button", "removable"),
    [
        (GpuSupport(), "Checking the graphics card...", "", False),
        (
            GpuSupport("none", "No graphics card was found."),
            "No graphics card was found.",
            "Look again",
            False,
        ),
        (OFFERED, "This downloads PyTorch for this graphics card", "Look up its size", False),
        (replace(OFFERED, step="sizing"), "Asking how large it is...", "", False),
        (SIZED, "CUDA 13.0: 2.4 GB to fetch from https://index, 5.8 GB on the disk", "Fetch 2.4 GB", False),
        (replace(FETCHING, done_bytes=0, total_bytes=0), "Fetching...", "Pause", False),
        (FETCHING, "Fetching, 600 MB of 2.4 GB", "Pause", False),
        (replace(FETCHING, step="waiting"), "Waiting to go on, 600 MB of 2.4 GB", "Pause", False),
        (replace(FETCHING, step="unpacking"), "Unpacking, 600 MB of 2.4 GB", "Pause", False),
        (replace(FETCHING, step="checking", total_bytes=0), "Checking whether it works here...", "", False),
        (
            replace(SIZED, state="paused", disk_bytes=5_000_000),
            "Paused. What was downloaded stays",
            "Continue",
            True,
        ),
        (FAILED, "The disk is full.", "Try again", True),
        (GpuSupport("works", "It works.", "CUDA 13.0", disk_bytes=1), "It works.", "", True),
        (
            GpuSupport("works", "It works.", "CUDA 13.0", disk_bytes=1, restart=True),
            "This takes effect when Tenon is opened again.",
            "",
            True,
        ),
        (GpuSupport("works", "It works.", disk_bytes=1, step="removing"), "Removing...", "", False),
        (
            GpuSupport("off", "It is switched off.", "CUDA", disk_bytes=9),
            "switched off",
            "Look up its size",
            True,
        ),
    ],
)
def test_what_it_says_and_offers(
    support: GpuSupport, said: str, button: str, removable: bool, section: GpuSection
) -> None:
    section.set_support(support)
    assert said in section.words
    assert section.main_button.isVisible() == bool(button)
    assert section.main_button.text() == button
    assert section.remove_button.isVisible() == removable
    counted = support.busy and support.total_bytes > 0
    assert section._line.isVisible() == counted
    assert section._line.value() == (250 if counted else 0)


def test_the_main_button_asks_for_what_it_says(qtbot: QtBot, section: GpuSection) -> None:
    for support, signal in (
        (GpuSupport("none", "None."), section.look_requested),
        (OFFERED, section.size_requested),
        (SIZED, section.fetch_requested),
        (FETCHING, section.pause_requested),
        (replace(SIZED, state="paused"), section.fetch_requested),
        (FAILED, section.fetch_requested),
        (replace(FAILED, size_bytes=0), section.size_requested),
        (GpuSupport("failed", "Unknown."), section.look_requested),
    ):
        section.set_support(support)
        with qtbot.waitSignal(signal):
            section.main_button.click()
    with qtbot.waitSignal(section.remove_requested):
        section.set_support(FAILED)
        assert section.remove_button.text() == "Remove, frees 600 MB"
        section.remove_button.click()


def test_buttons_go_under_one_another_where_there_is_no_room(section: GpuSection) -> None:
    section.set_support(FAILED)
    assert section.main_button.y() == section.remove_button.y()
    section.window().resize(QSize(240, 400))
    QApplication.processEvents()
    assert section.window().width() == 240
    assert section.main_button.y() < section.remove_button.y()
    assert section.remove_button.geometry().right() < section.width()


def test_words_wrap_and_can_be_marked(section: GpuSection) -> None:
    section.set_support(SIZED)
    assert section.minimumSizeHint().width() <= 240
    assert all(label.wordWrap() for label in section.findChildren(QLabel) if label.text() != "GPU support")
