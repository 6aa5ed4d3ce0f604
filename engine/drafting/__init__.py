"""Drafters: which tokens might come next? One file per drafter."""
