"""Conversations as files for people and for other programs: texts only, no disk."""
