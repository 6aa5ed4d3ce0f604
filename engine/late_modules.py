"""Modules that are loaded with their first use, and not when somebody imports them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class LateModules(MetaPathFinder):
    """Finder that puts the loading of some modules off.

    `importlib.util.LazyLoader` does not serve: importing a module twice is a use for it.

    Args:
        names: Full names of modules; those that do not exist are not missed.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return what the other finders know of one of the modules, with a loader that waits."""
        if name not in self._names:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _LateLoader(spec.loader)
        return spec


class _LateLoader(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        def load(name: str) -> Any:
            if name.startswith("__"):  # imports look for some of these
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            del module.__getattr__
            self._loader.exec_module(module)
            return getattr(module, name)

        module.__getattr__ = load  # type: ignore[method-assign]
