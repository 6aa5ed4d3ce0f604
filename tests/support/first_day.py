"""Somebody's first day with the real model in the real window: ``python -m tests.support.first_day FOLDER``.

Each moment is taken light and dark, wide and narrow, into the folder. Times and replies are printed, those of two
starts from the shell first: nothing is made up, and a step that does not come to pass ends the run with an error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QMarginsF, QMimeData, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPageLayout, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bootstrap import FOLDER_VARIABLES
from app.chat.conversation import Message, MessageState
from app.chat.reply import looped
from app.ui.theme.theme import Theme
from tests.support.pictures import begin, take
from tests.support.product_pictures import Run
from tests.support.real_models import ABSENT, NOT_FETCHED, QWEN_CODER_0_5B, QWEN_CODER_1_5B, real_model

QUESTIONS = (
    "What is the capital of France?",
    "Write an email to my landlord about a broken heater.",
    "What is 17*23?",
    "How do I say hello in Spanish?",
    "Write a Python function that reverses a string.",
    "Can you read a PDF?",
    "How big a model can I run?",
    "Give me a recipe for pancakes.",
    "Why is the sky blue?",
    "Make a table of three fruits and their colours.",
)
CODE_QUESTION = QUESTIONS[4]
STORY = "Write a very long story about a ship and its crew."
SIZES = {"wide": QSize(1280, 820), "narrow": QSize(520, 820)}


class Day:
    """The day, with a picture of each moment."""

    def __init__(self, app: QApplication, theme: Theme, folder: Path) -> None:
        self._app, self._theme, self._folder = app, theme, folder
        self.run = Run(theme, loaded=False)

    def picture(self, moment: str, resized: Callable[[], object] = lambda: None) -> None:
        """Take a moment in both themes and sizes; ``resized`` is called at each size."""
        for dark in (False, True):
            self._theme.set_dark(dark)
            for name, size in SIZES.items():
                self.run.window.resize(size)
                resized()
                take(self.run.window, self._folder, f"{moment}-{'dark' if dark else 'light'}-{name}")
        self._theme.set_dark(False)
        self.run.window.resize(SIZES["wide"])

    def type_in(self, text: str) -> float:
        """Type a message and press Enter; seconds until the first word of the reply is there."""
        field = self.run.window.page.composer.prompt
        field.setPlainText(text)
        started = time.perf_counter()
        QTest.keyClick(field, Qt.Key.Key_Return)
        self.run.wait(lambda: bool(self.chat) and bool(self.run.reply().content.strip()), "the first word")
        return time.perf_counter() - started

    def whole(self) -> Message:
        """The reply, when it has ended."""
        self.run.wait(lambda: not self.run.reply().state.unfinished, "the end of the reply")
        return self.run.reply()

    @property
    def chat(self) -> int | None:
        """The chat that is shown."""
        return self.run.window.page.current

    def drop(self, path: Path, moment: str) -> None:
        """Drag a file over the window and drop it in the middle."""
        window, data = self.run.window, QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        about = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)

        def drag() -> None:
            QApplication.sendEvent(window, QDragEnterEvent(window.rect().center(), *about))

        self.picture(f"{moment}-dragged", drag)
        drag()
        QApplication.sendEvent(window, QDropEvent(QPointF(window.rect().center()), *about))

    def first_start(self) -> None:
        """The window as it comes up, and the first question."""
        self.picture("01-start")
        seconds = self.type_in(QUESTIONS[0])
        reply = self.whole()
        assert reply.state is MessageState.COMPLETE, reply
        print(f"from Enter to the first word {seconds:.2f} s; {QUESTIONS[0]!r}: {reply.content!r}")

    def ten_questions(self) -> None:
        """The others, each in a chat of its own."""
        for question in QUESTIONS[1:]:
            self.run.new_chat()
            seconds = self.type_in(question)
            reply = self.whole()
            assert reply.state is MessageState.COMPLETE, reply
            print(f"{seconds:.2f} s to the first word; {question!r}: {reply.content[:120]!r}")
            if "How big" in question:
                self.picture("02-help-line")
        self.picture("03-questions")

    def dropped_model(self, model: Path, question: str, moment: str) -> None:
        """A GGUF file from somewhere else, and a question to it."""
        self.run.new_chat()
        self.drop(model, f"{moment}-dropped")
        self.run.wait(lambda: self.run.workspace.settings.model == str(model), "the dropped model is chosen")
        seconds = self.type_in(question)
        reply = self.whole()
        assert reply.state is MessageState.COMPLETE, reply
        print(f"{model.name}: {seconds:.2f} s to the first word: {reply.content[:80]!r}")
        self.picture(f"{moment}-answered")

    def loop(self) -> None:
        """A story that goes round in circles, as it does at temperature 0."""
        self.run.new_chat()
        with self.settings(temperature=0.0):
            self.type_in(STORY)
            reply = self.whole()
        assert looped(reply), reply
        self.picture("06-loop")
        print(f"a story in a circle was stopped after {len(reply.content)} characters")

    def stopped(self) -> None:
        """A reply that somebody stops."""
        self.run.new_chat()
        self.type_in(STORY)
        QTest.keyClick(self.run.window, Qt.Key.Key_Escape)
        reply = self.whole()
        assert reply.state is MessageState.STOPPED, reply
        self.picture("07-stopped")

    def document(self, folder: Path) -> None:
        """A PDF that is dropped, and a question about it."""
        path = folder / "report.pdf"
        write_report(path)
        self.run.new_chat()
        self.drop(path, "08-document")
        composer = self.run.window.page.composer
        self.run.wait(lambda: bool(composer.attachments.attachments), "the document was read")
        self.picture("09-document-attached")
        self.type_in("Which plant needs the most water?")
        reply = self.whole()
        assert reply.state is MessageState.COMPLETE, reply
        print(f"document: {reply.content[:160]!r}")
        self.picture("10-document-answered")

    def mode_that_cannot_run(self) -> None:
        """A mode that needs a GPU, on a machine without one or with a model that all fits there."""
        self.run.new_chat()
        self.run.workspace.choose_mode("llmcad")
        self.type_in("What is the capital of Italy?")
        reply = self.whole()
        assert reply.state is MessageState.COMPLETE, reply
        print(f"llmcad on a model that fits: {reply.notices}")
        self.picture("11-mode")
        self.run.workspace.choose_mode("auto")

    def restart(self) -> None:
        """Close the window and open it again."""
        before = [one.id for one in self.run.workspace.library.conversations()]
        self.run.close()
        self.run = Run(self._theme, loaded=False)
        assert [one.id for one in self.run.workspace.library.conversations()] == before
        self.run.window.sidebar.list.chosen.emit(before[0])
        self.picture("12-restarted")

    @contextmanager
    def settings(self, **values: object) -> Iterator[None]:
        """Settings that hold for a while."""
        kept = {name: self.run.workspace.settings.value_of(name) for name in values}
        for name, value in values.items():
            self.run.workspace.settings.assign(name, value)
        yield
        for name, value in kept.items():
            self.run.workspace.settings.assign(name, value)


def find_published() -> list[Path]:
    """The published files that are here; a line says which are not."""
    files = [model.path for model in (QWEN_CODER_1_5B, QWEN_CODER_0_5B)]
    for missing in (path for path in files if not path.is_file()):
        print(f"{missing.name}: {NOT_FETCHED}", file=sys.stderr)
    return [path for path in files if path.is_file()]


def time_starts(folder: Path) -> None:
    """Print what the program's own test says of two starts, of which the first may find nothing in the page cache."""
    for number in range(2):
        own = {name: str(folder / f"start-{number}" / name) for name in FOLDER_VARIABLES}
        subprocess.run([sys.executable, "-m", "app", "--self-test"], env={**os.environ, **own}, check=True)


def write_report(path: Path) -> None:
    """A PDF of several pages, of which one says what is asked for."""
    writer = QPdfWriter(str(path))
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A5))
    writer.setPageMargins(QMarginsF(15, 15, 15, 15), QPageLayout.Unit.Millimeter)
    plants = {"basil": "two litres", "tomato": "ten litres", "thyme": "half a litre", "mint": "three litres"}
    parts = [
        f"<h1>The {plant}</h1><p>The {plant} needs {water} of water in a week.</p>" for plant, water in plants.items()
    ]
    document = QTextDocument()
    document.setHtml("".join(parts))
    document.print_(writer)


def main() -> int:
    """Live through it; the exit code."""
    model = real_model()
    if model is None:
        print(ABSENT, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tenon-first-day-", ignore_cleanup_errors=True) as own:
        os.environ.update({name: os.path.join(own, name) for name in FOLDER_VARIABLES})
        time_starts(Path(own))
        elsewhere = Path(own) / "downloads" / "my-model.gguf"
        elsewhere.parent.mkdir()
        elsewhere.symlink_to(model)
        app, theme = begin()
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        day = Day(app, theme, folder)
        day.first_start()
        day.ten_questions()
        day.dropped_model(elsewhere, "hi", "04-model")
        day.loop()
        day.stopped()
        day.document(Path(own))
        day.mode_that_cannot_run()
        day.restart()
        for number, published in enumerate(find_published(), 13):
            day.dropped_model(published, CODE_QUESTION, f"{number}-published")
        day.run.close()
        app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
