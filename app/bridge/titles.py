"""Titles that the model gives: asked for after a chat's first reply, while nothing else is wanted of the engine."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.question import Question
from app.bridge.replies import Replies
from app.bridge.shelf import Shelf
from app.chat.conversation import Conversation, MessageState
from app.chat.history import history_for
from app.chat.library import Library
from app.chat.title import model_title, title_of
from app.settings.settings import Settings
from engine.messages import (
    DEFAULT_MODEL,
    ChatMessage,
    Finished,
    Generate,
    SamplingOptions,
    Thinking,
)

_WISH = "Give this chat a title of at most six words. Answer with the title and nothing else."
_MAX_TOKENS = 24


class Titles(QObject):
    """Gives way to every message: what it asked for is cancelled, and never asked for again.

    A title that the user gave stays. Only the model that is in memory is asked.
    """

    def __init__(
        self,
        library: Library,
        shelf: Shelf,
        settings: Settings,
        client: EngineClient,
        replies: Replies,
        model: ModelInEngine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._shelf = shelf
        self._settings = settings
        self._client = client
        self._model = model
        self._question: Question | None = None
        replies.completed.connect(self._consider)
        replies.asked.connect(self.give_way)

    @Slot()
    def give_way(self) -> None:
        """Something else is wanted of the engine."""
        if self._question is not None:
            self._question.drop()

    @Slot(int)
    def _consider(self, conversation_id: int) -> None:
        """Ask for a title where the first reply has just come to its end."""
        conversation = self._library.conversation(conversation_id)
        messages = self._library.messages(conversation_id)
        if conversation is None or len(messages) != 2 or messages[1].state is not MessageState.COMPLETE:
            return
        if conversation.options.continues or not self._wanted(messages[1].model):
            return
        if conversation.title != title_of(messages[0].content) or messages[1].model != self._settings.model:
            return
        options = self._model.in_memory(conversation.options.mode)
        if options is None:
            return
        self._question = self._client.ask(
            Generate(
                request_id="",
                options=options,
                messages=(*history_for(-1, messages), ChatMessage("user", _WISH, searches=False)),
                max_tokens=_MAX_TOKENS,
                sampling=SamplingOptions(temperature=0.0),
                fall_back=True,
                thinking=Thinking(on=False),
            )
        ).done(lambda finished: self._give(conversation, finished))

    def _wanted(self, model: str) -> bool:
        choice = self._settings.titles_by_model
        return choice == "always" or (choice == "other-models" and model != DEFAULT_MODEL)

    def _give(self, about: Conversation, finished: Finished) -> None:
        title = model_title(finished.reply.text)
        now = self._library.conversation(about.id)
        if (
            title
            and now is not None
            and now.title == about.title
            and finished.reply.stop_reason != "cancelled"
        ):
            self._shelf.rename(about.id, title)
