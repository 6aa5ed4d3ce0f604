"""Places of the settings in the dialog: pages, sections, and who is shown them. The settings hold the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.words import mark
from engine.modes import mode_options


@dataclass(frozen=True)
class Row:
    """A setting."""

    name: str  # name in `Settings`
    advanced: bool = False  # True if it is shown only to those who ask for everything
    per_model: bool = False  # True if a model can have its own value


@dataclass(frozen=True)
class Action:
    """Something to do that is not a value."""

    name: str  # name in the code
    title: str  # subject
    help_text: str  # one sentence
    button: str = ""  # words of the button; empty where the row has fields of its own
    advanced: bool = False  # True for advanced settings, as in `Row`


@dataclass(frozen=True)
class Note:
    """Words that are there to be read."""

    words: str


Item = Row | Action | Note


@dataclass(frozen=True)
class Section:
    """A part of a page."""

    title: str  # heading
    own: tuple[Item, ...] = ()  # items that are always there
    of_modes: bool = False  # True if the options of modes follow them

    @property
    def items(self) -> tuple[Item, ...]:
        """Everything in it, from top to bottom."""
        options = mode_options() if self.of_modes else ()
        return (*self.own, *(Row(name, advanced=True, per_model=True) for name in options))


@dataclass(frozen=True)
class Page:
    """A page of the dialog; ``icon`` is a file in assets/icons."""

    name: str
    title: str
    icon: str
    sections: tuple[Section, ...]

    @property
    def per_model(self) -> bool:
        """True if a model can have values of its own on it."""
        return any(isinstance(item, Row) and item.per_model for item in self.items())

    def items(self) -> Iterator[Item]:
        """Everything on it, from top to bottom."""
        for section in self.sections:
            yield from section.items


def _section(title: str, *items: Item, of_modes: bool = False) -> Section:
    return Section(title, items, of_modes)


def _page(name: str, title: str, icon: str, *sections: Section) -> Page:
    return Page(name, title, icon, sections)


PAGES = (
    _page(
        "model",
        mark("Model"),
        "sparkles",
        _section(
            mark("Replies"),
            Row("system_prompt", per_model=True),
            Row("max_tokens", per_model=True),
        ),
        _section(
            mark("In memory"),
            Row("weights", advanced=True, per_model=True),
            Row("kv_cache", advanced=True, per_model=True),
            Row("idle_unload_minutes"),
        ),
    ),
    _page(
        "speed",
        mark("Speed and memory"),
        "zap",
        _section(
            mark("Memory"),
            Row("memory", per_model=True),
            Row("context", per_model=True),
            Row("gpu_layers", per_model=True),
        ),
        _section(
            mark("Speed"),
            Row("drafts"),
            Row("threads", advanced=True, per_model=True),
            Row("verify", advanced=True, per_model=True),
        ),
        _section(
            mark("Limits"),
            Row("ram_budget_bytes", per_model=True),
            Row("vram_budget_bytes", advanced=True, per_model=True),
        ),
        _section(mark("How drafts grow"), of_modes=True),
    ),
    _page(
        "style",
        mark("Writing style"),
        "pencil",
        _section(
            mark("How words are chosen"),
            Row("temperature", per_model=True),
            Row("top_k", advanced=True, per_model=True),
            Row("top_p", advanced=True, per_model=True),
            Row("min_p", advanced=True, per_model=True),
            Row("repetition_penalty", advanced=True, per_model=True),
            Row("seed", advanced=True, per_model=True),
            Row("stop_loops", per_model=True),
        ),
    ),
    _page(
        "downloads",
        mark("Downloads"),
        "download",
        _section(
            mark("Network"),
            Action(
                "access_token",
                mark("Access token"),
                mark("For models that ask for an account; it is kept in the system's keyring."),
            ),
            Row("hub_mirror", advanced=True),
            Row("proxy", advanced=True),
        ),
        _section(
            mark("On this computer"),
            Action(
                "models_folder",
                mark("Models"),
                mark("Where downloaded models lie."),
                mark("Open folder"),
            ),
        ),
    ),
    _page(
        "appearance",
        mark("Appearance"),
        "settings",
        _section(
            mark("Window"),
            Row("theme"),
            Row("font_scale"),
            Row("density"),
            Row("language"),
        ),
        _section(
            mark("Replies"),
            Row("notify_when_done"),
            Row("drafted_shown"),
            Row("unconfirmed_shown", advanced=True),
        ),
    ),
    _page(
        "privacy",
        mark("Privacy and data"),
        "lock",
        _section(
            mark("What leaves this computer"),
            Note(
                mark(
                    "There is no telemetry. Your chats, settings and models stay on this computer, and "
                    "nothing about you or it is sent to anybody, unless you choose a model on a server that you have "
                    "added: it gets the chats that it answers. The network is used when you search the hub or "
                    "download a model too, and to check for updates if you turn that on."
                )
            ),
            Row("check_for_updates"),
        ),
        _section(
            mark("Chats"),
            Row("titles_by_model"),
            Row("daily_backup"),
            Action(
                "data_folder",
                mark("Chats and backups"),
                mark("Where they lie on this computer."),
                mark("Open data folder"),
            ),
            Action(
                "erase_everything",
                mark("Erase everything"),
                mark("All chats, presets and backups on this computer, for good. Asked for once more."),
                mark("Erase..."),
            ),
        ),
        _section(
            mark("Settings"),
            Action(
                "reset_settings",
                mark("Reset settings"),
                mark("Sets everything to its default; Apply saves it."),
                mark("Reset all"),
            ),
            Action(
                "export_settings",
                mark("Export settings"),
                mark("Saves every setting that you changed in a file, for another computer or as a backup."),
                mark("Export..."),
            ),
            Action(
                "import_settings",
                mark("Import settings"),
                mark("Shows what a file would change; Apply saves it."),
                mark("Import..."),
            ),
        ),
    ),
)


def rows() -> dict[str, Row]:
    """Every row of a setting, by the setting's name."""
    return {item.name: item for page in PAGES for item in page.items() if isinstance(item, Row)}


def matches(typed: str, *texts: str) -> bool:
    """Return True if every word that was typed begins or is part of a word of these texts, in any case and order."""
    written = " ".join(texts).casefold()
    return all(word in written for word in typed.casefold().split())
