"""Models that other machines run: asked over HTTP in OpenAI's protocol, and heard by the engine as its own are."""
