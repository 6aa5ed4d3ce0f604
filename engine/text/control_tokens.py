"""Control tokens whose texts stand in what people, files and tools wrote: there they are words, and nothing else.

A chat template's own control tokens are found in the text that it makes, so what goes through it must not look like
one. A character of each such word is replaced by a stand-in, a character that is nowhere else: templates trim, split
and quote it as they do any letter. Afterwards stand-ins show which stretches of the text are encoded without control
tokens. A text without such words is encoded as it always was.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tokenizers import PreTokenizedString
from tokenizers import Tokenizer as Backend

from engine.messages import ChatMessage, Tool, ToolCall
from engine.text.pictures import MARK
from engine.text.reasoning import CLOSE, OPEN, begins_with_thought

#: Rare ideographs: templates and Python's notation take them for letters, and they have no case.
_STAND_INS = range(0x2A6DF, 0x20000, -1)
_END = -1


class ControlTokens:
    """The control tokens of a vocabulary: special ones, ends of replies, and added ones that its template writes.

    Args:
        backend: The tokenizer, without a post-processor, which would shorten the places of tokens.
        template: The source of its chat template; empty without one.
        end_ids: Tokens that end a reply.
    """

    def __init__(self, backend: Backend, template: str, end_ids: Collection[int]) -> None:
        self._backend = backend
        added = backend.get_added_tokens_decoder()
        self._added = {token_id: token.content.strip() for token_id, token in added.items()}
        texts = {
            token.content
            for token_id, token in added.items()
            if token.content.strip() and (token.special or token_id in end_ids or token.content in template)
        }
        self._ids = frozenset(token_id for token_id, token in added.items() if token.content in texts)
        self._lengths: defaultdict[str, set[int]] = defaultdict(set)  # by the first two characters
        for text in texts:
            self._lengths[text[:2]].add(len(text))
        self._texts = texts
        firsts = "".join(sorted({text[0] for text in texts}))
        self._first = re.compile(f"[{re.escape(firsts)}]") if firsts else re.compile("(?!)")
        # A word may be cut in two: the end of one text and the beginning of the next. One half has two characters.
        self._longest = max(map(len, texts), default=0)
        self._beginnings = {text[:size] for text in texts for size in range(2, len(text))}
        self._endings = {text[-size:] for text in texts for size in range(2, len(text))}
        self.characters = {*"".join(token.content for token in added.values()), *template}

    def places(self, text: str) -> set[int]:
        """Places of the characters that make words of a text control tokens, or a part of one at its edges."""
        found = set()
        for match in self._first.finditer(text):
            at = match.start()
            for lead in {text[at : at + 2], text[at]}:
                for length in self._lengths.get(lead, ()):
                    if (word := text[at : at + length]) in self._texts:
                        found.add(at + _indent(word))
        for size in range(2, min(self._longest, len(text) + 1)):
            if text[-size:] in self._beginnings:
                found.add(len(text) - size + _indent(text[-size:]))
            if text[:size] in self._endings:
                found.add(_indent(text[:size]))
        return found

    def encode(self, text: str, stand_ins: StandIns) -> list[int]:
        """Token ids of a text in which words with stand-ins are no control tokens."""
        whole = self._backend.encode(text, add_special_tokens=False)
        found: list[int] = []
        begin, plain = 0, list[int]()  # the stretch behind the last added token
        for token_id, (start, end) in zip((*whole.ids, _END), (*whole.offsets, (len(text), 0)), strict=True):
            # Merges make some added tokens too, of spaces, say, which then stand in the text in another way.
            if token_id != _END and self._added.get(token_id) != text[start:end].strip():
                plain.append(token_id)
                continue
            stretch = stand_ins.resolved(text[begin:start])
            found += plain if stretch == text[begin:start] else self._plain(stretch, begin > 0)
            found.append(token_id)
            begin, plain = end, []
        return found[:-1]

    def _plain(self, stretch: str, inside: bool) -> list[int]:
        """Token ids of a stretch in which nothing is an added token, as they are within or at the start of a text."""
        text = PreTokenizedString("a" * inside + stretch)
        if inside:
            text.split(lambda number, whole: [whole[1:]])
        if self._backend.normalizer is not None:
            text.normalize(self._backend.normalizer.normalize)
        if self._backend.pre_tokenizer is not None:
            self._backend.pre_tokenizer.pre_tokenize(text)
        tokenize, found = self._backend.model.tokenize, list[int]()
        for word, *_ in text.get_splits():
            ids = [token.id for token in tokenize(word)]
            if not self._ids.isdisjoint(ids):  # the vocabulary itself knows the word
                ids = [token.id for character in word for token in tokenize(character)]
            found += ids
        return found


class StandIns:
    """Stand-ins in the texts of one conversation.

    Args:
        tokens: The vocabulary's control tokens.
        texts: All of the conversation's texts; looked at only when a stand-in is needed.
    """

    def __init__(self, tokens: ControlTokens, texts: Iterable[str]) -> None:
        self._tokens = tokens
        self._free = self._unused(texts)
        self._of: dict[str, str] = {}

    def _unused(self, texts: Iterable[str]) -> Iterator[str]:
        taken = self._tokens.characters.union(*texts)
        yield from (chr(code) for code in _STAND_INS if chr(code) not in taken)

    @property
    def used(self) -> bool:
        """True once a text had such a word."""
        return bool(self._of)

    def words(self, text: str) -> str:
        """Return a text in which no word is a control token."""
        places = self._tokens.places(text)
        if not places:
            return text
        for character in {text[at] for at in places} - self._of.keys():
            self._of[character] = next(self._free)
        return "".join(self._of[one] if at in places else one for at, one in enumerate(text))

    def reply(self, text: str) -> str:
        """Return the assistant's words in the same way; the marks of a thought that they begin with are kept."""
        if not begins_with_thought(text):
            return self.words(text)
        before, opened, rest = text.partition(OPEN)
        thought, closed, answer = rest.partition(CLOSE)
        return before + opened + self.words(thought) + closed + self.words(answer)

    def message(self, message: ChatMessage) -> ChatMessage:
        """Return a turn without control tokens in its words and calls; its files stand in its words."""
        said = self.reply if message.role == "assistant" else self.words
        calls = tuple(ToolCall(self.words(call.name), self._json(call.arguments), call.id) for call in message.calls)
        content = MARK.join(map(said, message.content.split(MARK))) if message.pictures else said(message.content)
        return replace(message, content=content, calls=calls)

    def tool(self, tool: Tool) -> Tool:
        """Return a tool without control tokens in its words."""
        return Tool(self.words(tool.name), self.words(tool.description), self._json(tool.parameters))

    def resolved(self, text: str) -> str:
        """Return a text with its own characters again, also if JSON has a stand-in as an escape."""
        for own, stand_in in self._of.items():
            text = text.replace(stand_in, own).replace(json.dumps(stand_in)[1:-1], own)
        return text

    def _json(self, text: str) -> str:
        """JSON with the same done to the texts in it, which may be written in escapes; as it is where none needs it."""
        value = json.loads(text)
        changed = self._within(value)
        return text if changed == value else json.dumps(changed, ensure_ascii=False)

    def _within(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.words(value)
        if isinstance(value, dict):
            return {self.words(name): self._within(inner) for name, inner in value.items()}
        return [self._within(inner) for inner in value] if isinstance(value, list) else value


def texts_of(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> Iterator[str]:
    """Every text of a conversation; of JSON the characters that it stands for too."""
    for message in messages:
        yield message.content
        for call in message.calls:
            yield from (call.name, call.arguments, json.dumps(json.loads(call.arguments), ensure_ascii=False))
    for tool in tools:
        yield from (tool.name, tool.description, json.dumps(json.loads(tool.parameters), ensure_ascii=False))


def _indent(text: str) -> int:
    """Characters before the first that is no space; templates trim those."""
    return len(text) - len(text.lstrip())
