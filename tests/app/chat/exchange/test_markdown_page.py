from __future__ import annotations

from dataclasses import replace

from app.chat.conversation import ReplyDetails, ToolStep
from app.chat.exchange.chat_files import to_markdown
from tests.app.chat.exchange.test_json_file import RECORD


def test_the_shown_path_is_written_for_people() -> None:
    day = to_markdown([RECORD]).splitlines()[2]
    assert to_markdown([RECORD]) == (
        f"# Grüße\n\n{day}\n\n**System prompt**\n\n> Be brief.\n\n"
        "## You\n\nFile: a.py\n```\nx\ny\n```\n\nFile: b.epub\nMuch.\n```\n"
        "[One]\nx\n```\n\nHi \0 👋\n\n## folder\n\ntwo\n"
    )
    assert day in ("*1970-01-01*", "*1969-12-31*")


def test_an_empty_reply_says_why() -> None:
    failed = replace(RECORD.messages[2], content="", error="It failed.", model="")
    page = to_markdown([replace(RECORD, messages=(*RECORD.messages[:2], failed))])
    assert page.endswith("## Model\n\n*It failed.*\n")


def test_several_stand_behind_each_other() -> None:
    page = to_markdown([RECORD, RECORD])
    assert page.count("# Grüße") == 2
    assert "\ntwo\n\n---\n\n# Grüße" in page


def test_calls_stand_where_they_happened() -> None:
    steps = tuple(ToolStep(at, place, "look", "{}", "look", "done", f"r{at}") for at, place in enumerate((7, 7, 17)))
    details = ReplyDetails("plain", "", "m", None, "Q4", steps=steps)
    called = replace(RECORD.messages[2], content="I look.\n\nAgain.\n\nFound.", details=details, model="")
    page = to_markdown([replace(RECORD, messages=(*RECORD.messages[:2], called))])
    shown = page.partition("## Model\n\n")[2]
    order = [shown.index(word) for word in ("I look.", "r0", "r1", "Again.", "r2", "Found.")]
    assert order == sorted(order)
