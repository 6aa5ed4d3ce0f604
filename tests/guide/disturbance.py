"""Real typing: filler, casing, punctuation, synonyms, dropped words and mistakes."""

from __future__ import annotations

import random
import re

OPENERS = (
    "hi", "hello", "hey", "hey there", "hi tenon", "hello guide", "ok", "okay", "ok so", "so", "well", "um",
    "hmm", "and", "now", "please", "excuse me", "sorry", "sorry but", "quick question", "a quick question",
    "one question", "another question", "a question", "question", "thanks", "thank you", "great", "good",
    "i see", "right", "alright", "oh", "just wondering", "i was wondering", "silly question",
    "stupid question maybe but", "sorry if this is obvious but", "i am new here", "i'm new to this",
    "newbie here", "i'm a beginner", "maybe you know", "do you know", "can you tell me",
    "could you tell me", "tell me", "i have a question", "i'd like to know", "i want to know", "help",
    "need help", "please help", "say", "actually", "by the way", "btw", "one more thing", "next question",
    "also", "yo", "dear guide", "good morning", "good evening", "my friend asks", "i just installed it",
    "i just started", "hm ok", "for real", "seriously", "wait", "let me ask", "let me ask you something",
    "can i ask something", "in short", "in one sentence", "simply put",
)  # fmt: skip
CLOSERS = (
    "please", "pls", "thanks", "thank you", "thx", "here", "then", "again", "exactly", "really", "actually",
    "anyway", "now", "today", "in tenon", "in this app", "in the app", "in this program", "with tenon",
    "in tenon please", "do you know", "any idea", "any ideas", "can you tell me", "tell me please",
    "i wonder", "just curious", "if you know", "if possible", "if i may ask", "right now", "at all",
    "for me", "quickly", "in short", "briefly", "in simple words", "cheers", "i forgot", "i am confused",
    "i'm lost", "help", "help me", "i need this", "it is urgent", "asap", "on this computer",
    "on my computer", "on my laptop", "i am new", "guide", "my friend", "lol",
)  # fmt: skip
SYNONYMS = (
    ("delete", "remove", "erase", "get rid of", "trash"),
    ("show", "display", "reveal"),
    ("hide", "conceal"),
    ("choose", "pick", "select"),
    ("begin", "start"),
    ("change", "alter", "modify"),
    ("find", "locate"),
    ("make", "create"),
    ("big", "large"),
    ("small", "little", "tiny"),
    ("fast", "quick", "speedy"),
    ("slow", "sluggish", "so slow"),
    ("picture", "image", "photo"),
    ("pictures", "images", "photos"),
    ("computer", "pc", "laptop", "machine"),
    ("folder", "directory"),
    ("broken", "damaged", "corrupt"),
    ("happens", "occurs"),
    ("need", "require"),
    ("allow", "permit"),
    ("stop", "halt", "abort"),
    ("quit", "close", "exit"),
    ("typed", "wrote"),
    ("chat", "conversation", "thread"),
    ("chats", "conversations", "threads"),
    ("reply", "answer", "response"),
    ("replies", "answers", "responses"),
    ("app", "program", "application", "software"),
    ("shortcut", "hotkey", "key combination"),
    ("purpose", "point"),
    ("exactly", "precisely"),
    ("describe", "explain"),
    ("everything", "it all", "all of it"),
    ("many", "lots of", "multiple", "several"),
    ("useful", "helpful", "good"),
    ("difference", "distinction"),
    ("text", "writing"),
)
_SYNONYM = {word: group for group in SYNONYMS for word in group if " " not in word}
_SMALL_WORDS = {"a", "an", "the", "my", "do", "does", "is", "i", "to", "of", "it"}
_CONTRACTIONS = (
    ("what is", "what's"), ("do not", "don't"), ("does not", "doesn't"), ("can not", "can't"),
    ("cannot", "can't"), ("i am", "i'm"), ("is not", "isn't"), ("will not", "won't"), ("i would", "i'd"),
    ("i have", "i've"), ("it is", "it's"), ("where is", "where's"), ("how is", "how's"),
    ("did not", "didn't"), ("you are", "you're"), ("that is", "that's"), ("could not", "couldn't"),
)  # fmt: skip
_NEAR = (
    "wa qes wrd etf ryg tuh yij uok ipl ol qsz awdx sefc drgv fthb gyjn hukm jil ko asx zsdc xdfv "
    "cfgb vghn bhjm njk"
)
_KEYBOARD = dict(zip("qwertyuiopasdfghjklzxcvbnm", _NEAR.split(" "), strict=True))


def mistype(word: str, rng: random.Random) -> str:
    """``word`` with one typing mistake: letters swapped, dropped, doubled or hit beside."""
    place = rng.randrange(len(word) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if kind == 1:
        return word[:place] + word[place + 1 :]
    if kind == 2:
        return word[:place] + word[place] + word[place:]
    return word[:place] + rng.choice(_KEYBOARD.get(word[place], word[place])) + word[place + 1 :]


def reword(text: str, rng: random.Random) -> str:
    """``text`` with some synonyms, contractions, and now and then a small word left out."""
    if rng.random() < 0.3:
        for long, short in _CONTRACTIONS:
            if long in text and rng.random() < 0.7:
                text = re.sub(rf"\b{long}\b", short, text)
    words = text.split()
    if rng.random() < 0.3:
        words = [
            rng.choice(_SYNONYM[word]) if word in _SYNONYM and rng.random() < 0.5 else word for word in words
        ]
    if len(words) > 3 and rng.random() < 0.1:
        small = [place for place, word in enumerate(words) if word in _SMALL_WORDS]
        if small:
            del words[rng.choice(small)]
    return " ".join(words)


def disturb(text: str, rng: random.Random, filler: bool = True) -> str:
    """One way in which somebody may type the question ``text`` (lower case, without its final mark)."""
    text = reword(text, rng)
    if filler and rng.random() < 0.16:
        text = rng.choice(OPENERS) + rng.choice((" ", " ", ", ", ", ", ": ", "... ", ". ")) + text
    if filler and rng.random() < 0.12:
        text += rng.choice((" ", " ", ", ")) + rng.choice(CLOSERS)
    if rng.random() < 0.14:
        words = text.split(" ")
        long = [place for place, word in enumerate(words) if len(word) > 3 and word.isalpha()]
        for place in rng.sample(long, min(len(long), rng.choice((1, 1, 1, 2)))):
            words[place] = mistype(words[place], rng)
        text = " ".join(words)
    if rng.random() < 0.15:
        text = text.replace("'", rng.choice(("", "\u2019")))
    return punctuate(case(text, rng), rng)


def case(text: str, rng: random.Random) -> str:
    """``text`` lower case, as a sentence, in title case or in capitals."""
    choice = rng.random()
    if choice < 0.48:
        return text
    if choice < 0.93:
        text = text[:1].upper() + text[1:]
        text = re.sub(r"\btenon\b", "Tenon", text)
        return re.sub(r"\bi\b", "I", text)
    return text.upper() if choice < 0.965 else text.title()


def punctuate(text: str, rng: random.Random) -> str:
    """``text`` with or without a final mark."""
    choice = rng.random()
    if choice < 0.45 or text[-1:] in "?!.":
        return text
    if choice < 0.88:
        return text + "?"
    return text + rng.choice((".", ".", " ?", "??", "!", "...", "?!"))
