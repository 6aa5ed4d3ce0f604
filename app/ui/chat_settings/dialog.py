"""The settings of one chat: the dialog, and the ways that open it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QLocale, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.chat.conversation import ConversationOptions
from app.chat.engine_options import ADVISED, sampling_in_force
from app.chat.modes import Choice, draft_words
from app.settings.setting import Number
from app.settings.settings import Settings
from app.ui import figures
from app.ui.chat_page.page import ChatPage
from app.ui.chat_settings.fields import ChoiceList, PresetRow, ThinkingField
from app.ui.commands import CommandGroup, Commands
from app.ui.form_fields import LongTextEdit, TickBox
from app.ui.parts import STRETCH, PlainLabel, filled, push_button, scrolled, turn
from app.ui.settings.number_input import NumberBox
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.words import mark, tr
from engine.messages import ModelAdvice
from engine.modes import AUTO, MEMORY_TITLES

_WIDTH_PX = 560
_FIELD_PX = 190
_SIDE_PX = 20
_NARROW_PX = 460
_PROMPT_LINES = 6
_AS_IN_SETTINGS = mark("As in Settings")
_SEVERAL = "several"


class ChatSettingsDialog(RingedDialog):
    """Changes nothing before Apply, but presets, which are kept at once.

    Args:
        workspace: Presets, drafts and the settings that hold where the chat says nothing.
        options: Options that the chat sets now.
        title: The chat's; empty for one that is to come.
    """

    applied = Signal(object)  # ConversationOptions

    def __init__(
        self, theme: Theme, workspace: Workspace, options: ConversationOptions, title: str, parent: QWidget
    ) -> None:
        super().__init__(theme, tr("Chat settings"), parent)
        self._theme = theme
        self._options = options
        self._rows: list[QBoxLayout] = []
        self._helps: list[QLabel] = []
        page = QWidget()
        page.setProperty("kind", "column")
        self._column = filled(QVBoxLayout(page), margins=(_SIDE_PX, 6, _SIDE_PX, 8), spacing=14)
        settings = workspace.settings.of_model(workspace.settings.model)
        about = (
            tr("For “{title}” only. What you leave empty is taken from Settings.", title=title)
            if title
            else tr("For the new chat only. What you leave empty is taken from Settings.")
        )
        lead = PlainLabel(about, page, kind="sub", wrap=True)
        self._helps.append(lead)
        self.presets = PresetRow(theme, workspace, self.options, page)
        self.presets.chosen.connect(self._show)
        self.own_prompt = TickBox(theme, tr("A system prompt of its own"), page)
        self.prompt = LongTextEdit(page)
        self.prompt.setProperty("kind", "field")
        self.prompt.setAccessibleName(tr("System prompt"))
        self.prompt.setTabChangesFocus(True)
        self.prompt.setPlaceholderText(
            settings.system_prompt or tr("Text that the model reads before the chat; blank for none.")
        )
        self.prompt.setFixedHeight(theme.type.px(18) * _PROMPT_LINES + 14)
        self.own_prompt.toggled.connect(self.prompt.setEnabled)
        self.temperature = NumberBox(Number(0, 5, 2, 0.05, empty=_AS_IN_SETTINGS), page)
        self.temperature.setAccessibleName(tr("Temperature"))
        tokens = Number(0, 1 << 24, step=64, unit=mark("tokens"), empty=_AS_IN_SETTINGS)
        self.max_tokens = NumberBox(tokens, page)
        self.max_tokens.setAccessibleName(tr("Longest reply"))
        self.draft = ChoiceList(theme, tr("Draft"), page, tr(_AS_IN_SETTINGS))
        self.memory = ChoiceList(theme, tr("Memory"), page, tr(_AS_IN_SETTINGS))
        self._drafts = workspace.drafts.choices(options.drafts or ())
        self._memories = workspace.memories(options.memory or AUTO)
        advice = workspace.advice()
        line = QFrame(page)
        line.setProperty("kind", "rule")
        line.setFixedHeight(1)
        prompt = filled(QVBoxLayout(), self.own_prompt, self.prompt, spacing=6)
        filled(self._column, lead, self.presets, line, prompt)
        self._add(
            page,
            tr("Temperature"),
            tr(
                "How freely words are chosen: 0 takes the likeliest each time. In Settings: {value}.",
                value=_temperature_words(settings, advice),
            ),
            self.temperature,
        )
        longest = (
            tr("until the context is full")
            if not settings.max_tokens
            else tr("{value} tokens", value=figures.whole(settings.max_tokens))
        )
        self._add(
            page,
            tr("Longest reply"),
            tr("0 goes on until the context is full. In Settings: {value}.", value=longest),
            self.max_tokens,
        )
        self._add(
            page,
            tr("Draft"),
            tr(
                "What guesses words ahead. In Settings: {value}.",
                value=draft_words(settings.drafts_of(settings.model)),
            ),
            self.draft,
        )
        self._add(
            page,
            tr("Memory"),
            tr("Where the model lies. In Settings: {value}.", value=tr(MEMORY_TITLES[settings.memory])),
            self.memory,
        )
        control = "" if advice is None else advice.thinking
        self.thinking: ThinkingField | None = None
        if control:
            self.thinking = ThinkingField(theme, control, page)
            self._add(
                page,
                tr("Thinking"),
                tr("Thoughts are folded above the answer and never sent back to the model."),
                self.thinking,
            )
        self._column.addStretch(1)
        scroll = scrolled(page, self)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus
        self.reset_button = push_button(tr(_AS_IN_SETTINGS), self, self._reset)
        self.reset_button.setToolTip(tr("Remove all settings of this chat"))
        self.cancel_button = push_button(tr("Cancel"), self, self.reject)
        self.apply_button = push_button(tr("Apply"), self, self._apply, kind="primary", default=True)
        buttons = filled(
            QHBoxLayout(),
            *(self.reset_button, STRETCH, self.cancel_button, self.apply_button),
            margins=(_SIDE_PX, 12, _SIDE_PX, 14),
            spacing=8,
        )
        filled(QVBoxLayout(self), (scroll, 1), buttons, margins=(0, 12, 0, 0), spacing=0)
        self._show(options)
        self.presets.show_like(options)
        self.resize(self.sizeHint())

    def options(self) -> ConversationOptions:
        """Values of the fields."""
        longest = self.max_tokens.number()
        return replace(
            self._options,
            system_prompt=self.prompt.toPlainText() if self.own_prompt.isChecked() else None,
            max_tokens=None if longest is None else int(longest),
            sampling=replace(self._options.sampling, temperature=self.temperature.number()),
            drafts=self._chosen_drafts(),
            memory=self.memory.chosen(),
            thinking=self._options.thinking if self.thinking is None else self.thinking.thinking(),
        )

    def _chosen_drafts(self) -> tuple[str, ...] | None:
        key = self.draft.chosen()
        if key == _SEVERAL:
            return self._options.drafts
        return None if key is None else (key,) if key else ()

    def sizeHint(self) -> QSize:
        room = self.room(40)
        width = min(self._theme.type.px(_WIDTH_PX), room.width())
        height = self._column.totalHeightForWidth(width) + self._theme.type.px(84)
        return QSize(width, height).boundedTo(room.expandedTo(QSize(340, 300)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        for row in self._rows:
            turn(row, narrow)
        self.presets.set_narrow(narrow)
        room = self.width() - 2 * _SIDE_PX - 12
        beside = room - (0 if narrow else self._theme.type.px(_FIELD_PX) + 8)
        for words in self._helps:  # Qt's layouts forget wrapped lines when the direction changes
            words.setFixedHeight(words.heightForWidth(room if words is self._helps[0] else beside))

    def _add(self, page: QWidget, title: str, help_text: str, field: QWidget) -> None:
        label = PlainLabel(title, page, kind="label")
        label.setBuddy(field)
        told = PlainLabel(help_text, page, kind="small", wrap=True)
        self._helps.append(told)
        words = filled(QVBoxLayout(), label, told, spacing=2)
        field.setFixedWidth(self._theme.type.px(_FIELD_PX))
        field.setAccessibleDescription(help_text)
        row = filled(QHBoxLayout(), *((words, 1), (field, 0, Qt.AlignmentFlag.AlignVCenter)), spacing=8)
        self._rows.append(row)
        self._column.addLayout(row)

    @Slot(object)
    def _show(self, options: ConversationOptions) -> None:
        self._options = options
        own = options.system_prompt is not None
        self.own_prompt.setChecked(own)
        self.prompt.setEnabled(own)
        self.prompt.setPlainText(options.system_prompt or "")
        self.temperature.set_number(options.sampling.temperature)
        self.max_tokens.set_number(options.max_tokens)
        drafts, key = self._drafts, None if options.drafts is None else "".join(options.drafts)
        if options.drafts and len(options.drafts) > 1:  # which the list cannot make
            drafts, key = [*drafts, Choice(_SEVERAL, draft_words(options.drafts))], _SEVERAL
        self.draft.show_choices(drafts, key)
        self.memory.show_choices(self._memories, options.memory)
        if self.thinking is not None:
            self.thinking.show_thinking(options.thinking)

    @Slot()
    def _reset(self) -> None:
        self._show(ConversationOptions())
        self.presets.forget()

    @Slot()
    def _apply(self) -> None:
        self.applied.emit(self.options())
        self.accept()


def _temperature_words(settings: Settings, advice: ModelAdvice | None) -> str:
    """Return the temperature that holds if the chat has none, and its origin."""
    if settings.temperature is not None:
        return QLocale().toString(settings.temperature, "f", 2)
    chosen = {name: getattr(settings, name) for name in ADVISED}
    number = None if advice is None else sampling_in_force(chosen, advice).get("temperature")
    if number is None:
        return tr("what the model's makers advise")
    value = QLocale().toString(number.value, "f", 2)
    if number.origin == "makers":
        return tr("{value}, as the model's makers advise", value=value)
    return tr("{value}, the usual value", value=value)


class ChatSettings(QObject):
    """Opens the dialog for the chat that is shown, or for another one of the list."""

    def __init__(self, theme: Theme, workspace: Workspace, sidebar: Sidebar, page: ChatPage) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._page = page
        page.header.options_requested.connect(self.open_shown)
        sidebar.list.options_requested.connect(self.open)
        workspace.shelf.changed.connect(page.refresh_options)
        workspace.shelf.presets_changed.connect(page.refresh_options)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        keys = ("Ctrl+Shift+S",)
        commands.add("chat-settings", tr("Chat settings..."), self.open_shown, CommandGroup.CHAT, keys)

    @Slot()
    def open_shown(self) -> None:
        """Open the settings of the chat that is shown, or of the one to come."""
        title = "" if self._page.chat is None else self._page.chat.title
        dialog = self._make(self._workspace.open_chat.options(), title)
        dialog.applied.connect(self._apply_to_shown)
        dialog.open()

    @Slot(int)
    def open(self, conversation_id: int) -> None:
        """Open the settings of a chat of the list, without showing that chat."""
        chat = self._workspace.library.conversation(conversation_id)
        if chat is None or conversation_id == self._page.current:
            self.open_shown()
            return
        dialog = self._make(chat.options, chat.title)
        dialog.applied.connect(lambda options: self._workspace.shelf.set_options(conversation_id, options))
        dialog.open()

    def _make(self, options: ConversationOptions, title: str) -> ChatSettingsDialog:
        if self._workspace.advice() is None:  # a model that was never loaded: the next time it is known
            self._workspace.plans.ask_for_chosen()
        return ChatSettingsDialog(self._theme, self._workspace, options, title, self._page.window())

    @Slot(object)
    def _apply_to_shown(self, options: ConversationOptions) -> None:
        self._workspace.open_chat.set_options(options)
        self._page.refresh_options()
