"""Handling of trouble in the window: say it, offer a remedy, show and copy details."""
