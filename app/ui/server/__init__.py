"""The page of the server for other programs."""
