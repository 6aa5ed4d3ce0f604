"""The middle of the window: one conversation, its header, transcript and composer, and what is asked of its turns."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.conversation import Conversation, Message
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.library import TRASH_DAYS
from app.ui.chat_page.empty_chat import ContinueLine, EmptyState, HelpLine
from app.ui.chat_page.header import Header, ModelMenus, draft_words
from app.ui.chat_page.link_question import open_link
from app.ui.composer.composer import Composer
from app.ui.composer.unsent_message import Attaching, MessageSize, UnsentText
from app.ui.parts import PlainLabel, filled
from app.ui.theme.theme import Theme, set_kind
from app.ui.transcript.message_actions import Action
from app.ui.transcript.message_column import COLUMN_PX, NARROW_PX
from app.ui.transcript.transcript import Transcript
from app.words import mark, tr
from engine.errors import TenonError
from engine.messages import Attachment

_FOOTER = mark("Runs on this computer. Replies can be wrong, so check what matters.")
_TO_SERVER = mark(
    "What you write and attach, pictures too, goes to {server}, {address}. Replies can be wrong, so check what matters."
)
_TO_PROGRAM = mark(
    "What you write and attach, pictures too, goes to {server}, a program of this computer, {address}. Replies can be "
    "wrong, so check what matters."
)
_TO_SERVER_READABLE = mark(
    "What you write and attach, pictures too, goes to {server}, {address}, unencrypted: others on the network can read "
    "it. Replies can be wrong, so check what matters."
)
# Title, model and buttons have no room beside each other in a page narrower than this.
_CROWDED_PX = 480
_COMPOSER_PX = 560


class TurnRequests(QObject):
    """The buttons under messages, the arrows between versions, and edited messages."""

    said = Signal(str, bool)  # a sentence for the user, and whether it stays
    message_deleted = Signal(str)  # a sentence that says so
    compare_requested = Signal(int)  # a message's id
    deleting = Signal()  # a message is about to go
    left = Signal()  # the message that had the keyboard is no longer there

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        # The conversation that is shown; None for a blank one, which has no turns
        self.conversation_id: int | None = None

    @Slot(int, object)
    def act(self, message_id: int, action: Action) -> None:
        """Do what a button under a message says."""
        current, workspace = self.conversation_id, self._workspace
        if current is None:
            return
        try:
            if action is Action.COMPARE:
                self.compare_requested.emit(message_id)
            elif action is Action.BRANCH:
                workspace.turns.branch(current, message_id)
            elif action is Action.CONTINUE:
                workspace.turns.continue_last(current)
            elif action is Action.DELETE:
                self._delete(current, message_id)
            elif action is Action.REGENERATE or self._has_text(current, message_id):
                # The written text stays as a version of its own.
                workspace.turns.regenerate(current, message_id)
            else:
                workspace.turns.retry(current)
        except TenonError as error:
            self.said.emit(error.message, True)

    @Slot(int)
    def choose_alternative(self, message_id: int) -> None:
        """Show another version of a message, and what follows it."""
        if self.conversation_id is not None:
            self._workspace.turns.choose(self.conversation_id, message_id)

    @Slot(int, str)
    def edit(self, message_id: int, text: str) -> None:
        """Send another wording of a message, or keep one of a reply."""
        if self.conversation_id is None:
            return
        try:
            self._workspace.turns.edit(self.conversation_id, message_id, text)
        except TenonError as error:
            self.said.emit(error.message, True)
            return
        self.left.emit()

    def _has_text(self, conversation_id: int, message_id: int) -> bool:
        messages = self._workspace.library.messages(conversation_id)
        return any(message.id == message_id and message.content.strip() for message in messages)

    def _delete(self, conversation_id: int, message_id: int) -> None:
        several = len(self._workspace.library.alternatives(conversation_id, message_id)) > 1
        self.deleting.emit()
        if self._workspace.shelf.delete_message(conversation_id, message_id):
            self.left.emit()
            self.message_deleted.emit(
                tr("This version and what follows it are in the trash for {days} days.", days=TRASH_DAYS)
                if several
                else tr("The message is in the trash for {days} days.", days=TRASH_DAYS)
            )


class ChatPage(QWidget):
    """Shows one conversation, or a blank one, and passes on what the user does with it."""

    conversation_shown = Signal(object)  # its id, or None
    inspect_requested = Signal(int)  # a reply's id
    compare_requested = Signal(int)  # a message's id
    help_requested = Signal(str)  # an article's name; empty for the contents
    said = Signal(str, bool)  # a sentence for the user, and whether it stays
    went_on = Signal()  # to another chat or past the message that was typed: what was said of it is over
    trouble_met = Signal(object)  # ErrorReport, about the engine
    message_deleted = Signal(str)  # a sentence that says so

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace = workspace
        self.current: int | None = None  # the conversation that is shown; None for a blank one
        self._empty = True
        self._model_ref = ""  # the model whose figures are shown
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        theme.formulas.use(workspace.typesetter)
        theme.lexers.use(workspace.lexer_maker)
        theme.pictures = workspace.pictures
        engine = workspace.model.state
        self.header = Header(theme, engine, self)
        self.transcript = Transcript(theme, engine, self._alternatives)
        self.transcript.message_views.model_change = workspace.open_chat.model_change
        self.transcript.message_views.one_text = lambda: bool(workspace.open_chat.options().continues)
        self.empty_state = EmptyState(theme, engine)
        self._stack = QStackedWidget(self)
        self._greeting: QWidget = self.empty_state
        self._stack.addWidget(self.empty_state)
        self._stack.addWidget(self.transcript)
        self._turns = TurnRequests(workspace, self)
        self.composer = Composer(theme, self)
        self._unsent = UnsentText(workspace, self.composer)
        self.attaching = Attaching(workspace, self.composer, self._unsent)
        MessageSize(workspace, self.composer)
        self.footer = PlainLabel(self, kind="small", wrap=True)
        self.footer.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.help_line = HelpLine(theme, self)
        self.continue_line = ContinueLine(theme, self)
        self._place = filled(
            QVBoxLayout(),
            (self.help_line, 0, Qt.AlignmentFlag.AlignLeft),
            self.continue_line,
            self.composer,
        )
        filled(QVBoxLayout(self), self.header, (self._stack, 1), self._place, self.footer, margins=0, spacing=0)
        self.footer.setContentsMargins(8, 7, 8, 10)
        self._say_where(engine)
        ModelMenus(workspace, self.header.model_button, self.composer.draft_button, self)
        self._connect()
        self.open(None)

    @property
    def chat(self) -> Conversation | None:
        """The record of that conversation; None for a blank one."""
        return None if self.current is None else self._workspace.library.conversation(self.current)

    @property
    def messages(self) -> list[Message]:
        """Messages of the path that is shown, oldest first."""
        return [] if self.current is None else self._workspace.library.messages(self.current)

    def open(self, conversation_id: int | None) -> None:
        """Show a conversation from its end, or a blank one. What is typed stays with its conversation."""
        self.went_on.emit()
        self.current = self._turns.conversation_id = conversation_id
        self._workspace.open_chat.show(conversation_id)
        self.refresh_title()
        self._show_messages(self.messages)
        self._unsent.show(conversation_id)
        self.attaching.show()
        self.conversation_shown.emit(conversation_id)

    def hold(self, notice: QWidget) -> None:
        """Give a notice its place."""
        self._place.insertWidget(0, notice)

    def greet_with(self, greeting: QWidget | None) -> None:
        """Show something else where the transcript of a blank chat will be; None for the usual."""
        self._greeting = greeting or self.empty_state
        if self._stack.indexOf(self._greeting) < 0:
            self._stack.addWidget(self._greeting)
        self._set_empty(self._empty)

    def show_message(self, message_id: int) -> None:
        """Bring a message of this conversation into view, whichever branch it is on."""
        self._turns.choose_alternative(message_id)
        self.transcript.show_message(message_id)

    def forget(self, conversation_id: int) -> None:
        """Leave a conversation that was deleted if it is the one shown."""
        if conversation_id == self.current:
            self.open(None)

    def refresh_title(self) -> None:
        """Read the title again."""
        chat = self.chat
        self.header.set_title(tr("New chat") if chat is None else chat.title)
        self.refresh_options()

    @Slot()
    def refresh_options(self) -> None:
        """Read again what this chat sets for itself."""
        own = self._workspace.open_chat.options()
        self.header.set_own_options(not own.empty)
        self.continue_line.show_chat(self._workspace.model.state.only_continues, bool(own.continues))
        self._choose_placeholder()
        self.show_draft()

    def stop(self) -> None:
        """Stop this conversation's reply, running or queued."""
        if self.current is not None:
            self._workspace.replies.stop(self.current)

    def try_again(self, message_id: int) -> None:
        """Answer again what a failed reply was to answer."""
        self._turns.act(message_id, Action.RETRY)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _connect(self) -> None:
        workspace = self._workspace
        workspace.open_chat.said.connect(self._say_of_chat)
        workspace.turns.message_added.connect(self._message_added)
        workspace.replies.message_changed.connect(self._message_changed)
        workspace.replies.text_changed.connect(self._text_changed)
        workspace.replies.unconfirmed_changed.connect(self._unconfirmed_changed)
        workspace.replies.prefill_progress.connect(self._prefill_progress)
        workspace.turns.conversation_replaced.connect(self._conversation_replaced)
        workspace.turns.branched.connect(self.open)
        workspace.model.changed.connect(self._engine_changed)
        workspace.model.loaded.connect(workspace.plans.ask_for_chosen)
        workspace.plans.answered.connect(self._show_plan)
        workspace.model.loaded.connect(self._show_last_replies)
        workspace.model.changed.connect(self.show_draft)
        self.composer.send_requested.connect(self._send)
        self.help_line.opened.connect(self.help_requested)
        self.continue_line.chosen.connect(self._set_continues)
        self.empty_state.help_wanted.connect(self.help_requested)
        self.composer.stop_requested.connect(self.stop)
        self.composer.busy_send_refused.connect(self._explain_busy)
        self.composer.prompt.page_requested.connect(self.transcript.scroll_page)
        self.transcript.message_views.inspect_requested.connect(self.inspect_requested)
        self.transcript.message_views.action_requested.connect(self._turns.act)
        self.transcript.message_views.alternative_chosen.connect(self._turns.choose_alternative)
        self.transcript.message_views.edited.connect(self._turns.edit)
        self.attaching.said.connect(self.said)
        self._turns.said.connect(self.said)
        self._turns.deleting.connect(self.transcript.place.remember)
        self._turns.message_deleted.connect(self.message_deleted)
        self._turns.compare_requested.connect(self.compare_requested)
        self._turns.left.connect(self.composer.setFocus)
        self.transcript.message_views.link_activated.connect(self._open_link)
        self.transcript.message_views.tool_answered.connect(workspace.tools.answer)
        self.empty_state.example_chosen.connect(self._take_suggestion)
        for chosen in (self.header.model_button.model_chosen, self.composer.draft_button.draft_chosen):
            chosen.connect(self._focus_composer)  # the next thing is to write
        for changed in (
            self._workspace.drafts.chosen,
            self.composer.draft_button.draft_chosen,
            self.composer.draft_button.memory_chosen,
        ):
            changed.connect(self.show_draft)
        self.empty_state.example_chosen.connect(self._focus_composer)
        self._theme.changed.connect(self._fit)

    def _fit(self) -> None:
        narrow = self.window().width() < NARROW_PX or self.width() < _CROWDED_PX
        tight = self.width() < NARROW_PX
        margin = 12 if tight else 32
        width = min(self._theme.type.px(COLUMN_PX), self.width() - 2 * margin)
        left = (self.width() - width) // 2
        self._place.setContentsMargins(left, 0, self.width() - width - left, 0)
        self.footer.setVisible(self.height() > 420 or self._workspace.model.state.server is not None)
        self.header.set_narrow(narrow)
        self.composer.set_narrow(self.width() < _COMPOSER_PX)

    def _show_messages(self, messages: list[Message]) -> None:
        self.transcript.show_messages(messages)
        self._show_rest(messages)

    def _show_rest(self, messages: list[Message]) -> None:
        self._set_empty(not messages)
        self._offer_help(messages)
        self.composer.meter.set_usage(0, 0)
        self.composer.draft_button.set_running("")
        self.composer.set_busy(False)
        self._show_last_replies()
        self._show_plan()

    @Slot()
    def _show_last_replies(self) -> None:
        replies = [message for message in self.messages if message.role == "assistant"]
        for reply in replies[-2:]:  # a queued reply has no figures yet, the one before it has
            self._show_last_reply(reply)

    def _say_where(self, engine: EngineState) -> None:
        """Say where words go, before the first is sent; to a server it is said in every window, however low."""
        server = engine.server
        words = _FOOTER
        if server is not None:
            words = _TO_PROGRAM if server.here else _TO_SERVER_READABLE if server.readable else _TO_SERVER
        name, address = ("", "") if server is None else (server.name, server.address)
        self.footer.setText(tr(words, server=name, address=address))
        set_kind(self.footer, "small" if server is None else "notice")
        self.composer.draft_button.setVisible(server is None)  # a server has drafts of its own
        self._fit()

    @Slot()
    def show_draft(self) -> None:
        """Show what holds for the chosen model."""
        self.composer.draft_button.show_choice(self._workspace.draft(), self._workspace.memory())

    @Slot()
    def _show_plan(self) -> None:
        """Show what the plan says of the chosen draft, and Auto's planned mode until a reply says which one ran."""
        plan = self._workspace.plans.chosen
        self.header.set_engine(self._workspace.model.state, draft_words(plan, self._workspace.draft()))
        if plan is not None and not self.composer.draft_button.running:
            self.composer.draft_button.set_running(plan.chosen)

    def _set_empty(self, empty: bool) -> None:
        self._empty = empty
        self._stack.setCurrentWidget(self._greeting if empty else self.transcript)
        self._choose_placeholder()

    def _choose_placeholder(self) -> None:
        words = tr("Ask anything") if self._empty else tr("Ask a follow-up")
        if self._workspace.open_chat.options().continues:
            words = tr("Begin a text") if self._empty else tr("Write what comes next")
        if self._workspace.model.state.phase is EnginePhase.STOPPED:
            words = tr("Your next message starts the model again")
        self.composer.prompt.setPlaceholderText(words)

    def _offer_help(self, messages: list[Message]) -> None:
        """Offer an article where the last question is plainly about Tenon, which no model knows."""
        asked = [message.content for message in messages if message.role == "user"]
        if asked or not messages:
            self.help_line.answer(asked[-1] if asked else "")

    def _show_last_reply(self, reply: Message) -> None:
        self.composer.set_busy(reply.state.unfinished)
        if reply.statistics is not None:
            # The model may have been loaded with another context since, and another model counts tokens differently.
            limit = self._workspace.model.context_of(reply.model) or reply.statistics.context_limit
            goes_on = reply.state.unfinished or reply.model == self._workspace.model.state.model_ref
            self.composer.meter.set_usage(reply.statistics.context_used, limit if goes_on else 0)
            if reply.state.unfinished:  # one that is done may have been asked for in another mode
                self.composer.draft_button.set_running(reply.statistics.mode)

    # --- what the user does ---------------------------------------------------------------------------------

    @Slot(str)
    def ask(self, text: str) -> None:
        """Send a message in the conversation that is shown."""
        self._send(text, ())

    @Slot(str)
    def _take_suggestion(self, text: str) -> None:
        """Send it; a model that writes no chats goes on with it."""
        if self._workspace.model.state.only_continues:
            self._set_continues(True)
        self.ask(text)

    @Slot(str, object)
    def _send(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        before = self.current
        try:
            conversation_id = self._workspace.turns.send(before, text, attachments)
        except TenonError as error:
            self._unsent.put_back(text, attachments)
            self.said.emit(error.message, True)
            return
        self.went_on.emit()
        if before is None:
            # Messages may have come by signal before the id was known here: read them as they are now.
            self.current = self._turns.conversation_id = conversation_id
            self._unsent.go_along(conversation_id)
            self.attaching.go_along(conversation_id)
            self._workspace.open_chat.show(conversation_id)
            self._show_messages(self.messages)
            self.refresh_title()
            self.conversation_shown.emit(conversation_id)

    def _alternatives(self, message_id: int) -> list[int]:
        return [] if self.current is None else self._workspace.library.alternatives(self.current, message_id)

    @Slot(bool)
    def _set_continues(self, continues: bool) -> None:
        """Let the chat that is shown be one text, or go in turns again."""
        chat = self._workspace.open_chat
        chat.set_options(replace(chat.options(), continues=continues or None))
        self.refresh_options()
        self.transcript.show_messages(self.messages)
        self._focus_composer()

    @Slot()
    def _focus_composer(self) -> None:
        self.composer.setFocus()

    @Slot(str)
    def _say_of_chat(self, sentence: str) -> None:
        self.said.emit(sentence, True)

    @Slot()
    def _explain_busy(self) -> None:
        self.said.emit(tr("Your message stays here. Send it when this reply is done, or stop the reply first."), False)

    @Slot(QUrl)
    def _open_link(self, url: QUrl) -> None:
        refusal = open_link(self._theme, url, self)
        if refusal:
            self.said.emit(refusal, False)

    # --- what the workspace tells -----------------------------------------------------------------------------

    @Slot(object)
    def _message_added(self, message: Message) -> None:
        if message.conversation_id != self.current:
            return
        if self._empty:
            self._set_empty(False)
        self.transcript.add_message(message)
        self._offer_help([message])
        if message.role == "assistant":
            self._show_last_reply(message)

    @Slot(object)
    def _message_changed(self, message: Message) -> None:
        if message.conversation_id != self.current:
            return
        self.transcript.change_message(message)
        if message.role == "assistant" and self.transcript.is_last(message.id):
            self._show_last_reply(message)

    @Slot(object)
    def _text_changed(self, message: Message) -> None:
        if message.conversation_id == self.current:
            self.transcript.change_text(message)

    @Slot(int, int, str)
    def _unconfirmed_changed(self, conversation_id: int, message_id: int, text: str) -> None:
        if conversation_id == self.current:
            self.transcript.show_unconfirmed(message_id, text)

    @Slot(int, int, float, object)
    def _prefill_progress(
        self, conversation_id: int, message_id: int, fraction: float, seconds_left: float | None
    ) -> None:
        if conversation_id == self.current:
            self.transcript.set_prefill(message_id, fraction, seconds_left)

    @Slot(int)
    def _conversation_replaced(self, conversation_id: int) -> None:
        if conversation_id == self.current:
            messages = self.messages
            self.transcript.replace_messages(messages)
            self._show_rest(messages)

    @Slot()
    def _say_engine_sentence(self) -> None:
        sentence = self._workspace.model.state.sentence
        if not sentence or any(message.error == sentence for message in self.messages):
            return
        trouble = self._workspace.model.state.trouble
        if trouble is None:
            self.said.emit(sentence, True)
        else:
            self.trouble_met.emit(trouble)

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        if state.sentence and self._workspace.replies.active_conversation is None:
            # Once everybody has heard of it: the reply that was cut may say the same, and once is enough.
            QTimer.singleShot(0, self, self._say_engine_sentence)
        if state.model_ref != self._model_ref:
            self._model_ref = state.model_ref
            self.composer.draft_button.set_running("")
            self._show_last_replies()
        self._show_plan()
        self.refresh_options()
        self._say_where(state)
        self.transcript.message_views.set_engine(state)
        self.empty_state.set_engine(state)
