"""The page about this machine: what it has, what every mode is predicted to do on it, and measuring them."""
