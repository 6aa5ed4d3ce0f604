"""Question before a link of a reply is opened: a model can write any address, and make it look like another."""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QFontMetrics
from PySide6.QtWidgets import QLabel, QWidget

from app.ui import figures
from app.ui.sheet import Sheet
from app.ui.theme.theme import Theme
from app.words import tr

_OPENABLE = ("http", "https", "mailto")
_ENCODED = QUrl.ComponentFormattingOption.FullyEncoded
_SHOWN = 600  # characters of each part
# Scripts of one language, by the first words of their letters' names.
_JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"})


class LinkQuestion(Sheet):
    """Shows the host that is looked up alone on its line, and the rest as it is sent."""

    def __init__(self, theme: Theme, url: QUrl, parent: QWidget) -> None:
        mail = url.scheme() == "mailto"
        asked = tr("Write an email to this address?") if mail else tr("Open this link in your browser?")
        title = tr("Open link")
        super().__init__(theme, title, title, parent, heading=asked)
        self._url = url
        host, place, user = (
            url.host(_ENCODED),
            url.path(_ENCODED) if mail else shown_host(url),
            url.userInfo(_ENCODED),
        )
        remarks = []
        if user:
            remarks.append(tr("“{user}” is sent to it as a user name: it is not the site.", user=_beginning(user)))
        if host != place and not mail:
            remarks.append(tr("It is looked up as {host}.", host=host))
        elif _letters(url) != host:
            remarks.append(tr("This name mixes alphabets and may imitate another one. It leads to:"))
        scheme = "mailto:" if mail else f"{url.scheme()}://"
        port = f":{url.port()}" if url.port() >= 0 else ""
        behind = url.toEncoded().toStdString()[len(scheme + (place if mail else url.authority(_ENCODED))) :]
        rest = f"{scheme}…{port}{behind}"
        self.place = self._address(place, "display")
        for remark in remarks:
            self.add_words(remark, "strong")
        self._address(rest, "sub")
        self.fit()
        self.accepted.connect(self._open)

    def _address(self, text: str, kind: str) -> QLabel:
        """Add a label for a part of the address, on as many lines as it needs."""
        label = self.add_words("", kind)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.ensurePolished()
        label.setText("\n".join(_lines(_beginning(text), label.fontMetrics(), self.words_px - 1)))
        label.setAccessibleName(_beginning(text))
        return label

    @Slot()
    def _open(self) -> None:
        QDesktopServices.openUrl(self._url)


def open_link(theme: Theme, url: QUrl, parent: QWidget) -> str:
    """Open a link in the browser after asking; return the reason if it is not to be opened at all, else nothing."""
    # A browser takes the next words for the host where there is none.
    if url.scheme() in _OPENABLE and url.isValid() and (url.host() or url.scheme() == "mailto"):
        LinkQuestion(theme, url, parent).open()
        return ""
    written = _beginning(url.toEncoded().toStdString())
    return tr("Tenon opens web and mail links only, not this one: {address}", address=written)


def shown_host(url: QUrl) -> str:
    """Return the host in its letters, or in the ASCII form if they belong to several scripts."""
    letters = _letters(url)
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in letters if letter.isalpha()}
    scripts = {"CJK" if script in _JAPANESE else script for script in scripts}
    return letters if len(scripts) == 1 else url.host(_ENCODED)


def _letters(url: QUrl) -> str:
    return QUrl.fromAce(url.host(_ENCODED).encode(), QUrl.AceProcessingOption.IgnoreIDNWhitelist)


def _beginning(text: str) -> str:
    left = len(text) - _SHOWN
    return (
        text
        if left <= 0
        else tr("{beginning}… and {count} characters more", beginning=text[:_SHOWN], count=figures.whole(left))
    )


def _lines(text: str, metrics: QFontMetrics, width: int) -> list[str]:
    lines = [""]
    for character in text:
        if lines[-1] and metrics.horizontalAdvance(lines[-1] + character) > width:
            lines.append("")
        lines[-1] += character
    return lines
