"""Tools: which ones models may ask for, what is allowed of each, servers to add, and the record of what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.bridge.tools import ToolDesk
from app.bridge.workspace import Workspace
from app.ui import figures
from app.ui.chat_page.link_question import open_link
from app.ui.form_fields import ListBox, LongTextEdit, TickBox
from app.ui.parts import Flow, PlainLabel, filled, push_button
from app.ui.place_page import PlacePage
from app.ui.theme.theme import Theme
from app.ui.transcript.tool_card import PlainView
from app.words import mark, tr
from engine.errors import TenonError
from engine.sentences import legible

_FIELD_PX = 72
_MOST_ACTS = 200
_LONGEST = 300
_EXAMPLE = "npx -y @modelcontextprotocol/server-filesystem ~/Documents"
_OWN = {
    "folder": (
        mark("Read a folder"),
        mark("The model can list, read and search the files in one folder that you choose, and nothing outside it."),
    ),
    "page": (
        mark("Fetch a page"),
        mark("The model can read the text of a page of the web. Pages of your own network are out of its reach."),
    ),
    "search": (
        mark("Search the web"),
        mark("The model can search, by a server of SearXNG that you name, or with your own key of Brave or Tavily."),
    ),
}
_ENGINES = (("", "SearXNG"), ("brave", "Brave"), ("tavily", "Tavily"))


class ToolRow(QWidget):
    """A tool of a server: a switch, what it says of itself, and whether it is asked for."""

    def __init__(self, page: ToolsPage, theme: Theme, desk: ToolDesk, server: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._page, self._desk, self._server, self._name = page, desk, server, name
        self.box = TickBox(theme, str(legible(name)), self)
        self.box.clicked.connect(self._switch)
        self._about = PlainLabel(self, kind="small", wrap=True)
        self._state = PlainLabel(self, kind="small", wrap=True)
        self.again_button = push_button(tr("Ask again"), self, self._ask_again, kind="link")
        self.again_button.setAccessibleName(tr("Ask before each call of {name} again", name=name))
        state = filled(QHBoxLayout(), (self._state, 1), self.again_button, spacing=8)
        filled(QVBoxLayout(self), self.box, self._about, state, margins=0, spacing=2)

    def refresh(self) -> None:
        """Read the tool again."""
        tool = self._desk.tool(self._server, self._name)
        if tool is None:
            return
        self.box.setChecked(tool.on and not tool.problem)
        self.box.setEnabled(not tool.problem)
        about = str(legible(" ".join(tool.description.split())))
        self._about.setText(tool.problem or (about if len(about) <= _LONGEST else f"{about[:_LONGEST]}…"))
        self._about.setVisible(bool(self._about.text()))
        words = tr("Called without a question.") if tool.is_allowed else tr("Asks before each call.")
        if tool.reads_only:
            said = tr("Its server says that it changes nothing; you have confirmed it.")
            words += " " + (said if tool.is_allowed else tr("Its server says that it changes nothing."))
        self._state.setText(words)
        self.again_button.setVisible(tool.is_allowed)

    @Slot(bool)
    def _switch(self, on: bool) -> None:
        self._change(on=on)

    @Slot()
    def _ask_again(self) -> None:
        self._change(allowed="")

    def _change(self, **changes: Any) -> None:
        self._page.try_to(
            lambda: self._desk.change_tool(self._server, self._name, lambda tool: replace(tool, **changes))
        )
        self.refresh()


class ServerPanel(QFrame):
    """A server, or one of Tenon's own tools, with a switch and what belongs to it."""

    def __init__(self, page: ToolsPage, theme: Theme, desk: ToolDesk, name: str) -> None:
        super().__init__()
        self._page, self._theme, self._desk, self._name = page, theme, desk, name
        self.setProperty("kind", "panel")
        title, about = map(tr, _OWN.get(name, (name, "")))
        own = name in _OWN
        self.rows: dict[str, ToolRow] = {}
        self.box = TickBox(theme, title, self)  # switches it
        self.box.clicked.connect(self._switch)
        self._about = PlainLabel(about, self, kind="sub", wrap=True)
        self._place = PlainLabel(self, kind="small", wrap=True)
        buttons = Flow(8)
        self.connect_button = push_button(tr("Connect"), self, self._connect)
        self.remove_button = push_button(tr("Remove"), self, self._remove)
        self.folder_button = push_button(tr("Choose a folder..."), self, self._choose_folder)
        for button, there in (
            (self.folder_button, name == "folder"), (self.connect_button, not own), (self.remove_button, not own),
        ):  # fmt: skip
            button.setVisible(there)
            buttons.addWidget(button)
        self._column = filled(QVBoxLayout(self), margins=(16, 14, 16, 16), spacing=10)
        filled(self._column, self.box, self._about, self._place)
        if name == "search":
            self._column.addLayout(self._search_fields())
        self._column.addLayout(buttons)
        self.refresh()

    def refresh(self) -> None:
        """Read the server again."""
        server = self._desk.server(self._name)
        if server is None:
            return
        busy = self._name in self._desk.busy
        self.box.setChecked(server.on and server.ready)
        self.box.setEnabled(server.ready and (server.own or bool(server.tools)))
        place = " ".join([server.place, *server.arguments])
        if server.kind == "folder":
            place = place or tr("No folder is chosen.")
        elif server.kind in ("page", "search"):
            place = ""
        self._place.setText(tr("Its tools are being asked for...") if busy else place[:_LONGEST])
        self._place.setVisible(bool(self._place.text()))
        self._about.setVisible(bool(self._about.text()))
        self.connect_button.setEnabled(not busy)
        if list(self.rows) != [tool.name for tool in server.tools]:
            for row in self.rows.values():
                row.hide()
                row.deleteLater()
            self.rows = {
                tool.name: ToolRow(self._page, self._theme, self._desk, self._name, tool.name, self)
                for tool in server.tools
            }
            for row in self.rows.values():
                self._column.addWidget(row)
        for row in self.rows.values():
            row.refresh()
            row.setVisible(server.on)

    def _search_fields(self) -> QVBoxLayout:
        server = self._desk.server(self._name)
        self.engine = ListBox(self._theme, self, 8)
        self.engine.setAccessibleName(tr("Search engine"))
        for key, title in _ENGINES:
            self.engine.addItem(title, key)
        self.field = QLineEdit(self)
        self.field.setMaxLength(1000)
        self.save_button = push_button(tr("Keep"), self, self._keep_search)
        place = "" if server is None else server.place
        self.engine.setCurrentIndex(max(self.engine.findData(place), 0))
        self.engine.currentIndexChanged.connect(self._name_field)
        self._name_field()
        if not self.engine.currentData():
            self.field.setText(place)
        row = filled(QHBoxLayout(), (self.field, 1), self.save_button, spacing=8)
        return filled(QVBoxLayout(), (self.engine, 0, Qt.AlignmentFlag.AlignLeft), row, spacing=8)

    @Slot()
    def _name_field(self) -> None:
        by_key = bool(self.engine.currentData())
        words = tr("Your key") if by_key else tr("Address of a SearXNG server")
        self.field.clear()
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self.field.setEchoMode(QLineEdit.EchoMode.Password if by_key else QLineEdit.EchoMode.Normal)

    @Slot()
    def _keep_search(self) -> None:
        engine, typed = self.engine.currentData(), self.field.text().strip()
        self._page.try_to(lambda: self._desk.set_own("search", engine or typed, typed if engine else ""))
        if engine:
            self.field.clear()

    @Slot()
    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self.window(), tr("Choose a folder"))
        if folder:
            self._page.try_to(lambda: self._desk.set_own("folder", folder))

    @Slot(bool)
    def _switch(self, on: bool) -> None:
        self._page.try_to(lambda: self._desk.switch(self._name, on))
        self.refresh()

    @Slot()
    def _connect(self) -> None:
        self._desk.connect_server(self._name)

    @Slot()
    def _remove(self) -> None:
        self._page.try_to(lambda: self._desk.remove(self._name))


class ToolsPage(PlacePage):
    """Changes nothing by itself: what is pressed here `ToolDesk` does."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, tr("Tools"))
        self._desk = workspace.tools
        self.panels: dict[str, ServerPanel] = {}  # by the names of servers
        lead = tr(
            "Models can ask for the tools that are switched on here. Before each call you are asked, with the chat in "
            "view, unless you have allowed the tool. What a tool returns goes to the model, which may do what it reads "
            "there: so allow only what you would let a stranger do."
        )
        self.column.addWidget(PlainLabel(lead, kind="sub", wrap=True))
        self._servers = QVBoxLayout()
        self._servers.setSpacing(16)
        self.column.addLayout(self._servers)
        self._add_fields()
        self._add_record()
        self.column.addStretch(1)
        self._desk.changed.connect(self.refresh)
        self._desk.sign_in.connect(self._open)
        self.refresh()

    def try_to(self, act: Callable[[], None]) -> bool:
        """Do something, or say why not."""
        try:
            act()
        except TenonError as error:
            self.said.emit(error.message, True)
            return False
        return True

    @Slot()
    def refresh(self) -> None:
        """Show the servers as they are now."""
        names = [server.name for server in self._desk.servers]
        for name in [name for name in self.panels if name not in names]:
            panel = self.panels.pop(name)
            panel.hide()
            panel.deleteLater()
        for name in names:
            if name not in self.panels:
                self.panels[name] = ServerPanel(self, self._theme, self._desk, name)
                self._servers.addWidget(self.panels[name])
            self.panels[name].refresh()
        if self.isVisible():  # it reads a file
            self._show_acts()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_acts()

    def _add_fields(self) -> None:
        panel, column = _panel(tr("Add a server of tools"))
        words = tr(
            "A server of the Model Context Protocol (MCP) is a program of others, which can do all that you can do "
            "here: add only what you trust. Paste its command, its address, or the JSON of mcpServers."
        )
        plain = tr(
            "A key in a command, or in an address before its question mark, is kept in a file as it stands there: put "
            "it into env or headers of the JSON, which the system's keyring keeps."
        )
        self.field = LongTextEdit(panel)
        self.field.setAccessibleName(tr("Command, address or JSON"))
        self.field.setPlaceholderText(tr("For example {example}", example=_EXAMPLE))
        self.field.setProperty("kind", "card")
        self.field.setTabChangesFocus(True)
        self.field.setFixedHeight(self._theme.type.px(_FIELD_PX))
        self.add_button = push_button(tr("Add"), panel, self._add, kind="primary")
        filled(
            column,
            PlainLabel(words, panel, kind="sub", wrap=True),
            PlainLabel(plain, panel, kind="small", wrap=True),
            self.field,
            (self.add_button, 0, Qt.AlignmentFlag.AlignLeft),
        )
        self.column.addWidget(panel)

    def _add_record(self) -> None:
        panel, column = _panel(tr("What tools have done"))
        self.record = PlainView(self._theme, tr("What tools have done"), panel)
        self.erase_button = push_button(tr("Erase"), panel, self._desk.erase_acts)
        self.erase_button.setAccessibleName(tr("Erase what tools have done"))
        filled(column, self.record, (self.erase_button, 0, Qt.AlignmentFlag.AlignLeft))
        self.column.addWidget(panel)

    @Slot()
    def _show_acts(self) -> None:
        acts = self._desk.acts()
        lines = [
            f"{datetime.fromtimestamp(act.at):%Y-%m-%d %H:%M:%S}  {act.server}: {act.tool} {act.arguments}  "
            f"{figures.duration(act.seconds * 1e3)}" + (f"  {act.problem}" if act.problem else "")
            for act in acts[:_MOST_ACTS]
        ]
        self.record.show_text("\n".join(" ".join(line.split()) for line in lines) or tr("Nothing yet."))
        self.record.fit(max(self.record.width(), 200))
        self.erase_button.setEnabled(bool(acts))

    @Slot()
    def _add(self) -> None:
        text = self.field.toPlainText()
        if text.strip() and self.try_to(lambda: self._desk.add(text)):
            self.field.setPlainText("")

    @Slot(str)
    def _open(self, address: str) -> None:
        refusal = open_link(self._theme, QUrl(address), self)
        if refusal:
            self.said.emit(refusal, False)


def _panel(title: str) -> tuple[QFrame, QVBoxLayout]:
    panel = QFrame()
    panel.setProperty("kind", "panel")
    column = filled(QVBoxLayout(panel), margins=(16, 14, 16, 16), spacing=12)
    column.addWidget(PlainLabel(title, panel, kind="section"))
    return panel, column
