"""Windows: an installer for one person, without administrator rights."""
