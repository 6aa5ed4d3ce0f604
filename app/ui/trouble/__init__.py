"""Trouble in the window: notices with a remedy, and details to show and to copy."""
