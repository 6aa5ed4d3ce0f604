"""Where a message is typed and sent."""
