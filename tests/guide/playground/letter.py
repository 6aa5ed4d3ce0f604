"""Letters and short mails: greeting, matter, request, closing."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, Slots, pick, say

MATTERS: dict[str, tuple[str, str]] = {
    "an invitation to a {event}": (
        "I would like to invite you to (a|our|my) {event} (on {day}|next {day}|on {day} evening) "
        "(in|at) {where}.",
        "Please (tell|let) (me|us) know by {day2} whether you can come, and (bring|do not forget) {things}.",
    ),
    "a complaint about a {product}": (
        "I (bought|ordered) (a|your) {product} on {date}, and (it is broken|it arrived late|it has the "
        "wrong colour|a part is "
        "missing|it smells of smoke|it makes a loud noise).",
        "Please (send me a new one|pay back the price|repair it|tell me what to do) (within|in) "
        "{number} days.",
    ),
    "thanks for a {product}": (
        "(Thank you|Many thanks|My warmest thanks) for the {product} that (you sent|arrived on "
        "{day}|you gave me).",
        "It (stands|is|lies) in {where} now, and (everyone asks about it|I use it every {day}|it "
        "reminds me of {city}).",
    ),
    "an apology for a late {thing}": (
        "I am sorry that the {thing} (is late|did not arrive|was not ready on {day}).",
        "(The reason is|It was) (a broken <object>|the <weather> weather|an illness|a mistake of mine), "
        "and I will (send|bring) "
        "it by {day2}.",
    ),
    "a question about a job as {job}": (
        "I (read|saw|heard) that you are looking for a {job} in {city}, and I would like to (apply|know "
        "more|offer my help).",
        "I have worked as a {job} for {number} years, (mostly|first|last) in <city>, and I can start on "
        "{date}.",
    ),
    "news from a trip to {city}": (
        "I am writing from {city}, where it (is|has been) <weather> (since {day}|for {number} days).",
        "(Yesterday|On {day}|This morning) we saw <place-trip> and <place-trip>, and "
        "(ate|tasted|bought) <dish> with <vegetable>.",
    ),
    "a note to the neighbours about a {event}": (
        "On {date} there will be a {event} at our house, and it (may|will) be (a little|quite) loud "
        "(until|till) {number} in the "
        "evening.",
        "(Please ring|Do call|Just knock) if it is too much; you are also (welcome|invited), and there "
        "will be <dish>.",
    ),
}
REQUESTS = (
    "(write|draft|compose|please write|can you write|help me write|could you draft|i need) (a|a short|a "
    "polite|a friendly|a "
    "formal) (letter|mail|email|e-mail|note|message)",
    "(letter|mail|email|short letter)",
)
PADDING = (
    "I hope (you are well|all is well in <city>|this finds you well|the <season> is kind to you).",
    "(Last|This) (week|month|<season>) was (very|rather|quite) <mood> here, (with|and) <weather> days "
    "and <weather> nights.",
    "{other} (sends|sent) (greetings|love|best wishes) and asks about your <animal>.",
    "(By the way|Also), I (finally|) <verb-past> the <color> <object> that we talked about.",
    "We (still|) have <fruit> and <fruit> from the garden, more than we can (eat|use|carry).",
    "(Do you|Does {other}) still (like|enjoy|practise) <hobby> and <hobby>?",
    "My (sister|brother|aunt|uncle|cousin) now works as a <job> in <city> and seems <mood>.",
)
CLOSINGS = (
    "Best regards",
    "Kind regards",
    "Yours sincerely",
    "With best wishes",
    "Warmly",
    "Many greetings",
    "See you soon",
)


def write(rng: random.Random) -> Exchange:
    """A request for a letter and the letter."""
    sender, other, receiver = pick(rng, "name", 3)
    formal = rng.random() < 0.5
    address = say(rng, "(Mr|Ms) <surname>") if formal else receiver
    day, day2 = pick(rng, "day", 2)
    slots: Slots = {
        "event": say(
            rng,
            "(party|birthday|dinner|concert|picnic|wedding|reading|garden party|film evening|chess evening)",
        ),
        "product": say(rng, "<product>"),
        "thing": say(rng, "(report|parcel|answer|payment|book|invoice|drawing|translation|plan|key)"),
        "job": say(rng, "<job>"),
        "city": say(rng, "<city>"),
        "where": say(rng, "(the <place>|the <room>|our <room>|<city>)"),
        "things": say(rng, "(<fruit>|<dish>|<things>|<staple>)"),
        "day": day,
        "day2": day2,
        "date": f"{rng.randint(1, 28)} {say(rng, '<month>')}",
        "number": str(rng.randint(2, 12)),
        "other": other,
    }
    subject = rng.choice(list(MATTERS))
    matter = subject.format_map(slots)
    named = rng.random() < 0.6
    request = (
        f"{say(rng, rng.choice(REQUESTS))} {rng.choice(('with', 'for', 'about', ':'))} {matter}".replace(
            " :", ":"
        )
    )
    if named:
        request += rng.choice(
            (f" to {address}", f", to {address}, from {sender}", f" from {sender} to {address}")
        )
    news, wish = (say(rng, text, slots) for text in MATTERS[subject])
    padding = [say(rng, text, slots) for text in rng.sample(PADDING, rng.randint(2, 5))]
    lines = [f"Dear {address},", " ".join([news, *padding[1:]]), " ".join([wish, padding[0]])]
    if rng.random() < 0.5:
        lines.insert(0, f"Subject: {matter[0].upper()}{matter[1:]}")
    signature = f"{sender} {say(rng, '<surname>')}" if formal else sender
    lines.append(f"{rng.choice(CLOSINGS)},\n{signature}")
    return Exchange(request, "\n\n".join(lines))
