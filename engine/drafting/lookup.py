"""Lookup: texts often repeat themselves and each other, so what was said before is a free draft.

The last tokens are looked up in everything before them (prompt and reply) and in other texts of the same model; what
followed there is proposed. Source: Saxena, "Prompt Lookup Decoding" (2023); the other texts, and trees of what
followed by how often it did, are those of SuffixDecoding (Oliaro et al. 2024, arXiv 2411.04975). How far a match
reaches back tells how likely it goes on, as in the match models of text compressors (Mahoney, "Adaptive Weighing of
Context Models for Lossless Data Compression", 2005): each node has its chance, learned without drafting it, and a
schedule takes those that pay.

Places are sorted by what stands before them, read backwards: a suffix array of texts that grow. So the longest suffix
of a text that occurred before is next to where its own end would stand, and all its occurrences stand together, in
eight bytes a token. Texts of other chats are in memory alone; their number is bounded, and the least used go first.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, nlargest
from math import exp, log, log1p

import numpy
from torch import Tensor

from engine.drafting.chances import Chances, Matched
from engine.drafting.drafter import Drafter
from engine.model.token_tree import ROOT, Draft, DraftShape

#: A longer match decides nothing more.
LONGEST_MATCH = 32
#: A single token says too little.
SHORTEST_MATCH = 2
# Places of one match that are looked at, the latest ones; and how far its places are looked for at first
_PLACES, _NEAR = 8, 16
_SIZE = array("i").itemsize
# Stands between two texts, and is no token
_END = -1
# Tokens of earlier texts, and the share of them that is kept when there are more; the most of one text, and of what
# stands before it
_MOST_TOKENS, _KEPT_SHARE, _MOST_OF_ONE = 1 << 19, 0.9, 1 << 15


class Texts:
    """Tokens of one text, or of several with a token that is none between them, and their places in order."""

    def __init__(self) -> None:
        self.tokens = array("i")
        self._order = array("i")

    def __len__(self) -> int:
        return len(self.tokens)

    def append(self, token: int) -> None:
        """Append one token."""
        place = len(self.tokens)
        self.tokens.append(token)
        if place:
            self._order.insert(bisect_left(self._order, self._before(place), key=self._before), place)

    def extend(self, tokens: Sequence[int]) -> None:
        """Append many tokens."""
        first = max(len(self.tokens), 1)
        self.tokens.extend(tokens)
        text = self.tokens
        new = [place for place in range(first, len(text)) if text[place] != _END and text[place - 1] != _END]
        new.sort(key=self._before)
        if not self._order:
            self._order = array("i", new)
            return
        at = [bisect_left(self._order, self._before(place), key=self._before) for place in new]
        self._order = array("i", numpy.insert(numpy.asarray(self._order), at, new).astype(numpy.intc).tobytes())

    def end(self, guesses: Sequence[int] = ()) -> array[int]:
        """Return the last tokens of the text and of some guesses behind it, the last one first."""
        return array("i", [*self.tokens[-LONGEST_MATCH:], *guesses][: -LONGEST_MATCH - 1 : -1])

    def find(self, end: array[int]) -> tuple[int, list[int]]:
        """Return the length of the longest suffix that occurred before, and the latest places after it.

        Args:
            end: The last tokens, as `end` returns them.
        """
        wanted, order, before = end.tobytes(), self._order, self._before
        at = bisect_left(order, wanted, key=before)
        length = max((_common(before(place), wanted) for place in order[max(at - 1, 0) : at + 1]), default=0)
        if length < SHORTEST_MATCH:
            return 0, []
        size = length * _SIZE
        prefix = wanted[:size]
        # Most matches have few places, so the ends of their range are close.
        near = max(at - _NEAR, 0)
        first = bisect_left(order, prefix, 0 if before(order[near]).startswith(prefix) else near, at, key=before)
        near = min(at + _NEAR, len(order) - 1)
        stop = len(order) if before(order[near]).startswith(prefix) else near
        last = bisect_right(order, prefix, at, max(at, stop), key=lambda place: before(place)[:size])
        return length, nlargest(_PLACES, order[first:last])

    def _before(self, place: int) -> bytes:
        """Return the tokens before a place, the last one first."""
        return self.tokens[place - 1 : place - LONGEST_MATCH - 1 if place > LONGEST_MATCH else None : -1].tobytes()

    def _drop(self, first: int, last: int) -> None:
        """Drop tokens and their places."""
        numpy.asarray(self.tokens)[first:last] = 0  # what stays behind the end of the array is no text
        del self.tokens[first:last]
        order = numpy.asarray(self._order)
        left = order[(order < first) | (order >= last)]
        self._order = array("i", numpy.where(left >= last, left - (last - first), left).astype(numpy.intc).tobytes())


@dataclass(eq=False)
class Chat:
    """A chat, whose texts go with it."""


@dataclass(eq=False)
class _Text:
    """One text among others."""

    chat: Chat
    size: int  # tokens, the one at its end included
    used: int  # when it was of use last, in events


class EarlierTexts(Texts):
    """Prompts and replies of a model's chats, in memory alone."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[_Text] = []  # in the order of their tokens
        self._chats: dict[str, Chat] = {}
        self._events = 0

    def chat(self, name: str) -> Chat:
        """Return a chat, for `add`."""
        return self._chats.setdefault(name, Chat())

    def add(self, chat: Chat, tokens: Sequence[int]) -> None:
        """Add what is new of a prompt and its reply; nothing if the chat was erased meanwhile."""
        if chat not in self._chats.values():
            return
        text = array("i", tokens)
        known = 0
        while known < len(text):
            end = min(known + LONGEST_MATCH, len(text))
            if not self._knows(text[max(end - LONGEST_MATCH, 0) : end]):
                break
            known = end
        new = text[max(known - LONGEST_MATCH, len(text) - _MOST_OF_ONE, 0) :]
        if known >= len(text):
            return
        new.append(_END)
        self._events += 1
        self._texts.append(_Text(chat, len(new), self._events))
        self.extend(new)
        if len(self) > _MOST_TOKENS:
            self._make_room()

    def _knows(self, tokens: array[int]) -> bool:
        """Return whether all of these tokens stand somewhere in this order."""
        length, places = self.find(tokens[-2::-1])
        return length == len(tokens) - 1 and any(self.tokens[place] == tokens[-1] for place in places)

    def use(self, place: int) -> None:
        """Note that a place was of use."""
        self._events += 1
        for text in self._texts:
            if place < text.size:
                text.used = self._events
                return
            place -= text.size

    def after(self, place: int, most: int) -> Sequence[int]:
        """Return at most so many tokens of a text from a place on."""
        found = self.tokens[place : place + most]
        return found[: found.index(_END)] if _END in found else found

    def forget(self, name: str) -> None:
        """Drop the texts of a chat, or (an empty name) of all chats."""
        gone = [self._chats.pop(one) for one in list(self._chats) if name in ("", one)]
        self._leave([text for text in self._texts if text.chat not in gone])

    def _make_room(self) -> None:
        size, left = 0, set[int]()
        for text in sorted(self._texts, key=lambda text: -text.used):
            size += text.size
            if size > _KEPT_SHARE * _MOST_TOKENS:
                break
            left.add(id(text))
        self._leave([text for text in self._texts if id(text) in left])

    def _leave(self, left: Sequence[_Text]) -> None:
        """Leave some texts, and drop the others."""
        stays, last = set(map(id, left)), len(self)
        for text in reversed(self._texts):
            if id(text) not in stays:
                self._drop(last - text.size, last)
            last -= text.size
        self._texts = list(left)


def _common(first: bytes, second: bytes) -> int:
    """Return how many tokens two texts begin alike with."""
    size = min(len(first), len(second))
    differ = int.from_bytes(first[:size], "little") ^ int.from_bytes(second[:size], "little")
    return ((differ & -differ).bit_length() - 1) // (8 * _SIZE) if differ else size // _SIZE


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
