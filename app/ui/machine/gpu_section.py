"""GPU support on the page about this machine: what there is, how large it is, fetching it and removing it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.chat.machine import GpuSupport
from app.ui.bars import ShareBar
from app.ui.figures import size
from app.ui.parts import STRETCH, PlainLabel, filled, push_button, turn
from app.ui.theme.theme import Theme
from app.words import tr

_SIDE_PX = 16
_GAP_PX = 8


class GpuSection(QFrame):
    """A frame with a sentence, how far it is, and what can be done."""

    look_requested = Signal()
    size_requested = Signal()
    fetch_requested = Signal()
    pause_requested = Signal()
    remove_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "panel")
        self._support = GpuSupport()
        title = PlainLabel(tr("GPU support"), self, kind="section")
        self._sentence = _words(self, "sub")
        self._facts = _words(self, "label")
        self._progress = _words(self, "label")
        self._line = ShareBar(theme, tr("Fetching GPU support"), self)
        self._notes = _words(self, "small")
        # Asks for the size, fetches, pauses or goes on
        self.main_button = push_button("", self, self._clicked)
        self.remove_button = push_button("", self, self.remove_requested)  # removes, and says what that frees
        self._buttons = filled(QHBoxLayout(), *(self.main_button, self.remove_button, STRETCH), spacing=_GAP_PX)
        filled(
            QVBoxLayout(self),
            *(title, self._sentence, self._facts, self._progress, self._line, self._notes, self._buttons),
            margins=(_SIDE_PX, 14, _SIDE_PX, _SIDE_PX),
            spacing=_GAP_PX,
        )
        self.set_support(self._support)

    @property
    def words(self) -> str:
        """Everything that it says."""
        labels = (self._sentence, self._facts, self._progress, self._notes)
        return "\n".join(label.text() for label in labels if not label.isHidden())

    @Slot(object)
    def set_support(self, support: GpuSupport) -> None:
        """Show how it stands."""
        self._support = support
        counted = support.busy and support.total_bytes > 0
        for label, text in (
            (self._sentence, tr("Checking the graphics card...") if _looks(support) else support.sentence),
            (self._facts, facts_words(support)),
            (self._progress, progress_words(support)),
            (self._notes, notes_words(support)),
        ):
            label.setText(text)
            label.setVisible(bool(text))
        self._line.setVisible(counted)
        self._line.show_share(support.done_bytes / support.total_bytes if counted else 0.0)
        text, self._wanted = self._main_action(support)
        self.main_button.setText(text)
        self.main_button.setVisible(bool(text))
        self.remove_button.setText(tr("Remove, frees {size}", size=size(support.disk_bytes)))
        self.remove_button.setVisible(support.disk_bytes > 0 and not support.busy)
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        widest = max(button.sizeHint().width() for button in (self.main_button, self.remove_button))
        return QSize(widest + 2 * _SIDE_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._arrange()

    def _main_action(self, support: GpuSupport) -> tuple[str, SignalInstance | None]:
        if support.busy:
            stoppable = support.state == "fetching" and support.step != "checking"
            return (tr("Pause"), self.pause_requested) if stoppable else ("", None)
        known = support.size_bytes > 0
        if support.state == "paused":
            return tr("Continue"), self.fetch_requested
        if support.state == "failed":
            if known:
                return tr("Try again"), self.fetch_requested
            return tr("Try again"), self.size_requested if support.title else self.look_requested
        if support.state == "sized":
            return tr("Fetch {size}", size=size(support.size_bytes)), self.fetch_requested
        if support.state in ("offered", "off"):
            return tr("Look up its size"), self.size_requested
        return (tr("Look again"), self.look_requested) if support.state == "none" else ("", None)

    @Slot()
    def _clicked(self) -> None:
        if self._wanted is not None:
            self._wanted.emit()

    def _arrange(self) -> None:
        buttons = [button for button in (self.main_button, self.remove_button) if not button.isHidden()]
        needed = sum(button.sizeHint().width() for button in buttons) + _GAP_PX + 2 * _SIDE_PX
        turn(self._buttons, needed > self.width())


def facts_words(support: GpuSupport) -> str:
    """Text on what fetching brings, where it is known and not here yet."""
    if support.size_bytes == 0 or support.state in ("works", "none"):
        return ""
    return tr(
        "{title}: {size} to fetch from {address}, {unpacked} on the disk",
        title=support.title,
        size=size(support.size_bytes),
        address=support.address,
        unpacked=size(support.unpacked_bytes),
    )


def progress_words(support: GpuSupport) -> str:
    """Return the action that is under way, and its progress."""
    done, total = size(support.done_bytes), size(support.total_bytes)
    if support.step == "receiving" and support.total_bytes:
        return tr("Fetching, {done} of {total}", done=done, total=total)
    if support.step == "unpacking":
        return tr("Unpacking, {done} of {total}", done=done, total=total)
    if support.step == "waiting":
        return tr("Waiting to go on, {done} of {total}", done=done, total=total)
    if _looks(support):
        return ""
    return {
        "sizing": tr("Asking how large it is..."),
        "receiving": tr("Fetching..."),
        "checking": tr("Checking whether it works here..."),
        "removing": tr("Removing..."),
    }.get(support.step, "")


def notes_words(support: GpuSupport) -> str:
    """Further notes."""
    if support.state == "paused" and not support.busy:
        return tr("Paused. What was downloaded stays on the disk.")
    if support.restart and not support.busy:
        return tr("This takes effect when Tenon is opened again.")
    if support.state in ("offered", "sized"):
        return tr("This downloads PyTorch for this graphics card into its own folder; you can remove it at any time.")
    return ""


def _looks(support: GpuSupport) -> bool:
    """Return True if nothing is known yet."""
    return support.state == "looking"


def _words(parent: QWidget, kind: str) -> QLabel:
    label = PlainLabel(parent, kind=kind, wrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
