"""Every setting that has a title is on one page, and only those that the engine reads for a model are for one."""

from __future__ import annotations

from dataclasses import replace

from app.chat.conversation import ConversationOptions
from app.chat.engine_options import load_options, reply_options
from app.settings.pages import PAGES, Action, Note, Row, matches, rows
from app.settings.setting import Names, Number, Switch, Words
from app.settings.settings import Settings
from app.ui.theme.icons import ICON_FOLDER

OTHER = {
    "system_prompt": "x", "max_tokens": 5, "weights": "q4_k_m", "kv_cache": "q8_0", "context": 512,
    "gpu_layers": 1, "memory": "disk",
    "threads": 2, "verify": "typical", "ram_budget_bytes": 10**9, "vram_budget_bytes": 0, "draft_width": 2,
    "draft_depth": 2, "draft_nodes": 2, "look_up": True, "as_published": True,
    "temperature": 0.1, "top_k": 1, "top_p": 0.5, "min_p": 0.5, "repetition_penalty": 1.5,
    "seed": 1, "stop_loops": False,
}  # fmt: skip


def test_every_setting_with_a_title_has_one_row() -> None:
    named = [item.name for page in PAGES for item in page.items() if isinstance(item, Row)]
    assert len(named) == len(set(named))
    assert set(named) == {name for name, setting in Settings.declared().items() if setting.title}
    for page in PAGES:
        assert (ICON_FOLDER / f"{page.icon}.svg").is_file()


def test_every_row_says_how_it_is_changed() -> None:
    for name in rows():
        setting = Settings.declared()[name]
        assert isinstance(setting.control, (Switch, Names, Number, Words)), name
        assert setting.help_text.endswith("."), name
        if isinstance(setting.control, Number) and setting.control.slider is not None:
            least, most = setting.control.slider
            assert setting.control.least <= least < most <= setting.control.most, name


def test_everything_on_the_pages_has_words() -> None:
    for page in PAGES:
        for item in page.items():
            if isinstance(item, Note):
                assert item.words.endswith(".")
            elif isinstance(item, Action):
                assert item.title
                assert item.help_text.endswith(".")


def test_what_a_model_can_have_of_its_own_reaches_the_engine() -> None:
    per_model = {name for name, row in rows().items() if row.per_model}
    assert per_model == set(OTHER)
    for name, value in OTHER.items():
        settings = Settings()
        settings.set_for_model("/m", name, value)
        own, usual = (
            (
                replace(load_options(settings, ref), model=""),
                reply_options(settings, ref, ConversationOptions()),
            )
            for ref in ("/m", "/n")
        )
        assert own != usual, name


def test_a_search_takes_words_in_any_order_and_case() -> None:
    assert matches("Depth DRAFT", "Depth of drafts", "How many tokens ahead.")
    assert matches("", "anything")
    assert not matches("depth engine", "Depth of drafts")
