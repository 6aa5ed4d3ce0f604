"""Probes of this machine: a file for each part that is read or measured."""
