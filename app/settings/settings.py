"""Every setting, declared once: those with a row in the dialog, and those remembered without being asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from app.settings.setting import (
    Names,
    Number,
    Setting,
    Values,
    Words,
    address,
    choice,
    number,
    one_of,
    read_text,
    switch,
    text,
    texts,
    texts_by_name,
)
from app.words import mark
from engine.messages import DEFAULT_MODEL, SERVER_PORT, ModeOption
from engine.modes import AUTO, MEMORY_TITLES, mode_options

RECENT_MODELS = 8


# Name of the bundled model of earlier versions.
_FORMER_MODEL = "guide"

REMEMBERED_DRAFTS = 64
_AUTOMATIC = mark("Automatic")
_BUDGET = Number(0, 100_000, 1, 0.5, "GB", 10**9, mark("What is free"), slider=(0.5, 64), by_factors=True)


@cache
def _of_mode(option: ModeOption) -> Setting[Any]:
    """Return the setting of an option of modes."""
    setting: Setting[Any] = switch(bool(option.default), option.help, option.title)
    if not option.is_switch:
        empty = mark("Usual") if option.default is None else ""
        ends = option.least, option.most
        setting = number(option.default, Number(*ends, empty=empty, slider=ends), option.help, option.title)
    setting.name = option.name
    return setting


def _model(value: Any) -> str:
    ref = read_text(value)
    return DEFAULT_MODEL if ref == _FORMER_MODEL else ref


class Remembered(Values):
    """Choices made elsewhere in the window, and the state that it was left in."""

    model = Setting(
        DEFAULT_MODEL,
        "The model that answers: the bundled one's name, a checkpoint folder or a GGUF file.",
        _model,
    )
    new_chat_preset = text("The preset that new chats take; empty for none.")
    folded_groups = texts(200, "Groups of the list of conversations that are folded.")
    recent_models = texts(RECENT_MODELS, "Checkpoint folders used lately, the latest first.")
    window_geometry = text("Place of the window, as Qt saves it, in base64.")
    sidebar_shown = switch(True, "The list of conversations is shown.")
    sidebar_width = number(256, Number(200, 420), "Width of the list of chats, at the usual size of text.")
    inspector_width = number(420, Number(360, 520), "Width of the inspector.")
    settings_level = choice("simple", ("simple", "advanced"), "Level of the settings that are shown.")
    last_chat = number(0, Number(0, (1 << 63) - 1), "The chat that was open last; 0 for a blank one.")
    inspector_shown = switch(False, "The inspector was open last.")
    connection_bytes_per_s = number(
        0, Number(0, 10**12), "Speed of the last large download, bytes per second; 0 before the first."
    )
    first_run_done = switch(False, "The welcome page was left for a chat, or a model was got from it.")

    server_on = switch(False, "Other programs are answered.")
    server_port = number(SERVER_PORT, Number(1, 65_535), "Port at which they are.")
    phones_on = switch(False, "Phones of the local network get a page, at the next port.")

    def remember_model(self, folder: str) -> None:
        """Put a checkpoint folder first among those used lately."""
        self.recent_models = (folder, *(other for other in self.recent_models if other != folder))

    def forget_model(self, ref: str) -> None:
        """Take a model from those used lately."""
        self.recent_models = tuple(other for other in self.recent_models if other != ref)


class Settings(Remembered):
    """Every setting by its name; assigning to one checks and keeps it.

    Here are those that have a row in the dialog and do not belong to a mode; the rest is what Tenon remembers by
    itself.
    """

    drafts = texts_by_name(
        REMEMBERED_DRAFTS,
        mark("What guesses words ahead, which the model then checks at once; each model has its own."),
        mark("Draft"),
        Names(offered=True, several=True),
    )
    memory = Setting(
        AUTO,
        mark("Where the model lies while it answers."),
        one_of(lambda: [*MEMORY_TITLES]),
        mark("Memory"),
        Names(offered=True),
    )
    weights = choice(
        "auto",
        ("auto", "fp32", "bf16", "q8_0", "q4_k_m"),
        mark("Number format of the weights in memory; fewer bits are smaller and faster, and less exact."),
        mark("Precision of the weights"),
        (mark("Automatic"), "32-bit", "16-bit", "8-bit", "4-bit"),
    )
    kv_cache = choice(
        "auto",
        ("auto", "full", "q8_0"),
        mark("Number format of keys and values; 8 bits take half the memory and are a little less exact."),
        mark("Precision of the cache"),
        (mark("8-bit where memory is short"), mark("Full precision"), mark("8-bit (lossy)")),
    )
    threads = number(
        0,
        Number(0, 1024, least_words=mark("Automatic"), slider=(1, 64)),
        mark("How many of the processor's cores compute."),
        mark("Processor threads"),
    )
    context = number(
        0,
        Number(0, 1 << 24, step=256, least_words=mark("Model's own"), slider=(512, 131_072), by_factors=True),
        mark("How much of the chat the model remembers, in tokens; the model's own as far as memory allows it."),
        mark("Context length"),
    )
    idle_unload_minutes = number(
        30,
        Number(0, 10_000, unit=mark("min"), step=5, least_words=mark("Never"), slider=(5, 240)),
        mark("A model that was not used for so long leaves the memory; the next message loads it again."),
        mark("Free the memory when idle"),
    )
    ram_budget_bytes: Setting[int | None] = number(
        None,
        replace(_BUDGET, least=0.1),
        mark("Most memory that the engine takes; weights beyond it are read from the disk again and again."),
        mark("Memory budget"),
    )
    vram_budget_bytes: Setting[int | None] = number(
        None,
        _BUDGET,
        mark("Most of the GPU's memory that the engine takes; 0 leaves the GPU alone."),
        mark("GPU memory budget"),
    )
    graphics_chip = switch(
        False,
        mark(
            "Small models draft on the computer's own graphics chip, and a model's first layers compute there, where "
            "that is predicted to be faster. This is new: it was tried with a simulated chip only."
        ),
        mark("Use the graphics chip"),
    )
    gpu_layers: Setting[int | None] = number(
        None,
        Number(0, 1000, empty=mark("All that fit"), slider=(0, 100)),
        mark("Most layers of the model in the GPU's memory; more is faster until it is full."),
        mark("Layers on the GPU"),
    )
    readings_bytes = number(
        8 * 10**9,
        replace(_BUDGET, empty="", least_words=mark("Nothing")),
        mark("Disk for what the model has read of open chats, so that they go on at once after a restart."),
        mark("Disk for open chats"),
    )
    guess_from_replies = switch(
        True,
        mark(
            "Lookup also guesses from replies in other chats, and for programs from replies to any program, in memory "
            "alone. Speed can tell a program that another asked the same: switch it off if several people have the key."
        ),
        mark("Guess from other chats"),
    )
    tool_turns = number(
        8,
        Number(1, 100, slider=(1, 32)),
        mark("After so many rounds of calls the model has to answer without tools."),
        mark("Rounds of tool calls"),
    )
    verify = choice(
        "sample-and-match",
        ("sample-and-match", "typical"),
        mark("Which guesses of a draft the model accepts; the lossy rule accepts more and changes what replies say."),
        mark("Verification"),
        (
            mark("Exact (sample and match)"),
            mark("Typical acceptance (lossy)"),
        ),
    )
    unconfirmed_shown = switch(
        True,
        mark("For models that are read from the disk: what the draft expects next, in grey."),
        mark("Show guesses while they are unconfirmed"),
    )
    max_tokens = number(
        0,
        Number(0, 1 << 24, step=16, least_words=mark("No limit"), slider=(32, 8_192), by_factors=True),
        mark("Longest reply in tokens."),
        mark("Length of replies"),
    )
    temperature: Setting[float | None] = number(
        None,
        Number(0, 5, 2, 0.05, empty=_AUTOMATIC, slider=(0, 2)),
        mark("How freely words are chosen: 0 always takes the likeliest."),
        mark("Temperature"),
    )
    top_k: Setting[int | None] = number(
        None,
        Number(0, 1_000_000, empty=_AUTOMATIC, slider=(0, 200)),
        mark("Chooses among this many of the likeliest tokens; 0 takes all."),
        mark("Top k"),
    )
    top_p: Setting[float | None] = number(
        None,
        Number(0.01, 1, 2, 0.01, empty=_AUTOMATIC, slider=(0.01, 1)),
        mark("Chooses among the likeliest tokens that together are this probable; 1 takes all."),
        mark("Top p"),
    )
    min_p: Setting[float | None] = number(
        None,
        Number(0, 1, 2, 0.01, empty=_AUTOMATIC, slider=(0, 1)),
        mark("Leaves out tokens that are less likely than this share of the likeliest; 0 takes all."),
        mark("Min p"),
    )
    repetition_penalty: Setting[float | None] = number(
        None,
        Number(0.01, 100, 2, 0.05, empty=_AUTOMATIC, slider=(0.5, 2)),
        mark("Makes words that were used already less likely; 1 leaves them as they are."),
        mark("Repetition penalty"),
    )
    seed: Setting[int | None] = number(
        None,
        Number(0, (1 << 53) - 1, empty=mark("New each time")),
        mark("The same seed gives the same reply to the same chat."),
        mark("Seed"),
    )
    stop_loops = switch(
        True,
        mark("Stops a reply that goes round in a circle; under it you can let it go on."),
        mark("Stop replies that repeat themselves"),
    )
    system_prompt = text(
        mark("Text that the model reads before each conversation, such as its role or a style."),
        mark("System prompt"),
        Words(lines=5, hint=mark("You are a helpful assistant.")),
    )
    titles_by_model = choice(
        "other-models",
        ("other-models", "always", "never"),
        mark("A chat takes its first line as its title; the model can find a better one when its reply is done."),
        mark("Titles by the model"),
        (mark("Except by the built-in model"), mark("Always"), mark("Never")),
    )
    drafted_shown = switch(
        False,
        mark("Colours the words of finished replies that a draft guessed and the model accepted."),
        mark("Mark accepted drafts"),
    )
    theme = choice(
        "system",
        ("system", "light", "dark"),
        mark("Colours of the window."),
        mark("Theme"),
        (mark("As the system"), mark("Light"), mark("Dark")),
    )
    font_scale = number(
        100,
        Number(90, 150, unit="%", step=10, slider=(90, 150)),
        mark("Size of all text in the window."),
        mark("Size of text"),
        allowed=(50, 300),
    )
    density = choice(
        "comfortable",
        ("comfortable", "compact"),
        mark("Space between rows and between messages."),
        mark("Spacing"),
        (mark("Comfortable"), mark("Compact")),
    )
    language = choice(
        "system",
        ("system", "en", "de", "zh"),
        mark("Language of the window, from the next start on."),
        mark("Language"),
        (mark("As the system"), "English", "Deutsch", "中文"),
    )
    notify_when_done = switch(
        True,
        mark("When a long reply is complete while the window is in the background."),
        mark("Notify when a reply is done"),
    )
    hub_mirror = address(
        mark("A mirror of the hub to search and download from; leave it empty for the hub itself."),
        mark("Mirror"),
        "https://huggingface.co",
    )
    proxy = address(
        mark("A server that searches and downloads go through; leave it empty for the system's."),
        mark("Proxy"),
        "http://proxy.example.org:3128",
    )
    daily_backup = switch(
        True,
        mark("A copy of all chats each day, beside them on this computer."),
        mark("Daily backup"),
    )
    check_for_updates = switch(
        False,
        mark("Asks once a day whether there is a newer Tenon; nothing else is sent along."),
        mark("Check for updates"),
    )

    @classmethod
    def declared(cls) -> Mapping[str, Setting[Any]]:
        """Every setting by name, with those of the modes' options."""
        return {**super().declared(), **{name: _of_mode(option) for name, option in mode_options().items()}}

    def forget_models(self, refs: Collection[str]) -> None:
        """Take models that are removed out of what is remembered, as models and as drafts; the chosen one stays."""
        self.recent_models = tuple(ref for ref in self.recent_models if ref not in refs)
        kept = {
            ref: tuple(draft for draft in drafts if draft not in refs)
            for ref, drafts in self.drafts.items()
            if ref not in refs
        }
        if kept != self.drafts:
            self.drafts = kept

    def follow_models(self, current: Callable[[str], str]) -> None:
        """Name models by where they lie now, which ``current`` tells of each reference."""
        self.model = current(self.model)
        self.recent_models = tuple(map(current, self.recent_models))
        self.drafts = {current(ref): tuple(map(current, drafts)) for ref, drafts in self.drafts.items()}
        self.by_model = {current(ref): values for ref, values in self.by_model.items()}

    def drafts_of(self, model: str) -> tuple[str, ...]:
        """Return the drafts that were chosen for a model, the latest first."""
        return self.drafts.get(model, ())

    def remember_drafts(self, model: str, drafts: Sequence[str]) -> None:
        """Keep a model's drafts; none forgets them."""
        others = {name: known for name, known in self.drafts.items() if name != model}
        self.drafts = {**others, model: tuple(drafts)}
