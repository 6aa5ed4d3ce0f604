"""The confidence gate of the bundled guide: a likely wrong answer becomes "Did you mean ..." with near topics.

The guide knows a fixed set of answers, which ``guide.json`` in its folder lists together with the words that people
ask for each with. The gate works on text and token probabilities alone, so it costs nothing and needs no torch.

It only ever touches *guide replies*. A reply is one as long as it begins like a known answer: its first
``HOLD_CHARACTERS`` characters, or all of it while it is shorter, are the start of one. A reply that is nothing but a
sum ("7 + 5 = 12") is one too: it is worked out again, and a wrong one becomes the guide's "I do not know that". Any
other text (a playground text, whatever another model writes) is passed on at once and unchanged. Models without a
``guide.json`` have no gate.

To a topic's own question, which the gate may just have offered, the topic's answer is shown however unsure the model
is; any other unsure reply to it brings other topics, never that one again.

    gate = Gate.read(model_folder)            # None for every other model
    held = gate.hold(question)
    shown = held.feed(piece, probability)     # "" while the reply may still be a guide reply
    verdict = held.finish()                   # what is left to show, and what the gate did
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE_NAME = "guide.json"
HOLD_CHARACTERS = 24
SUGGESTIONS = 3
REFUSAL = "refuse"
UNSURE = "I am not sure what you mean. Did you mean:"
OR_ELSE = "Or did you mean:"
_SUM = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")
_SUM_START = re.compile(r"\d+( ([-+*/]( (\d+( (=( (\d+)?)?)?)?)?)?)?)?")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_WORD = re.compile(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*")


@dataclass(frozen=True)
class Topic:
    """Something the guide knows.

    Attributes:
        name: the fact's id.
        title: a few words.
        question: an example question, as a person would write it.
        answer: the guide's answer, in Markdown.
        words: how strongly each word of a question speaks for this topic.
    """

    name: str
    title: str
    question: str
    answer: str
    words: Mapping[str, float] = field(repr=False)


@dataclass(frozen=True)
class Verdict:
    """What the gate did with a reply.

    Attributes:
        text: what is still to be shown.
        replaced: whether ``text`` stands in place of the model's reply; topics may also be added to a reply.
        confidence: the lowest probability among the reply's tokens; None where the gate did not apply.
        topics: the topics offered instead, nearest first.
    """

    text: str
    replaced: bool
    confidence: float | None
    topics: tuple[Topic, ...] = ()


def question_words(text: str) -> list[str]:
    """The words of a question as the gate compares them: lower case, plural endings off."""
    words = _WORD.findall(text.lower().replace("\u2019", "'"))
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
    ]


def _plain(question: str) -> str:
    """A question without what people leave out or add: its case, further blanks, the marks around it."""
    return _AROUND.sub("", " ".join(question.lower().split()))


def sum_holds(reply: str, question: str) -> bool:
    """Whether a reply such as "7 + 5 = 12" is right and about numbers of the question."""
    parts = _SUM.fullmatch(reply.strip())
    if parts is None:
        return False
    a, sign, b, result = int(parts[1]), parts[2], int(parts[3]), int(parts[4])
    asked = {int(number) for number in re.findall(r"\d+", question)}
    values = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}
    return {a, b} <= asked and values[sign] == result


@dataclass(frozen=True)
class Gate:
    """The gate of one guide model.

    Attributes:
        threshold: a guide reply whose lowest token probability is below this is replaced.
        topics: everything the guide knows.
    """

    threshold: float
    topics: tuple[Topic, ...]

    @classmethod
    def read(cls, folder: Path) -> Gate | None:
        """The gate of the model in ``folder``, or None when it has none.

        Raises:
            ValueError: the folder's ``guide.json`` is damaged.
        """
        path = folder / FILE_NAME
        if not path.is_file():
            return None
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(float(data["threshold"]), tuple(Topic(**topic) for topic in data["topics"]))
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} is damaged: {error!r}") from error

    def asked(self, question: str) -> Topic | None:
        """The topic whose own question this is, but for case, blanks and the marks around it."""
        plain = _plain(question)
        return next((topic for topic in self.topics if _plain(topic.question) == plain), None)

    def nearest(self, question: str, number: int = SUGGESTIONS) -> tuple[Topic, ...]:
        """The topics whose usual questions share most with ``question``, nearest first; none when nothing is shared.

        Each word of the question adds the topic's weight for it. A word the topic does not know counts half when it
        begins like one that it does, so that endings and typing mistakes matter little.
        """
        words = set(question_words(question))
        scored = []
        for topic in self.topics:
            score = sum(_weight(word, topic.words) for word in words)
            if score > 0:
                scored.append((-score, topic.name, topic))
        return tuple(topic for _, _, topic in sorted(scored, key=lambda entry: entry[:2])[:number])

    def is_guide_reply(self, text: str) -> bool:
        """Whether ``text`` begins like a known answer or is the start of a sum; an empty text is."""
        start = text[:HOLD_CHARACTERS]
        return _SUM_START.fullmatch(text) is not None or any(
            topic.answer.startswith(start) for topic in self.topics
        )

    def judge(self, question: str, reply: str, confidence: float) -> Verdict:
        """What to show for a whole reply.

        Args:
            question: the user's last message.
            reply: all that the model wrote.
            confidence: the lowest probability, from 0 to 1, that the model gave to one of the reply's tokens.
        """
        if not self.is_guide_reply(reply):
            return Verdict(reply, replaced=False, confidence=None)
        if _SUM.fullmatch(reply.strip()):
            wrong = not sum_holds(reply, question)
            refusals = [topic.answer for topic in self.topics if topic.name == REFUSAL]
            return Verdict(refusals[0] if wrong and refusals else reply, wrong and bool(refusals), confidence)
        asked = self.asked(question)
        # The start of the answer is enough: a limit on tokens may have cut it short.
        answered = asked is not None and asked.answer.startswith(reply.strip())
        if confidence >= self.threshold or answered:
            return Verdict(reply, replaced=False, confidence=confidence)
        near = self.nearest(question, SUGGESTIONS + 1)
        topics = tuple(topic for topic in near if topic is not asked)[:SUGGESTIONS]
        if not topics:
            return Verdict(reply, replaced=False, confidence=confidence)
        # An unsure "I do not know that" stays: it is often right, and near topics help where it is not.
        refused = any(topic.name == REFUSAL and topic.answer == reply.strip() for topic in self.topics)
        start = [reply.strip(), "", OR_ELSE] if refused else [UNSURE]
        lines = [*start, "", *(f"- {topic.question}" for topic in topics)]
        return Verdict("\n".join(lines), replaced=not refused, confidence=confidence, topics=topics)

    def hold(self, question: str) -> HeldReply:
        """Begin a reply to ``question``."""
        return HeldReply(self, question)


class HeldReply:
    """A reply on its way through the gate, fed piece by piece."""

    def __init__(self, gate: Gate, question: str) -> None:
        self._gate, self._question = gate, question
        self._text = ""
        self._confidence = 1.0
        self._released = False

    def feed(self, piece: str, probability: float) -> str:
        """Add a piece of text and the probability of its least likely token; gives what may be shown now."""
        if self._released:
            return piece
        self._text += piece
        if not math.isnan(probability):
            self._confidence = min(self._confidence, probability)
        if len(self._text) <= HOLD_CHARACTERS and not self._gate.is_guide_reply(self._text):
            self._released = True
        elif len(self._text) - len(piece) < HOLD_CHARACTERS < len(self._text):
            self._released = not self._gate.is_guide_reply(self._text)
        return self._text if self._released else ""

    def finish(self, complete: bool = True) -> Verdict:
        """End the reply; ``complete`` is False when it was stopped, and what was held is then shown as it is."""
        if self._released:
            return Verdict("", replaced=False, confidence=None)
        if not complete:
            return Verdict(self._text, replaced=False, confidence=self._confidence)
        return self._gate.judge(self._question, self._text, self._confidence)


def _weight(word: str, weights: Mapping[str, float]) -> float:
    if word in weights:
        return weights[word]
    if len(word) < 5:
        return 0.0
    return max(
        (0.5 * weight for known, weight in weights.items() if len(known) > 4 and known[:4] == word[:4]),
        default=0.0,
    )
