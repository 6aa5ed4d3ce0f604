"""Decoder layers and matrix products for weights in 8, 4 and 16 bits on CPUs, in a small C library of Tenon's own.

`engine.kernels.blocks` arranges matrices and multiplies with them; `engine.kernels.layer` runs a whole
layer of packed matrices in one call; `engine.kernels.library` finds the library and says which instruction set it uses.
Without the library everything works, slowly, on torch. The packed layouts and the rules that results obey stand in
``csrc/tenon.h``.
"""
