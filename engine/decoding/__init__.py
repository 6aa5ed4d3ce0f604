"""The loop that every mode runs in, its schedules and its statistics."""
