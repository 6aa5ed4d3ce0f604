"""Two modes on the same prompt, side by side."""
