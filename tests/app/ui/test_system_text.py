from __future__ import annotations

import pytest
from PySide6.QtGui import QFont

from app.ui.theme import theme as theme_module
from app.ui.theme.theme import TextStyle, Theme, system_text_scale, usual_points


@pytest.mark.parametrize(
    ("platform", "desktop", "points"),
    [
        ("win32", "", 9.0), ("darwin", "", 13.0), ("linux", "", 9.0), ("linux", "ubuntu:GNOME", 11.0),
        ("linux", "KDE", 10.0), ("linux", "Something", 9.0),
    ],
)  # fmt: skip
def test_the_usual_size_of_each_system(platform: str, desktop: str, points: float) -> None:
    assert usual_points(platform, desktop) == points


@pytest.mark.parametrize(("points", "scale"), [(9.0, 1.0), (14.0, 14 / 9), (7.0, 1.0), (40.0, 2.0)])
def test_the_system_s_text_beside_the_usual(
    theme: Theme, monkeypatch: pytest.MonkeyPatch, points: float, scale: float
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("XDG_CURRENT_DESKTOP", raising=False)
    font = QFont()
    font.setPointSizeF(points)
    assert system_text_scale(font) == pytest.approx(scale)


def test_every_text_grows_in_the_same_ratio(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme_module, "system_text_scale", lambda: 14 / 9)
    larger = Theme(dark=False)
    for style in TextStyle:
        assert larger.font(style).pixelSize() == round(style.value[0] * 14 / 9)
        assert larger.type.line_height(style) == round(style.value[1] * 14 / 9)


def test_the_setting_is_on_top_of_the_system_s(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme_module, "system_text_scale", lambda: 1.2)
    larger = Theme(dark=False)
    larger.set_scale(1.5)
    assert larger.type.scale == pytest.approx(1.8)
    larger.set_scale(1.0)
    assert larger.type.scale == pytest.approx(1.2)
    monkeypatch.setattr(theme_module, "system_text_scale", lambda: 2.0)
    largest = Theme(scale=1.5, dark=False)
    assert largest.type.scale == 2.0
