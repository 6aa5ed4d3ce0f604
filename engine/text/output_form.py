"""Forms of a reply: JSON of a schema, a regular expression, or a grammar, as masks over the next token.

llguidance follows the form byte by byte and says of each token whether the form can go on with it.

Source: https://github.com/guidance-ai/llguidance.
"""

from __future__ import annotations

import json
import re
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
from numpy.typing import NDArray

from engine.errors import Cancelled, InvalidOption, RequestTooLarge, TenonError, UnsupportedModel
from engine.messages import OutputForm, Tool, ToolUse
from engine.preparer import SLOW, Beyond, Died, Preparer
from engine.sentences import figure, mark
from engine.text.reasoning import CLOSE
from engine.text.token_texts import BYTE_LEVEL, BYTE_TOKEN
from engine.text.tokenizer import Tokenizer, read_tokenizer
from engine.text.tool_calls import DESCRIBED
from engine.text.tool_calls.format import ToolFormat, schema

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLParserLimits, LLTokenizer
    from llguidance._lib import JsonCompileOptions

#: Processor's time and memory that a form may take to compile, here and once more for the model's tokens; its length,
#: and how much longer its grammar may be.
FORM_S, _FORM_BYTES = 4.0, 256 << 20
_MOST_CHARACTERS, _LONGER = 1 << 20, 2
#: Ways in which a form may be read at once: an ambiguous one has more with each token, and so many take a third of a
#: second.
_MOST_WAYS = 10_000
#: Forms that were within their bounds lately: programs send the same tools with each turn.
_KNOWN: dict[tuple[str, str], dict[str, Any]] = {}
_MOST_KNOWN = 8
#: Words of the library for what is wrong with a form, and what is said of it.
_TROUBLES = {
    "^NoExtensionBias": mark(
        "The form of the reply refers to itself without an end, so no text can match it: give it an end."
    ),
    r"nested too deeply|too deeply nested": mark("The form of the reply is nested too deeply: make it flatter."),
    r"\btoo (big|large|many \w+) *(\(|:|constr|$)|TooComplex|^Too many items|\bfuel\b(?! *\")": mark(
        "The form of the reply is too complex: make it smaller."
    ),
    "^Resource '": mark(
        "The schema of the reply refers to another one, which is not fetched: write what is in that one into it."
    ),
}
#: Words of the library about rules of a schema that are right but that no grammar can follow.
_NO_GRAMMAR = re.compile(
    r"not supported|Unimplemented keys|Unknown format|[Uu]nsatisfiable|repetition count|"
    r"\btoo (?:big|large|many|deep)|deeply nested|TooComplex"
)
_SPECIAL = re.compile(r"<\[\d+\]>")
# As `llguidance.gbnf_to_lark.is_lark_syntax`, whose pattern takes quadratic time for empty lines.
_LARK = re.compile(r"(?m)^[^\S\n]*(?:%llguidance\b|start\s*:)")
# Space between the parts of JSON: a model that may write any number of spaces may write nothing else.
_JSON_SPACE: JsonCompileOptions = {"whitespace_pattern": r"[ ]|\n[ \t]{0,16}"}
# Tokens that surely hold a mark, whether it is one token or many.
_MARK_TOKENS = 12
_NO_TOOLS = ToolUse()
#: Process that makes the masks: the table of a model's tokens, and a mask, hold Python's lock for up to a second.
FORMS = Preparer("tenon-forms", 20.0, 1536 << 20, 1536 << 20, idle_s=600.0)
# First byte of its answers: a mask, or a problem of the form or the tokens; it does not know the form; it is not ready.
_MASK, _PROBLEM, _UNUSABLE, _UNKNOWN, _LATER = b"m", b"p", b"u", b"?", b"l"
_LOOK_S = 0.02
#: By the clock, for a process that ended in mid-reply: all replies wait meanwhile.
_AGAIN_S = 30.0
_AWAY = mark(
    "The process that holds the reply to its form ended, and was not there again after {seconds} s: close other "
    "programs, or make the form smaller, and ask again."
)
_NAMES = count()
_ENDED: list[int] = []
# In that process: forms by their names, and the thread that compiles them.
_FOLLOWED: dict[int, Future[LLMatcher]] = {}
_LANE = ThreadPoolExecutor(1, "tenon-compile")
_NEVER = "\0"  # no text has it: what begins in another way than the form goes on without one


class TokenMask:
    """Mask that follows one reply through its form, in the process of forms.

    That process may end at any time: it is told the form and the tokens again where it does not know them.

    Args:
        places: Model, and cache of its tokenizer, where that process reads the tokenizer for itself.
        grammar: Grammar of `form_grammar`.
        mark: Text after which the form begins; empty if it begins at once.
    """

    def __init__(self, tokenizer: Tokenizer, places: tuple[str, str], grammar: str, mark: str = "") -> None:
        self._tokenizer = tokenizer
        self._places = places
        self._grammar = grammar
        self._marks = [mark] if mark else []
        self._free: list[int] = []
        self._ids: list[int] = []
        self._told: int | None = None  # tokens that the process knows; None before it knows the form
        self._bits = b""
        self._name = next(_NAMES)
        weakref.finalize(self, _ENDED.append, self._name)

    def await_thought(self) -> None:
        """Let the form begin after a thought, which begins the reply and has no form."""
        self._marks.insert(0, CLOSE)

    def begin(self, gone: Callable[[], bool] = lambda: False) -> None:
        """Compile the form for the model's tokens; the first form of a model takes seconds.

        Args:
            gone: True once nobody waits for it any more.

        Raises:
            Cancelled: Nobody waits.
            InvalidOption: The grammar is none.
            RequestTooLarge: The form takes too much time or memory, or its process ended in mid-reply and stays away.
            UnsupportedModel: The tokens of this model cannot be followed.
        """
        end_s = inf if self._told is None else time.monotonic() + _AGAIN_S
        while not self._bits:
            if gone():
                raise Cancelled("")
            if time.monotonic() > end_s:
                raise RequestTooLarge(_AWAY, about="form", seconds=round(_AGAIN_S))
            ended = [_ENDED.pop() for _ in range(len(_ENDED))]
            asked = {"name": self._name, "ended": ended, "ids": self._ids[self._told or 0 :]}
            if self._told is None:
                asked |= {"places": self._places, "grammar": self._grammar}
            try:
                told = FORMS.ask(f"{__name__}:followed", json.dumps(asked).encode(), lambda: time.monotonic() > end_s)
            except (Beyond, Cancelled) as error:
                if end_s == inf or not isinstance(error, (Died, Cancelled)):
                    raise _beyond() from None
                self._told = None
                continue
            kind, found = told[:1], told[1:]
            self._told = None if kind == _UNKNOWN else len(self._ids)
            if kind == _MASK:
                self._bits = found
            elif kind == _PROBLEM:
                _check_grammar(found.decode())
            elif kind == _UNUSABLE:
                raise UnsupportedModel(
                    "Replies of this model cannot be held to a form: use another model.",
                    details=found.decode(),
                    about="form",
                )
            elif kind == _LATER:
                time.sleep(_LOOK_S)

    def allowed(self) -> NDArray[np.bool_] | None:
        """Return (n,) whether each token of the tokenizer may come next; None while every one may."""
        if self._marks:
            return None
        self.begin()
        return np.unpackbits(np.frombuffer(self._bits, np.uint8), bitorder="little").view(np.bool_)

    def take(self, token_id: int) -> None:
        """Take the token that has come."""
        if not self._marks:
            self._ids.append(token_id)
            self._bits = b""
            return
        self._free.append(token_id)
        decoded = self._tokenizer.decode(self._free[-_MARK_TOKENS:], special=True)
        _, found, after = decoded.partition(self._marks[0])
        if not found:
            return
        mark = self._marks.pop(0)
        self._free.clear()
        # The token that ends the mark may begin the form, too; but space after a thought is no part of the form.
        if not self._marks and (after if mark != CLOSE else after.strip()):
            self._ids = self._tokenizer.plain()[0].encode(after, add_special_tokens=False).ids
            self._bits = b""
            try:
                self.begin()
            except InvalidOption:
                self._marks = [_NEVER]


def form_grammar(
    tokenizer: Tokenizer,
    form: OutputForm | None,
    tools: ToolUse = _NO_TOOLS,
    answer: str = "",
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[str, str]:
    """Return the grammar of a reply and the text that it begins after; both are empty if a reply may be anything.

    It was compiled once within its bounds, in a preparer's process.

    Args:
        tools: Tools that it may call, with arguments that hold to their schemas, or with any values where no
            grammar can follow a schema; beside a form, of which it is the one or the other, a JSON schema.
        answer: Text that a form without tools waits for; empty where it begins at once.
        cancelled: True once nobody waits for it any more.

    Raises:
        InvalidOption: The form is none.
        RequestTooLarge: It is longer, or takes more time or memory, than a form may.
    """
    calls, mark = _calls(tokenizer), answer
    if tools.offered:
        awaited = form is None and not tools.required
        if awaited and calls.bare:  # nothing tells a call from an answer before it is there
            return "", ""
        kind, text = "lark", _call_grammar(tokenizer, calls, tools, form)
        mark = calls.opening if awaited else ""
    elif form is None:
        return "", ""
    else:
        kind, text = form.kind, form.text
    question = (kind, text)
    found = _KNOWN.get(question)
    if found is None:
        found = _compiled(kind, text, cancelled)
        if tools.offered and _NO_GRAMMAR.search(found["problem"]):  # zod writes patterns with look-ahead, for one

            def usable(one: Tool) -> Tool:
                if tools.only not in ("", one.name):
                    return one
                alone = _compiled(kind, _call_grammar(tokenizer, calls, ToolUse((one,)), None), cancelled)["problem"]
                return _with_any_values(one) if _NO_GRAMMAR.search(alone) else one

            loose = replace(tools, offered=tuple(map(usable, tools.offered)))
            found = _compiled(kind, _call_grammar(tokenizer, calls, loose, form), cancelled)
        _check_grammar(found["problem"])
    _KNOWN[question] = found
    if len(_KNOWN) > _MOST_KNOWN:
        del _KNOWN[next(iter(_KNOWN))]
    return found["grammar"], mark


def _with_any_values(tool: Tool) -> Tool:
    names = schema(tool).get("properties")
    any_values = {"type": "object", "properties": {name: {} for name in names} if isinstance(names, dict) else {}}
    return replace(tool, parameters=json.dumps(any_values))


def _compiled(kind: str, text: str, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """Have a form compiled in a preparer's process; the answer names the library's problem with it."""
    if len(text) > _MOST_CHARACTERS:
        raise RequestTooLarge(
            "The form of the reply has {length} characters, but it may have {most}: make it smaller.",
            about="form",
            length=figure(len(text), ","),
            most=figure(_MOST_CHARACTERS, ","),
        )
    found: dict[str, Any] = {"beyond": True}
    with suppress(Beyond):
        found = json.loads(SLOW.ask(f"{__name__}:compiled", json.dumps((kind, text)).encode(), cancelled, FORM_S))
    if "beyond" in found:
        raise _beyond()
    return found


def _beyond() -> RequestTooLarge:
    return RequestTooLarge(
        "To compile the form of the reply takes more than {seconds} s or {size} MiB, so it is not used: make it "
        "smaller.",
        about="form",
        seconds=round(FORM_S),
        size=_FORM_BYTES >> 20,
    )


def _limits() -> LLParserLimits:
    from llguidance import LLParserLimits

    return LLParserLimits(step_max_items=_MOST_WAYS)


def _check_grammar(problem: str) -> None:
    """Raise the library's problem with a form as one sentence; its own words are for the details."""
    if not problem:
        return
    told = problem.strip().partition("\n<state>")[0]  # the form itself comes behind it
    for words, sentence in _TROUBLES.items():
        if re.search(words, told):
            raise InvalidOption(sentence, details=told, about="form")
    # The last line says what is wrong with an expression, and the first what is wrong with all else.
    reason = told.rpartition("\nerror: ")[2].partition("\n")[0].partition(". Enable ")[0]
    raise InvalidOption(
        "The form of the reply cannot be used ({reason}): correct it.",
        details=told,
        about="form",
        reason=reason,
    )


def compiled(question: bytes) -> bytes:
    """Compile a form in a preparer's process, for any tokens: JSON comes in and goes out."""
    from llguidance import LLMatcher, LLTokenizer

    kind, text = json.loads(question)
    began_s, process = time.process_time(), psutil.Process()
    before = process.memory_info().rss
    grammar = problem = ""
    try:
        grammar = _grammar(kind, text)
        # All special tokens cost the same.
        matcher = LLMatcher(LLTokenizer("byte"), _SPECIAL.sub("<[0]>", grammar), log_level=0, limits=_limits())
        if not (problem := matcher.get_error()):
            matcher.compute_bitmask()
            problem = matcher.get_error()
    except RecursionError:
        problem = "it is nested too deeply"
    except Exception as error:  # a text that is no grammar makes the library's translator fail in any way
        problem = str(error) or type(error).__name__
    beyond = time.process_time() - began_s > FORM_S or process.memory_info().rss - before > _FORM_BYTES
    beyond = beyond or len(grammar) > _LONGER * _MOST_CHARACTERS
    return json.dumps({"beyond": True} if beyond else {"grammar": grammar, "problem": problem}).encode()


def followed(question: bytes) -> bytes:
    """Take tokens of a reply, and return the mask of the next one, in the process of forms."""
    asked = json.loads(question)
    for name in asked["ended"]:
        if (ended := _FOLLOWED.pop(name, None)) is not None:
            ended.cancel()
    name, ids = asked["name"], asked["ids"]
    if "grammar" in asked:  # others are followed while this one is compiled
        folder, cache = asked["places"]
        _FOLLOWED[name] = _LANE.submit(_matcher, folder, cache, asked["grammar"], ids)
        ids = []
    if name not in _FOLLOWED:
        return _UNKNOWN
    if not _FOLLOWED[name].done():
        return _LATER
    try:
        matcher = _FOLLOWED[name].result()
    except (TenonError, ValueError) as error:
        return _UNUSABLE + str(error).encode()
    _consume(matcher, ids)
    bits = matcher.compute_bitmask()
    return _PROBLEM + matcher.get_error().encode() if matcher.is_error() else _MASK + bits


def _matcher(folder: str, cache: str, grammar: str, ids: list[int]) -> LLMatcher:
    from llguidance import LLMatcher

    matcher = LLMatcher(_table(folder, cache), grammar, log_level=0, limits=_limits())
    _consume(matcher, ids)
    return matcher


def _consume(matcher: LLMatcher, ids: Sequence[int]) -> None:
    for token in ids:  # all in one call would be an error for the end of the text after the end of the form
        matcher.consume_token(token)


@lru_cache(maxsize=1)
def _table(folder: str, cache: str) -> LLTokenizer:
    """Make the table of a model's tokens; ValueError says that they cannot be followed."""
    from llguidance import LLTokenizer, TokenizerWrapper

    tokenizer = read_tokenizer(folder, cache)
    text = _Text(tokenizer, _calls(tokenizer).marks)
    return LLTokenizer(TokenizerWrapper(text), eos_token=text.ends)


def _calls(tokenizer: Tokenizer) -> ToolFormat:
    return DESCRIBED if tokenizer.template is None else tokenizer.template.calls


def _call_grammar(tokenizer: Tokenizer, calls: ToolFormat, tools: ToolUse, form: OutputForm | None) -> str:
    marks = tokenizer.marks(calls.marks)
    special = re.compile("|".join(map(re.escape, marks)) or r"(?!)")

    def literal(text: str) -> str:
        """Write a text in the words of the grammar, in which special tokens are no text."""
        between = special.split(text)
        found = [f"<[{marks[mark]}]>" for mark in special.findall(text)]
        parts = [json.dumps(one) if one else "" for one in between]
        return " ".join(filter(None, [x for pair in zip(parts, [*found, ""], strict=True) for x in pair])) or '""'

    usable = [tool for tool in tools.offered if tools.only in ("", tool.name)]
    rules = calls.rules(usable, literal, tools.parallel)
    more = tools.parallel and calls.between is not None
    again = f" ({calls.lead(literal, again=True)} {literal(calls.opening)} call)*" if more else ""
    if form is None and not tools.required:
        return "\n".join([f"start: call{again}", *rules])
    start = f"{calls.lead(literal, again=False)} {literal(calls.opening)} call{again}"
    if form is not None and not tools.required:
        start = f"{start} | form"
        rules.append(f"form: %json {form.text}")
    return "\n".join([f"start: {start}", *rules])


class _Text:
    """The tokens of a tokenizer as llguidance wants them, of which marks and special tokens are no text.

    The library itself takes every added token in angle brackets for a special one, and finds these in the texts that a
    form prescribes: a reply that must say "<h1>", or a mark's name in a JSON text, could not go on.
    """

    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer, marks: Sequence[str]) -> None:
        self._plain, steps = tokenizer.plain()
        size = max(tokenizer.vocabulary_size, 1 + max(tokenizer.added, default=0))
        read = _reader(steps)
        names = (self._plain.id_to_token(token) or "" for token in range(size))
        # The library's own mark of special tokens is no text of any.
        self.tokens = [b"" if said.startswith(b"\xff") else said for said in map(read, names)]
        for token, content in tokenizer.added.items():
            self.tokens[token] = content.encode()
        for token, same in tokenizer.spelled.items():
            self.tokens[token] = b"".join(self.tokens[one] for one in same)
        self.special_token_ids = sorted(tokenizer.special.union(tokenizer.marks(marks).values()))
        self.ends = sorted(end for end in tokenizer.end_ids if end < len(self.tokens))
        self.eos_token_id = self.ends[0] if self.ends else 0  # `ends` takes its place

    def __call__(self, text: bytes | str) -> list[int]:
        """Token ids of a text."""
        whole = text if isinstance(text, str) else text.decode("utf-8", "replace")
        ids: list[int] = self._plain.encode(whole, add_special_tokens=False).ids
        return ids


def _reader(steps: Sequence[Mapping[str, Any]]) -> Callable[[str], bytes]:
    """Make a function from the vocabulary's name of a token to its bytes, by the steps of the decoder.

    Raises:
        ValueError: The decoder is of another kind.
    """
    kinds = {step["type"] for step in steps}
    if "ByteLevel" in kinds:
        table = defaultdict(lambda: "\u0100", {ord(sign): chr(byte) for sign, byte in BYTE_LEVEL.items()})

        def read_bytes(name: str) -> bytes:
            with suppress(UnicodeEncodeError):  # no name of bytes
                return name.translate(table).encode("latin-1")
            return b""

        return read_bytes
    if "ByteFallback" not in kinds:
        raise ValueError(f"a decoder of {sorted(kinds)}")
    space = next(
        (step["pattern"]["String"] for step in steps if step["type"] == "Replace" and step["content"] == " "),
        " ",
    )

    def read_text(name: str) -> bytes:
        byte = BYTE_TOKEN.fullmatch(name)
        return name.replace(space, " ").encode() if byte is None else bytes([int(byte[1], 16)])

    return read_text


def _grammar(kind: str, text: str) -> str:
    from llguidance import LLMatcher
    from llguidance.gbnf_to_lark import gbnf_to_lark

    if kind == "schema":
        return LLMatcher.grammar_from_json_schema(text, defaults=_JSON_SPACE)
    if kind == "regex":
        return LLMatcher.grammar_from_regex(text)
    return text if kind == "lark" or _LARK.search(text) else gbnf_to_lark(text)
