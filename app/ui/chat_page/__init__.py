"""One conversation in the middle of the window, and the parts around its transcript."""
