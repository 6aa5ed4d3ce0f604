"""Prompt lookup: drafts what followed the same words earlier in the text, as much of it as pays."""

from engine.decoding.adaptive_budget import AdaptiveBudget
from engine.drafting.prompt_lookup import PromptLookup
from engine.modes.mode import Mode

LOOKUP = Mode("lookup", drafter=PromptLookup, schedule=lambda nodes, cost: AdaptiveBudget(cost=cost))
