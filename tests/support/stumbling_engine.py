"""An engine without torch that needs it in the middle of a reply. Nothing here imports torch: it runs in the child."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

from engine import small_torch
from engine.engine_process import SERVE, run_engine

#: Tokens that it writes before.
TOKENS = 5


def run(connection: Connection, torch: bool = False) -> None:
    """Run an engine as `run_engine` does; without torch it stumbles once it has picked some tokens."""
    if not torch:
        small_torch.install()
        from engine.model.sampling import Sampler

        pick, left = Sampler.pick, iter(range(TOKENS))

        def stumble(self: Sampler, *arguments: Any) -> int:
            if next(left, None) is None:
                raise small_torch.TorchNeeded("something that nobody has thought of")
            return pick(self, *arguments)

        Sampler.pick = stumble  # type: ignore[method-assign]
    run_engine(connection, SERVE, torch)
