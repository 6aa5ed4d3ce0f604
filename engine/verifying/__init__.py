"""Verifiers: which drafted path does the target agree with?"""
