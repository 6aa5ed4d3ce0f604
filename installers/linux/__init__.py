"""Linux: a package for Debian and its relatives, and an archive that runs from anywhere."""
