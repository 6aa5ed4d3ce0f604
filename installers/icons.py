"""The icon in every size and format that a system asks for, painted from the two drawings."""

from __future__ import annotations

import struct
from pathlib import Path

from installers.product import ICON, ICON_SIZES_PX, SMALL_ICON, SMALL_ICON_UP_TO_PX

_ICO_SIZES_PX = (16, 24, 32, 48, 64, 128, 256)
# Types of an .icns entry that hold a PNG, by its side in px.
_ICNS_TYPES = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}


def png(size_px: int) -> bytes:
    """Return the icon as a PNG of a size; small ones come from the simpler drawing."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QImage, QImageWriter, QPainter
    from PySide6.QtSvg import QSvgRenderer

    drawing = SMALL_ICON if size_px <= SMALL_ICON_UP_TO_PX else ICON
    image = QImage(size_px, size_px, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(drawing)).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"PNG")).write(image)
    return bytes(data.data())


def write_pngs(hicolor: Path, name: str) -> None:
    """Write every size of an icon, and the drawing itself, in the folders of a Linux icon theme."""
    for size_px in ICON_SIZES_PX:
        target = hicolor / f"{size_px}x{size_px}" / "apps" / f"{name}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(png(size_px))
    scalable = hicolor / "scalable" / "apps" / f"{name}.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    scalable.write_bytes(ICON.read_bytes())


def write_ico(path: Path) -> None:
    """Write the format of Windows: a directory of 16 bytes for each size, then the PNGs."""
    images = [(size_px, png(size_px)) for size_px in _ICO_SIZES_PX]
    head = struct.pack("<HHH", 0, 1, len(images))
    offset = len(head) + 16 * len(images)
    directory = b""
    for size_px, data in images:
        side = size_px % 256  # 0 is 256
        directory += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(data), offset)
        offset += len(data)
    path.write_bytes(head + directory + b"".join(data for _, data in images))


def write_icns(path: Path) -> None:
    """Write the format of macOS: a type and a length before each PNG."""
    entries = b""
    for size_px, kind in _ICNS_TYPES.items():
        data = png(size_px)
        entries += struct.pack(">4sI", kind, len(data) + 8) + data
    path.write_bytes(struct.pack(">4sI", b"icns", len(entries) + 8) + entries)
