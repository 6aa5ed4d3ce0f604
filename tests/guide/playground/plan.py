"""Plans: a day, a week or a trip, as a numbered list or with times."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, capital, listed, members, pick, say

STEP = (
    "(visit|see|walk to|draw|take the bus to|photograph) <place-trip>",
    "(eat|try|cook|order) <dish> with <vegetable>",
    "(buy|look for|pack|collect) <things> and <fruit>",
    "<chore>",
    "(practise|spend an hour on|try|do some) <hobby>",
    "(read|write|talk|learn) about <subject>",
    "(call|meet|write to|have tea with) <name>",
    "(rest|sit|have coffee|wait) (in|near) the <place>",
)
NOTE = (
    "(Take|Bring|Do not forget) <packing>, because (it may be|the day can be|mornings are) <weather>.",
    "(If it is|On) (a <weather> day|<weather>), (start later|stay inside|swap the first two points|take "
    "the tram).",
    "(Keep|Leave) (an hour|half an hour|some time|the evening) free for (<hobby>|rest|a <mood> hour|<name>).",
    "This (plan|list) (costs|needs) (little|some) money and (no|a) car.",
    "(Ask|Tell) <name> (the day before|on <day>|early), and (book|pay) <adverb>.",
)


def _chosen_steps(rng: random.Random, number: int) -> list[str]:
    return [capital(say(rng, step)) for step in rng.sample(STEP, number)]


def _trip(rng: random.Random) -> Exchange:
    city, days = say(rng, "<city>"), rng.randint(2, 4)
    request = say(
        rng,
        f"(plan|make a plan for|i need a plan for|please plan|suggest|write a plan for) (a|my|our) "
        f"(trip|short trip|journey|"
        f"holiday|weekend|visit) to {city} (for|of|lasting|over) {days} days",
    )
    parts = [f"## {days} days in {city}"]
    for number, day in enumerate(pick(rng, "day", 7)[:days], 1):
        theme = say(rng, "(<hobby>|<subject>|<mood> walks|<place-trip>|<dish> and <staple>)")
        steps = "\n".join(f"- {step}" for step in _chosen_steps(rng, rng.randint(2, 4)))
        parts.append(f"**Day {number}, {day}: {theme}**\n\n{steps}")
    parts.append(say(rng, rng.choice(NOTE)))
    return Exchange(request, "\n\n".join(parts))


def _day(rng: random.Random) -> Exchange:
    day, guest = say(rng, "<day>"), say(rng, "<name>")
    hour = rng.randint(6, 9)
    request = say(
        rng,
        f"(plan|make a plan for|plan me|give me a plan for|write a schedule for|schedule) (my {day}|a "
        f"{day} with {guest}|a quiet "
        f"{day}|a busy {day}|{day})",
    )
    lines = [f"Here is a plan for {day}:", ""]
    for step in _chosen_steps(rng, rng.randint(5, 8)):
        lines.append(f"- {hour:02d}:{rng.choice(('00', '15', '30', '45'))} {step}")
        hour += rng.randint(1, 2)
    lines += ["", say(rng, rng.choice(NOTE))]
    return Exchange(request, "\n".join(lines))


def _week(rng: random.Random) -> Exchange:
    goal = say(rng, "(learn|practise|start with|get better at) (<hobby>|<hobby>|<subject>)")
    request = say(rng, f"(make|write|give me|i need|plan) (a|my) week (plan|) to {goal}").replace(
        "plan a week to", "plan a week to"
    )
    lines = [f"A week to {goal}:", ""]
    days = members("day")[: rng.choice((5, 7))]
    steps = _chosen_steps(rng, len(days))
    lines += [
        f"{row}. **{day}**: {step}." for row, (day, step) in enumerate(zip(days, steps, strict=True), 1)
    ]
    lines += ["", say(rng, rng.choice(NOTE)), say(rng, rng.choice(NOTE))]
    return Exchange(request, "\n".join(lines))


def _steps(rng: random.Random) -> Exchange:
    chores = pick(rng, "chore", rng.randint(3, 5))
    minutes = [rng.randrange(5, 60, 5) for _ in chores]
    request = say(
        rng,
        "(put these jobs in a plan|plan these tasks|make a plan of this|order this into a plan|schedule "
        "this)",
    )
    request += ": " + listed(chores)
    lines = [
        f"{number}. {capital(chore)} ({time} minutes)"
        for number, (chore, time) in enumerate(zip(chores, minutes, strict=False), 1)
    ]
    lines += ["", f"Together this takes {sum(minutes)} minutes. " + say(rng, rng.choice(NOTE))]
    return Exchange(request, "\n".join(lines))


def write(rng: random.Random) -> Exchange:
    """A request for a plan and the plan."""
    return rng.choice((_trip, _day, _week, _steps))(rng)
