"""Questions that the guide must refuse, made from the same frames as the ones it answers."""

from __future__ import annotations

import random

from tests.guide.arithmetic import large_sum
from tests.guide.pattern import Pattern, parse
from tests.guide.playground.grammar import word_classes

SOURCES = (
    "<what-is> (a|the|an old|my) (<animal>|<person>|<object>|<dish>|<place>|<product>)",
    "<what-is> (<subject>|<hobby>|<fruit>|<vegetable>|<material>|<country>|<city>)",
    "<how-do-i> (cook|bake|eat|grow|buy|sell|cut|store|wash) (<fruit>|<vegetable>|<dish>|<staple>)",
    "<how-do-i> (build|repair|fix|paint|clean|sell|find|move|mend|open|lift|delete|rename|copy) "
    "(a|my|the) (<object>|<product>|<animal>|<room>)",
    "<how-do-i> (<chore>|learn <hobby>|learn <subject>|become a <job>|get to <city>|train a "
    "<animal>|find a <job>)",
    "<where-is> (<city>|<country>|a <job> in <city>|the <place>|my <object>|the best <dish> in <city>)",
    "<why> (a|the|my) (<animal>|<person>|<object>) (sleep|sing|run|smell|cost so much|look "
    "<mood>|break|have a <color> nose)",
    "<can-i> (<chore>|eat <fruit>|keep a <animal>|visit <city>|buy <things>|marry a <job>|travel to "
    "<country> in <month>)",
    "<does-tenon> (<chore>|know <name> <surname>|like <fruit>|sell <things>|cook <dish>|speak with a "
    "<animal>)",
    "who (is|was|are) (<name> <surname>|the <trait> <person> of <city>|the mayor of <city>|<name>)",
    "what is the (capital|population|president|weather|flag|time|language|currency|best hotel) (of|in) "
    "(<country>|<city>)",
    "how (far|long|old|tall|big|expensive) is (<city>|<country>|a <animal>|the <place>|the road to "
    "<city>|a <product>)",
    "when (is|was) (the next train to <city>|<name> <surname> born|<season>|the best time for "
    "<fruit>|the war in <country>)",
    "(is|are) (<fruit>|<staple>|<vegetable>|<dish>) (healthy|expensive|good for me|better than "
    "<fruit>|bad for a <animal>)",
    "(what|which) (<product>|<dish>|<fruit>|<animal>|<subject>) (is|should i buy|do you like|would you "
    "choose) (best|for <month>|for a <job>|)",
    "(translate|say|spell) (<object>|<animal>|<fruit>|good <season>|the <color> <object>) (in|into|to) "
    "(french|german|spanish|italian|latin|dutch)",
    "(what do you think|tell me|i want to talk|talk to me) about (<subject>|<country>|<name> "
    "<surname>|<animal>s|<hobby>|<fruit>)",
    "how many (<things>|<animal>s|<fruit>|people|<job>s) (are there|live|can i buy|fit) in "
    "(<city>|<country>|a <place>|a box)",
    "(recommend|suggest|find|book|order) (me|) (a|some) (<dish>|hotel in <city>|<product>|film about "
    "<subject>|book about <subject>)",
    "(the|) (<animal>|<object>|<fruit>|<city>|<person>|<subject>)",
    "my (<animal>|<object>|<product>|<job>) (is|seems|looks) (<mood>|<color>|broken|sick|lost|too <weather>)",
    "i (like|love|hate|want|need|have|saw|bought) (<fruit>|<things>|a <animal>|<dish>|a "
    "<product>|<subject>|<city>)",
    "(<name>|the <person>|a <animal>) (went|came|is going|wants|has to go) to (<city>|the <place>|<country>)",
    "(write|make|compose) (me|) (a|an) "
    "(poem|song|essay|speech|joke|screenplay|novel|review|sonnet|rap|haiku) about "
    "(<animal>s|<subject>|<city>|<fruit>)",
    "(difference between|compare) (<animal>|<fruit>|<city>|<subject>|<job>) and "
    "(<animal>|<vegetable>|<city>|<subject>|<job>)",
)
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


class Refusals:
    """A source of unanswerable questions, which shares the phrase classes of the facts."""

    def __init__(self, phrases: dict[str, Pattern]) -> None:
        self._phrases = {**phrases, **word_classes()}
        self._patterns = [parse(source, self._phrases) for source in SOURCES]

    def sample(self, rng: random.Random) -> str:
        """One question, lower case."""
        choice = rng.random()
        if choice < 0.04:
            return large_sum(rng)
        if choice < 0.12:
            frame = rng.choice(
                (
                    "{0}",
                    "what is {0}",
                    "what is a {0}",
                    "explain {0}",
                    "what does {0} mean",
                    "tell me about {0}",
                    "{0} {0}",
                )
            )
            return frame.format(nonsense(rng))
        return rng.choice(self._patterns).sample(rng, self._phrases).lower()


def nonsense(rng: random.Random) -> str:
    """A word that does not exist, or a run of keys."""
    if rng.random() < 0.3:
        return "".join(rng.choice("asdfghjklqwertyuiop") for _ in range(rng.randint(3, 9)))
    return "".join(
        rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(rng.randint(2, 4))
    ) + rng.choice(("", "n", "x", "rk"))
