"""Examples to learn a draft from: texts and chats from a JSONL file, requests to the target, and no wrong answers.

If no data file gives requests, a model that was taught to chat continues the opening of a user's turn with a
question that a user might ask (Magpie, Xu et al. 2024). It is asked to explain, sum up, edit and list Python's own
documentation and sources, which are wherever Tenon is trained. Answers that a rule can tell to be wrong are left
out before a small model learns from the others: Minions (Wang et al. 2024), section 4.
"""

from __future__ import annotations

import ast
import inspect
import json
import random
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, TypeGuard

from engine.errors import InvalidOption, UnsupportedModel
from engine.messages import ChatMessage
from engine.model.sampling import Sampler
from engine.text.repetition import loop_start
from engine.text.tokenizer import Tokenizer
from engine.training.features import Example
from engine.training.generation import Turn

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
}
_SHAPES = '{"text": ...}, {"messages": [{"role": ..., "content": ...}]} or ShareGPT\'s {"conversations": [...]}'
#: Most tokens of a request that the target writes, and of a reply.
_LONGEST_REQUEST, _LONGEST_REPLY = 100, 256
# Share of requests that the target writes itself, and share of these with a second turn.
_OWN, _TWO_TURNS = 0.5, 0.25
# Share of greedy replies; the others are sampled as chats are.
_GREEDY = 0.4

_PLAIN = (
    "Tell me a short story about {subject}.",
    "Explain {subject} to a child.",
    "Write an email about {subject}.",
    "Give me five facts about {subject}.",
    "What are the advantages and disadvantages of {subject}?",
    "Make a plan for a week with {subject}.",
    "Write a list of things one needs for {subject}.",
    "List ten words that have to do with {subject}.",
    "How does {subject} work?",
    "Write a Python function that has to do with {subject}.",
    "Write a short HTML page about {subject}.",
    "Write a JavaScript function that has to do with {subject}.",
    "Write an SQL table for {subject}, and three queries on it.",
    "Write a Python class for {subject} with three methods.",
    "Write a shell script that helps with {subject}.",
    "What is {number} plus {another}? Then tell me something about {subject}.",
    "Continue this text: Last summer we heard of {subject}, and",
    "Write a poem about {subject}.",
    "Write a letter to a friend about {subject}.",
    "Write a polite complaint about {subject}.",
    "Compare {subject} with {other}.",
    "Which should I choose, {subject} or {other}, and why?",
    "What should I do when I have trouble with {subject}?",
    "Give me a shopping list for {subject}, for {number} people.",
    "List eight questions about {subject} for a quiz, with answers.",
    "Name seven things about {subject}, with one sentence on each.",
    "Tell me a bedtime story about {subject} and {other}.",
    "What is the history of {subject}?",
    "Translate into {language}: We have seen {subject} and {other}, and we liked both.",
    'How do I say "I am looking for {subject}" in {language}?',
    "Make a table of {subject} and {other} with three columns.",
    "Give me step by step instructions for {subject}.",
    "Describe {subject} and {other} as JSON with six fields each.",
    "A visit to {subject} costs {number} coins, and {another} people go. What do they pay? Calculate step by step.",
)
_ABOUT_TEXT = (
    "Summarize this text in two sentences:\n\n{text}",
    "Summarize the following.\n\n{text}",
    "What are the main points of this text? Answer as a list.\n\n{text}",
    "Rewrite this text in simple words:\n\n{text}",
    "Correct the spelling and grammar of this text:\n\n{text}",
    "Turn this into bullet points:\n\n{text}",
    "Repeat this text word for word:\n\n{text}",
    "Quote the most important sentence of this text and explain it:\n\n{text}",
    "Translate this text into {language}:\n\n{text}",
    "Write a title and a summary of three sentences for this text:\n\n{text}",
    "What does the reader of this text have to do?\n\n{text}",
    "Which question does this text answer?\n\n{text}",
)
_ABOUT_CODE = (
    "What does this function do?\n\n```python\n{code}\n```",
    "Add comments to this code:\n\n```python\n{code}\n```",
    "Rewrite this function with type hints:\n\n```python\n{code}\n```",
    "Give back this function with a docstring:\n\n```python\n{code}\n```",
    "Explain this code step by step:\n\n```python\n{code}\n```",
    "Rename the variables of this code and give back all of it:\n\n```python\n{code}\n```",
    "Write a test for this function:\n\n```python\n{code}\n```",
    "Write a Python function `{name}` that does this: {text}",
    "Show me how to use `{name}` in Python, with an example.",
)
_SUBJECTS = (
    "a lighthouse", "bread", "bicycles", "a garden", "the moon", "music", "a train journey", "computers",
    "winter", "a library", "maps", "the sea", "chess", "tea", "birds", "a birthday", "mountains", "clocks",
    "painting", "a market", "bridges", "rain", "languages", "a kitchen", "robots", "forests", "a museum", "sleep",
    "a job interview", "a camping trip", "money", "a cat", "a neighbour", "a wedding", "running", "a broken phone",
    "photosynthesis", "the Roman Empire", "vegetables", "a hospital", "electricity", "a small shop", "the internet",
    "football", "a holiday by the sea", "rivers", "school", "a new flat", "coffee", "volcanoes", "a soup", "a password",
    "the human heart", "a theatre", "dinosaurs", "a bank account", "stars", "sorting numbers", "a calendar", "dates",
    "a queue", "a guessing game", "temperature", "a to-do list", "an old friend", "a storm", "elephants", "exercise",
)  # fmt: skip
_LANGUAGES = ("French", "German", "Spanish", "Italian", "Portuguese")
_MODULES = (
    "abc", "argparse", "ast", "asyncio", "bisect", "calendar", "cmath", "codecs", "collections", "configparser",
    "contextlib", "copy", "csv", "datetime", "decimal", "difflib", "doctest", "email", "fractions", "functools", "gzip",
    "heapq", "html", "http", "inspect", "io", "ipaddress", "itertools", "json", "logging", "math", "operator", "os",
    "pathlib", "pickle", "random", "re", "shutil", "socket", "statistics", "string", "subprocess", "tarfile",
    "threading", "timeit", "types", "unittest", "urllib.parse", "uuid", "weakref", "zipfile",
)  # fmt: skip
_TEXT_CHARACTERS, _CODE_LINES = (160, 900), (4, 28)
# A sum of two whole numbers, in signs or words, that is not a part of a longer one, and its claimed result.
_NUMBER = r"(-?\d{1,12})"
_SUM = re.compile(
    rf"(?<![\d.,+*/x×÷^-])(?<![+*/x×÷^-] ){_NUMBER} ?(\+|-|\*|/|x|×|÷|plus|minus|times|divided by) ?{_NUMBER}"
    rf" ?(?:=|is|equals|makes) ?{_NUMBER}(?![\d.,]?\d|/| ?[+*/×÷^-] ?\d)"
)
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "x": "*", "×": "*", "÷": "/", "divided by": "/"}
_BLOCK = re.compile(r"```(python|json)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Record:
    """One line of a data file: a plain text, or the turns of a chat."""

    text: str = ""
    messages: tuple[ChatMessage, ...] = ()


def read_records(path: Path) -> list[Record]:
    """Read every line of a file.

    Raises:
        InvalidOption: The file cannot be read or is empty, or a line is invalid; the error names the line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InvalidOption(f"The data file {path} cannot be read: {error.strerror or error}.") from error
    records = [_record(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]
    if not records:
        raise InvalidOption(f"The data file {path} is empty: write a text or a chat on each line.")
    return records


def _record(line: bytes, number: int, path: Path) -> Record:
    try:
        value = json.loads(line)
    except ValueError as error:  # bytes that are not UTF-8 too
        raise InvalidOption(f"Line {number} of {path} is not JSON: write {_SHAPES} on each line.") from error
    if isinstance(value, dict):
        text = value.get("text")
        if _is_text(text) and text.strip():
            return Record(text=text)
        for turns, role, content in (("messages", "role", "content"), ("conversations", "from", "value")):
            messages = _messages(value.get(turns), role, content)
            if messages:
                return Record(messages=messages)
    raise InvalidOption(f"Line {number} of {path} holds no text and no chat: write {_SHAPES}.")


def _messages(turns: Any, role: str, content: str) -> tuple[ChatMessage, ...]:
    if not isinstance(turns, list):
        return ()
    messages = []
    for turn in turns:
        if not isinstance(turn, Mapping):
            return ()
        known, text = _ROLES.get(str(turn.get(role))), turn.get(content)
        if known is None or not _is_text(text):
            return ()
        messages.append(ChatMessage(known, text))
    return tuple(messages)


def _is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a string that can be encoded: JSON may hold halves of characters."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def examples_of(records: list[Record], tokenizer: Tokenizer, limit: int) -> Iterator[Example]:
    """Yield token ids of each record, cut to ``limit``. A text is learned whole, a chat from its first reply on.

    A record that is empty, or that the chat template refuses, is left out.
    """
    for record in records:
        ids, first = _ids(record, tokenizer)
        ids = ids[:limit]
        if ids:
            yield Example(tuple(ids), tuple(place >= first for place in range(len(ids))))


def _ids(record: Record, tokenizer: Tokenizer) -> tuple[list[int], int]:
    """Return the token ids of a record, and the index of the first one to be learned."""
    if not record.messages:
        return tokenizer.encode(record.text), 1
    replies = [at for at, message in enumerate(record.messages) if message.role == "assistant"]
    if not replies:
        return [], 0
    try:
        # The template closes the last reply only when something follows it.
        ids = tokenizer.render(record.messages)
        asked = tokenizer.render(record.messages[: replies[0]])
    except UnsupportedModel:
        return [], 0
    return (ids, len(asked)) if ids[: len(asked)] == asked else (ids, 1)


def prompts_of(records: list[Record], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Yield prompts for the target to answer itself: a chat up to its first reply, or the first words of a text."""
    for record in records:
        if not record.messages:
            yield tokenizer.encode(" ".join(record.text.split()[:24]))
            continue
        asked: list[ChatMessage] = []
        for message in record.messages:
            if message.role == "assistant":
                break
            asked.append(message)
        if asked:
            yield tokenizer.render(asked)


@dataclass(frozen=True)
class _Frame:
    """A chat template's tokens around the contents of a chat of one or two requests."""

    opening: tuple[int, ...]
    closing: tuple[int, ...]
    second: tuple[int, ...]


def requests(tokenizer: Tokenizer, seed: int) -> Iterator[Sequence[Turn]]:
    """Yield chats to write, without end."""
    rng = random.Random(seed)
    frame = _frame(tokenizer)
    while True:
        reply = _reply(rng)
        if frame is None or rng.random() >= _OWN:
            prompt = tokenizer.render([ChatMessage("user", _request(rng))])
            yield (Turn(tuple(prompt), reply, _LONGEST_REPLY),)
            continue
        turns = [
            Turn(frame.opening, _asking(rng), _LONGEST_REQUEST),
            Turn(frame.closing, reply, _LONGEST_REPLY),
        ]
        if rng.random() < _TWO_TURNS:
            turns.append(Turn(frame.second, _asking(rng), _LONGEST_REQUEST))
            turns.append(Turn(frame.closing, reply, _LONGEST_REPLY))
        yield turns


def answers_to(prompts: Iterator[list[int]], seed: int) -> Iterator[Sequence[Turn]]:
    """Yield chats whose requests are given."""
    rng = random.Random(seed)
    for prompt in prompts:
        yield (Turn(tuple(prompt), _reply(rng), _LONGEST_REPLY),)


def _reply(rng: random.Random) -> Sampler:
    if rng.random() < _GREEDY:
        return Sampler()
    return Sampler(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repetition_penalty=1.1, seed=rng.getrandbits(32))


def _asking(rng: random.Random) -> Sampler:
    return Sampler(temperature=1.0, top_p=0.95, seed=rng.getrandbits(32))


def _frame(tokenizer: Tokenizer) -> _Frame | None:
    """Return the tokens that a template puts around a request, or None if they cannot be told from its contents."""
    if tokenizer.template is None:
        return None
    one, other = (tokenizer.render([ChatMessage("user", text)]) for text in ("Hello", "7 x"))
    opening, closing = _shared(one, other), _shared(one[::-1], other[::-1])[::-1]
    answered = tokenizer.render(
        [ChatMessage("user", "Hello"), ChatMessage("assistant", "Yes"), ChatMessage("user", "7 x")]
    )
    asked = tokenizer.render([ChatMessage("user", "Hello"), ChatMessage("assistant", "Yes")])
    told_apart = opening and closing and closing[0] in tokenizer.end_ids and asked[: len(one)] == one
    if not told_apart or answered[-len(other) + len(opening) :] != other[len(opening) :]:
        return None
    behind = answered[len(one) : len(answered) - (len(other) - len(opening))]
    # The reply itself goes; the target writes its end.
    ends = [at for at, token in enumerate(behind) if token in tokenizer.end_ids]
    return _Frame(tuple(opening), tuple(closing), tuple(behind[ends[0] :])) if ends else None


def _shared(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [first for first, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]


def _request(rng: random.Random) -> str:
    material = _material()  # none in a bundle, which has no sources
    kind = rng.choice((_PLAIN, _ABOUT_TEXT, _ABOUT_CODE) if material else (_PLAIN,))
    name, text, code = rng.choice(material or (("", "", ""),))
    return rng.choice(kind).format(
        subject=rng.choice(_SUBJECTS),
        other=rng.choice(_SUBJECTS),
        language=rng.choice(_LANGUAGES),
        number=rng.randrange(100),
        another=rng.randrange(100),
        name=name,
        text=text,
        code=code,
    )


@cache
def _material() -> tuple[tuple[str, str, str], ...]:
    """Return names, texts and sources of Python's own functions and classes."""
    found: dict[str, tuple[str, str, str]] = {}
    for module in map(import_module, _MODULES):
        for name, member in inspect.getmembers(module):
            if name.startswith("_") or not (inspect.isroutine(member) or inspect.isclass(member)):
                continue
            parts = vars(member).values() if inspect.isclass(member) else (member,)
            for part in filter(inspect.isfunction, parts):
                text, code = " ".join((inspect.getdoc(part) or "").split()), _source(part)
                if code and _TEXT_CHARACTERS[0] <= len(text) <= _TEXT_CHARACTERS[1]:
                    found[f"{part.__module__}.{part.__qualname__}"] = (part.__qualname__, text, code)
    return tuple(found.values())


def _source(function: object) -> str:
    """Return a function's code without its docstring, or an empty text if it is missing, too short or too long."""
    try:
        lines = inspect.getsourcelines(function)[0]  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""
    code = textwrap.dedent("".join(lines)).rstrip()
    text = inspect.getdoc(function) or ""
    for quotes in ('"""', "'''"):
        before, found, rest = code.partition(quotes)
        if found and text[:20] in rest:
            code = before.rstrip() + "\n" + rest.partition(quotes)[2].lstrip("\n")
            break
    fits = _CODE_LINES[0] <= code.count("\n") + 1 <= _CODE_LINES[1]
    return code if fits else ""


def is_wrong(reply: str, token_ids: Sequence[int] = ()) -> bool:
    """Return whether a rule tells that an answer is wrong, or that its tokens go round in a circle."""
    if loop_start(token_ids) is not None:
        return True
    return any(not _adds_up(*found.groups()) for found in _SUM.finditer(reply)) or any(
        not _parses(*found.groups()) for found in _BLOCK.finditer(reply)
    )


def _adds_up(first: str, sign: str, second: str, said: str) -> bool:
    one, other = Fraction(first), Fraction(second)
    sign = _SIGNS.get(sign, sign)
    if sign == "/":
        return other != 0 and one / other == Fraction(said)
    return {"+": one + other, "-": one - other, "*": one * other}[sign] == Fraction(said)


def _parses(language: str, text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes, which are none of ours
            ast.parse(text) if language == "python" else json.loads(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
