"""Small sums, which the generator makes rather than a facts file."""

from __future__ import annotations

import random

# Most sums that people try are very small.
LARGEST = (9, 9, 20, 20, 99)
ADD = (
    "{a} + {b}",
    "{a}+{b}",
    "{a} plus {b}",
    "add {b} to {a}",
    "the sum of {a} and {b}",
    "{a} and {b} together",
)
SUBTRACT = (
    "{a} - {b}",
    "{a}-{b}",
    "{a} minus {b}",
    "take {b} from {a}",
    "{a} less {b}",
    "subtract {b} from {a}",
)
MULTIPLY = (
    "{a} * {b}",
    "{a}*{b}",
    "{a} x {b}",
    "{a} times {b}",
    "{a} multiplied by {b}",
    "multiply {a} by {b}",
)
DIVIDE = ("{a} / {b}", "{a}/{b}", "{a} divided by {b}", "divide {a} by {b}", "{a} : {b}", "{a} over {b}")
FRAMES = (
    "{0}",
    "{0}",
    "what is {0}",
    "what's {0}",
    "how much is {0}",
    "calculate {0}",
    "compute {0}",
    "can you work out {0}",
    "{0} = ",
)


def sum_question(rng: random.Random) -> tuple[str, str]:
    """A small sum as a question and its answer: up to 100 to add or subtract, up to 10 times 10."""
    sign = rng.choice("++--*/")
    if sign == "+":
        a, b, forms = rng.randint(0, rng.choice(LARGEST)), rng.randint(0, rng.choice(LARGEST)), ADD
        result = a + b
    elif sign == "-":
        a = rng.randint(0, rng.choice(LARGEST))
        b = rng.randint(0, a)
        forms, result = SUBTRACT, a - b
    elif sign == "*":
        a, b, forms = rng.randint(0, 10), rng.randint(0, 10), MULTIPLY
        result = a * b
    else:
        b, result, forms = rng.randint(1, 10), rng.randint(0, 10), DIVIDE
        a = b * result
    form = rng.choice(forms)
    frame = rng.choice(FRAMES)
    if form.startswith(("take", "add", "subtract", "multiply", "divide")):
        frame = rng.choice(("{0}", "please {0}", "can you {0}", "{0} for me"))
    question = frame.format(form.format(a=a, b=b)).strip()
    return question, f"{a} {sign} {b} = {result}"


def large_sum(rng: random.Random) -> str:
    """A calculation that is too large for the guide."""
    a, b = rng.randint(1000, 10**7), rng.randint(101, 10**6)
    forms = (
        "{a} * {b}",
        "{a} x {b}",
        "{a} + {b}",
        "{a} / {b}",
        "the square root of {a}",
        "{b} to the power of 7",
        "{a} divided by {b}",
    )
    return rng.choice(("what is {0}", "{0}", "calculate {0}")).format(rng.choice(forms).format(a=a, b=b))
