"""The README's pictures, of a real run: ``python -m tests.support.product_pictures assets/screenshots``.

The window is the real one on folders of its own, the engine runs in its process, and the bundled model answers.
Nothing in the pictures is made up: they show what this machine has, what the model wrote, and how fast.

``--moving MODEL DRAFT`` records the moving one instead: MODEL is read from the disk while DRAFT, a small model of the
same vocabulary, guesses ahead in grey. ImageMagick's ``convert`` joins the frames at the speed of the run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest

from app.bootstrap import FOLDER_VARIABLES
from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EnginePhase
from app.ui.main_window import MainWindow
from app.ui.places import MODELS
from app.ui.theme.theme import Theme
from tests.support.pictures import begin, take
from tests.support.real_models import ABSENT, real_model

SIZE = QSize(1280, 820)
EARLIER = (
    "What should I pack for a weekend in the mountains?",
    "Write an email to my landlord about a broken heater.",
    "Why is the sky blue?",
)
ASKED = "Give me three tips for a first garden."
CODE = "Write a Python function that counts the words in a file."
CORRECTED = "Write it again, with a check that the file exists."
TO_CORRECT = (
    "Correct the spelling: The lighthouse keeper climed the stairs every evning at sunset. He cleaned the great lamp, "
    "filled it with oil and lit the wick. Then he sat by the window and wached the ships go home."
)
MOVING_SIZE = QSize(720, 460)
_MOVING_BUDGET_BYTES = 2_100_000_000  # some of the layers of a model of 1.1 GB beside a draft of 0.5 GB
_PATIENCE_S = 300.0


class Run:
    """Someone who uses the window."""

    def __init__(self, theme: Theme, loaded: bool = True) -> None:
        self.theme = theme
        self.workspace = Workspace()
        self.window = MainWindow(theme, self.workspace)
        self.window.resize(SIZE)
        self.window.show()
        self.workspace.start()
        if loaded:
            self.wait(lambda: self.workspace.model.state.phase is EnginePhase.READY, "the model is loaded")

    def wait(self, holds: Callable[[], bool], words: str) -> None:
        """Wait until something holds.

        Raises:
            TimeoutError: it takes longer than anyone would wait.
        """
        end = time.monotonic() + _PATIENCE_S
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {_PATIENCE_S:.0f} s: {words}")
            QTest.qWait(50)

    def reply(self) -> Message:
        """The last message of the chat that is shown."""
        current = self.window.page.current
        assert current is not None
        return self.workspace.library.messages(current)[-1]

    def ask(self, text: str, whole: bool = True) -> None:
        """Type a question and send it.

        Args:
            text: The question.
            whole: True to wait for the end of the reply, False for two lines of it.
        """
        composer = self.window.page.composer
        composer.set_text(text)
        composer.send_button.click()
        if whole:
            self.wait(lambda: not self.reply().state.unfinished, f"the reply to {text!r}")
        else:
            self.wait(
                lambda: len(self.reply().content) > 160 or not self.reply().state.unfinished,
                "the first words",
            )
        assert self.reply().state in (MessageState.COMPLETE, MessageState.STREAMING), self.reply()

    def new_chat(self) -> None:
        """Begin another chat."""
        self.window.shelf.new_chat()

    def close(self) -> None:
        """End it."""
        self.window.close()
        self.workspace.close()


def take_both(run: Run, folder: Path, name: str) -> None:
    """Save a picture of the window in each theme."""
    for dark in (False, True):
        run.theme.set_dark(dark)
        take(run.window, folder, f"{name}-{'dark' if dark else 'light'}")
    run.theme.set_dark(False)


def pictures(theme: Theme, folder: Path) -> None:
    """Use the window, and take pictures now and then."""
    run = Run(theme)
    window, workspace = run.window, run.workspace
    workspace.machine.measure_speeds()
    run.wait(lambda: not workspace.machine.measuring.running, "the machine is measured")
    for question in EARLIER:
        run.new_chat()
        run.ask(question)
    run.new_chat()
    run.ask(ASKED)
    run.ask("Which of them matters most?", whole=False)
    take_both(run, folder, "main")
    run.wait(lambda: not run.reply().state.unfinished, "the end of the reply")

    window.places.go(MODELS)
    catalogue = workspace.model_store.offers.catalogue()
    known = workspace.model_store.forecasts.known
    run.wait(lambda: all(model.reference in known for model in catalogue), "every model is predicted")
    take_both(run, folder, "models")

    run.new_chat()
    workspace.choose_draft("lookup")
    run.ask(CODE)
    window.inspector.show()
    run.ask(CORRECTED, whole=False)
    run.wait(lambda: len(run.reply().content) > 400 or not run.reply().state.unfinished, "some rounds")
    take_both(run, folder, "inspector")
    run.close()


def moving(theme: Theme, folder: Path, model: str, draft: str) -> None:
    """Record a reply whose guesses are grey until they are checked, in each theme, as guesses-THEME.gif."""
    run = Run(theme, loaded=False)
    window, workspace = run.window, run.workspace
    window.resize(MOVING_SIZE)
    window.commands["show-chats"].trigger()
    workspace.settings.choose_for(model, "ram_budget_bytes", _MOVING_BUDGET_BYTES)
    workspace.settings.choose_for(model, "context", 1024)
    workspace.settings.temperature = 0.0
    workspace.choose_model(model)
    workspace.choose_draft(draft)
    workspace.choose_memory("disk")
    QTest.qWait(3000)
    run.wait(lambda: workspace.model.state.phase is EnginePhase.READY, "the model is loaded")
    for dark in (False, True):
        theme.set_dark(dark)
        run.new_chat()
        record(run, folder / f"guesses-{'dark' if dark else 'light'}.gif")
    run.close()


def record(run: Run, path: Path) -> None:
    """Ask for a text to be corrected and save what is seen from the first word on."""
    run.window.page.composer.set_text(TO_CORRECT)
    run.window.page.composer.send_button.click()
    run.wait(lambda: bool(run.reply().content), "the first word")
    frames, begun = [run.window.grab().toImage()], [time.monotonic()]
    while run.reply().state.unfinished:
        QTest.qWait(20)
        image = run.window.grab().toImage()
        if image != frames[-1]:
            frames.append(image)
            begun.append(time.monotonic())
    frames.append(run.window.grab().toImage())
    begun.append(time.monotonic())
    hundredths = [max(2, round((after - before) * 100)) for before, after in pairwise(begun)] + [300]
    with tempfile.TemporaryDirectory() as kept:
        command = ["convert", "-loop", "0"]
        for number, (image, pause) in enumerate(zip(frames, hundredths, strict=True)):
            frame = os.path.join(kept, f"{number}.png")
            image.save(frame)
            command += ["-delay", str(pause), frame]
        subprocess.run([*command, "+dither", "-colors", "64", "-layers", "Optimize", str(path)], check=True)


def main() -> int:
    """Take them all; the exit code."""
    parser = argparse.ArgumentParser(description="Take the README's pictures of a real run.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--moving", nargs=2, metavar=("MODEL", "DRAFT"), help="record the moving one with these files")
    options = parser.parse_args()
    if options.moving is None and real_model() is None:
        print(ABSENT, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tenon-pictures-", ignore_cleanup_errors=True) as own:
        os.environ.update({name: os.path.join(own, name) for name in FOLDER_VARIABLES})
        app, theme = begin()
        folder = options.folder
        folder.mkdir(parents=True, exist_ok=True)
        if options.moving is None:
            pictures(theme, folder)
        else:
            moving(theme, folder, *options.moving)
        app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
