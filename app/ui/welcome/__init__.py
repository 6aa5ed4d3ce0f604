"""What an empty chat shows at the first start."""
