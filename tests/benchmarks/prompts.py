"""Prompts of four kinds that the bundled guide can really continue, with long replies where it has any.

What it says is often wrong (it is a model of 5 million parameters), but it says it fluently: lists, tables and code
have the regular stretches that drafts live on, and answers about Tenon are known by heart. Arithmetic has short sums,
as people ask them, and figures in a table and in JSON, because a sum alone is over in ten tokens.
"""

from __future__ import annotations

from engine.benchmark import LONGEST_WORD

_ADD = """```python
def add_items(items: list[float]) -> float:
    total = 0
    for item in items:
        total += item
    return total
```"""

PROMPTS: dict[str, tuple[str, ...]] = {
    "chat": (
        "What is speculative decoding and why is it fast?",
        "what is the difference between int8 and int4",
        "how does prompt lookup work",
        "what is a token?",
    ),
    "code": (
        "write a python function to keep the prices larger than 10",
        "write a python function to count the words that start with b",
        f"explain this code:\n{_ADD}",
        f"change the variable best to value in this code:\n{LONGEST_WORD}",
    ),
    "arithmetic": (
        "calculate 45 + 32",
        "72 divided by 9",
        "make a table of 8 products with price and number",
        "write json with 5 products with name and price",
    ),
    "instruction": (
        "write a plan for a trip to Rome for 3 days",
        "write a shopping list for a soup for 4",
        "Write a short story about a fox and a lantern",
        "make a packing list for Oslo in winter",
    ),
}
