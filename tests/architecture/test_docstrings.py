from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.sources import tree_of

ROOT = Path(__file__).parents[2]


def methods(base: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (node for node in base.body if isinstance(node, ast.FunctionDef))


def test_every_method_of_our_own_says_what_it_does() -> None:
    """A method that overrides one, Qt's with its capitals or another class's, need not say it again."""
    classes = {
        node.name: node
        for top in ("app", "engine", "installers")
        for path in (ROOT / top).rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
    }

    def inherited(name: str) -> set[str]:
        bases = {base.id for base in classes[name].bases if isinstance(base, ast.Name)} & classes.keys() - {name}
        return {node.name for base in bases for node in methods(classes[base])}.union(*map(inherited, bases))

    undocumented = [
        f"{name}.{node.name}"
        for name, owner in classes.items()
        if not name.startswith("_")
        for node in methods(owner)
        if not node.name.startswith("_") and node.name == node.name.lower()
        if not any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in node.decorator_list)
        if ast.get_docstring(node) is None and node.name not in inherited(name)
    ]
    assert undocumented == []
