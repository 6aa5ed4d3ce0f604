"""``tenon doctor``: say what Tenon found on this machine."""

from __future__ import annotations

import argparse
from typing import Any


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    doctor = commands.add_parser("doctor", help="say what Tenon found on this machine")
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    import torch

    from engine.hub.installed import cache_folder
    from engine.kernels import library
    from engine.planning.hardware import available_memory_bytes, find_gpu, free_device_bytes, usable_cores
    from engine.planning.kernel_table import describe

    in_use = library.available()
    gpu = find_gpu()
    print(f"cores      {usable_cores()}")
    print(f"memory     {available_memory_bytes() / 1e9:.3g} GB available")
    print(f"gpu        {'none' if gpu is None else f'{gpu}, {free_device_bytes(gpu) / 1e9:.3g} GB free'}")
    print(f"torch      {torch.__version__}")
    if in_use is None:
        print(f"kernels    torch's own operators alone: {library.reason()}")
    else:
        usable = [name for name, runs in library.instruction_sets().items() if runs]
        print(f"kernels    {in_use} (this machine runs {', '.join(usable)})")
        if in_use == "portable":
            print("           slow: they are made for AVX2, AVX-512, AMX or ARM's dot products")
        print(f"choice     {describe(cache_folder())}")
    return 0
