"""The articles of the help: their page, their text, and the commands that lead to them."""
