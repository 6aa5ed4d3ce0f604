from __future__ import annotations

import re

import pytest

from engine.modes import MODES
from tests.support.translations import FORMS, needed, translations

_FIGURE = re.compile(r"\{\w+\}|%n")


@pytest.mark.parametrize("language", FORMS)
def test_every_text_is_translated_and_no_other(language: str) -> None:
    """``python -m tests.support.translations`` brings the files up to date and says what is left."""
    done = translations(language)
    assert done.keys() == needed(language)
    assert all(all(forms) for forms in done.values())


@pytest.mark.parametrize("language", FORMS)
def test_translations_have_the_figures_of_their_sources(language: str) -> None:
    for source, forms in translations(language).items():
        wanted = sorted(set(_FIGURE.findall(source)))
        assert sorted(set(_FIGURE.findall(forms[-1]))) == wanted, source
        assert len(forms) == (FORMS[language] if "%n" in source else 1), source
        for form in forms:  # the singular may do without its number
            assert sorted({*_FIGURE.findall(form), *(("%n",) if "%n" in source else ())}) == wanted, source
        assert all("{" not in _FIGURE.sub("", form) for form in forms), source


@pytest.mark.parametrize("language", ["de", "zh"])
def test_the_engine_calls_the_modes_as_the_window_does(language: str) -> None:
    done = translations(language)
    for mode in list(MODES.values())[1:]:
        (title,) = done.get(mode.title, (mode.title,))
        assert done[mode.name] == (title,)
    reasons = [form for source, (form, *_) in done.items() if source.startswith("Auto: ")]
    assert reasons
    assert [words for words in reasons if re.search("plain|lookup|dovetail", words)] == []


def test_german_and_chinese_are_not_english() -> None:
    """Names, units and loan words are the same; a whole sentence is not."""
    for language in ("de", "zh"):
        same = [source for source, forms in translations(language).items() if source in forms]
        assert [source for source in same if _FIGURE.sub("", source).count(" ") > 2] == []
