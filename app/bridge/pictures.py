"""Pictures in the sizes that they are shown in, made by the process that reads documents."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from app.bridge.worker import Worker
from engine.documents.pictures import scaled_picture
from engine.messages import Picture

_LEAST_PX = 64
_KEPT_BYTES = 64 << 20
_END_S = 2.0
_Made = QImage | str | None
_Key = tuple[str, str, int, int]


class Pictures(QObject):
    """Pictures of chats, read in the background: ask again for one that is not there yet when `came` is emitted."""

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("tenon-pictures", self)
        self._closed = Event()
        self._made: dict[_Key, _Made] = {}  # the one that was wanted last at the end

    def image(self, picture: Picture, size: QSize) -> _Made:
        """Return a picture at least in a size in pixels, a sentence why it cannot be shown, or None for later.

        Sides are powers of two, so that a window that is drawn larger asks for few of them.
        """
        longest = max(picture.width, picture.height)
        side = min(longest, 1 << max(size.width(), size.height(), _LEAST_PX).bit_length())
        width, height = (max(1, round(one * side / longest)) for one in (picture.width, picture.height))
        key = (picture.sha256, picture.path, width, height)
        if key in self._made:
            self._made[key] = self._made.pop(key)
            return self._made[key] or self._other(key)
        self._made[key] = None
        # Without its digest: another version of the decoder may round otherwise, and people see no difference
        shown = replace(picture, sha256="")

        def make() -> QImage:
            (pixels,) = scaled_picture(shown, [(width, height)], cancelled=self._closed.is_set)
            return QImage(pixels, width, height, 3 * width, QImage.Format.Format_RGB888).copy()

        self._worker.run(
            make,
            lambda image: self._take(key, image),
            lambda error: self._take(key, error.message),
        )
        return self._other(key)

    def _other(self, key: _Key) -> _Made:
        """Return the picture in another size until its own is there."""
        others = (made for other, made in self._made.items() if other[:2] == key[:2] and isinstance(made, QImage))
        return next(others, None)

    def close(self) -> None:
        """Give up what is being read. May be called twice."""
        self._closed.set()
        self._worker.close(_END_S)

    def _take(self, key: _Key, made: _Made) -> None:
        self._made[key] = made
        for old in list(self._made):
            if sum(one.sizeInBytes() for one in self._made.values() if isinstance(one, QImage)) <= _KEPT_BYTES:
                break
            if isinstance(self._made[old], QImage) and old != key:
                del self._made[old]
        self.came.emit()
