from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.ui import display
from tests.support.fast_cases import chosen

ROOT = Path(__file__).resolve().parents[2]


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_version_needs_no_qt() -> None:
    code = "import sys; from app.__main__ import main; main(['--version']); assert 'PySide6' not in sys.modules"
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tenon ")


def test_a_subcommand_goes_to_the_command_line_without_qt() -> None:
    code = (
        "import sys, types\n"
        "fake = types.ModuleType('engine.cli')\n"
        "fake.main = lambda argv: print(argv) or 7\n"
        "sys.modules['engine.cli'] = fake\n"
        "from app.__main__ import main\n"
        "assert main(['ask', 'hi']) == 7\n"
        "assert 'PySide6' not in sys.modules\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['ask', 'hi']"


def test_a_window_begins_without_collections_sources_and_what_it_does_not_need() -> None:
    code = (
        "import builtins, gc, linecache, sys, types\n"
        "fake = types.ModuleType('app.bootstrap')\n"
        "def run(paths):\n"
        "    import app.application\n"
        "    needless = {'engine.families', 'filelock', 'importlib.metadata', 'statistics'} & set(sys.modules)\n"
        "    print(gc.isenabled(), builtins.__import__.__name__, len(linecache.cache) > 50, needless)\n"
        "    return 0\n"
        "fake.run = run\n"
        "sys.modules['app.bootstrap'] = fake\n"
        "from app.__main__ import main\n"
        "sys.exit(main([]))\n"
    )
    done = python(code, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False __import__ False set()"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
@pytest.mark.parametrize(
    "displays",
    [
        {},
        {"DISPLAY": ":987"},
        {"WAYLAND_DISPLAY": "nobody"},
        {"WAYLAND_DISPLAY": "nobody", "DISPLAY": ":987"},
        {"WAYLAND_DISPLAY": "nobody", "QT_QPA_PLATFORM": "wayland;xcb"},
    ],
)
def test_no_display_is_one_sentence(displays: dict[str, str]) -> None:
    environment = {"QT_QPA_PLATFORM": "", "DISPLAY": "", "WAYLAND_DISPLAY": "", **displays}
    done = python("import sys\nfrom app.__main__ import main\nsys.exit(main([]))", **environment)
    assert done.returncode == 2
    assert done.stderr.startswith("tenon: ")
    assert len(done.stderr.splitlines()) == 1


def test_missing_libraries_are_named() -> None:
    assert display._missing({"libnothing.so.9": "libnothing9"}) == ["libnothing9"]
    assert display._missing({"libc.so.6": "libc6"}) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have one input method")
@pytest.mark.parametrize(
    ("variables", "loaded", "portal"),
    [
        ({}, False, False),
        ({"QT_IM_MODULE": "ibus"}, True, False),
        ({"QT_IM_MODULE": "fcitx"}, True, True),
        ({"QT_IM_MODULE": "fcitx5", "XMODIFIERS": "@im=fcitx"}, True, True),
        ({"XMODIFIERS": "@im=fcitx"}, True, True),
        ({"XMODIFIERS": "@im=ibus"}, True, False),
        ({"XMODIFIERS": "@im=fcitx", "WAYLAND_DISPLAY": "wayland-0"}, False, False),
        ({"XMODIFIERS": "@im=none"}, False, False),
        ({"QT_IM_MODULE": "compose", "XMODIFIERS": "@im=fcitx"}, False, False),
    ],
)
def test_fcitx_is_reached_by_the_protocol_that_qt_has_a_plugin_for(
    variables: dict[str, str], loaded: bool, portal: bool
) -> None:
    code = (
        "import os\nfrom app.bootstrap import _qt\n_qt()\n"
        "print(os.environ.get('IBUS_USE_PORTAL'), open('/proc/self/maps').read())"
    )
    unset = dict.fromkeys(("QT_IM_MODULE", "QT_IM_MODULES", "XMODIFIERS", "WAYLAND_DISPLAY"), "")
    done = python(code, **{**unset, "QT_QPA_PLATFORM": "offscreen", **variables})
    assert ("libibusplatforminputcontextplugin" in done.stdout) == loaded, done.stderr
    assert done.stdout.startswith("1 ") == portal


def test_menus_that_qt_makes_have_no_icons_of_the_desktop() -> None:
    code = (
        "from PySide6.QtCore import Qt\nfrom app.bootstrap import _qt\n"
        "print(_qt().testAttribute(Qt.ApplicationAttribute.AA_DontShowIconsInMenus))"
    )
    assert python(code, QT_QPA_PLATFORM="offscreen").stdout == "True\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_a_platform_is_enough_if_qt_gets_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a desktop with Wayland and X Qt takes X where Wayland's libraries are missing; on Wayland alone it aborts."""
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(display, "_x11_answers", lambda: True)
    monkeypatch.setattr(
        display, "_missing", lambda libraries: [name for name in libraries.values() if "wayland" in name]
    )
    assert display.display_problem() == ""
    monkeypatch.delenv("DISPLAY")
    assert display.display_problem().endswith("install libwayland-client0 libwayland-cursor0.")
    monkeypatch.setattr(display, "_missing", lambda libraries: [])
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert "WAYLAND_DISPLAY" in display.display_problem()
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-0"))
        compositor.listen()
        assert display.display_problem() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", chosen([signal.SIGTERM, signal.SIGINT], (signal.SIGTERM,)))
def test_a_signal_closes_in_order(tmp_path: Path, number: signal.Signals) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "TENON_DATA_DIR": str(tmp_path / "data"),
        "TENON_CONFIG_DIR": str(tmp_path / "config"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "app"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list((tmp_path / "data").glob("*.sqlite3")):
        time.sleep(0.05)
    time.sleep(1.5)
    assert process.poll() is None
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    complaints = [line for line in errors.splitlines() if "plugin does not support" not in line]
    assert complaints == []


@pytest.mark.slow
def test_the_self_test_runs_the_guide_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "TMPDIR": str(tmp_path),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "app", "--self-test", str(tmp_path / "report.txt")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == done.stdout
    assert [path.name for path in tmp_path.rglob("*tenon*")] == []
