"""Tools that a model may call: servers of the Model Context Protocol, and three of Tenon's own."""
