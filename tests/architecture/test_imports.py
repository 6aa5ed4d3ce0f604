"""The layers of ARCHITECTURE.md, held by reading every import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import tree_of

ROOT = Path(__file__).resolve().parents[2]

# Inside the engine imports go down only. Packages of one rank know nothing of each other.
RANKS = {
    "engine.cli": 11,
    "engine.quantizing": 10,
    "engine.benchmark": 10,
    "engine.process": 10,
    "engine.server": 10,
    "engine.tools": 2,
    "engine.engine_process": 7,
    "engine.engine": 9,
    "engine.reply": 8,
    "engine.remote": 8,
    "engine.scheduler": 8,
    "engine.loaded_model": 7,
    "engine.request": 7,
    "engine.advice": 6,
    "engine.run": 6,
    "engine.gpu_addon": 6,
    "engine.planning": 5,
    "engine.modes": 4,
    "engine.decoding": 3,
    "engine.drafting": 2,
    "engine.verifying": 2,
    "engine.model_file": 1.5,
    "engine.placement": 1,
    "engine.vision": 0.5,
    "engine.graphics": 0.5,
    "engine.hub": 0.4,
    "engine.model": 0,
    "engine.weights": -1,
    "engine.text": -1,
    "engine.documents": -2,
    "engine.kernels": -2.5,
    "engine.gguf": -2,
    "engine.families": -3,
    "engine.messages": -3,
    "engine.errors": -4,
    "engine.json_text": -4,
    "engine.freed_memory": -4,
    "engine.sentences": -5,
    "engine.terminal": -5,
    "engine.bounded_http": -4,
    "engine.files": -3,
    "engine.child_process": -4,
    "engine.preparer": -3,
    "engine.descriptors": -3,
    "engine.kept_secret": -4,
    "engine.small_torch": -5,
}
# Makes the bundled models with everything below it; whatever trains or calibrates imports it.
TOP = "engine.training"

QT_PLACES = ("app.ui", "app.bridge", "app.application", "app.bootstrap", "app.__main__")


def _modules(package: str) -> Iterator[tuple[str, set[str]]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, set(_imports(tree_of(path)))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _within(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _unit(module: str) -> str | None:
    return next((unit for unit in (*RANKS, TOP) if _within(module, unit)), None)


@cache
def _imports_of(package: str) -> dict[str, set[str]]:
    """Return the imports of each module of a package; read by the first test that asks."""
    return dict(_modules(package))


def test_the_engine_knows_nothing_of_the_app() -> None:
    offenders = [
        (name, found)
        for name, imports in _imports_of("engine").items()
        for found in imports
        if _within(found, "app", "PySide6")
    ]
    assert offenders == []


def test_every_engine_module_has_a_rank() -> None:
    assert [name for name in _imports_of("engine") if name != "engine" and _unit(name) is None] == []


def test_imports_inside_the_engine_go_down() -> None:
    offenders = [
        (name, found)
        for name, imports in _imports_of("engine").items()
        for found in imports
        if not _goes_down(name, found)
    ]
    assert offenders == []


def _goes_down(name: str, found: str) -> bool:
    own, other = _unit(name), _unit(found)
    if name == "engine" or other is None or other == own:
        return True
    if other == TOP:
        return _within(name, "engine.cli", "engine.quantizing")
    return own == TOP or RANKS[other] < RANKS[str(own)]


def test_qt_stays_where_it_belongs() -> None:
    offenders = [
        name
        for name, imports in _imports_of("app").items()
        if any(_within(found, "PySide6") for found in imports) and not _within(name, *QT_PLACES)
    ]
    assert offenders == []


def test_only_the_bridge_touches_a_running_engine() -> None:
    allowed = (
        "engine.messages",
        "engine.errors",
        "engine.files",
        "engine.sentences",
        "engine.descriptors",
        "engine.hub.titles",
        "engine.modes",
        "engine.json_text",
        "engine.terminal",
    )
    for name, imports in _imports_of("app").items():
        for found in imports:
            if not _within(found, "engine") or _within(found, *allowed) or found == "engine":
                continue
            if name == "app.__main__" and _within(found, "engine.cli"):
                continue
            assert _within(name, "app.bridge"), f"{name} imports {found}"


def test_the_window_has_no_torch_database_or_threads() -> None:
    banned = ("torch", "transformers", "sqlite3", "threading", "multiprocessing")
    offenders = [
        (name, found)
        for name, imports in _imports_of("app").items()
        for found in imports
        if _within(name, "app.ui") and _within(found, *banned)
    ]
    assert offenders == []


@pytest.mark.parametrize(
    ("module", "slow"),
    [
        ("app.bootstrap", {"app.application", "app.bridge.workspace", "app.ui.main_window", "sqlite3"}),
        ("app.application", {"torch", "transformers", "numpy", "huggingface_hub", "httpx2", "asyncio"}),
    ],
)
def test_what_takes_long_to_import_comes_later(module: str, slow: set[str]) -> None:
    """The engine's process starts before the window is made, and the window without what only the engine needs."""
    program = f"import {module}, sys; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert slow & set(imported.stdout.split()) == set()


def test_nobody_asks_for_the_kind_of_a_placement() -> None:
    """Differences between placements are in their classes: no other file compares their names or types."""
    names = {"resident", "offload", "columns", "layer-offload", "stream", "stream-experts", "offload-experts"}
    classes = {
        "ResidentPlan",
        "SplitPlan",
        "ColumnsPlan",
        "LayerOffloadPlan",
        "StreamedExpertsPlan",
        "SplitExpertsPlan",
        "StreamedPlan",
    }
    offenders = []
    for path in [*(ROOT / "engine").rglob("*.py"), *(ROOT / "app").rglob("*.py")]:
        if path.is_relative_to(ROOT / "engine" / "placement"):
            continue
        for node in ast.walk(tree_of(path)):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if not isinstance(node, ast.Compare) and called not in ("isinstance", "issubclass", "type"):
                continue
            for part in ast.walk(node):
                named = part.value in names if isinstance(part, ast.Constant) else False
                typed = part.id in classes if isinstance(part, ast.Name) else False
                if named or typed:
                    offenders.append((str(path.relative_to(ROOT)), node.lineno))
    assert offenders == []


def test_modes_are_read_without_torch() -> None:
    program = "import engine.modes, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_nothing_is_called_utils() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    names = {part for name in (*_imports_of("engine"), *_imports_of("app")) for part in name.split(".")}
    assert names & vague == set()
