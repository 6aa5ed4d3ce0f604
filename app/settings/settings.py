"""Every setting, declared once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from app.chat.choices import MODES
from app.settings.setting import (
    Setting,
    choice,
    number,
    optional_number,
    optional_size,
    optional_whole_number,
    switch,
    text,
    texts,
    texts_by_name,
    whole_number,
)
from engine.errors import InvalidOption

RECENT_MODELS = 8
REMEMBERED_DRAFTS = 64
_TERABYTE = 10**12


class Settings:
    """The values in force.

    Attributes:
        values: Those that differ from their defaults, by name.
        unknown: Entries of the file that this version does not know; they are written back as they were.
        on_change: Called after each change that is one.
    """

    model = text("guide", "The model that answers: guide, or a checkpoint folder.")
    drafts = texts_by_name(REMEMBERED_DRAFTS, "The draft that was chosen for each model, by the model.")
    mode = choice("auto", tuple(mode.name for mode in MODES), "How replies are generated.")
    weights = choice(
        "auto", ("auto", "fp32", "bf16", "int8", "int4"), "Number format of the weights in memory."
    )
    threads = whole_number(0, 0, 1024, "Processor threads; 0 takes the usable physical cores.")
    context = whole_number(0, 0, 1 << 24, "Tokens of context; 0 takes the model's own length.")
    ram_budget_bytes = optional_size(
        100_000_000,
        100 * _TERABYTE,
        "Most memory that the engine takes; weights beyond it are read from the disk again and again.",
        "Memory budget",
        empty="What is free",
    )
    vram_budget_bytes = optional_size(
        0,
        100 * _TERABYTE,
        "Most of the GPU's memory that the engine takes; 0 leaves the GPU alone.",
        "GPU memory budget",
        empty="What is free",
    )
    gpu_layers = optional_whole_number(
        0,
        1000,
        "Most layers of the model in the GPU's memory.",
        "GPU layers",
        empty="As many as fit",
    )
    verify = choice(
        "sample-and-match",
        ("sample-and-match", "residual", "residual-replacement", "typical"),
        "Which guesses of a draft the model accepts; the lossy rule accepts more and changes what replies say.",
        "Verification",
        (
            "Sample and match",
            "Residual speculative sampling",
            "Residual speculative sampling, siblings with replacement",
            "Typical acceptance (lossy)",
        ),
    )
    draft_width = whole_number(
        10, 1, 64, "How many branches of a draft grow at each step.", "Width of drafts"
    )
    draft_depth = whole_number(7, 1, 16, "How many tokens ahead a draft goes.", "Depth of drafts")
    draft_nodes = optional_whole_number(
        1,
        64,
        "How many guessed tokens the model checks at once.",
        "Tokens checked at once",
        empty="Usual for the mode",
    )
    branching = switch(True, "LLMCad: drafts are trees of guesses and not single lines.", "Branching drafts")
    adaptive_fallback = switch(
        True, "LLMCad: the draft's confidence decides when the model checks it.", "Adaptive fallback"
    )
    fallback_threshold = number(
        0.01,
        0.0001,
        1.0,
        "LLMCad: the model checks a draft once its best guess is less likely than this, to begin with.",
        "Fallback threshold",
        places=4,
    )
    draft_ahead = switch(True, "LLMCad: the draft goes on while the model's weights are read.", "Draft ahead")
    unconfirmed_shown = switch(True, "Whether guesses are shown in grey while they are unconfirmed.")
    max_tokens = whole_number(0, 0, 1 << 24, "Longest reply in tokens; 0 is until the context is full.")
    temperature = optional_number(0.0, 5.0, "Randomness, 0 is none; nothing takes the model's own.")
    system_prompt = text("", "What the model is told before each conversation.")
    recent_models = texts(RECENT_MODELS, "Checkpoint folders used lately, the latest first.")
    window_geometry = text("", "Where the window was, as Qt saves it, in base64.")
    sidebar_shown = switch(True, "Whether the list of conversations is shown.")
    inspector_width = whole_number(420, 360, 520, "Width of the inspector.")
    drafted_shown = switch(
        False, "Whether text that came from accepted drafts is coloured in finished replies."
    )
    font_scale = whole_number(100, 50, 300, "Size of text in percent.")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.unknown: dict[str, Any] = {}
        self.on_change: Callable[[], None] | None = None

    @classmethod
    def declared(cls) -> dict[str, Setting[Any]]:
        """Every setting by name, in the order of this page."""
        return {name: value for name, value in vars(cls).items() if isinstance(value, Setting)}

    def change(self, name: str, value: Any) -> None:
        """Store a checked value; assigning to the attribute does this."""
        setting = self.declared()[name]
        if self.values.get(name, setting.default) == value:
            return
        self.values[name] = value
        if value == setting.default:
            del self.values[name]
        if self.on_change is not None:
            self.on_change()

    def take(self, stored: Mapping[str, Any]) -> list[str]:
        """Replace all values by stored ones.

        Returns:
            Names whose stored value is not allowed; these keep their defaults.
        """
        self.values, self.unknown = {}, {}
        declared, rejected = self.declared(), []
        for name, value in stored.items():
            setting = declared.get(name)
            if setting is None:
                self.unknown[name] = value
                continue
            try:
                checked = setting.read(value)
            except InvalidOption:
                rejected.append(name)
                continue
            if checked != setting.default:
                self.values[name] = checked
        return rejected

    def stored(self) -> dict[str, Any]:
        """What the file keeps: what differs from the defaults, so that a better default reaches everybody."""
        return {**self.unknown, **self.values}

    def remember_model(self, folder: str) -> None:
        """Put a checkpoint folder first among those used lately."""
        self.recent_models = (folder, *(other for other in self.recent_models if other != folder))

    def forget_models(self, refs: Collection[str]) -> None:
        """Take models that are removed out of what is remembered, as models and as drafts; the chosen one stays."""
        self.recent_models = tuple(ref for ref in self.recent_models if ref not in refs)
        kept = {ref: draft for ref, draft in self.drafts.items() if ref not in refs and draft not in refs}
        if kept != self.drafts:
            self.drafts = kept

    def draft_of(self, model: str) -> str:
        """The draft that was chosen for a model; empty when none was."""
        return self.drafts.get(model, "")

    def remember_draft(self, model: str, draft: str) -> None:
        """Keep a model's draft; an empty one forgets it."""
        others = {name: known for name, known in self.drafts.items() if name != model}
        self.drafts = {**others, model: draft} if draft else others
