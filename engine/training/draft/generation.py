"""The target's own replies, to learn from where there is no data, or where data is to be in the target's words."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

from engine.decoding.loop import Hooks, Recipe, decode
from engine.decoding.schedule import FixedLength
from engine.decoding.statistics import ReplyClock
from engine.decoding.target import Target
from engine.drafting.drafter import NoDrafter
from engine.messages import ChatMessage
from engine.model.sampling import Sampler
from engine.text.stop import ReplyText
from engine.text.tokenizer import Tokenizer
from engine.training.draft.features import Example
from engine.verifying.sample_and_match import SampleAndMatch

#: Asked where no data file brings prompts; sampled replies differ each time a request comes round again.
REQUESTS = (
    "Tell me a short story about {subject}.",
    "Explain {subject} to a child.",
    "Write a letter about {subject}.",
    "Give me five facts about {subject}.",
    "Write a Python function that has to do with {subject}.",
    "What are the advantages and disadvantages of {subject}?",
    "Make a plan for a week with {subject}.",
    "Write a list of things one needs for {subject}.",
    "Compare {subject} with {other} in a table.",
    "How does {subject} work?",
    "What would you ask an expert on {subject}?",
    "Rewrite this sentence politely: I want {subject} now.",
    "Write a JSON object that describes {subject}.",
    "Describe a day without {subject}.",
    "What is {number} plus {another}? Then tell me something about {subject}.",
    "Continue this text: Last summer we heard of {subject}, and",
)
SUBJECTS = (
    "a lighthouse", "bread", "bicycles", "a garden", "the moon", "music", "a train journey", "computers",
    "winter", "a library", "maps", "the sea", "chess", "tea", "birds", "a birthday", "mountains", "clocks",
    "painting", "a market", "bridges", "rain", "languages", "a kitchen", "robots", "forests", "a museum", "sleep",
)  # fmt: skip


def invented_prompts(tokenizer: Tokenizer, seed: int) -> Iterator[list[int]]:
    """Prompts of the built-in requests, without end."""
    rng = random.Random(seed)
    while True:
        subject, other = rng.sample(SUBJECTS, 2)
        text = rng.choice(REQUESTS).format(
            subject=subject, other=other, number=rng.randrange(100), another=rng.randrange(100)
        )
        yield tokenizer.render([ChatMessage("user", text)])


def replies(
    target: Target,
    tokenizer: Tokenizer,
    prompts: Iterator[list[int]],
    count: int,
    longest: int,
    seed: int,
) -> Iterator[Example]:
    """The target's replies to ``count`` prompts; every other one greedy, the rest sampled at temperature 1.

    Args:
        target: The model, with a cache for ``longest`` tokens.
        tokenizer: Its tokenizer.
        prompts: What to answer; those as long as ``longest`` are passed over.
        count: How many, or fewer where the prompts end.
        longest: Tokens of prompt and reply together.
        seed: Of the sampling.
    """
    fitting = (prompt for prompt in prompts if 0 < len(prompt) < longest)
    for at, prompt in enumerate(itertools.islice(fitting, count)):
        sampler = Sampler(temperature=float(at % 2), seed=seed + at)
        ids = [*prompt, *_reply(target, tokenizer, prompt, longest - len(prompt), sampler)]
        yield Example(tuple(ids), tuple(place >= len(prompt) for place in range(len(ids))))


def _reply(
    target: Target, tokenizer: Tokenizer, prompt: Sequence[int], limit: int, sampler: Sampler
) -> list[int]:
    reply = ReplyText(lambda ids: "", tokenizer.end_ids, (), limit)
    recipe = Recipe(NoDrafter(), SampleAndMatch(sampler), FixedLength(0))
    hooks = Hooks(lambda: None, lambda done, total: None, lambda tokens, drafted: None)
    decode(target, recipe, prompt, reply, ReplyClock(), hooks)
    return list(reply.token_ids)
