"""Models of servers: asked over HTTP in OpenAI's protocol, with replies told in the engine's own events."""
