"""Runs first in the bundle: stands in for torch's compiler, which optimizers import to say that it is not for them.

With it come SymPy, ONNX and more than a hundred other modules, and a second of every training.
"""

import sys
from types import ModuleType
from typing import Any


def _disable(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Return the function itself, or a decorator, as the compiler's own does."""
    return function if function is not None else _disable


def _graph_break(*arguments: Any, **options: Any) -> None:
    """Nothing is compiled, so nothing is broken up."""


compiler = ModuleType("torch._dynamo")
vars(compiler).update(disable=_disable, graph_break=_graph_break)
sys.modules["torch._dynamo"] = compiler
