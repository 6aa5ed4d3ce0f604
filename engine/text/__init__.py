"""Text in and out: tokenizer, chat template, streaming detokenizer, stop conditions."""
