"""The standard prompts of `engine.benchmark`: four kinds, as speculation differs by them, with long answers."""

from __future__ import annotations

from engine.messages import PromptKind

#: A function to ask about.
LONGEST_WORD = """```python
def longest_word(words: list[str]) -> str:
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best
```"""

STANDARD_PROMPTS: dict[PromptKind, tuple[str, ...]] = {
    "chat": (
        "What is speculative decoding and why is it fast?",
        "What is the difference between int8 and int4?",
    ),
    "code": (
        "Write a Python function to count the words that start with b.",
        f"Change the variable best to value in this code:\n{LONGEST_WORD}",
    ),
    "arithmetic": (
        "Make a table of 8 products with price and number.",
        "Calculate 45 + 32.",
    ),
    "instruction": (
        "Write a plan for a trip to Rome for 3 days.",
        "Write a shopping list for a soup for 4.",
    ),
}
