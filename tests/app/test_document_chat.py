"""A chat about documents, with the real model in the real window: read, asked, answered again, edited, restarted."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.bridge.workspace import Workspace
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.words import tr
from tests.support.documents import write_pdf
from tests.support.real_models import ABSENT, real_model

MODEL = real_model()
FILLER = "Keep this manual near the machine. Clean the outside with a dry cloth only. " * 12
TOPICS = ("pump", "valve", "motor", "sensor", "display", "housing", "cable", "fuse", "fan", "belt")


def manual(path: Path) -> Path:
    """A manual of 60 pages, two of which say what can be asked."""
    pages = [f"The {TOPICS[n % 10]} of model {n}. {FILLER}\n\n{FILLER}" for n in range(60)]
    pages[22] += "\n\nThe warranty period of the Borealis compressor is seven years from the date of purchase."
    pages[40] += "\n\nThe part number of the filter cartridge is QX-1187. Replace the cartridge every 90 days."
    return write_pdf(path, pages)


@pytest.mark.slow
@pytest.mark.skipif(MODEL is None, reason=ABSENT)
def test_a_chat_about_a_manual_that_is_longer_than_the_context(qtbot: QtBot, tmp_path: Path) -> None:
    theme = Theme(dark=False)
    theme.apply()
    workspace = Workspace()
    workspace.settings.temperature = 0.0
    window = MainWindow(theme, workspace)
    window.show()
    workspace.start()
    workspace.choose_model(str(MODEL))
    page = window.page
    page.composer.files_offered.emit([manual(tmp_path / "manual.pdf")])
    qtbot.waitUntil(lambda: bool(page.composer.attachments.attachments))
    chips = [one.text() for one in page.composer.attachments.findChildren(QToolButton) if one.isVisible()]
    assert chips == [f" manual.pdf, {tr('%n page(s)', 60)}"]

    def finished() -> bool:
        assert page.current is not None
        return not workspace.library.messages(page.current)[-1].state.unfinished

    page.composer.prompt.setPlainText("How long is the warranty period of the Borealis compressor?")
    page.composer.send_button.click()
    qtbot.waitUntil(finished)
    assert page.current is not None
    reply = workspace.library.messages(page.current)[-1]
    assert "seven" in reply.content or "7" in reply.content
    assert reply.notices == ("From manual.pdf, page 23.",)

    page.ask("What is the part number of the filter cartridge?")
    qtbot.waitUntil(finished)
    reply = workspace.library.messages(page.current)[-1]
    # The prompt before is found in the cache: what is read anew is the reply's end, the passages and the question.
    assert reply.details.timings.cache_n > 400
    assert any("41" in notice for notice in reply.notices)
    assert "QX-1187" in reply.content

    workspace.turns.regenerate(page.current, reply.id)
    qtbot.waitUntil(finished)
    again = workspace.library.messages(page.current)[-1]
    assert again.notices[-1] == reply.notices[-1]
    first = workspace.library.messages(page.current)[0]
    workspace.turns.edit(page.current, first.id, "How often is the cartridge replaced?")
    qtbot.waitUntil(finished)
    chat = page.current
    edited = workspace.library.messages(chat)
    assert edited[0].attachments == first.attachments
    assert "page 41" in edited[-1].notices[0]
    window.close()

    workspace = Workspace()
    kept = workspace.library.messages(chat)
    assert kept[0] == edited[0]
    assert (kept[1].content, kept[1].notices) == (edited[1].content, edited[1].notices)
    assert len(kept[0].attachments[0].sections) == 60
    workspace.close()
