"""Places of the settings in the dialog: pages, sections, who is shown them, and changes that are not applied yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.settings.settings import Settings
from app.words import mark
from engine.modes import mode_options

EVERY_MODEL = ""


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
            Row("tool_turns"),
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
            Row("guess_from_replies"),
            Row("graphics_chip"),
            Row("threads", advanced=True, per_model=True),
            Row("verify", advanced=True, per_model=True),
        ),
        _section(
            mark("Limits"),
            Row("ram_budget_bytes", per_model=True),
            Row("vram_budget_bytes", advanced=True, per_model=True),
            Row("readings_bytes"),
            Action(
                "erase_readings",
                mark("Disk in use by chats"),
                mark("Chats stay; what is erased is read again when a chat goes on."),
                mark("Erase"),
            ),
        ),
        _section(mark("How far it guesses ahead"), of_modes=True),
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


class PendingSettings:
    """Settings in force beside a copy that is being changed.

    A *scope* is `EVERY_MODEL` or the reference of the model that a value is for. The drafts are each model's own,
    so that their row means the chosen model's in any scope.

    Args:
        applied: The settings in force; nothing but `apply` changes them.
    """

    def __init__(self, applied: Settings) -> None:
        self.applied = applied
        self.chosen = Settings()  # the settings as they would be
        self.undo()

    def value(self, name: str, scope: str = EVERY_MODEL) -> Any:
        """Choice for a setting; the general one where a model has no value of its own."""
        return _value(self.chosen, name, scope)

    def applied_value(self, name: str, scope: str = EVERY_MODEL) -> Any:
        """Value in force for it."""
        return _value(self.applied, name, scope)

    def set(self, name: str, value: Any, scope: str = EVERY_MODEL) -> None:
        """Choose a value.

        Raises:
            InvalidOption: It is not allowed; what was chosen stays.
        """
        if name == "drafts":
            self.chosen.remember_drafts(self.chosen.model, value)
        elif scope:
            self.chosen.set_for_model(scope, name, value)
        else:
            self.chosen.assign(name, value)

    def reset(self, name: str, scope: str = EVERY_MODEL) -> None:
        """Choose the usual value; for one model what holds for all."""
        if name == "drafts":
            self.chosen.remember_drafts(self.chosen.model, ())
        elif scope:
            self.chosen.forget_for_model(scope, name)
        else:
            self.chosen.assign(name, Settings.declared()[name].default)

    def is_usual(self, name: str, scope: str = EVERY_MODEL) -> bool:
        """Return True if there is nothing to reset."""
        if name == "drafts":
            return not self.chosen.drafts_of(self.chosen.model)
        if scope:
            return name not in self.chosen.by_model.get(scope, {})
        return name not in self.chosen.values

    def is_changed(self, name: str, scope: str = EVERY_MODEL) -> bool:
        """Return True if Apply would change it, in this scope."""
        return bool(_own(self.applied, name, scope) != _own(self.chosen, name, scope))

    def changes(self) -> list[tuple[str, str]]:
        """Scope and name of everything that Apply would change."""
        models = dict.fromkeys((*self.applied.by_model, *self.chosen.by_model))
        found = [(EVERY_MODEL, name) for name in rows() if self.is_changed(name)]
        for model in models:
            own = dict.fromkeys((*self.applied.by_model.get(model, {}), *self.chosen.by_model.get(model, {})))
            found += [(model, name) for name in own if self.is_changed(name, model)]
        return found

    def undo(self) -> None:
        """Choose what is in force."""
        self.chosen.take(self.applied.stored())

    def choose(self, values: Mapping[str, Any], unknown: Mapping[str, Any]) -> None:
        """Choose what a file says: these values, and the usual ones for every other row."""
        kept = {name: value for name, value in self.applied.values.items() if name not in exported_names()}
        self.chosen.take({**self.applied.unknown, **unknown, **kept, **values})

    def apply(self) -> None:
        """Bring what is chosen into force, and only what was changed."""
        for scope, name in self.changes():
            if name == "drafts":
                self.applied.drafts = self.chosen.drafts
            elif not scope:
                self.applied.assign(name, self.chosen.value_of(name))
        self.applied.by_model = self.chosen.by_model
        self.applied.unknown.update(self.chosen.unknown)
        self.undo()


def exported_names() -> tuple[str, ...]:
    """Return the settings for a file for another computer: those with a row, and those of single models."""
    return (*rows(), "by_model")


def _value(settings: Settings, name: str, scope: str) -> Any:
    if name == "drafts":
        return settings.drafts_of(settings.model)
    return (settings.of_model(scope) if scope else settings).value_of(name)


def _own(settings: Settings, name: str, scope: str) -> Any:
    """Own value; None where a model has none."""
    if scope:
        own = settings.by_model.get(scope, {})
        return (name in own, own.get(name))
    return settings.value_of(name)
