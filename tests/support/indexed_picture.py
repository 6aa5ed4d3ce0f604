"""Pictures of windows with 256 colours: a third of the size, and hardly a difference to be seen."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QImage

_FREQUENT, _COLORS = 128, 256


def indexed(image: QImage) -> QImage:
    """The same picture with 256 of its colours; every other pixel takes the nearest of them.

    The most frequent ones are kept, and then, one after the other, whatever is farthest from all of those: a few
    coloured words must not turn grey because the page is white.
    """
    rgb = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(rgb.constBits(), np.uint32).reshape(rgb.height(), rgb.bytesPerLine() // 4)
    colors, places, counts = np.unique(pixels[:, : rgb.width()], return_inverse=True, return_counts=True)
    channels = _channels(colors)
    order = np.argsort(counts)[::-1]
    kept: list[int] = []
    nearest = np.zeros(len(colors), np.uint8)
    least = np.full(len(colors), np.inf)
    for number in range(min(_COLORS, len(colors))):
        chosen = order[number] if number < _FREQUENT else int((least * counts**0.5).argmax())
        distance = ((channels - channels[chosen]) ** 2).sum(-1)
        nearest[distance < least] = number
        least = np.minimum(least, distance)
        kept.append(int(colors[chosen]))
    drawn = np.zeros((rgb.height(), -(-rgb.width() // 4) * 4), np.uint8)
    drawn[:, : rgb.width()] = nearest[places].reshape(rgb.height(), rgb.width())
    found = QImage(drawn.tobytes(), rgb.width(), rgb.height(), drawn.shape[1], QImage.Format.Format_Indexed8).copy()
    found.setColorTable(kept)
    return found


def _channels(colors: np.ndarray) -> np.ndarray:
    """Red, green and blue of packed colours."""
    return np.stack([(colors >> shift & 0xFF).astype(np.int32) for shift in (16, 8, 0)], -1)
