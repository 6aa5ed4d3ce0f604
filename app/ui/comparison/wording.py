"""Words of a comparison: figures, the agreement, and all of it as text."""

from __future__ import annotations

from collections.abc import Sequence

from app.chat.comparison import Agreement, Trial, ran_title
from app.chat.modes import mode_title
from app.ui import figures
from app.words import tr

# Tokens a step below which guesses have nothing to do with the speed.
_HARDLY = 1.05
# Tokens below which a few lucky guesses, or one pause of the machine, decide which mode is faster.
_ENOUGH = 32


def state_words(trial: Trial | None, runs: bool) -> str:
    """Progress of a trial in a few words; its figures once it has ended."""
    if trial is None:
        return ""
    if trial.problem:
        return trial.problem
    if trial.ended:
        return figure_words(trial)
    if not runs:
        return tr("Waits for the other mode")
    if trial.token_ids:
        return tr("Writing, %n token(s)", n=len(trial.token_ids))
    if trial.read:
        return tr("Reading the prompt, {share}", share=figures.percent(trial.read))
    return tr("Loading and reading the prompt")


def figure_words(trial: Trial) -> str:
    """Tokens, time with loading and the prompt, speed of writing, tau and what ran, as far as they are known."""
    words = [tr("%n token(s)", n=len(trial.token_ids))]
    if trial.seconds is not None:
        words.append(tr("{time} in all", time=figures.duration(trial.seconds * 1000)))
    if trial.tokens_per_second is not None:
        words.append(figures.speed(trial.tokens_per_second))
    if trial.mean_acceptance_length is not None:
        words.append(tr("{tau} tokens/step", tau=figures.ratio(trial.mean_acceptance_length)))
    if trial.stopped:
        words.append(tr("stopped"))
    if trial.ran:
        words.append(tr("ran {mode}", mode=ran_title(trial)))
    return "  ·  ".join(words)


def agreement_words(trials: Sequence[Trial], agreement: Agreement) -> str:
    """Agreement in one sentence: the faster mode, and whether both say the same."""
    return tr("{speeds}; {texts}.", speeds=_speed_words(trials), texts=_text_words(agreement))


def _speed_words(trials: Sequence[Trial]) -> str:
    """Gain of the mode that wrote faster, in words."""
    known = [trial for trial in trials if trial.tokens_per_second and len(trial.token_ids) >= _ENOUGH]
    if len(known) < 2:
        return tr("Too short to tell which wrote faster")
    slower, faster = sorted(known, key=lambda trial: trial.tokens_per_second or 0.0)
    times = figures.ratio((faster.tokens_per_second or 0.0) / (slower.tokens_per_second or 1.0))
    if times == figures.ratio(1.0):
        return tr("Both wrote equally fast")
    mode = mode_title(faster.mode) if ran_title(faster) == ran_title(slower) else ran_title(faster)
    tau = faster.mean_acceptance_length
    if tau is not None and tau < _HARDLY and faster.ran != "plain":
        return tr(
            "{mode} wrote {times} times as fast, but almost no guess held, so that was chance",
            mode=mode,
            times=times,
        )
    return tr("{mode} wrote {times} times as fast", mode=mode, times=times)


def _text_words(agreement: Agreement) -> str:
    if agreement.identical and agreement.complete:
        return tr("the texts are identical")
    if agreement.identical:
        return tr("the texts are identical as far as both came")
    return tr("the texts differ from token {number} on", number=figures.whole(agreement.tokens + 1))


def as_text(model: str, prompt: str, trials: Sequence[Trial], agreement: Agreement | None) -> str:
    """Return the whole comparison as text to paste elsewhere."""
    parts = [tr("Model: {name}", name=model), tr("Prompt: {prompt}", prompt=prompt)]
    for trial in trials:
        head = tr("{mode}: {figures}", mode=mode_title(trial.mode), figures=state_words(trial, False))
        parts.append(f"{head}\n{trial.text}" if trial.text else head)
    if agreement is not None:
        parts.append(agreement_words(trials, agreement))
    return "\n\n".join(parts) + "\n"
