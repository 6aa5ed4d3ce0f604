"""Whether a draft fits a model, found out from their files before anything is loaded."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import TenonError
from engine.hub.installed import find_model
from engine.loaded_draft import plan_draft
from engine.messages import LoadOptions
from engine.model.config import read_config
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
        folder = find_model(options.model)
        self._options = options
        self._config = read_config(Checkpoint(folder))
        self._tokenizer = Tokenizer(folder)

    def problem(self, draft: str) -> str:
        """One sentence that says why a draft does not fit the model; empty where it does.

        Args:
            draft: A folder or a name.
        """
        options = replace(self._options, draft=draft)  # what runs with it, and not with the draft of before
        try:
            plan_draft(draft, self._tokenizer, self._config, options, gpu=None, vram_budget_bytes=0)
        except TenonError as error:
            return error.message
        return ""
