"""The server: other programs speak to the model over HTTP, each in the protocol that it knows.

A request is translated into `Generate`, and the engine's events back into the protocol's answer: a file for each
protocol. No torch: the engine runs in a process of its own.
"""
