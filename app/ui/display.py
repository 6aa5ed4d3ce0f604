"""Check for reasons why a window cannot be opened here, before Qt would end the process. No Qt in this file."""

from __future__ import annotations

import ctypes
import os
import sys

_ANYWHERE = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
# Qt blames libxcb-cursor0 whichever of these is missing.
_X11 = {
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
_WAYLAND = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}


def display_problem() -> str:
    """One sentence on what keeps a window from opening; empty when nothing is known to."""
    if not sys.platform.startswith("linux"):
        return ""
    asked = os.environ.get("QT_QPA_PLATFORM", "").split(";")  # in the order of preference
    platforms = [name for part in asked if (name := part.split(":")[0])]
    if not platforms:
        variables = {"wayland": "WAYLAND_DISPLAY", "xcb": "DISPLAY"}
        platforms = [name for name, variable in variables.items() if os.environ.get(variable)]
    if not platforms:
        return "There is no display to open a window on: use `tenon ask`, or start it in a desktop session."
    problems = [_problem_of(platform) for platform in platforms]
    return "" if "" in problems else problems[0]  # Qt tries them all


def _problem_of(platform: str) -> str:
    x11, wayland = platform == "xcb", platform.startswith("wayland")
    missing = _missing({**_ANYWHERE, **(_X11 if x11 else _WAYLAND if wayland else {})})
    if missing:
        return f"Qt needs system libraries that are not installed: install {' '.join(missing)}."
    if x11 and not _x11_answers():
        display = os.environ.get("DISPLAY", "")
        return f"The display {display} does not answer: check DISPLAY, or use `tenon ask`."
    if wayland and not _wayland_answers():
        display = os.environ.get("WAYLAND_DISPLAY", "wayland-0")
        return f"The display {display} does not answer: check WAYLAND_DISPLAY, or use `tenon ask`."
    return ""


def _missing(libraries: dict[str, str]) -> list[str]:
    packages = []
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            packages.append(package)
    return packages


def _x11_answers() -> bool:
    """Open and close a connection to the X server, as Qt would before it gives up by abort()."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    answers = not xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return answers


def _wayland_answers() -> bool:
    """Open and close a connection to the compositor, for the same reason."""
    import socket

    if os.environ.get("WAYLAND_SOCKET"):  # one is open already
        return True
    name = os.environ.get("WAYLAND_DISPLAY") or "wayland-0"
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), name))
        except OSError:
            return False
    return True
