"""Windows: an installer for one user, without administrator rights."""
