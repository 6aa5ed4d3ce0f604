"""Sentences of articles on this computer: made of what the engine reported, or saying that it has not yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.chat.model_entries import Fit, ListedModel, Recommendation, fit_of, fits
from app.chat.modes import mode_title
from app.words import mark, tr
from engine.messages import MachineReport, ModePrediction, PlanReport, Prediction
from engine.modes import MODES
from engine.sentences import figure, paragraph

# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
_LOOKING = mark("Tenon is looking at this computer; this page shows it in a moment.")
_PLANNING = mark("Tenon is working out what each mode does with the model in use; this page shows it in a moment.")
_FITTING = mark("Tenon is working out what fits here; this page shows it in a moment.")
_GUESSES = mark("The speeds of this computer were never measured: these are guesses.")


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
        return tr(_LOOKING)
    name = tr("This computer is a **{name}**.", name=report.machine) if report.machine else ""
    cores = tr("%n core(s)", report.processor.usable_cores)
    processor = tr("The processor is {name}, with {cores} to compute with.", name=report.processor.name, cores=cores)
    return paragraph(name, processor, _memory(facts), _graphics(facts), _disk(facts))


def _memory(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return tr(_LOOKING)
    total, free = _size(report.memory.total_bytes), _size(report.memory.available_bytes)
    return tr("This computer has **{total} of memory**, of which {free} are free now.", total=total, free=free)


def _graphics(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return tr(_LOOKING)
    if not report.gpus:
        return tr("Tenon finds **no graphics card that it can use** here, so models run on the processor.")
    gpu = report.gpus[0]
    if gpu.unified:
        return tr("Tenon can use the graphics processor **{name}**, which shares the computer's memory.", name=gpu.name)
    total, free = _size(gpu.total_bytes), _size(gpu.free_bytes)
    return tr(
        "Tenon can use the graphics card **{name}** with {total}, of which {free} are free now.",
        name=gpu.name,
        total=total,
        free=free,
    )


def _disk(facts: HelpFacts) -> str:
    disk = None if facts.report is None else facts.report.disk("models")
    if disk is None:
        return ""
    return tr("The disk that models are kept on has {free} free.", free=_size(disk.free_bytes))


def _model(facts: HelpFacts) -> str:
    return tr("The one in use now is **{model}**.", model=facts.model) if facts.model else tr("No model is in use now.")


def _mode_here(facts: HelpFacts) -> str:
    plan = facts.plan
    if plan is None:
        return tr(_PLANNING)
    model = facts.model or plan.model
    assumed = "" if plan.measured else tr(_GUESSES)
    speeds = {mode.mode: mode.tokens_per_second for mode in plan.modes if not mode.refusal}
    chosen = speeds.get(plan.chosen)
    if chosen is None or chosen < max(speed or 0.0 for speed in speeds.values()):
        why = tr("With **{model}** on this computer: {reason}", model=model, reason=plan.reason)
        return paragraph(why, assumed)
    why = tr(
        "With **{model}** Auto takes **{mode}** on this computer, for it is predicted to be the fastest of the modes "
        "that can run: about {speed}.",
        model=model,
        mode=mode_title(plan.chosen),
        speed=_speed(chosen),
    )
    plain = speeds.get("plain")
    other = tr("Plain would write about {speed}.", speed=_speed(plain)) if plain and plan.chosen != "plain" else ""
    return paragraph(why, other, assumed)


def _modes(facts: HelpFacts) -> str:
    if facts.plan is None:
        return ""
    return "\n".join(f"- {_mode(mode)}" for mode in facts.plan.modes)


def _mode(mode: ModePrediction) -> str:
    title = mode_title(mode.mode)
    if mode.refusal or mode.tokens_per_second is None:
        return paragraph(tr("**{mode}** cannot run here.", mode=title), mode.refusal or "")
    said = tr("**{mode}**, about {speed}", mode=title, speed=_speed(mode.tokens_per_second))
    return f"{said}: {mode.summary}" if mode.summary else said


def _context(facts: HelpFacts) -> str:
    plan = facts.plan
    mode = None if plan is None else next((one for one in plan.modes if one.mode == plan.chosen), None)
    if plan is None or mode is None or mode.context is None:
        return ""
    return tr(
        "**{model}** has room for {context} tokens here, and can have {limit} at most.",
        model=facts.model or plan.model,
        context=figure(mode.context, ","),
        limit=figure(plan.context_limit, ","),
    )


def _largest(facts: HelpFacts) -> str:
    known = [
        (model.title, model.parameters, facts.predictions[model.reference])
        for model in facts.models
        if model.parameters and model.reference in facts.predictions
    ]
    if not known:
        return tr(_FITTING)

    def most(some: Iterable[tuple[str, int, Prediction]]) -> tuple[str, int, Prediction] | None:
        return max(some, key=lambda one: one[1], default=None)

    # A draft beside it may be one too many for what is free now.
    fitting = [one for one in known if fits(one[2]) and one[2].memory_bytes <= one[2].room_bytes]
    sentences = []
    largest = most(fitting)
    if largest is None:
        sentences.append(tr("No model of the catalogue fits into this computer's memory."))
    else:
        title, _, prediction = largest
        sentences.append(
            tr(
                "The largest model of the catalogue that fits into this computer's memory is **{model}**: it takes "
                "{needed} of the {room} that a model can have here, and writes {speed}.",
                model=title,
                needed=_size(prediction.memory_bytes),
                room=_size(prediction.room_bytes),
                speed=_predicted(prediction),
            )
        )
        swift = most(one for one in fitting if (one[2].tokens_per_second or 0.0) >= _READING_TOKENS_PER_S)
        if swift is not None and swift is not largest:
            said = tr(
                "The largest one that writes as fast as people read is **{model}**, with {speed}.",
                model=swift[0],
                speed=_predicted(swift[2]),
            )
            sentences.append(said)
    beyond = most(one for one in known if fit_of(one[2]) is Fit.DISK)
    if beyond is not None:
        speed = _predicted(beyond[2])
        sentences.append(
            tr("Read from the disk, **{model}** would run too, with {speed}.", model=beyond[0], speed=speed)
        )
    if any(prediction.basis == "guess" for _, _, prediction in known):
        sentences.append(tr(_GUESSES))
    return paragraph(*sentences)


def _recommended(facts: HelpFacts) -> str:
    found = facts.recommended
    if not found:
        return tr(_FITTING) if len(facts.predictions) < len(facts.models) else ""
    rows = "\n".join(
        f"- **{one.model.title}**, {tr(one.strength.value)}: {_predicted(facts.predictions[one.model.reference])}"
        for one in found
    )
    return f"{tr('For this computer:')}\n\n{rows}"


def _sampling(facts: HelpFacts) -> str:
    if not facts.sampling:
        return ""
    return tr("In force now: {values}.", values=", ".join(f"{title} {value}" for title, value in facts.sampling))


def _data_folder(facts: HelpFacts) -> str:
    return tr("Your data lie in `{folder}`.", folder=facts.data_folder)


def _predicted(prediction: Prediction) -> str:
    speed = (
        "" if prediction.tokens_per_second is None else tr("about {speed}", speed=_speed(prediction.tokens_per_second))
    )
    mode = "" if prediction.mode is None else tr("in {mode}", mode=mode_title(prediction.mode))
    return " ".join(part for part in (speed, mode) if part)


def _speed(tokens_per_second: float) -> str:
    if tokens_per_second < 1:
        return tr("{seconds} seconds for each token", seconds=figure(1 / tokens_per_second, ".1f"))
    return tr("{speed} tokens per second", speed=figure(tokens_per_second, ".0f" if tokens_per_second >= 20 else ".1f"))


def _size(size_bytes: int) -> str:
    if size_bytes < 999_500_000:
        return f"{size_bytes / 1e6:.0f} MB"
    return f"{figure(size_bytes / 1e9, '.3g')} GB"


_WORDS: dict[str, Callable[[HelpFacts], str]] = {
    "computer": _computer,
    "context": _context,
    "data-folder": _data_folder,
    "disk": _disk,
    "graphics": _graphics,
    "largest": _largest,
    "memory": _memory,
    "mode-here": _mode_here,
    "mode-helps": lambda facts: "\n".join(f"- **{tr(mode.title)}**: {tr(mode.help)}" for mode in MODES.values()),
    "mode-names": lambda facts: ", ".join(f"`{mode.name}`" for mode in MODES.values()),
    "model": _model,
    "modes": _modes,
    "recommended": _recommended,
    "sampling": _sampling,
    "version": lambda facts: facts.version,
}
