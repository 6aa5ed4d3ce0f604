"""Power and heat: on battery, and when they are hot, most machines compute more slowly."""

from __future__ import annotations

import psutil

from engine.messages.machine import Power

# The kernel's names of the drivers of processors' own sensors; others measure disks, batteries and radios.
_PROCESSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")


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


def is_hot() -> bool:
    """True if some part of the processor has reached the temperature that its driver calls high.

    A system that tells no temperatures, or no limits of them, has nothing that is hot.
    """
    if not hasattr(psutil, "sensors_temperatures"):
        return False
    try:
        sensors = psutil.sensors_temperatures()
    except Exception:  # drivers raise whatever they like
        return False
    return any(
        reading.high is not None and 0 < reading.high <= reading.current
        for name, readings in sensors.items()
        if name in _PROCESSORS
        for reading in readings
    )
