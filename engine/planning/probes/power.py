"""Battery or mains: on battery most machines compute more slowly."""

from __future__ import annotations

from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Power:
    """Source of the power.

    Attributes:
        on_mains: None where the system does not say.
        battery_percent: None where there is no battery.
    """

    on_mains: bool | None
    battery_percent: float | None


def read_power() -> Power:
    """The power supply now. A machine without a battery is on mains."""
    if not hasattr(psutil, "sensors_battery"):
        return Power(None, None)
    try:
        battery = psutil.sensors_battery()
    except Exception:  # drivers raise whatever they like
        return Power(None, None)
    if battery is None:
        return Power(True, None)
    return Power(battery.power_plugged, round(float(battery.percent), 1))
