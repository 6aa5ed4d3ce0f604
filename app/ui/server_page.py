"""Other programs: the server is switched on, shows address and key, and tells what goes on."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.bridge.program_server import ProgramSettings, ServerPhase, ServerState, settings_of_programs
from app.bridge.workspace import Workspace
from app.ui import figures
from app.ui.parts import ElidedLabel, Flow, PlainLabel, filled, push_button
from app.ui.phone_panel import PhonePanel
from app.ui.place_page import PlacePage
from app.ui.theme.theme import Theme, set_kind
from app.words import mark, tr

_TICK_MS = 1_000
_HIDDEN = "•" * 12
_PORTS = 65_535
_CROWDED = mark("Another program keeps many connections open without a request: the oldest ones are closed.")
_FIGURES = {
    "clients": mark("Connections"),
    "running": mark("Requests that run"),
    "waiting": mark("Requests that wait"),
    "rate": mark("Tokens"),
    "accepted": mark("Accepted guesses"),
}


class ServerPage(PlacePage):
    """Changes nothing by itself: what is pressed here `ProgramServer` does."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, tr("Other programs"))
        self._server, self._phone_server = workspace.program_server, workspace.phone_server
        self._settings = workspace.settings
        self._before = (0.0, 0)  # when tokens were counted last, and how many there were
        self._programs: list[ProgramSettings] = []
        self.switch_button = push_button("", self, self._switch)  # on or off
        self.head.addWidget(self.switch_button)
        self._lead = PlainLabel(
            tr(
                "Editors, agents and scripts of this computer can ask the model that is loaded here, by the protocols "
                "of OpenAI, Anthropic and Ollama. Your own messages go first. Web pages and other computers are not "
                "let in, and no word of a request is logged."
            ),
            kind="sub",
            wrap=True,
        )
        self._sentence = PlainLabel(kind="strong", wrap=True)
        self._access, column = _panel(None)
        self._address = ElidedLabel(kind="label", parent=self._access)
        self._key = ElidedLabel(kind="label", parent=self._access)
        self._key_note = PlainLabel(kind="small", wrap=True)
        # Copy buttons of address and key, and of the settings of each program
        self.copy_buttons = {
            "address": push_button(tr("Copy"), self._access, self._copy_address),
            "key": push_button(tr("Copy"), self._access, self._copy_key),
        }
        self.copy_buttons["address"].setAccessibleName(tr("Copy the address"))
        self.copy_buttons["key"].setAccessibleName(tr("Copy the key"))
        self.new_key_button = push_button(tr("New key"), self._access, self._make_key)
        self.new_key_button.setToolTip(tr("The old key stops working"))
        filled(
            column,
            filled(
                QHBoxLayout(),
                (_titled(tr("Address"), self._address), 1),
                self.copy_buttons["address"],
                spacing=8,
            ),
            PlainLabel(
                tr("Programs that speak Anthropic's or Ollama's protocol take it without /v1."),
                self._access,
                kind="small",
                wrap=True,
            ),
            filled(
                QHBoxLayout(),
                (_titled(tr("Key"), self._key), 1),
                self.copy_buttons["key"],
                self.new_key_button,
                spacing=8,
            ),
            self._key_note,
        )
        self._place, column = _panel(None)
        # Port on which the server listens
        self.port = QLineEdit(str(self._settings.server_port), self._place)
        self.port.setAccessibleName(tr("Port"))
        self.port.setMaximumWidth(theme.type.px(96))
        self.port.editingFinished.connect(self._choose_port)
        words = PlainLabel(tr("Port of this computer, 1 to 65535"), kind="label", wrap=True)
        filled(column, filled(QHBoxLayout(), (words, 1), self.port, spacing=8))
        self._now, column = _panel(tr("Now"))
        self.figures = {name: PlainLabel(kind="label") for name in _FIGURES}
        row = Flow(24)
        for name, label in self.figures.items():
            row.addWidget(_titled(tr(_FIGURES[name]), label))
        column.addLayout(row)
        self._copies, self._rows = _panel(tr("Settings of programs"))
        self.phones = PhonePanel(theme, workspace.phone_server, self)  # the part for phones
        self.phones.said.connect(self.said)
        for part in (self._lead, self._sentence, self._access, self._place, self._now, self._copies, self.phones):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._count)
        self._server.changed.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        state = self._server.state
        on, runs = self._server.on, state.phase is ServerPhase.ON
        self.switch_button.setText(tr("Switch off") if on else tr("Switch on"))
        set_kind(self.switch_button, "" if on else "primary")
        self._sentence.setText(_sentence(state))
        self._address.setText(f"{state.address}/v1")
        self._key.setText(state.key if state.key_new else _HIDDEN)
        self._key_note.setText(_key_note(state))
        for panel in (self._access, self._now, self._copies):
            panel.setVisible(runs)
        if runs:
            self._show_programs(settings_of_programs(state))
            self._before = (0.0, 0)
            self._count()
            self._timer.start()
        else:
            self._timer.stop()

    def _show_programs(self, programs: list[ProgramSettings]) -> None:
        if not self._programs:
            for number, program in enumerate(programs):
                row = QWidget(self._copies)
                name = PlainLabel(program.name, row, kind="label", wrap=True)
                place = PlainLabel(program.place, row, kind="small", wrap=True)
                words = filled(QVBoxLayout(), name, place, spacing=2)
                button = push_button(tr("Copy"), row, lambda _=False, at=number: self._copy_settings(at))
                button.setAccessibleName(tr("Copy the settings for {program}", program=program.name))
                self.copy_buttons[program.name] = button
                filled(QHBoxLayout(row), (words, 1), button, margins=0, spacing=8)
                self._rows.addWidget(row)
        self._programs = programs

    @Slot()
    def _count(self) -> None:
        now, moment = self._server.figures(), time.monotonic()
        if now is None:
            return
        then, tokens = self._before
        rate = (now.tokens - tokens) / (moment - then) if then else 0.0
        self._before = moment, now.tokens
        self._sentence.setText(tr(_CROWDED) if now.crowded else _sentence(self._server.state))
        for name, text in (
            ("clients", figures.whole(now.clients)),
            ("running", figures.whole(now.running)),
            ("waiting", figures.whole(now.waiting)),
            ("rate", figures.speed(rate) if rate else "–"),
            ("accepted", figures.percent(now.accepted / now.drafted) if now.drafted else "–"),
        ):
            self.figures[name].setText(text)

    @Slot()
    def _switch(self) -> None:
        self._server.switch(not self._server.on)

    @Slot()
    def _choose_port(self) -> None:
        text = self.port.text().strip()
        port = int(text) if text.isdecimal() and len(text) <= len(str(_PORTS)) else 0
        if 1 <= port <= _PORTS:
            changed = port != self._settings.server_port
            self._server.choose_port(port)
            if changed:
                self._phone_server.again()
            return
        self.port.setText(str(self._settings.server_port))
        self.said.emit(tr("Choose a port from 1 to 65535."), False)

    @Slot()
    def _make_key(self) -> None:
        self._server.again(new_key=True)

    @Slot()
    def _copy_address(self) -> None:
        self._copy(self._address.text(), tr("The address is copied."))

    @Slot()
    def _copy_key(self) -> None:
        self._copy(self._server.state.key, tr("The key is copied."))

    def _copy_settings(self, number: int) -> None:
        program = self._programs[number]
        self._copy(program.text, tr("The settings for {program} are copied, with the key.", program=program.name))

    def _copy(self, text: str, sentence: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.said.emit(sentence, False)


def _sentence(state: ServerState) -> str:
    if state.phase is ServerPhase.STARTING:
        return tr("It begins as soon as the model is loaded.")
    if state.phase is ServerPhase.ON:
        return tr("Programs are answered with {model}.", model=state.model)
    return state.sentence or tr("The server is off.")


def _key_note(state: ServerState) -> str:
    if not state.key_kept:
        return tr("This system has no keyring: the next start has another key.")
    if state.key_new:
        return tr("Copy it now: from the next start on it is not shown any more, but can be copied.")
    return tr("It is kept in the system's keyring.")


def _panel(title: str | None) -> tuple[QFrame, QVBoxLayout]:
    panel = QFrame()
    panel.setProperty("kind", "panel")
    column = filled(QVBoxLayout(panel), margins=(16, 14, 16, 16), spacing=12)
    if title is not None:
        column.addWidget(PlainLabel(title, panel, kind="section"))
    return panel, column


def _titled(title: str, value: QWidget) -> QWidget:
    both = QWidget()
    filled(QVBoxLayout(both), PlainLabel(title, both, kind="small"), value, margins=0, spacing=2)
    return both
