"""A computer's graphics chip, through WebGPU: drafts and first layers, with matrices in a file's own blocks."""
