"""Battery or mains: on battery most machines compute more slowly."""

from __future__ import annotations

import psutil

from engine.messages.machine import Power


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
