"""Recognition of questions that are plainly about Tenon, which small models know nothing of.

A false alarm is worse than silence: what is not plainly about Tenon is not. So these are patterns of whole phrases, and
no measure of likeness.
"""

from __future__ import annotations

import re

_MOST_WORDS, _MOST_CHARACTERS = 20, 400  # longer ones bring a matter of their own

_CHAT = r"(?:(?:an?|the|this|that|my|these|all|all my|old|your) )?(?:chats?|conversations?|repl(?:y|ies)|chat history)"
_MODEL = r"(?:(?:an?|the|this|another|which|what) )?(?:\w+ )?(?:models?|llms?|gguf(?: files?)?)"
_HERE = r"(?:this|the|your|my) (?:app|program|window|chat app)"
_DEVICE = r"(?:my|this|the) (?:computer|laptop|machine|pc|mac|hardware|gpu|graphics card|ram|memory)"
_HOW = (
    r"(?:how (?:do|can|could|would|should) (?:i|you|we)|how to|can i|could i|where (?:do|can) i|is it possible to|"
    r"i want to)"
)

_ABOUT_TENON = tuple(
    re.compile(pattern)
    for pattern in (
        # Its names, and terms that are nobody else's.
        r"^(?!.*\b(?:wood|mortise|joint|router|saw|chisel|cut|glue|dowel)).*\btenon\b",  # and not the carpenter's
        r"\bllmcad\b|\btok/s\b|\b(?:lookup|dovetail|layer[- ]offload|partial[- ]offload|auto|plain) mode\b",
        r"\b(?:draft model|draft head|speculative decoding|context meter|command palette|token view|prompt lookup)\b",
        # Chats and replies.
        rf"^{_HOW} (?:delete|remove|rename|export|import|save|pin|archive|search|find|move|stop|cancel|restore|"
        rf"back ?up|regenerate|continue|undo|shorten|lengthen|speed up) {_CHAT}\b",
        rf"^where (?:are|is) {_CHAT} (?:saved|stored|kept)",
        rf"^(?:are|is|do|does|will) {_CHAT} (?:\w+ )?(?:encrypted|saved|stored|sent|uploaded|backed up|private)\b",
        r"^is (?:anything|something|what|everything) i (?:write|type|say|ask) (?:\w+ )?"
        r"(?:sent|saved|stored|private|uploaded)\b",
        r"\b(?:replies|answers|you|it) (?:faster|quicker|less slow)$",
        r"^why (?:are you|is it|is this|are the replies) so slow$",
        # Models and this computer.
        rf"^(?:how (?:big|large)|which|what(?: size of| is the (?:biggest|largest|best))?) {_MODEL} "
        rf"(?:can|could|should|does|do|fits?|runs?|will|for|on|are|is)\b.*(?:\bi (?:run|use|get|take|choose|load)\b|"
        rf"{_DEVICE}|\bhere\b)",
        rf"^(?:can|could|will|does) {_DEVICE} (?:run|hold|handle|fit|load) (?:an?|the|this)? ?(?:\S+ )?"
        r"(?:model|\d+ ?b\b)",
        rf"^{_HOW} (?:download|get|open|load|import|add|install|run|change|switch|choose|remove|update|unload) "
        rf"(?:to )?{_MODEL}"
        r"(?: here| in (?:this|the) app| file)?$",
        r"^(?:which|what) model (?:are you|is this|am i (?:using|talking to)|is (?:running|loaded|in use))",
        rf"^{_HOW} use {_DEVICE}(?: here| for this)$|^(?:do you|does it|does this) use {_DEVICE}",
        r"^(?:which|what) modes? (?:should i use|is (?:best|fastest|running)|are there|do you have)$",
        # Parts of the window.
        rf"\b(?:in|of|does|is|uninstall|update|close|quit|install|change) {_HERE}\b",
        rf"^{_HOW} (?:attach|upload|drop|send you|give you) (?:an?|the|my) (?:text |pdf )?(?:file|document|pdf)",
        rf"^{_HOW} (?:change|set|see|edit|find|open) (?:the |your |my )?(?:system prompt|context length|data folder|"
        r"settings|temperature setting|top[- ][pk]|theme|dark mode|font size|sampling)\b",
        r"^(?:what|which|are there|show me the|list the) (?:are )?(?:the )?(?:keyboard )?shortcuts(?: are there)?$",
        r"^where (?:is|are) (?:the|your|my) (?:data folder|models? folder|settings|logs?|backups?|models)$",
        # Abilities.
        r"^(?:can|could|do|are|will) you (?:able to )?(?:read|open|see|view|browse|access|look at|search|generate|draw|"
        r"make|hear|work|run|use|remember) (?:an? |the |my |any |on )?(?:\w+ )?"
        r"(?:pdfs?|word files?|docx|files?|documents?|images?|"
        r"pictures?|photos?|web|internet|offline|voice|gpu|graphics card|chats)(?: files?)?$",
    )
)


def about_tenon(text: str) -> bool:
    """Return True if a question is plainly about Tenon and not about the world."""
    if len(text) > _MOST_CHARACTERS:
        return False
    plain = " ".join(text.lower().replace("\u2019", "'").split()).rstrip("?!. ")
    if len(plain.split()) > _MOST_WORDS or "\n" in text.strip():
        return False
    return any(pattern.search(plain) for pattern in _ABOUT_TENON)
