"""Verifiers: which drafted path does the target agree with? One file per rule."""
