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


def display_problem() -> str:
    """One sentence on what keeps a window from opening; empty when nothing is known to."""
    if not sys.platform.startswith("linux"):
        return ""
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY"), os.environ.get("DISPLAY")
    if not platform and not wayland and not x11:
        return "There is no display to open a window on: use `tenon ask`, or start it in a desktop session."
    needs_x11 = platform == "xcb" or (not platform and not wayland)
    missing = _missing({**_ANYWHERE, **(_X11 if needs_x11 else {})})
    if missing:
        return f"Qt needs system libraries that are not installed: install {' '.join(missing)}."
    if needs_x11 and not _x11_answers():
        return f"The display {x11 or ''} does not answer: check DISPLAY, or use `tenon ask`."
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
