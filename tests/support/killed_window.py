"""The real window and engine, used until they are killed: ``python -m tests.support.killed_window PHASE SEED``.

Each line of the output is ``[monotonic seconds, kind, value]``:

- ``state``: all that the window shows when it is there, as one object (see `shown`);
- ``works``: the answer to the first prompt, whole;
- ``phase``: from here on the person does what PHASE says, and nothing else, until the end;
- ``closing``: the window is about to be closed;
- ``doing``: the person is about to do something of which the disk may know before this output does;
- ``set``: the parts of `shown` that have changed; a null for what is gone;
- ``reply``: a message's id and a piece of its text, at the moment when the engine's pipe brings it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from app import bootstrap
from app.bridge.single_instance import SingleInstance, instance_name
from app.bridge.workspace import Workspace
from app.diagnostics import SessionRecord, log_folder
from app.settings.settings import Settings
from engine.hub.model_folders import data_folder
from engine.messages import TokensAdded

STORY = "Write a long story about a lighthouse keeper."
HELLO = "Say hello."
SHORT, LONG = 8, 400  # tokens
# Settings that the app changes by itself at a start, or writes when it is closed.
_OWN = ("window_geometry", "last_chat", "recent_models")
_LETTERS = "abcdefghijklmnopqrstuvwxyz "


def shown(workspace: Workspace, composer: str, chat: int | None) -> dict[str, Any]:
    """All that the person has, by name: chats, messages, settings and what is typed.

    Args:
        workspace: The workspace behind the window.
        composer: Text in the composer.
        chat: The chat that is shown, None for a blank one.
    """
    library, found = workspace.library, dict[str, Any]()
    trash = {entry.conversation_id for entry in library.trash() if entry.whole}
    chats = (library.conversation(number, in_trash=True) for number in trash)
    for conversation in (*library.all_conversations(), *filter(None, chats)):
        found[f"title {conversation.id}"] = conversation.title
        found[f"trash {conversation.id}"] = conversation.id in trash
        found[f"shelf {conversation.id}"] = [conversation.pinned, conversation.folder]
        found[f"typed {conversation.id}"] = workspace.unsent.of(conversation.id).text
        for message in library.all_messages(conversation.id):
            kind = "prompt" if message.role == "user" else "answer"
            found[f"{kind} {message.id}"] = [message.content, message.state.value, message.deleted]
    for name in set(Settings.declared()).difference(_OWN):
        found[f"setting {name}"] = json.loads(json.dumps(workspace.settings.value_of(name)))
    found["typed 0"] = workspace.unsent.of(None).text
    found[f"typed {chat or 0}"] = composer
    return found


class Person(QObject):
    """Uses the window: sees it, has a prompt answered, and then does one thing until the end.

    Args:
        application: The window and all behind it.
        phase: The name of a method below.
        seed: Of all that is left to chance.
    """

    def __init__(self, application: bootstrap.Application, phase: str, seed: int) -> None:
        super().__init__()
        self._window, self._workspace = application.window, application.workspace
        self._page = self._window.page
        self._chance = random.Random(seed)
        self._phase: Callable[[], Iterator[int]] = getattr(self, phase)
        self._known: dict[str, Any] = {}
        self._imports = 0
        self._workspace.archive.import_finished.connect(self._imported)
        # In the thread that reads the pipe: before the window knows of it.
        self._workspace._client._event.connect(self._arrived, Qt.ConnectionType.DirectConnection)
        self._life = self._live()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._go_on)

    @Slot()
    def begin(self) -> None:
        """The window is there."""
        self._known = self._shown()
        _tell("state", self._known)
        self._timer.start(0)

    @Slot()
    def _go_on(self) -> None:
        self._note()
        self._timer.start(next(self._life))
        self._note()

    def _live(self) -> Iterator[int]:
        yield from self.hello()
        _tell("phase", "")
        while True:
            yield from self._phase()
            yield 10

    def _arrived(self, _number: int, event: object) -> None:
        replies = self._workspace.replies
        question, running = replies._question, replies._queue.running
        if not isinstance(event, TokensAdded) or question is None or running is None:
            return
        if event.request_id == question.command.request_id:
            _tell("reply", [running.reply_id, event.text])

    def _note(self) -> None:
        now = self._shown()
        changed = {name: value for name, value in now.items() if self._known.get(name) != value}
        changed |= dict.fromkeys(set(self._known).difference(now))
        if changed:
            _tell("set", changed)
        self._known = now

    def _shown(self) -> dict[str, Any]:
        return shown(self._workspace, self._page.composer.text, self._page._unsent.shown)

    # --- what a person does; each is repeated, and waits so many milliseconds ---------------------------------

    def hello(self) -> Iterator[int]:
        """The next prompt works."""
        self._workspace.settings.max_tokens = SHORT
        self._window.shelf.new_chat()
        yield from self._ask(HELLO)
        while self._page.current is None or self._last().state.unfinished:
            yield 20
        _tell("works", [self._last().state.value, self._last().content, self._last().error])

    def starting(self) -> Iterator[int]:
        """Killed at any moment since the process began."""
        yield 20

    def typing(self) -> Iterator[int]:
        """Letters, pages that are pasted, and other chats in between."""
        choice = self._chance.random()
        if choice < 0.02:
            self._page.composer.prompt.insertPlainText("a pasted line\n" * self._chance.randint(10, 3_000))
        elif choice < 0.04:
            self._open_any()
        else:
            self._type()
        yield self._chance.randint(20, 90)

    def sending(self) -> Iterator[int]:
        """One prompt after the other, each stopped soon."""
        self._maybe_new_chat()
        yield from self._ask(f"Count to {self._chance.randint(10, 99)}.")
        yield self._chance.randint(10, 300)
        self._page.stop()
        yield self._chance.randint(0, 60)

    def reading(self) -> Iterator[int]:
        """A prompt that takes the engine a while to read."""
        self._workspace.settings.max_tokens = SHORT
        self._window.shelf.new_chat()
        words = (f"{self._chance.choice(_LETTERS[:-1])}{number}" for number in range(400))
        yield from self._ask(f"Which word comes twice? {' '.join(words)}")
        while self._last().state.unfinished:
            yield 20

    def streaming(self) -> Iterator[int]:
        """A long reply, and letters typed meanwhile."""
        self._workspace.settings.max_tokens = LONG
        self._maybe_new_chat()
        yield from self._ask(STORY)
        while self._last().state.unfinished:
            self._type()
            yield 70

    def renaming(self) -> Iterator[int]:
        """Titles, pins and folders."""
        chat = self._any_chat()
        if chat is not None:
            _tell("doing", "")
            todo = self._chance.randrange(4)
            if todo == 0:
                self._workspace.shelf.pin(chat, not self._workspace.library.conversation(chat).pinned)
            elif todo == 1:
                self._workspace.shelf.move_to_folder(chat, f"Folder {self._chance.randrange(4)}")
            else:
                self._window.sidebar.model.renamed.emit(chat, f"Title {self._chance.randrange(10**6)}")
        yield self._chance.randint(0, 120)

    def deleting(self) -> Iterator[int]:
        """Chats and messages, some of which are brought back."""
        chat, todo = self._any_chat(), self._chance.randrange(5)
        if chat is None:
            yield from self.hello()
            return
        _tell("doing", "")
        if todo == 0:
            self._window.shelf.delete(chat)
        elif todo < 3:
            self._workspace.shelf.undo_delete()
        else:
            messages = self._workspace.library.messages(chat)
            if messages:
                self._workspace.shelf.delete_message(chat, self._chance.choice(messages).id)
        yield self._chance.randint(0, 150)

    def importing(self) -> Iterator[int]:
        """A file of ten chats, three times."""
        if self._imports < 3:
            _tell("doing", "")
            self._workspace.archive.import_file(Path(os.environ["TENON_KILLED_IMPORT"]))
            before = self._imports
            while self._imports == before:
                yield 5
        yield self._chance.randint(0, 100)

    def setting(self) -> Iterator[int]:
        """One setting after the other."""
        settings = self._workspace.settings
        _tell("doing", "")
        settings.temperature = round(self._chance.uniform(0.0, 1.5), 2)
        settings.system_prompt = f"You are helper number {self._chance.randrange(10**6)}."
        yield self._chance.choice((10, 50, 150, 300, 500))

    def closing(self) -> Iterator[int]:
        """The window is closed while a reply comes and something is typed."""
        self._workspace.settings.max_tokens = LONG
        self._window.shelf.new_chat()
        yield from self._ask(STORY)
        for _ in range(self._chance.randint(3, 12)):
            self._type()
            yield 60
        self._note()
        _tell("closing", "")
        QTest.keySequence(self._window, QKeySequence("Ctrl+Q"))
        yield 10_000

    # --- parts of it ------------------------------------------------------------------------------------------

    def _ask(self, text: str) -> Iterator[int]:
        self._page.composer.set_text(text)
        self._note()
        yield 150
        _tell("doing", "")
        QTest.keyClick(self._page.composer.prompt, Qt.Key.Key_Return)
        self._note()
        yield 1

    def _type(self) -> None:
        QTest.keyClick(self._page.composer.prompt, self._chance.choice(_LETTERS))

    def _last(self) -> Any:
        return self._workspace.library.messages(self._page.current)[-1]

    def _any_chat(self) -> int | None:
        chats = [conversation.id for conversation in self._workspace.library.conversations()]
        return self._chance.choice(chats) if chats else None

    def _open_any(self) -> None:
        chat = self._any_chat()
        if chat is not None:
            self._window.shelf.open(chat)

    def _maybe_new_chat(self) -> None:
        if self._chance.random() < 0.5:
            self._window.shelf.new_chat()

    @Slot(int, str)
    def _imported(self, count: int, sentence: str) -> None:
        self._imports += 1


def _tell(kind: str, value: object) -> None:
    line = (json.dumps([time.monotonic(), kind, value]) + "\n").encode()
    while line:
        line = line[os.write(1, line) :]


def main() -> int:
    """Run until killed."""
    phase, seed = sys.argv[1], int(sys.argv[2])
    qt = bootstrap._qt()
    instance = SingleInstance(instance_name(data_folder()))
    instance.claim(())
    application = bootstrap.Application(qt, instance, SessionRecord(log_folder()), ())
    person = Person(application, phase, seed)
    application.first_paint.happened.connect(person.begin)
    try:
        return application.run()
    finally:
        instance.close()


if __name__ == "__main__":
    sys.exit(main())
