"""Questions to a small model, and texts for it to quote and to edit: prompts that have nothing to do with Tenon."""

from __future__ import annotations

_REPORT = """The old harbour bridge was closed on Monday morning after inspectors found two cracked bolts in the
northern pier. The city expects the repair to take three weeks. Until then, buses of the lines 4 and 11 are led over
the ring road, which adds about twelve minutes to each trip. Cyclists and people on foot can use the small
ferry at the fish market, which runs every ten minutes from six in the morning to ten in the evening and costs
nothing. The mayor said that the bridge, which was built in 1931, was due for a full renewal in two years
anyway, and that the council would now discuss whether to bring that forward. Shop owners near the bridge fear
that fewer customers will come in the weeks before the holidays, and ask for free parking as a help."""

_LETTER = """Dear Ms Keller,

thank you for your order of 14 March. The two oak shelves left our workshop yesterday and will reach you on
Thursday between nine and twelve. Please check both parcels for damage before you sign for them. The screws
and the wall plugs are in the smaller box, together with a drawing that shows where the brackets go. If your
wall is made of plaster, please use the grey plugs and not the white ones. You may return anything that does
not fit within thirty days.

With kind regards,
Tomas Brand"""

_CODE_STATISTICS = """```python
def read_numbers(path):
    numbers = []
    with open(path) as file:
        for line in file:
            line = line.strip()
            if line:
                numbers.append(float(line))
    return numbers


def mean(numbers):
    total = 0.0
    for number in numbers:
        total += number
    return total / len(numbers)


def variance(numbers):
    middle = mean(numbers)
    total = 0.0
    for number in numbers:
        total += (number - middle) ** 2
    return total / len(numbers)
```"""

_CODE_STACK = """```python
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise IndexError("pop from an empty stack")
        return self.items.pop()

    def peek(self):
        if not self.items:
            raise IndexError("peek at an empty stack")
        return self.items[-1]

    def __len__(self):
        return len(self.items)
```"""

_CODE_PAGE = """```html
<table>
  <tr><th>Name</th><th>Price</th><th>Stock</th></tr>
  <tr><td>Apple</td><td>0.40</td><td>120</td></tr>
  <tr><td>Pear</td><td>0.55</td><td>80</td></tr>
  <tr><td>Plum</td><td>0.30</td><td>200</td></tr>
  <tr><td>Quince</td><td>0.90</td><td>15</td></tr>
</table>
```"""

PROMPTS: dict[str, tuple[str, ...]] = {
    "chat": (
        "Why is the sky blue during the day and red in the evening?",
        "What should I do when my bicycle chain keeps falling off?",
        "How does a refrigerator keep food cold?",
        "Explain to a ten year old how the moon changes its shape.",
        "Is it better to save money or to pay back a loan first?",
        "Write a short letter to my landlord: the heating in my flat has been broken since Sunday.",
        "Write an email to my team that moves our meeting from Tuesday to Thursday afternoon.",
        "Thank my grandmother for the scarf that she knitted for me, in a warm letter.",
        "Write a short story about a lighthouse keeper who finds a bottle with a map.",
        "Tell me a bedtime story about a snail that wanted to see the sea.",
        "Write a poem about the first snow in a small town.",
        "Write a Python function that returns the n-th Fibonacci number.",
        "Write a JavaScript function that checks whether a word is a palindrome.",
        "How do I list all files larger than 100 MB on Linux?",
        "List ten things to pack for a weekend of hiking.",
        "Give me five ideas for a quick dinner with rice and vegetables.",
        "Name the planets of the solar system with one fact about each.",
        "Translate into French: Where is the next train station, please? I would like to buy two tickets.",
        "Translate into German: The weather is nice today, so we are going to the lake with the children.",
        "Compare coffee and tea: taste, caffeine, and when to drink which.",
    ),
    "code": (
        "Write a Python function that checks whether a word is a palindrome.",
        "Write a Python class for a bank account with deposit, withdraw and a balance.",
        "Write a Python script that counts how often each word comes in a text file.",
        "Write an SQL query that finds the ten customers with the most orders.",
        f"Explain this code step by step.\n\n{_CODE_STATISTICS}",
    ),
    "summary": (
        f"Summarize this text in three sentences.\n\n{_REPORT}",
        f"Summarize this letter in two sentences.\n\n{_LETTER}",
        f"What are the main points of this text?\n\n{_REPORT}",
        f"What does the customer have to do? Summarize the letter for her.\n\n{_LETTER}",
    ),
    "list": (
        "Make a packing list for a week in the mountains in spring.",
        "List ten things that one can do on a rainy Sunday at home.",
        "Give me a shopping list for a birthday cake for twelve children.",
        "List the planets of the solar system, with one sentence on each.",
        "Write a list of eight questions for a job interview with a gardener.",
    ),
    "quote": (
        f"Repeat the following text word for word:\n\n{_REPORT}",
        f"Correct the spelling of this letter and give it back in full:\n\n{_LETTER}",
        f"Summarize this text, and quote its most important sentences:\n\n{_REPORT}",
    ),
    "edit": (
        f"Rename the variable numbers to values in this code and give back all of it:\n\n{_CODE_STATISTICS}",
        f"Add a docstring to each method of this class and give back the whole class:\n\n{_CODE_STACK}",
        f"Add a row for Cherry with price 0.70 and stock 60 to this table, and give back all of it:\n\n{_CODE_PAGE}",
    ),
    "story": (
        "Write a long story about a lighthouse keeper who finds a bottle with a map.",
        "Tell me a story about a boy who repairs an old clock.",
        "Write a story about two sisters who open a bakery in a small town.",
    ),
    "translate": (
        f"Translate this text into French.\n\n{_REPORT}",
        f"Translate this letter into German.\n\n{_LETTER}",
        f"Translate this text into Spanish, one sentence after the other.\n\n{_REPORT}",
    ),
    "table": (
        "Make a table of the planets with their distance from the sun, their size and their number of moons.",
        "Make a table that compares a bicycle, a car and a train by price, speed and comfort.",
        "Make a table of a week with one row for each day: breakfast, lunch and dinner.",
    ),
    "json": (
        "Write a JSON file with five books: title, author, year and number of pages.",
        f"Turn this letter into JSON with the fields sender, receiver, date, items and deadline.\n\n{_LETTER}",
        "Write the settings of a text editor as JSON: font, size, colours, key bindings.",
    ),
    "sums": (
        "A shop sells 12 apples at 0.40 each and 7 pears at 0.55 each. Compute the total, step by step.",
        "What is 37 times 24? Show each step.",
        "A train leaves at 9:40 and travels 210 km at 84 km an hour. When does it arrive? Work it out step by step.",
    ),
}
