"""What this machine has, read or measured: a file for each part of it."""
