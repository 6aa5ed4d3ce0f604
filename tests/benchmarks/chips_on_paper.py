"""Graphics chips on paper: the modes of an 8B model on two laptops that are not here, by the planner's own formula.

`python -m tests.benchmarks.chips_on_paper` prints a table. Every speed in it is assumed and none was measured.
"""

from __future__ import annotations

from dataclasses import replace

from engine.messages import LoadOptions
from engine.messages.machine import GpuSpeed, MachineReport
from engine.modes import MODES
from engine.planning.machine_planner import MachinePlanner
from tests.engine.planning.test_chip_plans import GB, packed_pair, report

PROMPT = 1000
#: Laptops: speed of the chip, whether it has the host's memory, its bytes, and the host's bytes and products a second.
#: A Radeon 780M reads 60 of 89 GB/s that both share and makes a quarter of 8 TFLOPS' products; an RTX 3050 by Vulkan.
LAPTOPS = {
    "Radeon 780M": (GpuSpeed(60e9, 1e12, 5e-6, 20e9, packed=True), True, 12 * GB, 55e9, 4e11),
    "RTX 3050, 4 GB": (GpuSpeed(150e9, 2e12, 5e-6, 10e9, packed=True), False, 4 * GB, 41e9, 4.5e11),
}
SHOWN = ("plain", "offload", "dovetail", "lookup")


def laptop(name: str) -> MachineReport:
    """Return the report that a laptop would give of itself."""
    speed, unified, free_bytes, read, products = LAPTOPS[name]
    found = report(speed, unified, free_bytes)
    assert found.speeds is not None
    formats = {
        one: replace(each, bytes_per_s=0.95 * read, products_per_s=products)
        for one, each in found.speeds.host.formats.items()
    }
    host = replace(found.speeds.host, memory_bytes_per_s=read, formats=formats)
    return replace(found, speeds=replace(found.speeds, host=host))


def rows(name: str, here: MachineReport) -> list[str]:
    """Return the table's rows of a laptop: where layers and draft are, tokens a second, seconds to the first token."""
    facts, draft = packed_pair()
    planner = MachinePlanner(here, facts, (draft,), LoadOptions(graphics_chip=True))
    plan, found = planner.plan(), []
    for one in plan.modes:
        if one.load is None or one.mode not in SHOWN or one.refusal:
            continue
        mode = MODES[one.mode]
        first_s = planner.first_token_s(mode, one.load, mode.taken((draft,)), PROMPT)
        chosen = " (auto)" if plan.chosen == one.mode else ""
        found.append(
            f"| {name} | {one.mode}{chosen} | {one.load.placement.summary()} | {', '.join(one.draft_devices) or '-'} "
            f"| {one.tokens_per_second or 0.0:.1f} | {first_s:.1f} |"
        )
    return found


def main() -> None:
    """Print the table."""
    print("| laptop | mode | layers | draft | tokens/s | first token after 1,000 (s) |\n|---|---|---|---|--:|--:|")
    for name in LAPTOPS:
        here = laptop(name)
        print("\n".join([*rows(name, here), *rows(f"{name}, unused", replace(here, gpus=()))]))


if __name__ == "__main__":
    main()
