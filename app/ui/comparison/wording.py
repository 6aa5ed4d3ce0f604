"""What a comparison says in words: figures, the verdict, and all of it as text."""

from __future__ import annotations

from collections.abc import Sequence

from app.chat.choices import mode_title
from app.chat.comparison import Trial, Verdict, ran_title
from app.ui import figures
from app.words import tr


def state_words(trial: Trial | None, runs: bool) -> str:
    """Where a trial is, in a few words; its figures once it has ended."""
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
    """Tokens, time, speed, tau and what ran, as far as there are such figures."""
    words = [tr("%n token(s)", n=len(trial.token_ids))]
    if trial.seconds is not None:
        words.append(figures.duration(trial.seconds * 1000))
    if trial.tokens_per_second is not None:
        words.append(figures.speed(trial.tokens_per_second))
    if trial.mean_acceptance_length is not None:
        words.append(tr("{tau} tokens/step", tau=figures.ratio(trial.mean_acceptance_length)))
    if trial.stopped:
        words.append(tr("stopped"))
    if trial.ran:
        words.append(tr("ran {mode}", mode=ran_title(trial)))
    return "  ·  ".join(words)


def verdict_words(verdict: Verdict) -> str:
    """Whether both say the same, in one sentence."""
    if verdict.identical and verdict.complete:
        return tr("Identical, %n token(s).", n=verdict.tokens)
    if verdict.identical:
        return tr("Identical as far as both came, %n token(s).", n=verdict.tokens)
    return tr(
        "Different from token {number} on: the first %n token(s) are the same.",
        n=verdict.tokens,
        number=figures.whole(verdict.tokens + 1),
    )


def as_text(model: str, prompt: str, trials: Sequence[Trial], verdict: Verdict | None) -> str:
    """The whole comparison, to be pasted elsewhere."""
    parts = [tr("Model: {name}", name=model), tr("Prompt: {prompt}", prompt=prompt)]
    for trial in trials:
        head = tr("{mode}: {figures}", mode=mode_title(trial.mode), figures=state_words(trial, False))
        parts.append(f"{head}\n{trial.text}" if trial.text else head)
    if verdict is not None:
        parts.append(verdict_words(verdict))
    return "\n\n".join(parts) + "\n"
