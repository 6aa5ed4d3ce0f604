"""Smaller copies of models: written in another mixture of types, and their loss measured."""
