"""Settings, each declared once, and the file that keeps them: no Qt."""
