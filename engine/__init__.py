"""The engine: runs language models, and knows nothing of windows.

    from engine import Engine, messages

    engine = Engine(on_event=print)
    engine.submit(messages.Generate("1", messages.LoadOptions(), (messages.ChatMessage("user", "Hello"),)))

Importing this package costs next to nothing; the first use of `Engine` imports torch.
"""

from typing import Any

from engine import errors, messages

__all__ = ["Engine", "errors", "messages"]


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from engine.engine import Engine

        return Engine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
