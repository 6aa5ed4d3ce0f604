"""Panel of an empty chat at the first start."""
