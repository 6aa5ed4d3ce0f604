"""The field in which a message is typed and sent."""
