"""The page of models: what to get, what is here, what is on its way."""
