"""Prompt lookup: drafts what followed the same words earlier in the text, as much of it as pays."""

from engine.decoding.worthwhile_nodes import WorthwhileNodes
from engine.drafting.prompt_lookup import PromptLookup
from engine.modes.mode import Mode

LOOKUP = Mode("lookup", drafter=PromptLookup, schedule=lambda nodes, cost: WorthwhileNodes(cost=cost))
