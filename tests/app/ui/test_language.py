from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from pytestqt.qtbot import QtBot

from app import words
from app.ui.language import CONTEXT, speak, spoken
from app.words import tr
from tests.support import translations
from tests.support.translations import Text, compile_to, texts_in


@pytest.fixture
def quiet_again(qtbot: QtBot) -> Iterator[None]:
    application, locale = QCoreApplication.instance(), QLocale()
    assert application is not None
    yield
    words.speak(words._as_written)
    QLocale.setDefault(locale)
    for translator in application.findChildren(QTranslator):
        application.removeTranslator(translator)


def test_the_languages_of_the_system_are_asked_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    class Locale(QLocale):
        def uiLanguages(self) -> list[str]:  # type: ignore[override]
            return ["fr-FR", "de-AT", "en"]

    monkeypatch.setattr("app.ui.language.QLocale.system", lambda: Locale())
    assert spoken("system") == "de"
    assert (spoken("zh"), spoken("xx")) == ("zh", "de")


def test_texts_are_translated_with_figures_and_plurals(
    quiet_again: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = [Text("%n chat(s)", "app/a.py"), Text("New chat", "app/a.py"), Text("{a} left", "app/a.py")]
    monkeypatch.setattr(translations, "collected", lambda: texts)
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    monkeypatch.setattr("app.ui.language.TRANSLATIONS", tmp_path)
    done = {
        "%n chat(s)": ("%n Unterhaltung", "%n Unterhaltungen"),
        "New chat": ("Neu",),
        "{a} left": ("noch {a}",),
    }
    path = translations.write("de", done)
    assert translations.translations("de") == done
    compile_to(path, path.with_suffix(".qm"))
    application = QCoreApplication.instance()
    assert application is not None
    assert speak(application, "de") == "de"  # type: ignore[arg-type]
    assert (tr("New chat"), tr("{a} left", a=3)) == ("Neu", "noch 3")
    assert (tr("%n chat(s)", 1), tr("%n chat(s)", 5)) == ("1 Unterhaltung", "5 Unterhaltungen")
    assert tr("Not there") == "Not there"
    assert QCoreApplication.translate(CONTEXT, "New chat") == "Neu"
    path.with_suffix(".qm").write_bytes(b"")  # it is compiled anew: a window that had mapped it would crash
    assert (tr("New chat"), tr("{a} left", a=3)) == ("Neu", "noch 3")


def test_only_literals_are_texts() -> None:
    head = "from app.words import mark, tr\n"
    assert list(texts_in(ast.parse(head + "tr('a'); mark('b'); tr(x); other('c')"))) == ["a", "b"]
    assert list(texts_in(ast.parse("tr('a')"))) == []  # another function of that name
    for bad in ("tr(f'{x}')", "tr('a' + x)", "mark(x)"):
        with pytest.raises(ValueError, match="literal"):
            list(texts_in(ast.parse(head + bad)))


def test_new_texts_come_in_unfinished_and_old_ones_leave(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    monkeypatch.setattr(
        translations, "collected", lambda: [Text("new", "app/a.py"), Text("kept", "app/a.py")]
    )
    translations.write("zh", {"kept": ("留",), "gone": ("去",)})
    assert translations.translations("zh") == {"kept": ("留",)}
    assert "unfinished" in (tmp_path / "tenon_zh.ts").read_text(encoding="utf-8")
