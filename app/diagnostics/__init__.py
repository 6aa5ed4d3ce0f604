"""Logs, crashes, and what a user copies to report an error: never a word of any chat, and no Qt."""
