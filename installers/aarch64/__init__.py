"""64-bit ARM boards: which versions run there, and the check that they are to be had."""
