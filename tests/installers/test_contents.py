"""What goes into the bundle: nothing that the engine imports may stay out."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from installers.components import components, normalized
from installers.contents import (
    DATA_PACKAGES,
    EXCLUDED_MODULES,
    of_the_system,
    source_wanted,
    torch_module_wanted,
    transformers_module_wanted,
    unused,
)
from installers.product import ROOT


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("torch", True),
        ("torch.testing", True),  # autograd imports it
        ("torch.testing._internal.common_methods_invocations", False),
        ("torch.testing._internal.logging_tensor", True),
        ("torch._inductor.config", True),
        ("torch._inductor.codegen.cpp", False),
        ("torch.optim.adamw", True),
    ],
)
def test_modules_of_torch(name: str, wanted: bool) -> None:
    assert torch_module_wanted(name) is wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("transformers", True),
        ("transformers.models", True),
        ("transformers.models.auto.tokenization_auto", True),
        ("transformers.models.llama", True),
        ("transformers.models.llama.configuration_llama", True),
        ("transformers.models.llama.tokenization_llama", True),
        ("transformers.models.llama.modeling_llama", False),
        ("transformers.models.clip.image_processing_clip", False),
        ("transformers.trainer_utils", False),
        ("transformers.modeling_rope_utils", True),
    ],
)
def test_modules_of_transformers(name: str, wanted: bool) -> None:
    assert transformers_module_wanted(name) is wanted


def test_sources_that_are_read_as_the_program_runs_go_along() -> None:
    assert source_wanted("/somewhere/transformers/models/llama/__init__.py")
    assert source_wanted("C:\\x\\transformers\\models\\llama\\configuration_llama.py")
    assert source_wanted("/x/torch/distributed/config.py")
    assert source_wanted("/x/torch/fx/experimental/_config.py")
    assert not source_wanted("/x/transformers/models/llama/modeling_llama.py")
    assert not source_wanted("/x/torch/nn/modules/linear.py")


def test_the_engine_imports_nothing_that_stays_out() -> None:
    program = (
        "import sys\n"
        "import engine.engine, engine.text.tokenizer, engine.training.trainer\n"
        "from transformers.models.auto.configuration_auto import CONFIG_MAPPING\n"
        "from engine.model.families import SUPPORTED\n"
        "assert len(SUPPORTED) >= 9\n"
        "for name in ('llama', 'mistral', 'smollm3', 'qwen2', 'qwen3', 'phi3', 'gemma2', 'gemma3', 'gemma3_text'):\n"
        "    CONFIG_MAPPING[name]()\n"
        "print('\\n'.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "torch" in loaded
    assert [name for name in loaded if name.split(".")[0] == "torch" and not torch_module_wanted(name)] == []
    left_out = [
        name
        for name in loaded
        if name.split(".")[0] == "transformers" and not transformers_module_wanted(name)
    ]
    assert left_out == []
    always_there = ("numpy", "sympy", "engine", "app", "huggingface_hub")
    excluded = [
        name
        for name in loaded
        if name.split(".")[0] in always_there
        and any(name == out or name.startswith(f"{out}.") for out in EXCLUDED_MODULES)
    ]
    assert excluded == []


def test_the_app_imports_nothing_that_stays_out() -> None:
    imported = set()
    for package in ("app", "engine"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    assert "PySide6.QtWidgets" in imported
    out = {
        name
        for name in imported
        if any(name == left or name.startswith(f"{left}.") for left in EXCLUDED_MODULES)
    }
    assert out == set()


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
    named = {"docx": "python-docx", "pypdfium2_raw": "pypdfium2"}
    with_hooks = {"numpy", "pyqtgraph", "pyside6-essentials", "shiboken6", "torch", "transformers"}
    read_by_no_part_of_tenon = {"huggingface-hub", "jeepney", "keyring", "lxml", "markupsafe", "pycparser", "sympy",
                                "tokenizers", "tqdm"}  # fmt: skip
    assert found - with_hooks - read_by_no_part_of_tenon == {
        named.get(name, normalized(name)) for name in DATA_PACKAGES
    }
