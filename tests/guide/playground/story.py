"""Short stories: a hero, a friend, a thing, a place, and a few events."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, Slots, article, capital, pick, say

REQUEST = (
    "(write|tell|tell me|write me|give me|make up|invent|can you write|please write|i want|compose|let "
    "me read|"
    "could you tell me) a (short|little|small|nice|new|funny|quiet|bedtime|) (story|tale|fairy tale)"
)
ABOUT = (
    " about {kind_a}",
    " about {kind_a} and {thing_a}",
    " about {kind_a} in a {place}",
    " about {kind_a} called {hero}",
    " in which {kind_a} meets {friend_a}",
    " set in a {place}",
    " with {kind_a}, {friend_a} and {thing_a}",
    " about {hero} and {other}",
    " about {thing_a}",
    " that happens on a {weather} day",
    " for children about {kind_a}",
    "",
)
OPENING = (
    "(Once upon a time|Long ago|Many years ago|Not so long ago|One <season>|In a year of hard winters), "
    "{kind_a} called "
    "{hero} lived (in|near|beside|behind) (a|the|an old) {place}.",
    "(On a {weather} (morning|evening|afternoon)|One {weather} <day>), {hero} the {kind} "
    "(sat|stood|waited|slept) (in|near|"
    "beside) the {place} and thought about (breakfast|the sea|an old song|the past|<things>).",
    "{hero} was {kind_a}, and (everybody|nobody|half the town|the whole street) (knew|said|believed) "
    "that {hero} was "
    "(the most <mood> {kind} of all|too <mood> for this world|not as <mood> as (others|people thought)).",
    "In <city> there (lived|was) {kind_a} (whose name was|called|named) {hero}, who "
    "(loved|collected|mended|sold) <things>.",
    "Nobody in the {place} (knew|remembered) where {hero} the {kind} (came from|had come from|slept at "
    "night).",
)
THING = (
    "(Every|Each) (day|week|morning|evening) {hero} (looked for|polished|dreamed of|talked about|drew) "
    "{thing_a}.",
    "{hero} owned only one thing: {thing_a} made of <material>.",
    "(One|That) (day|night|morning), {hero} <verb-past> {thing_a} (near|behind|under|beside) the <place>.",
    "The {thing} of the {place} was (gone|broken|lost), and (everyone|no one|only {hero}) (was|seemed) "
    "<mood>.",
    "It was (a <weather> day|<day>|<month>|early <season>) when {hero} (first|) saw the <color> {thing}.",
)
EVENT = (
    "(Then|Soon|After a while|Later|Suddenly|Just then), {friend_a} called {other} (came "
    "by|appeared|stopped at the <place>|"
    "walked in).",
    '"(Where|Why|How) did you (find|get|lose|hide) that {thing}?" asked {other} <adverb>.',
    '"(I have|I had|We need|Everybody wants) (a|one|another|no) {thing}," said {hero} <adverb>.',
    "{other} (laughed|sighed|nodded|shook a head|yawned|looked away) and (said nothing|gave {hero} "
    "<fruit>|sat down|asked "
    "for tea|pointed at the {place}).",
    "They (walked|ran|sailed|rode|crept) (to|past|through|around) the <place>, where <sound> could be heard.",
    "(There|Inside|Behind the door|At the gate) they met <trait> <animal>s who were <mood> and "
    "(hungry|cold|lost|late).",
    "{hero} (tried|wanted|decided) to (open|hide|share|sell|mend|follow) the {thing}, but (it was too "
    "<color>|{other} said "
    "no|the wind was stronger|the <animal> was quicker|it began to rain).",
    "The <weather> (night|wind|day|road) made {hero} <mood> and {other} <mood>.",
    "For <fruit> and <staple>, the <person> (gave|lent|showed|promised) them <things> and <things>.",
    "{hero} (counted|dropped|found|shared) (two|three|four|five|six|seven|nine) <things> and "
    "(gave|threw|sold) one to {other}.",
    '"(Listen|Look|Wait|Careful)," (said|whispered|cried|called) {other}, "(that is|this was|there '
    "goes) (my|the|our) "
    "<trait> <person>'s {thing}.\"",
    "(At noon|At midnight|By evening|Before dawn) the {place} was full of <animal>s and <things>.",
    "(No one|Only {other}|Everyone|The <person>) (noticed|saw|heard) how {hero} <verb-past> the {thing}.",
)
ENDING = (
    "(In the end|At last|Finally|So), {hero} (gave|sold|lent|brought) the {thing} (to {other}|back to "
    "the {place}|to the "
    "<person>), and (both|all|they) (were|felt) <mood>.",
    "{hero} and {other} (stayed|remained|were) friends, and the {thing} (still|) (hangs|stands|lies) in "
    "the {place}.",
    "(Since then|From that day on|Ever since), {hero} (visits|writes to|sings for|cooks for) {other} "
    "every <day>.",
    "And if you (walk past|visit|pass) the {place} on a {weather} (day|night), you can (still|) hear "
    "<sound>.",
    "That is why (every|each|no) {kind} in the {place} (keeps|loves|fears|carries) {thing_a}.",
    "{other} went home to <city>, but the {thing} stayed with {hero}.",
)


def write(rng: random.Random) -> Exchange:
    """A request for a story and a story."""
    hero, other = pick(rng, "name", 2)
    slots: Slots = {
        "hero": hero,
        "other": other,
        "kind": say(rng, "(<animal>|<animal>|<person>)"),
        "friend": say(rng, "(<animal>|<person>)"),
        "thing": say(rng, "<object>"),
        "place": say(rng, "<place>"),
        "weather": say(rng, "<weather>"),
    }
    slots["kind_a"] = article(say(rng, "(<trait>|<mood>|)") + " " + slots["kind"]).replace("a  ", "a ")
    slots["kind_a"] = article(slots["kind_a"].split(" ", 1)[1].strip())
    slots["friend_a"], slots["thing_a"] = article(slots["friend"]), article(slots["thing"])
    request = say(rng, REQUEST) + rng.choice(ABOUT).format_map(slots)
    events = [say(rng, event, slots) for event in rng.sample(EVENT, rng.randint(5, 10))]
    first = [say(rng, rng.choice(OPENING), slots), say(rng, rng.choice(THING), slots)]
    middle = len(events) // 2
    paragraphs = [first, events[:middle], [*events[middle:], say(rng, rng.choice(ENDING), slots)]]
    body = "\n\n".join(" ".join(paragraph) for paragraph in paragraphs if paragraph)
    if rng.random() < 0.3:
        body = f"**{capital(say(rng, '(The|{hero} and the) (<color>|<trait>|) {thing}', slots))}**\n\n{body}"
    return Exchange(request, body)
