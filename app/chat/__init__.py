"""Conversations and how they become requests: no Qt, no torch, no disk."""
