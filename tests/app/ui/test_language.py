from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bootstrap import speak, spoken
from app.words import tr
from tests.support import translations
from tests.support.translations import texts_in


@pytest.fixture
def quiet_again(qtbot: QtBot) -> Iterator[QApplication]:
    application, locale = QApplication.instance(), QLocale()
    assert isinstance(application, QApplication)
    yield application
    QLocale.setDefault(locale)
    for translator in application.findChildren(QTranslator):
        application.removeTranslator(translator)


def test_the_languages_of_the_system_are_asked_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    class Locale(QLocale):
        def uiLanguages(self) -> list[str]:  # type: ignore[override]
            return ["fr-FR", "de-AT", "en"]

    monkeypatch.setattr("app.bootstrap.QLocale.system", lambda: Locale())
    assert spoken("system") == "de"
    assert (spoken("zh"), spoken("xx")) == ("zh", "de")


@pytest.mark.parametrize(("language", "chat", "cancel"), [("de", "Neuer Chat", "Abbrechen"), ("zh", "新对话", "取消")])
def test_the_window_and_qt_speak_the_language(quiet_again: QApplication, language: str, chat: str, cancel: str) -> None:
    assert speak(quiet_again, language) == language
    assert tr("New chat") == chat
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == cancel
    assert QLocale() == QLocale(language)


def test_only_literals_are_texts() -> None:
    head = "from app.words import mark, tr\n"
    assert list(texts_in(ast.parse(head + "tr('a'); mark('b'); tr(x); other('c')"))) == ["a", "b"]
    assert list(texts_in(ast.parse("tr('a')"))) == []  # another function of that name
    for bad in ("tr(f'{x}')", "tr('a' + x)", "mark(x)"):
        with pytest.raises(ValueError, match="literal"):
            list(texts_in(ast.parse(head + bad)))


def test_new_texts_are_named_and_old_ones_leave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    monkeypatch.setattr(translations, "collected", lambda: {"new", "kept", "%n of them"})
    (tmp_path / "zh.json").write_text(json.dumps({"kept": "留", "gone": "去"}), encoding="utf-8")
    assert translations.update("zh") == ["%n of them", "new"]
    assert translations.translations("zh") == {"kept": ("留",)}
