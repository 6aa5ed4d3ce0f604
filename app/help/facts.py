"""Sentences of articles on this computer: made of what the engine reported, or saying that it has not yet.

They are in English, as the articles are, and so are their figures, whatever the window's language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.chat.model_entries import Fit, ListedModel, Recommendation, fit_of, fits
from app.chat.modes import mode_title
from engine.messages import MachineReport, ModePrediction, PlanReport, Prediction
from engine.modes import MODES

# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
_LOOKING = "Tenon is looking at this computer; this page shows it in a moment."
_PLANNING = "Tenon is working out what each mode does with the model in use; this page shows it in a moment."
_FITTING = "Tenon is working out what fits here; this page shows it in a moment."


@dataclass(frozen=True)
class HelpFacts:
    """Facts that are known when an article is shown."""

    version: str  # version of Tenon
    data_folder: str  # folder of chats and models
    model: str = ""  # the name of the model in use; empty where there is none
    report: MachineReport | None = None  # the computer; None before the engine has told
    plan: PlanReport | None = None  # plan of the model in use, or None
    models: Sequence[ListedModel] = ()  # models that could be fetched
    # Predictions for them here, by reference, as far as they are known
    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    recommended: Sequence[Recommendation] = ()  # models among them for this computer
    sampling: Sequence[tuple[str, str]] = ()  # sampling in force: (title of the setting, value)

    def words(self, name: str) -> str:
        """Text for a placeholder without a kind.

        Raises:
            KeyError: there is none of that name.
        """
        return _WORDS[name](self)


def _computer(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return _LOOKING
    name = f"This computer is a **{report.machine}**. It" if report.machine else "This computer"
    usable = report.processor.usable_cores
    cores = f"{usable} cores" if usable != 1 else "1 core"
    return (
        f"{name} has the processor {report.processor.name} with {cores} to compute with. {_memory(facts)} "
        f"{_graphics(facts)} {_disk(facts)}"
    )


def _memory(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return _LOOKING
    total, free = _size(report.memory.total_bytes), _size(report.memory.available_bytes)
    return f"This computer has **{total} of memory**, of which {free} are free now."


def _graphics(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return _LOOKING
    if not report.gpus:
        return "Tenon finds **no graphics card that it can use** here, so models run on the processor."
    gpu = report.gpus[0]
    if gpu.unified:
        return f"Tenon can use the graphics processor **{gpu.name}**, which shares the computer's memory."
    total, free = _size(gpu.total_bytes), _size(gpu.free_bytes)
    return f"Tenon can use the graphics card **{gpu.name}** with {total}, of which {free} are free now."


def _disk(facts: HelpFacts) -> str:
    disk = None if facts.report is None else facts.report.disk("models")
    return "" if disk is None else f"The disk that models are kept on has {_size(disk.free_bytes)} free."


def _model(facts: HelpFacts) -> str:
    return f"The one in use now is **{facts.model}**." if facts.model else "No model is in use now."


def _mode_here(facts: HelpFacts) -> str:
    plan = facts.plan
    if plan is None:
        return _PLANNING
    model = facts.model or plan.model
    assumed = "" if plan.measured else " The speeds of this computer were never measured: these are guesses."
    speeds = {mode.mode: mode.tokens_per_second for mode in plan.modes if not mode.refusal}
    chosen = speeds.get(plan.chosen)
    if chosen is None or chosen < max(speed or 0.0 for speed in speeds.values()):
        return f"With **{model}** on this computer: {plan.reason}{assumed}"
    why = f"With **{model}** Auto takes **{mode_title(plan.chosen)}** on this computer, for it is predicted to be "
    why += f"the fastest of the modes that can run: about {_speed(chosen)}."
    plain = speeds.get("plain")
    if plain and plan.chosen != "plain":
        why += f" Plain would write about {_speed(plain)}."
    return why + assumed


def _modes(facts: HelpFacts) -> str:
    if facts.plan is None:
        return ""
    return "\n".join(f"- {_mode(mode)}" for mode in facts.plan.modes)


def _mode(mode: ModePrediction) -> str:
    title = f"**{mode_title(mode.mode)}**"
    if mode.refusal or mode.tokens_per_second is None:
        return f"{title} cannot run here. {mode.refusal}".strip()
    summary = f": {mode.summary}" if mode.summary else ""
    return f"{title}, about {_speed(mode.tokens_per_second)}{summary}"


def _context(facts: HelpFacts) -> str:
    plan = facts.plan
    mode = None if plan is None else next((one for one in plan.modes if one.mode == plan.chosen), None)
    if plan is None or mode is None or mode.context is None:
        return ""
    return (
        f"**{facts.model or plan.model}** has room for {mode.context:,} tokens here, "
        f"and can have {plan.context_limit:,} at most."
    )


def _largest(facts: HelpFacts) -> str:
    known = [
        (model.title, model.parameters, facts.predictions[model.reference])
        for model in facts.models
        if model.parameters and model.reference in facts.predictions
    ]
    if not known:
        return _FITTING

    def most(some: Iterable[tuple[str, int, Prediction]]) -> tuple[str, int, Prediction] | None:
        return max(some, key=lambda one: one[1], default=None)

    # A draft beside it may be one too many for what is free now.
    fitting = [one for one in known if fits(one[2]) and one[2].memory_bytes <= one[2].room_bytes]
    sentences = []
    largest = most(fitting)
    if largest is None:
        sentences.append("No model of the catalogue fits into this computer's memory.")
    else:
        title, _, prediction = largest
        sentences.append(
            f"The largest model of the catalogue that fits into this computer's memory is **{title}**: "
            f"it takes {_size(prediction.memory_bytes)} of the {_size(prediction.room_bytes)} that a model can "
            f"have here, and writes {_predicted(prediction)}."
        )
        swift = most(one for one in fitting if (one[2].tokens_per_second or 0.0) >= _READING_TOKENS_PER_S)
        if swift is not None and swift is not largest:
            sentences.append(
                f"The largest one that writes as fast as people read is **{swift[0]}**, with {_predicted(swift[2])}."
            )
    beyond = most(one for one in known if fit_of(one[2]) is Fit.DISK)
    if beyond is not None:
        sentences.append(f"Read from the disk, **{beyond[0]}** would run too, with {_predicted(beyond[2])}.")
    if any(prediction.basis == "guess" for _, _, prediction in known):
        sentences.append("The speeds of this computer were never measured: the speeds named are guesses.")
    return " ".join(sentences)


def _recommended(facts: HelpFacts) -> str:
    found = facts.recommended
    if not found:
        return _FITTING if len(facts.predictions) < len(facts.models) else ""
    rows = "\n".join(
        f"- **{one.model.title}**, {one.strength.value.lower()}: {_predicted(facts.predictions[one.model.reference])}"
        for one in found
    )
    return f"For this computer:\n\n{rows}"


def _sampling(facts: HelpFacts) -> str:
    if not facts.sampling:
        return ""
    return "In force now: " + ", ".join(f"{title} {value}" for title, value in facts.sampling) + "."


def _data_folder(facts: HelpFacts) -> str:
    return f"Your data lie in `{facts.data_folder}`."


def _predicted(prediction: Prediction) -> str:
    speed = "" if prediction.tokens_per_second is None else f"about {_speed(prediction.tokens_per_second)}"
    mode = "" if prediction.mode is None else f"in {mode_title(prediction.mode)}"
    return " ".join(part for part in (speed, mode) if part)


def _speed(tokens_per_second: float) -> str:
    if tokens_per_second < 1:
        return f"{1 / tokens_per_second:.1f} seconds for each token"
    return f"{tokens_per_second:.{0 if tokens_per_second >= 20 else 1}f} tokens per second"


def _size(size_bytes: int) -> str:
    if size_bytes < 999_500_000:
        return f"{size_bytes / 1e6:.0f} MB"
    return f"{size_bytes / 1e9:.3g} GB"


_WORDS: dict[str, Callable[[HelpFacts], str]] = {
    "computer": _computer,
    "context": _context,
    "data-folder": _data_folder,
    "disk": _disk,
    "graphics": _graphics,
    "largest": _largest,
    "memory": _memory,
    "mode-here": _mode_here,
    "mode-helps": lambda facts: "\n".join(f"- **{mode.title}**: {mode.help}" for mode in MODES.values()),
    "mode-names": lambda facts: ", ".join(f"`{mode.name}`" for mode in MODES.values()),
    "model": _model,
    "modes": _modes,
    "recommended": _recommended,
    "sampling": _sampling,
    "version": lambda facts: facts.version,
}
