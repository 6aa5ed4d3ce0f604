"""Pictures in one text: their rows among those of the words, their masks, and the positions that rotate them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch

from engine.model.attention import Ends
from engine.model.decoder import TextRows
from engine.text.pictures import begins_run
from engine.vision.seen_picture import PictureRows


class TextPictures:
    """Pictures of a text's prompt.

    Args:
        runs: Runs of their rows, by the ids of the first ones (`engine.text.pictures.row_ids`); none for words alone.
    """

    def __init__(self, runs: Mapping[int, PictureRows]) -> None:
        self._runs = runs
        self._mutual = any(run.mutual for run in runs.values())
        self._turned = any(run.grid for run in runs.values())
        self._shifted = 0, 0  # number of first tokens, and the shift after them

    def among(self, tokens: Sequence[int]) -> list[PictureRows]:
        """Return the runs that begin among some tokens, in order."""
        return [self._runs[token] for token in tokens if begins_run(token)] if self._runs else []

    def piece_end(self, tokens: Sequence[int], end: int) -> int:
        """Return the end of a piece of tokens, put after the picture that it would cut if its rows see each other."""
        if self._mutual:
            while 0 < end < len(tokens) and tokens[end] < 0 and not begins_run(tokens[end]):
                end += 1
        return end

    def shift(self, tokens: Sequence[int], end: int) -> int:
        """Return how far rotations are before positions after so many first tokens of the text (M-RoPE)."""
        if not self._turned:
            return 0
        known, shift = self._shifted if self._shifted[0] <= end else (0, 0)
        shift += sum(run.count - run.extent for run in self.among(tokens[known:end]))
        self._shifted = end, shift
        return shift

    def put_into(self, rows: TextRows, before: Sequence[int], piece: Sequence[int]) -> TextRows:
        """Return the rows of a piece of the prompt with the pictures' in it.

        Args:
            rows: The piece as if all of it were words.
            before: Tokens of the text before it.
            piece: Its tokens.
        """
        if not self._runs:
            return rows
        within = self._within(before, piece)
        runs = [(at, run, slice(max(at, 0), min(at + run.count, len(piece)))) for at, run in within]
        embeddings = mask = turned = None
        if runs:
            embeddings = torch.cat([run.embeddings[max(-at, 0) :][: own.stop - own.start] for at, run, own in runs])
        if any(run.mutual for _, run, _ in runs):
            ends = torch.arange(1, len(piece) + 1, dtype=torch.int32)
            for _, _, own in runs:
                ends[own] = own.stop
            mask = Ends(ends, all(run.mutual != "all" for _, run, _ in runs))
        if self._turned:
            shift = self.shift(before, len(before) + min(runs[0][0], 0) if runs else len(before))
            turned = (rows.positions - shift).expand(3 if runs else 1, -1).clone()
            for at, run, own in runs:
                shown = run.places[:, max(-at, 0) :][:, : own.stop - own.start]
                turned[:, own] = turned[:, own] - torch.arange(max(-at, 0), max(-at, 0) + shown.shape[1]) + shown
                turned[:, own.stop :] -= run.count - run.extent
            turned = turned if runs else turned[0]
        return replace(rows, mask=mask, embeddings=embeddings, turned=turned)

    def _within(self, before: Sequence[int], piece: Sequence[int]) -> Iterator[tuple[int, PictureRows]]:
        """Yield the runs with rows in a piece, each with its first one's index there: below 0 if it began before."""
        if piece[0] < 0 and not begins_run(piece[0]):
            back = next(at for at in range(1, len(before) + 1) if begins_run(before[-at]))
            yield -back, self._runs[before[-back]]
        for at, token in enumerate(piece):
            if begins_run(token):
                yield at, self._runs[token]
