"""The engine: runs language models, and knows nothing of windows.

    from engine import Engine, messages

    engine = Engine(on_event=print)
    engine.submit(messages.Generate("1", messages.LoadOptions(), (messages.ChatMessage("user", "Hello"),)))

Importing this package costs next to nothing; the first use of `Engine` imports torch.
"""

import gc
import os
from importlib import import_module
from typing import Any

__all__ = ["Engine", "errors", "messages"]

# Read once, when torch loads its OpenMP: threads that wait for each other sleep instead of spinning. Where another
# program has a core, spinning costs ten times the speed of a small model; on an idle machine it gains nothing.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def __getattr__(name: str) -> Any:
    if name == "Engine":
        # Collections find nothing among what is imported, and take a sixth of the time: neither now nor later.
        collecting = gc.isenabled()
        gc.disable()
        try:
            from engine.engine import Engine
        finally:
            gc.freeze()
            if collecting:
                gc.enable()
        return Engine
    if name in __all__:
        return import_module(f"engine.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
