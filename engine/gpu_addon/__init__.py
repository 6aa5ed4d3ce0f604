"""GPU support that is fetched when it is wanted: torch's build for a GPU, in a folder of its own."""
