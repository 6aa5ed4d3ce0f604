"""Measurements of a model's replies on this machine: forwards, drafts, and the yield of drafts.

There is one file for each machine, model and weight format, in the cache folder. Figures of earlier replies fade,
so that a profile follows the machine; it refines predictions (`machine_planner`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median

import numpy

from engine.decoding.costs import settled
from engine.drafting.chances import Matched
from engine.drafting.lookup import MATCHES, MatchChances
from engine.files import read_cached, write_cached
from engine.json_text import from_plain
from engine.messages import PromptKind, RoundRecord
from engine.placement import PlacementPlan
from engine.planning.cost_model import KINDS, Expectation, TokenYield, fit_yield

_FOLDER = "profiles"
# Shares of earlier seconds and of earlier yields that stay after each reply: texts differ more than seconds.
_MEMORY, _YIELD_MEMORY = 0.7, 0.85
# Rounds at a reply's start in which pages are read for the first time.
_WARMING = 2
# A width with fewer rounds in a reply says nothing.
_FEWEST_ROUNDS = 2
# Standard prompts of a kind (`engine.benchmark`), whose last replies make a mode's speed.
_STANDARD_PROMPTS = 2
# Share of the layers that may be read from the disk in one placement and not in the other, if both are as fast.
_ALIKE = 1 / 6
# Rounds at which a measured yield counts as much as the published one.
_TRUSTED_ROUNDS = 16.0
# Tokens at which the speed of earlier replies counts as much as the predicted one.
_TRUSTED_TOKENS = 64.0


@dataclass(frozen=True)
class Yielded:
    """Yield of a drafter for one kind of prompt."""

    rounds: float = 0.0  # rounds, older ones counting less
    drafted: float = 0.0  # rounds among them that had a draft
    tokens: float = 0.0  # tokens of the rounds that had a draft
    nodes: float = 0.0  # nodes of their drafts


@dataclass(frozen=True)
class Spoken:
    """A reply to a standard prompt."""

    tokens: int  # tokens after the first one, which comes out of the prompt
    seconds: float
    busy: bool = False  # other programs kept the machine busy meanwhile


@dataclass(frozen=True)
class Written:
    """Tokens that replies wrote in one place with one drafter, and their seconds; older ones count less."""

    tokens: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Profile:
    """Measured figures."""

    # Seconds of a target's forward by placement and then by width (as text, since JSON's keys are text)
    forwards: dict[str, dict[str, float]] = field(default_factory=dict)
    # Seconds of a draft by drafter (`drafter_key`) and then by nodes
    drafts: dict[str, dict[str, float]] = field(default_factory=dict)
    # Yields by drafter and then by kind of prompt
    yields: dict[str, dict[str, Yielded]] = field(default_factory=dict)
    # How often texts went on as before, by the kinds of matches of `MatchChances`
    matches: dict[str, Matched] = field(default_factory=dict)
    # Seconds of a forward by placement, tokens of the text before and width, measured side by side
    calibrated: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    # Tokens per second by drafter and width, of replies that had this width in every round
    speeds: dict[str, dict[str, float]] = field(default_factory=dict)
    # The last replies to standard prompts by placement and drafter, and then by kind of prompt
    spoken: dict[str, dict[str, tuple[Spoken, ...]]] = field(default_factory=dict)
    # What replies wrote by placement and drafter
    written: dict[str, Written] = field(default_factory=dict)
    # Share of a row's choices of experts that the row before had made too, for a mixture; None if no reply
    # has shown it
    reuse: float | None = None

    @property
    def known(self) -> bool:
        """True if any reply was measured, on a busy machine too."""
        return bool(self.forwards or self.spoken)

    def knows_draft(self, digest: str) -> bool:
        """Return whether a draft has drafted alone in any mode."""
        return any(drafter.split()[1:] == [digest[:16]] for drafter in self.yields)

    def forward_seconds(self, plan: PlacementPlan) -> dict[int, float]:
        """Return the seconds of a forward by its width, in one placement.

        Widths that no reply has had are as calibrated after the shortest text, at the load of the replies.
        """
        own = {int(width): seconds for width, seconds in self.forwards.get(plan.key, {}).items()}
        lengths = self.calibrated.get(plan.key, {})
        if not lengths:
            return own
        known = {int(width): seconds for width, seconds in lengths[min(lengths, key=int)].items()}
        load = median([own[width] / known[width] for width in own.keys() & known.keys()] or [1.0])
        return {width: load * seconds for width, seconds in known.items()} | own

    def plain_seconds(self, plan: PlacementPlan, position: int) -> float | None:
        """Return the seconds of a forward of one row after so many tokens, in one placement, or None if not measured.

        A longer text adds the time that was calibrated; without calibration it adds nothing. Some layers more or fewer
        are read from the disk in another process, so the nearest placement with about as many counts too.
        """
        seconds = self.forward_seconds(plan).get(1)
        if seconds is None:
            kind, _, pinned = plan.key.rpartition(" ")
            known = ((key.rpartition(" "), widths["1"]) for key, widths in self.forwards.items() if "1" in widths)
            near = [(abs(int(own) - int(pinned)), one) for (alike, _, own), one in known if alike == kind]
            apart, one = min(near, default=(len(plan.layers), None))
            return one if apart <= _ALIKE * len(plan.layers) else None
        calibrated = self.calibrated.get(plan.key, {})
        times = dict(sorted((int(length), widths["1"]) for length, widths in calibrated.items() if "1" in widths))
        if not times:
            return seconds
        return seconds * float(numpy.interp(position, [*times], [*times.values()]) / times[min(times)])

    def width_speeds(self, drafter: str) -> dict[int, float]:
        """Return the tokens per second by the width that every round had."""
        return {int(width): speed for width, speed in self.speeds.get(drafter, {}).items()}

    def with_calibration(
        self,
        plan: PlacementPlan,
        drafter: str,
        forwards: Mapping[int, Mapping[int, float]],
        drafts: Mapping[int, float],
        speeds: Mapping[int, float],
    ) -> Profile:
        """Return this profile with measurements by width.

        Args:
            plan: The placement.
            drafter: Key of the drafter, see `drafter_key`.
            forwards: Seconds by tokens of the text before, and by width.
            drafts: Seconds of a draft by nodes.
            speeds: Tokens per second by width.
        """
        calibrated = {str(length): _by_text(widths) for length, widths in forwards.items()}
        return replace(
            self,
            calibrated={**self.calibrated, plan.key: calibrated},
            drafts={**self.drafts, drafter: _by_text(drafts)},
            speeds={**self.speeds, drafter: _by_text(speeds)},
        )

    def with_spoken(self, plan: PlacementPlan, drafter: str, kind: PromptKind, reply: Spoken) -> Profile:
        """Return this profile with another reply to a standard prompt; a busy machine's never replace quiet ones."""
        key = f"{plan.key} {drafter}"
        known = self.spoken.get(key, {})
        before = known.get(kind, ())
        if reply.busy and any(not one.busy for one in before):
            return self
        alike = [one for one in before if one.busy == reply.busy]
        return replace(self, spoken={**self.spoken, key: {**known, kind: (*alike, reply)[-_STANDARD_PROMPTS:]}})

    def measured_speed(self, plan: PlacementPlan, drafter: str) -> tuple[float, bool] | None:
        """Return tokens per second over all kinds of prompt and whether the machine was busy, or None before that."""
        known = self.spoken.get(f"{plan.key} {drafter}", {})
        replies = [reply for kind in known.values() for reply in kind]
        if any(kind not in known for kind in KINDS) or not sum(reply.tokens for reply in replies):
            return None
        speed = sum(reply.tokens for reply in replies) / sum(reply.seconds for reply in replies)
        return speed, any(reply.busy for reply in replies)

    def with_written(self, plan: PlacementPlan, drafter: str, reply: Spoken) -> Profile:
        """Return this profile with another reply's tokens and seconds."""
        key = f"{plan.key} {drafter}"
        before = self.written.get(key, Written())
        tokens, seconds = _YIELD_MEMORY * before.tokens + reply.tokens, _YIELD_MEMORY * before.seconds + reply.seconds
        return replace(self, written={**self.written, key: Written(tokens, seconds)})

    def promised_speed(self, plan: PlacementPlan, drafter: str, predicted: float) -> float:
        """Return the tokens per second to promise: the predicted ones, corrected by the speed of earlier replies.

        A prediction knows a draft by its mean yield, while a schedule drafts much in one text and nothing in another.
        """
        known = self.written.get(f"{plan.key} {drafter}")
        if known is None or not predicted:
            return predicted
        return (_TRUSTED_TOKENS + known.tokens) / (_TRUSTED_TOKENS / predicted + known.seconds)

    def draft_seconds(self, drafter: str) -> dict[int, float]:
        """Return the seconds of a draft by its nodes."""
        return {int(nodes): seconds for nodes, seconds in self.drafts.get(drafter, {}).items()}

    def expectation(self, drafter: str, published: Expectation) -> Expectation:
        """Return the expected yield of a drafter: the measured one, if any, weighed against the published one.

        Replies of an unknown kind (``any``) speak for the kinds of which no reply is known.
        """
        own = self.yields.get(drafter, {})
        if not own:
            return published
        kinds: dict[PromptKind, TokenYield] = {}
        for kind in KINDS:
            known = own.get(kind) or own.get("any")
            kinds[kind] = published[kind] if known is None else _weighed(known, published[kind])
        return kinds

    def with_reply(
        self,
        rounds: Iterable[RoundRecord],
        plan: PlacementPlan,
        drafter: str | None,
        kind: PromptKind | None = None,
    ) -> Profile:
        """Return this profile with the measurements of another reply."""
        everything = list(rounds)
        warm = everything[_WARMING:]
        timed = settled(everything, _WARMING)
        forwards = _times((one.drafted_rows + 1, one.verify_ms) for one in timed)
        placement = plan.key
        merged = {**self.forwards, placement: _faded(self.forwards.get(placement, {}), forwards)}
        if drafter is None:
            return replace(self, forwards=merged)
        spent = _times((len(one.tokens), one.draft_ms) for one in warm if one.tokens)
        drafts = {**self.drafts, drafter: _faded(self.drafts.get(drafter, {}), spent)}
        name = kind or "any"
        before = self.yields.get(drafter, {}).get(name, Yielded())
        own = {**self.yields.get(drafter, {}), name: _added(before, warm)}
        yields = {**self.yields, drafter: own}
        return replace(self, forwards=merged, drafts=drafts, yields=yields)

    def with_reuse(self, fresh: float | None) -> Profile:
        """Return this profile with another reply's share of repeated choices of experts, or None if it had none."""
        if fresh is None or self.reuse is None:
            return replace(self, reuse=self.reuse if fresh is None else fresh)
        return replace(self, reuse=_MEMORY * self.reuse + (1 - _MEMORY) * fresh)

    def chances(self) -> MatchChances:
        """Return the worth of earlier replies' matches, for replies to come."""
        return MatchChances({one: self.matches.get(str(one), Matched()) for one in MATCHES})

    def with_matches(self, chances: MatchChances) -> Profile:
        """Return this profile with the present worth of matches."""
        return replace(self, matches={str(kind): one for kind, one in chances.earlier.items()})


def drafter_key(mode: str, *digests: str) -> str:
    """Return the key of a drafter: the same draft drafts differently in another mode, and beside others.

    Args:
        mode: The mode's name.
        digests: Digests of the loaded drafts' checkpoints; none if the mode needs none.
    """
    return " ".join((mode, *(digest[:16] for digest in digests)))


def profile_path(cache_folder: Path, hardware: str, digest: str, weights: str) -> Path:
    """Return the path of a profile."""
    return cache_folder / _FOLDER / f"{hardware}-{digest[:16]}-{weights}.json"


def read_profile(path: Path) -> Profile:
    """Read the profile in a file, or an empty one if there is none or it is damaged."""
    try:
        return from_plain(Profile, read_cached(path))
    except ValueError:
        return Profile()


def keep_profile(path: Path, profile: Profile) -> None:
    """Write a profile, whole or not at all. If it cannot be kept, it is measured again."""
    write_cached(path, asdict(profile))


def _by_text(sizes: Mapping[int, float]) -> dict[str, float]:
    return {str(size): value for size, value in sizes.items()}


def _times(measured: Iterable[tuple[int, float]]) -> dict[str, float]:
    """Return median seconds by size, from milliseconds."""
    by_size: dict[int, list[float]] = {}
    for size, milliseconds in measured:
        by_size.setdefault(size, []).append(milliseconds / 1e3)
    return {str(size): median(times) for size, times in by_size.items() if len(times) >= _FEWEST_ROUNDS}


def _faded(before: Mapping[str, float], fresh: Mapping[str, float]) -> dict[str, float]:
    merged = dict(before)
    for size, seconds in fresh.items():
        merged[size] = _MEMORY * before[size] + (1 - _MEMORY) * seconds if size in before else seconds
    return merged


def _added(before: Yielded, rounds: Iterable[RoundRecord]) -> Yielded:
    everything = list(rounds)
    drafted = [one for one in everything if one.tokens]
    return Yielded(
        rounds=_YIELD_MEMORY * before.rounds + len(everything),
        drafted=_YIELD_MEMORY * before.drafted + len(drafted),
        tokens=_YIELD_MEMORY * before.tokens + sum(len(one.accepted) + 1 for one in drafted),
        nodes=_YIELD_MEMORY * before.nodes + sum(len(one.tokens) for one in drafted),
    )


def _weighed(known: Yielded, published: TokenYield) -> TokenYield:
    """Return the mean of both: of what a draft gains by the rounds with one, of their share by all rounds.

    A schedule that drafts in few rounds has found that more do not pay.
    """

    def mean(total: float, rounds: float, before: float) -> float:
        return (total + _TRUSTED_ROUNDS * before) / (rounds + _TRUSTED_ROUNDS)

    finds = mean(known.drafted, known.rounds, published.finds)
    if not known.drafted:
        return replace(published, finds=finds)
    own = fit_yield(known.tokens / known.drafted, known.nodes / known.drafted, reach=published.reach)
    return replace(published, gain=mean(known.drafted * own.gain, known.drafted, published.gain), finds=finds)
