"""The page that a person sees first."""
