"""Makes the bundled guide model and its draft from the facts files and the playground grammars."""
