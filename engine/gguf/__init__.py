"""GGUF files: llama.cpp's container of a model's tensors, config and tokenizer, read as a checkpoint."""
