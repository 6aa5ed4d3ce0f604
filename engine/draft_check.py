"""The check that a draft fits a model, made from their files before anything is loaded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from engine.drafting.kinds import read_draft
from engine.errors import TenonError
from engine.hub.installed import find_model
from engine.messages import LoadOptions
from engine.model.config import read_config
from engine.planning.planner import check_mode
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint


class DraftCheck:
    """Holds a model's vocabulary and shape against those of drafts."""

    def __init__(self, options: LoadOptions) -> None:
        """Read what there is to know of the model, without its weights.

        Args:
            options: Names the model.

        Raises:
            TenonError: the model itself cannot be used.
        """
        self._folder = find_model(options.model)
        self._options = options
        self._config = read_config(Checkpoint(self._folder))
        self._read = cache(Tokenizer)

    def problem(self, draft: str) -> str:
        """One sentence that says why a draft does not fit the model; empty where it does.

        Args:
            draft: A folder or a name.
        """
        try:
            place = find_model(draft)
            read_draft(draft, place, self._config).check(place, self._folder, self._config, self._read)
            check_mode(replace(self._options, draft=draft))  # what runs with it, not with the draft of before
        except TenonError as error:
            return error.message
        return ""
