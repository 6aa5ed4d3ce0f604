"""The decoder: config, weights in memory, attention, KV cache and the forward pass."""
