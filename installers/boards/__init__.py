"""ARM boards: a system of theirs in a folder."""
