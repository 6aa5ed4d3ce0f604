"""Things to ask in a blank chat, by what a model can do: those for small models were tried on models of that size."""

from __future__ import annotations

import re

from app.chat.engine_state import EngineState
from app.words import mark, tr

# In English everywhere: the smallest models know no other language well.
_BEGINNINGS = (
    "Once upon a time, in a village by the sea, there lived",
    "The lighthouse keeper climbed the stairs and",
    "The old man opened the letter and read:",
    "Ingredients for a tomato soup:",
)
_TINY = (
    "What do plants need to grow?",
    "What is the water cycle?",
    "Why do we need sleep?",
    "What is the capital of France?",
)
_SMALL = (
    mark("What is the difference between weather and climate?"),
    mark("Give me three tips for better sleep"),
    mark("Write an email that moves a meeting to Friday"),
    mark("Plan a simple dinner for four people"),
)
_LARGE = (
    mark("What can you do?"),
    mark("Explain how a hash table works"),
    mark("Write a short story about a lighthouse"),
    mark("Merge two sorted lists in Python"),
)
_SMALL_CODE = (
    mark("Write a Python function that counts the vowels in a word"),
    mark("Write a Python function that returns the largest number in a list"),
    mark("Write a unit test for a function that reverses a text in Python"),
    mark("Write a Python function that converts Celsius to Fahrenheit"),
)
_LARGE_CODE = (
    mark("Merge two sorted lists in Python"),
    mark("Write a regular expression for a date such as 2026-11-29"),
    mark("Write a unit test for a function that reverses a text in Python"),
    mark("Write a Python function that counts the vowels in a word"),
)
# By the least number of parameters.
_CHAT = ((0.0, _TINY), (4e8, _SMALL), (4e9, _LARGE))
_CODE = ((0.0, _SMALL_CODE), (1e9, _LARGE_CODE))
_CODER = re.compile(r"code|coding|devstral", re.IGNORECASE)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*([mb])(?![a-z])", re.IGNORECASE)


def suggestions(model: EngineState) -> tuple[str, ...]:
    """Return four texts to send to a model, by its kind, its size and whether it is made to write programs."""
    if model.only_continues:
        return _BEGINNINGS
    table = _CODE if _CODER.search(model.model_name) else _CHAT
    size = parameters(model)
    return tuple(tr(text) for text in next(texts for least, texts in reversed(table) if size >= least))


def parameters(model: EngineState) -> float:
    """Return how many weights a model has: those that were loaded, else by its name; a server's model has many."""
    if model.parameters:
        return model.parameters
    found = _SIZE.search(model.model_name)
    if found is None:
        return 0.0 if model.server is None else float("inf")
    return float(found[1]) * (1e6 if found[2].lower() == "m" else 1e9)
