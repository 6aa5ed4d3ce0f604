"""What a person can set, declared once each, and the file that keeps it: no Qt."""
