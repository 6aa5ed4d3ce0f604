from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests.support.sources import tree_of

ROOT = Path(__file__).parents[2]


def methods(base: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (node for node in base.body if isinstance(node, ast.FunctionDef))


def test_every_method_of_our_own_says_what_it_does() -> None:
    """A method that overrides one, Qt's with its capitals or another class's, need not say it again."""
    classes = defaultdict[str, list[ast.ClassDef]](list)  # several classes may have one name
    for top in ("app", "engine", "installers"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.ClassDef) and path.name != "small_torch.py":  # torch documents its names
                    classes[node.name].append(node)

    def inherited(owner: ast.ClassDef) -> set[str]:
        names = {base.id for base in owner.bases if isinstance(base, ast.Name)} & classes.keys() - {owner.name}
        bases = [base for name in names for base in classes[name]]
        return {node.name for base in bases for node in methods(base)}.union(*map(inherited, bases))

    undocumented = [
        f"{owner.name}.{node.name}"
        for owner in chain.from_iterable(classes.values())
        if not owner.name.startswith("_")
        for node in methods(owner)
        if not node.name.startswith("_") and node.name == node.name.lower()
        if not any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in node.decorator_list)
        if ast.get_docstring(node) is None and node.name not in inherited(owner)
    ]
    assert undocumented == []
