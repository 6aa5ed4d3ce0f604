"""Sampling where nobody asks for anything else: the numbers of the model's makers, or the usual ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from engine.errors import InvalidOption, TenonError
from engine.messages import ModelAdvice, SamplingOptions
from engine.model.sampling import Sampler
from engine.model_file import OpenedModel
from engine.text.chat_template import ChatTemplate

#: What replies are sampled with where the model advises nothing; the penalty holds in chats only. Llama.cpp's numbers,
#: but for the penalty: small models go round in circles without one.
USUAL = SamplingOptions(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repetition_penalty=1.1)
#: What leaves the model's own distribution as it is: a number that makers leave out of theirs does nothing.
_NEUTRAL = SamplingOptions(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.0)
_GREEDY = replace(_NEUTRAL, temperature=0.0)
# A template may add its special tokens to a text, and their names are in the vocabulary, which is not read here.
_SPECIAL_TOKENS = dict.fromkeys(("bos_token", "eos_token", "unk_token", "pad_token"), "")
_NUMBERS = tuple(field.name for field in fields(SamplingOptions) if field.name != "seed")


def sampling_advice(own: Mapping[str, Any]) -> tuple[SamplingOptions, tuple[str, ...]]:
    """Return the sampling in a chat where nothing else is asked for.

    Makers that advise a way of sampling have the last word on all of it. A penalty alone is no way of sampling.

    Args:
        own: The checkpoint's generation_config.json.

    Returns:
        The numbers, and the names of those that are the makers' own.
    """
    stated = {name: own[name] for name in _NUMBERS if _means_something(name, own.get(name))}
    if own.get("do_sample") is False:
        penalty = {name: value for name, value in stated.items() if name == "repetition_penalty"}
        return replace(_GREEDY, **penalty), _NUMBERS
    if own.get("do_sample") is True or stated.keys() - {"repetition_penalty"}:
        return replace(_NEUTRAL, **stated), _NUMBERS
    return replace(USUAL, **stated), tuple(stated)


def model_advice(own: Mapping[str, Any], template: ChatTemplate | None) -> ModelAdvice:
    """Advice as a person is told of it.

    Args:
        own: The checkpoint's generation_config.json.
        template: Its chat template; None where it brings none, or one that cannot be read.
    """
    sampling, makers = sampling_advice(own)
    if template is None:
        return ModelAdvice(sampling, makers)
    return ModelAdvice(sampling, makers, template.thinking, template.calls.name)


def read_advice(opened: OpenedModel) -> ModelAdvice:
    """Read the advice of a checkpoint that is not loaded; what cannot be read advises nothing."""
    try:
        own = opened.generation_config
    except (TenonError, OSError):
        return model_advice({}, None)
    try:
        templates = [ChatTemplate(source, _SPECIAL_TOKENS) for source in opened.templates.values()]
        template = next((one for one in templates if not one.trouble), templates[0] if templates else None)
    except Exception:  # a template is a program, and jinja2 has many ways to refuse it; loading tells of it
        template = None
    return model_advice(own, template)


def settled_sampler(asked: SamplingOptions, own: Mapping[str, Any], chat: bool = True) -> Sampler:
    """Return a reply's sampler: what was asked for, then what the model advises, then what is usual.

    Temperature 0, where it is asked for, is the likeliest token and nothing else that was not asked for too.

    Args:
        asked: None in a field leaves it open, but for the seed, which the engine has settled.
        own: The checkpoint's generation_config.json.
        chat: A conversation is answered; a text that is continued has no usual penalty.

    Raises:
        InvalidOption: a value is out of its range.
    """
    base, makers = sampling_advice(own)
    if asked.temperature == 0.0:
        base = _GREEDY
    elif not chat and "repetition_penalty" not in makers:
        base = replace(base, repetition_penalty=_NEUTRAL.repetition_penalty)
    wanted = {name: getattr(asked, name) for name in _NUMBERS if getattr(asked, name) is not None}
    numbers = {**vars(base), **wanted}
    numbers["top_k"] = int(numbers["top_k"])
    numbers["seed"] = asked.seed or 0
    return Sampler(**numbers)


def _means_something(name: str, value: Any) -> bool:
    """Return True if a number can be sampled with. Any other is dropped silently, as the user did not ask for it."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        Sampler(**{name: value})  # type: ignore[arg-type]
    except (InvalidOption, OverflowError):
        return False
    return True
