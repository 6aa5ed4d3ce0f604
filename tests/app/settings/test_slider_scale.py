"""Places of numbers on their sliders."""

from __future__ import annotations

import pytest

from app.settings.setting import Number, SliderScale
from app.settings.settings import Settings

SLIDERS = {
    name: setting.control
    for name, setting in Settings.declared().items()
    if isinstance(setting.control, Number) and setting.control.slider is not None
}


@pytest.mark.parametrize("name", SLIDERS)
@pytest.mark.parametrize("most", [None, 3.0, 24.5])
def test_positions_rise_and_lead_to_allowed_values(name: str, most: float | None) -> None:
    number = SLIDERS[name]
    scale = SliderScale(number, most)
    values = [scale.value_at(position) for position in range(scale.last + 1)]
    words = bool(number.empty or number.least_words)
    assert (values[0] is None) == words
    shown = [value for value in values if value is not None]
    assert shown == sorted(shown)
    assert len(set(shown)) > 1
    for value in shown:
        whole = number.unit_size > 1 or not number.places
        Settings.declared()[name].read(round(value * number.unit_size) if whole else value)
        assert abs((scale.value_at(scale.position_of(value)) or 0) - value) < 1e-9


def test_what_lies_beyond_the_slider_stands_at_its_end() -> None:
    number = Number(0, 1 << 24, step=256, least_words="own", slider=(512, 131_072), by_factors=True)
    scale = SliderScale(number)
    assert scale.position_of(None) == 0
    assert scale.position_of(1 << 24) == scale.last
    assert scale.position_of(100) == 1
    assert (scale.value_at(1), scale.value_at(scale.last)) == (512.0, 131_072.0)
    assert scale.value_at(scale.position_of(8_192) + 1) == 12_288.0


def test_a_slider_ends_where_the_machine_does() -> None:
    number = Number(0, 1024, least_words="Automatic", slider=(1, 64))
    assert SliderScale(number, 6.0).last == 6
    assert SliderScale(number, 1.0).last == 2  # a slider always has somewhere to go
