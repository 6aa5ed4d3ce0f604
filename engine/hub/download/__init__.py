"""Downloads: resumable, checked, and whole or not there at all."""
