"""What the window does when something goes wrong: say it, offer a remedy, show and copy details."""
