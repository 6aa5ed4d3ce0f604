"""Phones: the page for them is switched on, its code is shown, and those that came in are listed and removed."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QDateTime, QLocale, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent, QImage, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.bridge.program_server import PhoneServer, PhonesNow, ServerPhase
from app.ui.form_fields import ListBox
from app.ui.parts import STRETCH, ElidedLabel, PlainLabel, filled, push_button
from app.ui.theme.theme import Theme, set_kind
from app.words import tr

_TICK_MS = 1_000
_SIDE_PX = 216
_QUIET = 4  # fields around a code that stay white, as its standard has it
_SHORT = QLocale.FormatType.ShortFormat


class PhonePanel(QFrame):
    """The part of the page Other programs that is for phones; what is pressed here `PhoneServer` does."""

    said = Signal(str, bool)

    def __init__(self, theme: Theme, server: PhoneServer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "panel")
        self._server = server
        self._now: PhonesNow | None = None
        self.switch_button = push_button("", self, self._switch)  # on or off
        lead = tr(
            "A page for the browser of a phone or of another computer in your network, to chat with the model that is "
            "loaded here. Each comes in with a code that holds once, and gets a key of its own."
        )
        openness = tr(
            "The page is not encrypted: whoever controls the network can read along, and take a phone's key. Use it in "
            "a network that you trust, or over a VPN such as WireGuard or Tailscale, which encrypts it: then take its "
            "address here."
        )
        self._sentence = PlainLabel(self, kind="strong", wrap=True)
        self._open = QWidget(self)
        self.code = CodePicture(theme, self._open)
        self.addresses = ListBox(theme, self._open, letters=14)
        self.addresses.setAccessibleName(tr("Address for phones"))
        self.addresses.currentIndexChanged.connect(self._show_code)
        self.copy_button = push_button(tr("Copy the link"), self._open, self._copy)
        hints = tr(
            "Scan the code with the phone's camera. If the page does not open, connect the phone to the same network, "
            "and let port {port} through this computer's firewall."
        )
        self._hints, self._hint = hints, PlainLabel(self._open, kind="small", wrap=True)
        self._rows = QVBoxLayout()
        self.end_button = push_button(tr("Remove all phones"), self._open, partial(self._remove, None), "danger")
        beside = filled(
            QVBoxLayout(), PlainLabel(tr("Address for phones"), self._open, kind="small"), self.addresses,
            self.copy_button, self._hint, STRETCH, spacing=8,
        )  # fmt: skip
        filled(
            QVBoxLayout(self._open),
            filled(QHBoxLayout(), (self.code, 0), (beside, 1), spacing=16),
            self._rows,
            filled(QHBoxLayout(), self.end_button, STRETCH),
            margins=0,
            spacing=12,
        )
        title = PlainLabel(tr("Page for phones"), self, kind="section")
        filled(
            QVBoxLayout(self),
            filled(QHBoxLayout(), (title, 1), self.switch_button, spacing=8),
            PlainLabel(lead, self, kind="sub", wrap=True),
            PlainLabel(openness, self, kind="sub", wrap=True),
            self._sentence,
            self._open,
            margins=(16, 14, 16, 16),
            spacing=12,
        )
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._look)
        server.changed.connect(self._show)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    @Slot()
    def _show(self) -> None:
        state, on, runs = self._server.state, self._server.on, self._server.state.phase is ServerPhase.ON
        self.switch_button.setText(tr("Switch off") if on else tr("Switch on"))
        self.switch_button.setAccessibleName(
            tr("Switch the page for phones off") if on else tr("Switch the page for phones on")
        )
        set_kind(self.switch_button, "" if on else "primary")
        starting = tr("It begins as soon as the model is loaded.") if on and not runs else ""
        self._sentence.setText(state.sentence or starting)
        self._sentence.setVisible(bool(self._sentence.text()))
        self._open.setVisible(runs)
        if runs and self.isVisible():
            self._look()
            self._timer.start()
        else:
            self._now = None
            self._timer.stop()

    @Slot()
    def _look(self) -> None:
        self._server.look(self._show_now)

    def _show_now(self, now: PhonesNow) -> None:
        if now == self._now:
            return
        self._now, chosen = now, self.addresses.currentText()
        self.addresses.blockSignals(True)
        self.addresses.clear()
        self.addresses.addItems(list(now.links))
        self.addresses.setCurrentIndex(max(0, self.addresses.findText(chosen)))
        self.addresses.blockSignals(False)
        self._hint.setText(
            self._hints.format(port=now.port)
            if now.links
            else tr("This computer is in no local network: connect it to the network of the phone first.")
        )
        while (item := self._rows.takeAt(0)) is not None:
            if (gone := item.widget()) is not None:
                gone.deleteLater()
        for phone in now.phones:
            seen = QLocale().toString(QDateTime.fromSecsSinceEpoch(int(phone.seen)), _SHORT)
            row = QWidget(self._open)
            words = tr("Last seen {time}, {address}", time=seen, address=phone.address)
            button = push_button(tr("Remove"), row, partial(self._remove, phone.digest))
            button.setAccessibleName(tr("Remove {phone}", phone=phone.name))
            texts = filled(
                QVBoxLayout(), ElidedLabel(phone.name, row, "label"), PlainLabel(words, row, "small", True), spacing=2
            )
            filled(QHBoxLayout(row), (texts, 1), button, margins=0, spacing=8)
            self._rows.addWidget(row)
        self.end_button.setVisible(bool(now.phones))
        self._show_code()

    @Slot()
    def _show_code(self) -> None:
        self.code.show_text(self.link)
        self.code.setVisible(bool(self.link))
        self.copy_button.setEnabled(bool(self.link))

    @property
    def link(self) -> str:
        """Link that the code has; empty if there is none."""
        return "" if self._now is None else self._now.links.get(self.addresses.currentText(), "")

    @Slot()
    def _switch(self) -> None:
        self._server.switch(not self._server.on)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.link)
        self.said.emit(tr("The link is copied: the first browser that opens it comes in."), False)

    def _remove(self, digest: str | None, _: bool = False) -> None:
        self._server.remove(digest, self._look, lambda error: self.said.emit(error.message, True))


class CodePicture(QWidget):
    """A QR code, dark on white in every theme."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._image, self._text = QImage(), ""
        side = theme.type.px(_SIDE_PX)
        self.setFixedSize(side, side)
        self.setAccessibleName(tr("Code for the phone's camera"))

    def show_text(self, text: str) -> None:
        """Show the code of a text."""
        if not text or text == self._text:
            return
        import segno

        self._text = text
        rows = [bytes(row) for row in segno.make(text, error="m").matrix_iter(border=_QUIET)]
        pixels = b"".join(bytes(255 * (1 - dark) for dark in row) for row in rows)
        self._image = QImage(pixels, len(rows), len(rows), len(rows), QImage.Format.Format_Grayscale8).copy()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, ratio = QPainter(self), self.devicePixelRatio()
        fields = max(1, self._image.width())
        side = int(self.width() * ratio) // fields * fields / ratio  # whole pixels for each field
        left = (self.width() - side) / 2
        painter.fillRect(self.rect(), "white")
        painter.translate(left, left)
        painter.scale(side / fields, side / fields)
        painter.drawImage(0, 0, self._image)
