"""Words of the strip under a reply: a phrase while it waits, figures once there are some."""

from __future__ import annotations

from dataclasses import dataclass

from app.chat.conversation import Message, MessageState, ReplyStatistics
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.modes import mode_title
from app.ui import figures
from app.words import mark, tr

_FROM_DISK = mark(
    "Weights that are not in memory are read from the disk for every pass; the speed is the disk's."
)


@dataclass(frozen=True)
class Figure:
    """One figure of the strip.

    Attributes:
        before: Words before the value.
        value: The value, which stands out.
        after: Words after it.
        widest: A value as wide as any that is likely, so that live figures do not jitter; empty where it only grows.
        rank: Order of leaving figures out where there is no room: the highest first, 0 never.
        help: One sentence for a figure that needs it, else empty.
    """

    before: str
    value: str
    after: str
    widest: str
    rank: int
    help: str = ""

    @property
    def text(self) -> str:
        """The figure in words."""
        return " ".join(part for part in (self.before, self.value, self.after) if part)


@dataclass(frozen=True)
class ReplyStatus:
    """Everything the strip shows.

    Attributes:
        live: True if the reply is still to come or coming.
        dot: Role of the dot's colour, empty for none.
        phrase: Words at the left.
        figures: Figures after them.
    """

    live: bool
    dot: str = ""
    phrase: str = ""
    figures: tuple[Figure, ...] = ()

    @property
    def text(self) -> str:
        """The whole strip in words, for a screen reader."""
        return ", ".join([self.phrase] * bool(self.phrase) + [figure.text for figure in self.figures])

    @property
    def explanation(self) -> str:
        """The strip in words and a line for each figure that needs one, for the tool tip."""
        return "\n".join([self.text, *(figure.help for figure in self.figures if figure.help)])


def reply_status(message: Message, engine: EngineState, prefill: float | None) -> ReplyStatus:
    """Return the content of a reply's strip.

    Args:
        message: The reply.
        engine: The engine's state now.
        prefill: Share of the prompt that is read, None before it begins.
    """
    live = message.state is MessageState.STREAMING
    shown = speed_figures(message.statistics, live) if message.statistics else ()
    if message.state is MessageState.QUEUED and engine.phase is EnginePhase.STOPPED:
        return ReplyStatus(True, "hollow", tr("Waiting for the engine to start again"))
    if message.state is MessageState.QUEUED and engine.measuring:
        return ReplyStatus(True, "hollow", tr("Waiting until this machine is measured"))
    if message.state is MessageState.QUEUED:
        return ReplyStatus(True, "hollow", tr("Waiting for the other reply"))
    if message.state is MessageState.WAITING:
        return ReplyStatus(True, "acc", waiting_phrase(engine, prefill))
    if live:
        return ReplyStatus(True, "acc", "" if shown else tr("Writing"), shown)
    if message.state is MessageState.STOPPED:
        return ReplyStatus(False, "red", tr("Stopped"), shown)
    if message.state is MessageState.INTERRUPTED:
        return ReplyStatus(False, "red", tr("Interrupted"), shown)
    return ReplyStatus(False, "", "", shown)


def waiting_phrase(engine: EngineState, prefill: float | None) -> str:
    """Phrase for the time before the first token."""
    if engine.phase in (EnginePhase.STARTING, EnginePhase.STOPPED):
        return tr("Warming up")
    if engine.phase is EnginePhase.LOADING:
        if engine.fraction is None:
            return tr("Loading the model")
        return tr("Loading the model, {percent}", percent=figures.percent(engine.fraction))
    if prefill is not None and prefill < 1.0:
        return tr("Reading the prompt, {percent}", percent=figures.percent(prefill))
    return tr("Reading the prompt")


def speed_figures(statistics: ReplyStatistics, live: bool) -> tuple[Figure, ...]:
    """Return a reply's three figures: its speed, its first token, and its mode's gain.

    The disk is named while a model is read from it, because its speed is the disk's.
    """
    found = []
    if statistics.tokens_per_second is not None:
        widest, help = (
            "00.0 tok/s" if live else "",
            tr(_FROM_DISK) if statistics.disk_bytes_per_second else "",
        )
        found.append(Figure("", figures.speed(statistics.tokens_per_second), "", widest, 0, help))
    if live and statistics.disk_bytes_per_second:
        read = figures.rate(statistics.disk_bytes_per_second)
        found.append(Figure(tr("disk"), read, "", "000 MB/s", 2))
    if statistics.time_to_first_token_ms is not None:
        first = figures.duration(statistics.time_to_first_token_ms)
        found.append(Figure(tr("first token"), first, "", "", 3))
    if statistics.thought_tokens:
        tokens = figures.whole(statistics.thought_tokens)
        of_all = tr(
            "Of {all} tokens, this many were thoughts before the answer.",
            all=figures.whole(statistics.tokens),
        )
        found.append(Figure(tr("thought"), tokens, tr("tokens"), "", 4, of_all))
    if statistics.mode:
        times = statistics.times_plain
        gain = "" if times is None else figures.times_plain(times)
        found.append(Figure("", mode_title(statistics.mode), gain, "", 1, gain_words(statistics)))
    return tuple(found)


def gain_words(statistics: ReplyStatistics) -> str:
    """Words for a mode's gain over plain decoding; empty where there is none."""
    if statistics.times_plain is None or statistics.plain_per_second is None:
        return ""
    speed = figures.speed(statistics.plain_per_second)
    return tr("Plain decoding would have reached {speed}, measured during this reply.", speed=speed)
