"""Drafters: which tokens might come next? One file for each kind of draft."""
