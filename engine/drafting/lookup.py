"""Lookup: texts often repeat themselves and each other, so what was said before is a free draft.

The last tokens are looked up in everything before them (prompt and reply) and in other texts of the same model; what
followed there is proposed. Source: Saxena, "Prompt Lookup Decoding" (2023); the other texts, and trees of what
followed by how often it did, are those of SuffixDecoding (Oliaro et al. 2024, arXiv 2411.04975). How far a match
reaches back tells how likely it goes on, as in the match models of text compressors (Mahoney, "Adaptive Weighing of
Context Models for Lossless Data Compression", 2005): each node has its chance, learned without drafting it, and a
schedule takes those that pay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp, log, log1p

from torch import Tensor

from engine.drafting.chances import Chances, Matched
from engine.drafting.drafter import Drafter
from engine.drafting.earlier_texts import EarlierTexts, Texts
from engine.model.token_tree import ROOT, Draft, DraftShape

#: The shortest match of each class; the last holds all that are longer.
CLASSES = (2, 3, 4, 5, 7, 10, 16, 32)
#: Kinds of matches, by the shortest of their class; in other texts than the reply's own it is negative.
MATCHES = (*CLASSES, *(-shortest for shortest in CLASSES))
# The chances before anything was seen, as chats, quotations and edits of a small model have them
# (tests/benchmarks/speculation.py), and the number of observations they count for.
_BUILT_IN = (0.4, 0.5, 0.65, 0.75, 0.82, 0.88, 0.93, 0.98, 0.2, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 0.98)
_BUILT_IN_WEIGHT = 20.0
# Matches that all earlier replies together count for in a reply, and the rate at which a reply forgets its own.
_EARLIER = 6.0
_MEMORY = 0.97
# Share of their observations that earlier replies keep after each reply.
_KEPT = 0.9
# Standard errors below the mean: nodes that pay only if the estimate is lucky are not drafted.
_CAREFUL = 0.5
# Tokens that a tree may have behind one node.
_BRANCHES = 3
# Nodes less likely than this (its logarithm) are not worth a row even if rows cost next to nothing.
_UNLIKELY = -4.0
# Most that the first token behind a node leaves nothing of to the others
_SUREST = 0.99
_NOTHING = Draft()


class MatchChances:
    """The chance that a match of some length goes on as it did before, estimated with care.

    Matches are observed whether or not they were drafted, so learning costs no forward. Earlier replies stand in
    until a reply's own observations outweigh theirs, which they soon do: a text that is quoted and one that is made
    up differ. The estimate is half a standard error below the mean.

    Args:
        earlier: Value of `earlier` from another session.
        others: Other texts in which matches are found, or None.
    """

    def __init__(self, earlier: Mapping[int, Matched] | None = None, others: EarlierTexts | None = None) -> None:
        # Observations of the replies before this one, by kind
        self.earlier = {kind: Matched() for kind in MATCHES} | dict(earlier or {})
        self.others = others  # other texts in which matches are found, or None
        self.begin()

    def of_another_reply(self, others: EarlierTexts | None = None) -> MatchChances:
        """Return chances for a reply that may run beside others: it learns alone, and what it keeps counts for all."""
        found = MatchChances(others=others)
        found.earlier = self.earlier
        found.begin()
        return found

    def begin(self) -> None:
        """Begin a reply: what the reply before has shown is dropped, unless it was kept."""
        self._means = [
            (_BUILT_IN_WEIGHT * built_in + known.held) / (_BUILT_IN_WEIGHT + known.seen)
            for built_in, known in zip(_BUILT_IN, map(self.earlier.__getitem__, MATCHES), strict=True)
        ]
        self._own = Chances(_EARLIER, _MEMORY, _CAREFUL)
        self._all = [Matched() for _ in MATCHES]
        self._logs = list(map(self._log, range(len(MATCHES))))

    @property
    def known(self) -> bool:
        """True if any earlier reply has shown anything."""
        return any(matched.seen for matched in self.earlier.values())

    def keep(self) -> None:
        """Count the reply among the earlier ones from now on."""
        for kind, seen in zip(MATCHES, self._all, strict=True):
            if seen.seen:
                before = self.earlier[kind]
                self.earlier[kind] = Matched(_KEPT * before.seen + seen.seen, _KEPT * before.held + seen.held)
        self.begin()

    def learn(self, length: int, held: bool, elsewhere: bool = False) -> None:
        """Learn from the token that came after a match.

        Args:
            length: Length of the match in tokens, at least 2.
            held: True if the token was the one that had followed before.
            elsewhere: True if it is a match in another text.
        """
        at = class_of(length) + elsewhere * len(CLASSES)
        self._own.learn(at, held)
        self._all[at].add(held)
        self._logs[at] = self._log(at)

    def _log(self, at: int) -> float:
        return log(max(self._own.chance(at, self._means[at]), 1e-3))

    def log_chance(self, length: int, elsewhere: bool = False) -> float:
        """Return the logarithm of the chance that a match of this length goes on as before."""
        return self._logs[class_of(length) + elsewhere * len(CLASSES)]


def class_of(length: int) -> int:
    """Return the index of the class of matches of this length, which is at least 2."""
    return bisect_right(CLASSES, length) - 1


@dataclass(frozen=True)
class _Match:
    """Places of one or more texts that the end of the text equals."""

    length: int  # tokens
    places: Sequence[int]  # places after it, the latest first; others, if texts were forgotten since
    following: int  # the token that stood there most often
    elsewhere: bool  # True for places in other texts


@dataclass(frozen=True)
class _Way:
    """Tokens that followed a match at some of its places."""

    tokens: Sequence[int]
    length: int  # of the match
    elsewhere: bool
    places: int  # places that go on so


class PromptLookup(Drafter):
    """Drafts what followed the longest suffixes that occurred before, each node with the log of its chance.

    Places are sorted by what stands before them, so that a proposal costs a few comparisons whatever the length of the
    context. Each token that comes is compared with the one that would have been proposed, whether it was drafted or
    not.

    Args:
        chances: Chances of matches in earlier replies of the model, which learn from this one, and its other texts.
    """

    gives_chances = True

    def __init__(self, chances: MatchChances | None = None) -> None:
        self._chances = MatchChances() if chances is None else chances
        self._others = self._chances.others
        self._text = Texts()
        self._matches: tuple[_Match, ...] = ()

    def reset(self, prompt: Sequence[int]) -> int:
        """Index a new prompt; no rows are needed."""
        self._text = Texts()
        self._chances.begin()
        self._text.extend(prompt)
        self._matches = self._longest()
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None = None, probes: Tensor | None = None) -> None:
        """Learn from the tokens what matches are worth, and append them."""
        for token in tokens:
            for match in self._matches:
                held = match.following == token
                self._chances.learn(match.length, held, match.elsewhere)
                if held and match.elsewhere and self._others is not None:
                    self._others.use(match.places[0])
            self._text.append(token)
            self._matches = self._longest()

    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree of what followed the longest matches, as far as that is likely, the likeliest nodes first."""
        return self._draft((), self._matches, shape.rows, _BRANCHES)

    def after(self, guesses: Sequence[int], most: int) -> Draft:
        """Draft at most ``most`` tokens behind the text and some guesses; scores assume that the guesses hold."""
        return self._draft(guesses, self._longest(guesses) if guesses else self._matches, most, 1)

    def _draft(self, guesses: Sequence[int], matches: Sequence[_Match], most: int, branches: int) -> Draft:
        tokens: list[int] = []
        parents: list[int] = []
        scores: list[float] = []
        offers: list[tuple[float, int, int, int, int, Sequence[_Way]]] = []
        ways: Sequence[_Way] = [way for match in matches for way in self._ways(match, guesses, most)]
        node, depth, score, number = ROOT, 0, 0.0, 0
        while len(tokens) < most:
            for token, own, others in self._following(ways, depth)[:branches]:
                if score + own >= _UNLIKELY:
                    number += 1  # of equal scores the earlier offer is first
                    heappush(offers, (-score - own, number, token, node, depth + 1, others))
            if not offers:
                break
            cost, _, token, parent, depth, ways = heappop(offers)
            node, score = len(tokens), -cost
            tokens.append(token)
            parents.append(parent)
            scores.append(score)
        return Draft(tuple(tokens), tuple(parents), tuple(scores)) if tokens else _NOTHING

    def _following(self, ways: Sequence[_Way], depth: int) -> list[tuple[int, float, Sequence[_Way]]]:
        """Return the tokens at a depth of some ways, the likeliest first, with the log of their chances and their ways.

        A token has its match's chance, or its share of that if the match went on otherwise as well; a second token
        has what the first leaves to it.
        """
        log_chance = self._chances.log_chance
        if len(ways) == 1:
            way = ways[0]
            on = depth < len(way.tokens)
            return [(way.tokens[depth], log_chance(way.length + depth, way.elsewhere), ways)] if on else []
        following: dict[int, list[_Way]] = {}
        places = Counter[bool]()
        for way in ways:
            if depth < len(way.tokens):
                following.setdefault(way.tokens[depth], []).append(way)
                places[way.elsewhere] += way.places
        found: list[tuple[int, float, Sequence[_Way]]] = []
        for token, own in following.items():
            share = Counter[bool]()
            for way in own:
                share[way.elsewhere] += way.places
            chance = max(
                log_chance(way.length + depth, way.elsewhere) + log(share[way.elsewhere] / places[way.elsewhere])
                for way in own
            )
            found.append((token, chance, own))
        found.sort(key=lambda one: -one[1])
        left = 0.0
        for at, (token, chance, same) in enumerate(found):
            found[at] = token, chance + left, same
            left += log1p(-min(exp(chance), _SUREST))
        return found

    def _ways(self, match: _Match, guesses: Sequence[int], most: int) -> Iterator[_Way]:
        if match.elsewhere:
            assert self._others is not None
            found = (self._others.after(place, most) for place in match.places)
        else:
            found = (self._continuation(place, guesses, most) for place in match.places)
        for tokens, places in Counter(map(tuple, found)).items():
            yield _Way(tokens, match.length, match.elsewhere, places)

    def _longest(self, guesses: Sequence[int] = ()) -> tuple[_Match, ...]:
        """Return the longest matches in the text, and in other ones."""
        end, found = self._text.end(guesses), []
        for source in (self._text, self._others):
            if source is not None:
                length, places = source.find(end)
                if places:
                    following = Counter(source.tokens[place] for place in places).most_common(1)[0][0]
                    found.append(_Match(length, places, following, source is not self._text))
        return tuple(found)

    def _continuation(self, start: int, guesses: Sequence[int], length: int) -> list[int]:
        """Return ``length`` tokens from ``start`` on; beyond the text and the guesses they repeat from there."""
        found = [*self._text.tokens[start : start + length], *guesses][:length]
        period = len(self._text) + len(guesses) - start
        while len(found) < length:
            found.append(found[len(found) - period])
        return found
