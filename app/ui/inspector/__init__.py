"""The optional panel at the right: how fast replies are made, with what, and where each token came from."""
