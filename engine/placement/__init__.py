"""Where each weight lives and how it reaches a compute unit: one file per kind of placement."""
