"""The question before a link is opened shows the place that opens."""

from __future__ import annotations

import unicodedata

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.ui.chat_page.link_question import LinkQuestion
from app.ui.main_window import MainWindow

_HIDDEN = {"Cc", "Cf", "Zl", "Zp"}


def _asked(window: MainWindow, address: str) -> LinkQuestion | None:
    window.page._open_link(QUrl(address))
    return window.page.findChild(LinkQuestion)


def _words(question: LinkQuestion) -> list[str]:
    return [label.text().replace("\n", "") for label in question.findChildren(QLabel)]


@pytest.mark.parametrize(
    ("address", "place", "rest"),
    [
        ("https://www.раypal.com/", "www.xn--ypal-43d9g.com", "https://…/"),
        ("https://аррӏе.com/", "xn--80ak6aa92e.com", "https://…/"),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", "https://…/"),
        ("https://gооgle.com/", "xn--ggle-55da.com", "https://…/"),
        ("https://bücher.de/ä?q=ü", "bücher.de", "https://…/%C3%A4?q=%C3%BC"),
        ("https://пример.рф/", "пример.рф", "https://…/"),
        ("https://ａｐｐｌｅ.com", "apple.com", "https://…"),
        ("https://pay\u200bpal.com/", "paypal.com", "https://…/"),
        (
            "https://evil.example/%E2%80%AEmoc.knab//:sptth",
            "evil.example",
            "https://…/%E2%80%AEmoc.knab//:sptth",
        ),
        (
            "https://evil.example/\u202e\u2066\u200b\u0007",
            "evil.example",
            "https://…/%E2%80%AE%E2%81%A6%E2%80%8B%07",
        ),
        ("https://bank.example:443@evil.example:8080/login", "evil.example", "https://…:8080/login"),
        ("https://evil.example\\@bank.example/", "bank.example", "https://…/"),
        ("https://a%2F\u202e@http/x", "http", "https://…/x"),
        ("http://u@[::1]:8080/x#y", "::1", "http://…:8080/x#y"),
        ("http://2130706433/", "127.0.0.1", "http://…/"),
        (
            "mailto:me@раypal.com?subject=\u202eHi%20you",
            "me@%D1%80%D0%B0ypal.com",
            "mailto:…?subject=%E2%80%AEHi%20you",
        ),
    ],
)
def test_the_place_that_opens_stands_alone(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, address: str, place: str, rest: str
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr("app.ui.chat_page.link_question.QDesktopServices.openUrl", opened.append)
    question = _asked(window, address)
    assert question is not None
    words = _words(question)
    assert (question.place.text().replace("\n", ""), words[-1]) == (place, rest)
    assert not any(unicodedata.category(sign) in _HIDDEN for sign in "".join(words))
    assert question.place.property("kind") == "display"  # large
    assert not opened
    question.accept_button.click()
    assert opened == [QUrl(address)]


@pytest.mark.parametrize(
    ("address", "remark"),
    [
        ("https://bank.example:443@evil.example/login", "“bank.example:443” is sent to it as a user name"),
        (
            "https://\u202ebank.example%2f@evil.example/",
            "“%E2%80%AEbank.example%2F” is sent to it as a user name",
        ),
        ("https://bücher.de/", "It is looked up as xn--bcher-kva.de."),
        ("https://www.раypal.com/", "This name mixes alphabets"),
    ],
)
def test_what_misleads_is_named(window: MainWindow, address: str, remark: str) -> None:
    question = _asked(window, address)
    assert question is not None
    assert any(words.startswith(remark) for words in _words(question))


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x\u202e",
        "ftp://a.b/",
        "tenon:x",
        "https:evil.example",
        "http:///evil.example",
        "https://a b.com/",
        "//evil.example/",
    ],
)
def test_nothing_else_opens(window: MainWindow, address: str) -> None:
    assert _asked(window, address) is None
    assert window.toast.text.startswith("Tenon opens web and mail links only")
    assert not any(unicodedata.category(sign) in _HIDDEN for sign in window.toast.text)


def test_an_address_without_end_leaves_the_dialog_its_size(window: MainWindow) -> None:
    question = _asked(window, "https://" + "very-long-label." * 14 + "example/" + "x" * 100_000)
    assert question.height() < window.height()
    assert _words(question)[-1].endswith("characters more")
    assert question.place.text().replace("\n", "") == "very-long-label." * 14 + "example"


def test_a_long_address_is_whole_beside_a_scroll_bar(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(420, 400)
    question = _asked(window, f"https://{'.'.join(['evil' * 12] * 4)}.example/{'x' * 500}")
    qtbot.waitUntil(lambda: question.area.verticalScrollBar().maximum() > 0)
    content = question.area.widget()
    assert content.width() <= question.area.viewport().width()
