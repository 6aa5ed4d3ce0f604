"""The graphics chip that a computer has, through WebGPU: a decoder for drafts, with matrices in a file's own blocks."""
