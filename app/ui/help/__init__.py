"""The page of the help, and the ways to it."""
