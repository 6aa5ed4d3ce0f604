"""Logs, crashes, and what a person copies to report an error: never a word of any chat, and no Qt."""
