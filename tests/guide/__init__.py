"""Makes the toy model of tests and benchmarks, the guide, and its drafts from facts and playground grammars."""
